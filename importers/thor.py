"""AI2-THOR's metadata of objects, and ProcTHOR's houses. Unity's left-handed y-up positions are turned to z up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Any, Final

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from scenecypher.db.graph.axes import TURNED
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.problems import RelationDraft, validated
from scenecypher.db.graph.scene import Point
from scenecypher.importers.assembly import NodeDraft, node_draft, own_words

NAME_PREFIX: Final = "thor/"
AGENT: Final = "agent"
ROOMS: Final[Mapping[int, str]] = {0: "kitchen", 2: "living_room", 3: "bedroom", 4: "bathroom"}
"""Classes of the rooms FloorPlan1 to 30, 201 to 230, and so on, by their hundreds."""
STATES: Final[Mapping[str, tuple[str, str, str | None]]] = {
    "isOpen": ("openable", "open", "closed"),
    "isToggled": ("toggleable", "on", "off"),
    "isDirty": ("dirtyable", "dirty", "clean"),
    "isBroken": ("breakable", "broken", None),
    "isCooked": ("cookable", "cooked", None),
    "isSliced": ("sliceable", "sliced", None),
    "isFilledWithLiquid": ("canFillWithLiquid", "filled", None),
    "isUsedUp": ("canBeUsedUp", "used_up", None),
}
"""Flags that are states: what affords them, and the states of true and of false."""
AFFORDANCES: Final[Mapping[str, str]] = {
    "pickupable": "grabbable",
    "openable": "can_open",
    "toggleable": "has_switch",
    "moveable": "movable",
    "canFillWithLiquid": "fillable",
    **{word: word for word in ("sliceable", "cookable", "breakable", "dirtyable")},
}
CONTAINERS: Final = frozenset(
    {"Basin", "Bathtub", "BathtubBasin", "Bowl", "Box", "Cup", "GarbageBag", "GarbageCan", "LaundryHamper", "Mug"}
    | {"Pan", "Pot", "Sink", "SinkBasin", "Toaster", "Toilet", "Vase"}
)
"""Receptacles that things are in, as they are in what can be opened; things are on all others."""


class _Read(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, allow_inf_nan=False)


class _Axes(_Read):
    x: float
    y: float
    z: float

    def turned(self) -> Point:
        return Point(self.x, self.z, self.y)


class _Box(_Read):
    center: _Axes
    size: _Axes


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


class _Object(_Read):
    model_config = ConfigDict(extra="allow")
    id: str = Field(alias="objectId")
    type: str = Field(alias="objectType")
    position: _Axes | None = None
    box: _Box | None = Field(None, alias="axisAlignedBoundingBox")
    parents: Annotated[list[str] | None, BeforeValidator(_listed)] = Field(
        None, validation_alias=AliasChoices("parentReceptacles", "parentReceptacle")
    )

    def has(self, flag: str) -> bool:
        return (self.model_extra or {}).get(flag) is True

    @property
    def contains(self) -> bool:
        return self.type in CONTAINERS or self.has("openable")


class _Pose(_Read):
    position: _Axes | None = None


class _Held(_Read):
    id: str = Field(alias="objectId")


class _Metadata(_Read):
    objects: list[_Object]
    held: list[_Held] = Field([], alias="inventoryObjects")
    scene: str | None = Field(None, alias="sceneName")
    agent: _Pose | None = None


def is_metadata(document: Any) -> bool:
    """Check if a document is an event's metadata, its list of objects or map of them by id, or a list of events."""
    match _metadata(document):
        case {"objects": [{"objectId": _, "objectType": _}, *_]} | {"objects": [], "sceneName": _}:
            return True
    return False


def _metadata(document: Any) -> Any:
    match document:
        case [*_, {"metadata": {} as last}]:
            return last
        case [{"objectId": _}, *_]:
            return {"objects": document}
        case {"metadata": {} as inner}:
            return inner
        case {} if document and all(isinstance(it, dict) and "objectId" in it for it in document.values()):
            return {"objects": [*document.values()]}
    return document


def from_metadata(document: Any, *, file: str, name: str) -> ImportedScene:
    """Return the scene of metadata: the room, its objects and the agent. Raises DocumentError with all problems.

    Of a list of events the last is read, with a note.
    """
    form = validated(_Metadata, _metadata(document), file)
    events = len(document) if isinstance(document, list) and "metadata" in document[-1] else 1
    notes = (TURNED, *([f"the last of {events:,} events is read"] if events > 1 else []))
    return own_words(_drafts(form), _links(form), file=file, name=name, notes=notes)


