"""AI2-THOR's metadata, and houses of ProcTHOR and Holodeck. Unity's left-handed positions, y up, are turned to z up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Any, Final

from pydantic import AliasChoices, AliasPath, BeforeValidator, ConfigDict, Field

from scenecypher.db.graph.axes import TURNED
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.problems import RelationDraft, validated
from scenecypher.db.graph.scene import Point
from scenecypher.db.graph.value import class_of_name
from scenecypher.importers.assembly import NodeDraft, Read, node_draft, own_words
from scenecypher.importers.word_tables import listed, tables

NAME_PREFIX: Final = "thor/"
AGENT: Final = "agent"
WORDS: Final[Mapping[str, Any]] = tables("words")["thor"]
CONTAINERS: Final = frozenset(listed(WORDS["containers"]))


class _Axes(Read):
    x: float
    y: float
    z: float

    def turned(self) -> Point:
        return Point(self.x, self.z, self.y)


class _Box(Read):
    center: _Axes
    size: _Axes


class _Object(Read):
    model_config = ConfigDict(extra="allow")
    id: str = Field(alias="objectId")
    type: str = Field(alias="objectType")
    position: _Axes | None = None
    box: _Box | None = Field(None, alias="axisAlignedBoundingBox")
    parents: Annotated[list[str] | None, BeforeValidator(lambda it: [it] if isinstance(it, str) else it)] = Field(
        None, validation_alias=AliasChoices("parentReceptacles", "parentReceptacle")
    )
    bears: list[str] | None = Field(None, alias="receptacleObjectIds")

    def has(self, flag: str) -> bool:
        return (self.model_extra or {}).get(flag) is True

    @property
    def contains(self) -> bool:
        return self.type in CONTAINERS or self.has("openable")


class _Pose(Read):
    position: _Axes | None = None


class _Metadata(Read):
    objects: list[_Object]
    held: list[dict[str, Any]] = Field([], alias="inventoryObjects")
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
    return own_words((*_frame(form), *_things(form)), file=file, name=name, notes=notes)


def _frame(form: _Metadata) -> Iterator[NodeDraft | RelationDraft]:
    room, agent = form.scene, form.agent
    if room is not None:
        number = room.removeprefix("FloorPlan").split("_")[0]
        hundreds = str(int(number) // 100) if number.isascii() and number.isdecimal() else ""
        yield node_draft("$.sceneName", room, "Place", WORDS["rooms"].get(hundreds, "room"))
    if agent is not None:
        yield node_draft("$.agent", AGENT, "Agent", AGENT, center=agent.position and agent.position.turned())
    if agent is not None and room is not None:
        yield RelationDraft("$.agent", AGENT, "INSIDE", room)


def _things(form: _Metadata) -> Iterator[NodeDraft | RelationDraft]:
    by_id, held = {it.id: it for it in form.objects}, {it.get("objectId") for it in form.held}
    told = {inner: [it.id] for it in form.objects for inner in it.bears or ()}
    for index, it in enumerate(form.objects):
        place, kind = f"$.objects[{index}]", "Object" if it.has("pickupable") or it.has("moveable") else "Asset"
        words = [ours for theirs, ours in WORDS["affordances"].items() if it.has(theirs)]
        words += [("containers" if it.contains else "surfaces")] if it.has("receptacle") else []
        facts: dict[str, Any] = {"name": (it.model_extra or {}).get("name"), **_space(it)}
        yield node_draft(place, it.id, kind, it.type, states=[*_states(it)], affordances=words, **facts)
        if form.agent is not None and (it.has("isPickedUp") or it.id in held):
            yield RelationDraft(place, AGENT, "HOLDS", it.id)
        elif parents := it.parents or told.get(it.id):
            for parent in parents:
                contains = parent in by_id and by_id[parent].contains
                yield RelationDraft(f"{place}.parentReceptacles", it.id, "INSIDE" if contains else "ON", parent)
        elif form.scene is not None:
            yield RelationDraft(place, it.id, "INSIDE", form.scene)


def _states(it: _Object) -> Iterator[str]:
    for flag, (affords, true, false) in WORDS["states"].items():
        if it.has(flag):
            yield true
        elif false and it.has(affords):
            yield false


def _space(it: _Object) -> dict[str, object]:
    if it.box is None:
        return {"center": it.position and it.position.turned()}
    size = it.box.size
    return {"center": it.box.center.turned(), "size_x": size.x, "size_y": size.z, "size_z": size.y}


# --- ProcTHOR


class _Item(Read):
    id: str
    position: _Axes | None = None
    kinematic: bool = False
    openness: float | None = None
    asset: str | None = Field(None, alias="assetId")
    room: str | None = Field(None, alias="roomId")
    name: str | None = Field(None, alias="object_name")
    children: list[_Item] = Field([])

    @property
    def type(self) -> str:
        return class_of_name(self.name or self.id.split("|")[0])


class _Room(Read):
    id: str
    type: str = Field(alias="roomType")
    floor: list[_Axes] = Field([], alias="floorPolygon")


class _Door(Read):
    id: str
    rooms: Annotated[str, Field(alias="room0")]
    other: Annotated[str, Field(alias="room1")]
    openness: float | None = None


class _House(Read):
    rooms: list[_Room]
    objects: list[_Item]
    doors: list[_Door] = Field([])
    open: list[list[str]] = Field([], alias="open_room_pairs")
    agent: _Pose | None = Field(None, validation_alias=AliasPath("metadata", "agent"))


def is_house(document: Any) -> bool:
    """Check if a document is a house of ProcTHOR."""
    match document:
        case {"rooms": [{"roomType": _}, *_], "objects": list()}:
            return True
    return False


def from_house(document: Any, *, file: str, name: str) -> ImportedScene:
    """Return the scene of a house: rooms, doors, furniture and what is on it. Raises DocumentError."""
    form = validated(_House, document, file)
    return own_words(_house_parts(form), file=file, name=name, notes=(TURNED,))


def _items(items: Sequence[_Item], parent: _Item | None, place: str) -> Iterator[tuple[str, _Item, _Item | None]]:
    """Yield items with their places and what they are in or on: what they stand in, or what a Holodeck's id ends in."""
    by_id = {it.id: it for it in items}
    for index, item in enumerate(items):
        yield f"{place}[{index}]", item, parent or by_id.get(item.id.partition("|")[2])
        yield from _items(item.children, item, f"{place}[{index}].children")