def _drafts(form: _Metadata) -> Iterator[NodeDraft]:
    if form.scene is not None:
        number = form.scene.removeprefix("FloorPlan").split("_")[0]
        class_ = ROOMS.get(int(number) // 100, "room") if number.isascii() and number.isdecimal() else "room"
        yield node_draft("$.sceneName", form.scene, "Place", class_)
    if form.agent is not None:
        center = form.agent.position and form.agent.position.turned()
        yield node_draft("$.agent", AGENT, "Agent", AGENT, center=center)
    for index, it in enumerate(form.objects):
        kind = "Object" if it.has("pickupable") or it.has("moveable") else "Asset"
        words = [ours for theirs, ours in AFFORDANCES.items() if it.has(theirs)]
        words += [("containers" if it.contains else "surfaces")] if it.has("receptacle") else []
        facts: dict[str, Any] = {"name": (it.model_extra or {}).get("name"), **_space(it)}
        draft = node_draft(
            f"$.objects[{index}]", it.id, kind, it.type, states=[*_states(it)], affordances=words, **facts
        )
        yield draft


def _states(it: _Object) -> Iterator[str]:
    for flag, (affords, true, false) in STATES.items():
        if it.has(flag):
            yield true
        elif false is not None and it.has(affords):
            yield false


def _space(it: _Object) -> dict[str, object]:
    if it.box is None:
        return {"center": it.position and it.position.turned()}
    size = it.box.size
    return {"center": it.box.center.turned(), "size_x": size.x, "size_y": size.z, "size_z": size.y}


def _links(form: _Metadata) -> Iterator[RelationDraft]:
    by_id, held = {it.id: it for it in form.objects}, {it.id for it in form.held}
    for index, it in enumerate(form.objects):
        place, parents = f"$.objects[{index}]", it.parents or []
        if form.agent is not None and (it.has("isPickedUp") or it.id in held):
            yield RelationDraft(place, AGENT, "HOLDS", it.id)
        elif parents:
            for parent in parents:
                contains = parent in by_id and by_id[parent].contains
                yield RelationDraft(f"{place}.parentReceptacles", it.id, "INSIDE" if contains else "ON", parent)
        elif form.scene is not None:
            yield RelationDraft(place, it.id, "INSIDE", form.scene)
    if form.agent is not None and form.scene is not None:
        yield RelationDraft("$.agent", AGENT, "INSIDE", form.scene)


# --- ProcTHOR


class _Item(_Read):
    id: str
    position: _Axes | None = None
    kinematic: bool = False
    openness: float | None = None
    asset: str | None = Field(None, alias="assetId")
    children: list[_Item] = []

    @property
    def type(self) -> str:
        return self.id.split("|")[0]


class _Room(_Read):
    id: str
    type: str = Field(alias="roomType")
    floor: list[_Axes] = Field([], alias="floorPolygon")


class _Door(_Read):
    id: str
    rooms: Annotated[str, Field(alias="room0")]
    other: Annotated[str, Field(alias="room1")]
    openness: float | None = None


class _HouseFacts(_Read):
    agent: _Pose | None = None


class _House(_Read):
    rooms: list[_Room]
    objects: list[_Item]
    doors: list[_Door] = []
    metadata: _HouseFacts = _HouseFacts()


def is_house(document: Any) -> bool:
    """Check if a document is a house of ProcTHOR."""
    match document:
        case {"rooms": [{"roomType": _}, *_], "objects": list()}:
            return True
    return False


def from_house(document: Any, *, file: str, name: str) -> ImportedScene:
    """Return the scene of a house: rooms, doors, furniture and what is on it. Raises DocumentError."""
    form = validated(_House, document, file)
    items = [*_items(form.objects, None, "$.objects")]
    rooms = {room.id for room in form.rooms}
    return own_words(
        _house_drafts(form, items), _house_links(form, items, rooms), file=file, name=name, notes=(TURNED,)
    )


def _items(items: Sequence[_Item], parent: _Item | None, place: str) -> Iterator[tuple[str, _Item, _Item | None]]:
    for index, item in enumerate(items):
        yield f"{place}[{index}]", item, parent
        yield from _items(item.children, item, f"{place}[{index}].children")


def _house_drafts(form: _House, items: Sequence[tuple[str, _Item, _Item | None]]) -> Iterator[NodeDraft]:
    for index, room in enumerate(form.rooms):
        yield node_draft(f"$.rooms[{index}]", room.id, "Place", room.type)
    for index, door in enumerate(form.doors):
        yield node_draft(f"$.doors[{index}]", door.id, "Door", "door", states=_opened(door.openness))
    for place, item, parent in items:
        kind = "Asset" if item.kinematic or parent is None else "Object"
        facts: dict[str, Any] = {"center": item.position and item.position.turned(), "prefab": item.asset}
        yield node_draft(place, item.id, kind, item.type, states=_opened(item.openness), **facts)
    if form.metadata.agent is not None:
        at = form.metadata.agent.position
        yield node_draft("$.metadata.agent", AGENT, "Agent", AGENT, center=at and at.turned())


def _opened(openness: float | None) -> list[str]:
    return [] if openness is None else ["open" if openness > 0 else "closed"]


def _house_links(
    form: _House, items: Sequence[tuple[str, _Item, _Item | None]], rooms: set[str]
) -> Iterator[RelationDraft]:
    for place, item, parent in items:
        if parent is not None:
            contains = parent.type in CONTAINERS or parent.openness is not None
            yield RelationDraft(place, item.id, "INSIDE" if contains else "ON", parent.id)
            continue
        room = f"room|{item.id.split('|')[1]}" if "|" in item.id else ""
        found = room if room in rooms else _room_at(form.rooms, item.position)
        if found is not None:
            yield RelationDraft(place, item.id, "INSIDE", found)
    for index, door in enumerate(form.doors):
        yield from (RelationDraft(f"$.doors[{index}]", door.id, "BETWEEN", it) for it in {door.rooms, door.other})
    agent = form.metadata.agent
    if agent is not None and (here := _room_at(form.rooms, agent.position)) is not None:
        yield RelationDraft("$.metadata.agent", AGENT, "INSIDE", here)


def _room_at(rooms: Sequence[_Room], at: _Axes | None) -> str | None:
    """Return the room on whose floor a position is: a line from it crosses the edge an odd number of times."""
    if at is None:
        return None
    for room in rooms:
        edges = [*pairwise([*room.floor, *room.floor[:1]])]
        crossed = [
            at.x < a.x + (at.z - a.z) * (b.x - a.x) / (b.z - a.z) for a, b in edges if (a.z > at.z) != (b.z > at.z)
        ]
        if sum(crossed) % 2:
            return room.id
    return None