def _house_parts(form: _House) -> Iterator[NodeDraft | RelationDraft]:
    rooms = {room.id for room in form.rooms}
    for index, room in enumerate(form.rooms):
        yield node_draft(f"$.rooms[{index}]", room.id, "Place", room.type)
    for index, door in enumerate(form.doors):
        yield node_draft(f"$.doors[{index}]", door.id, "Door", "door", states=_opened(door.openness))
        yield from (RelationDraft(f"$.doors[{index}]", door.id, "BETWEEN", it) for it in {door.rooms, door.other})
    pairs = (it for pair in form.open if len(pair) == 2 for it in (pair, pair[::-1]))
    yield from (RelationDraft("$.open_room_pairs", one, "CONNECTS", other) for one, other in pairs)
    for place, item, parent in _items(form.objects, None, "$.objects"):
        kind = "Asset" if item.kinematic or parent is None else "Object"
        facts: dict[str, Any] = {"center": item.position and item.position.turned(), "prefab": item.asset}
        yield node_draft(place, item.id, kind, item.type, states=_opened(item.openness), **facts)
        own = item.room or (f"room|{item.id.split('|')[1]}" if "|" in item.id else "")
        if parent is not None:
            contains = parent.type in CONTAINERS or parent.openness is not None
            yield RelationDraft(place, item.id, "INSIDE" if contains else "ON", parent.id)
        elif (found := own if own in rooms else _room_at(form.rooms, item.position)) is not None:
            yield RelationDraft(place, item.id, "INSIDE", found)
    if form.agent is not None:
        at = form.agent.position
        yield node_draft("$.metadata.agent", AGENT, "Agent", AGENT, center=at and at.turned())
        if (here := _room_at(form.rooms, at)) is not None:
            yield RelationDraft("$.metadata.agent", AGENT, "INSIDE", here)


def _opened(openness: float | None) -> list[str]:
    return [] if openness is None else ["open" if openness > 0 else "closed"]


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
