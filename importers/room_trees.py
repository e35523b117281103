"""Rooms with nested furniture and objects, and SayPlan's graphs: nodes by kind, each with its parent, and links."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from scenecypher.db.graph.graph_json import value_from
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.problems import Problem, RelationDraft, document_error
from scenecypher.db.graph.scene import InvalidValue
from scenecypher.db.graph.value import class_of_name, shown
from scenecypher.errors import DocumentError
from scenecypher.importers.assembly import NodeDraft, as_value, node_draft, numbers, own_words, position
from scenecypher.importers.open_vocabulary import (
    ENDS,
    KINDS,
    NAMES,
    PARENTS,
    first_of,
    nested_left,
    snake_case,
    texts,
    without_nested,
)
from scenecypher.importers.word_tables import by_word, listed, tables

NAME_PREFIX: Final = "rooms/"
WORDS: Final[Mapping[str, Any]] = tables("words")["rooms"]
NESTED, RELATIONS, AFFORDANCES, WITHIN = (
    by_word(WORDS[key]) for key in ("nested", "relations", "affordances", "within")
)
NEIGHBOURS, STATES, AFFORDS, ROOTS, LINKS, AGENT_AT, POSITIONS = (
    listed(WORDS[key]) for key in ("neighbours", "states", "affords", "roots", "links", "agent_at", "positions")
)
OPENS: Final = frozenset(listed(WORDS["opens"]))
THINGS: Final = frozenset(it for it, kind in NESTED.items() if kind in {"Asset", "Object"} and it not in RELATIONS)
"""Keys of the things in a room that do not say their relation to it."""
LEVELS: Final = ("Place", "Waypoint", "Asset", "Object", "Agent")
OPEN_KINDS: Final = LEVELS[:2]
NOT_NAMES: Final = frozenset({*NESTED, *PARENTS, *NEIGHBOURS, *STATES, *AFFORDS})
KNOWN: Final = NOT_NAMES | {"id", "name", "type", "kind", *POSITIONS}
_ENDS: Final = re.compile(r"\s*(?:↔|→|<?-{1,2}>|--|\s-\s)\s*")


def is_sayplan(document: Any) -> bool:
    """Check if a document has nodes by kind, with links or an agent in a list."""
    match document:
        case {"nodes": {} as nodes}:
            is_own = "room" in nodes or "asset" not in nodes or isinstance(nodes.get("agent"), list)
            return ("links" in document or is_own) and not NESTED.keys().isdisjoint(nodes)
    return False


def is_tree(document: Any) -> bool:
    """Check if a document is of rooms that have things in them."""
    if isinstance(document, list):
        return bool(document) and all(isinstance(it, dict) and "name" in it and _has_nested(it) for it in document)
    is_map = isinstance(document, dict) and "nodes" not in document
    if is_map and isinstance(document.get("children"), list) and document.keys() & {"id", "name"}:
        return True
    has_root = is_map and any(isinstance(document.get(key), dict | list) for key in ROOTS)
    return has_root or _rooms_by_name(document) is not None


def _rooms_by_name(document: Any) -> Mapping[str, Any] | None:
    """Return the rooms of a map of them by name, or of a house with things by theirs; None for any other document."""
    match document:
        case {"house": {} as rooms} if _is_by_name(rooms):
            return rooms if all(isinstance(it, dict) and _is_by_name(it) for it in rooms.values()) else None
        case {} if all(it in ({}, None) or _is_room(it) for it in document.values()):
            has_things = any(THINGS & it.keys() for it in document.values() if it)
            return document if has_things and {*NESTED, "nodes"}.isdisjoint(document) else None
    return None


def from_document(document: Any, *, file: str, name: str) -> ImportedScene:
    """Return the scene of a document of either form. Raises DocumentError with all its problems."""
    tree = _Tree()
    given, at = document if isinstance(document, dict) else {}, ""
    if is_tree(document) and (isinstance(document, list) or "children" in document):
        given, at = {"rooms": document}, "$"
    elif (rooms := _rooms_by_name(given)) is not None:
        given, at = ({"rooms": rooms}, "$") if rooms is given else ({**given, "rooms": rooms}, "$.house")
    nodes = given.get("nodes", given)
    if not isinstance(nodes, dict):
        raise DocumentError(file, "$", f"should be rooms, or nodes by kind, not {shown(nodes)}")
    root = "$" if nodes is given else "$.nodes"
    nested = {key: value for key, value in nodes.items() if key in NESTED}
    named = {key: [it] for key, it in nested.items() if isinstance(it, str) and NESTED[key] == "Agent"}
    here = ([{"name": "robot", "location": given[key]}] for key in AGENT_AT if isinstance(given.get(key), str))
    tree.read({**dict(zip(("robots",), here, strict=False)), **nested, **named}, root, at=at)
    for key in LINKS:
        tree.link(given.get(key), key)
    if tree.problems:
        raise document_error(file, tree.problems)
    others = sorted(given.keys() - {*NESTED, *LINKS, *AGENT_AT, "house", "nodes"} if not at else ())
    about = (f"{', '.join(others)} of the file left out",) if others else ()
    return own_words(tree.parts(), file=file, name=name, notes=(*about, *nested_left(tree.left)))


@dataclass(slots=True)
class _Item:
    """A node of the tree: its place, kind and facts, and its relations to others by id or name.

    It is `placed` in what it is nested in, and says itself what it is `named` to be in or on.
    """

    place: str
    id: str
    name: str
    kind: str
    facts: dict[str, Any]
    placed: list[tuple[str | None, str]] = field(default_factory=list)
    named: list[tuple[str | None, str]] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    near: list[str] = field(default_factory=list)

    @property
    def opens(self) -> bool:
        return self.kind in OPEN_KINDS or not OPENS.isdisjoint((*self.facts["states"], *self.facts["affordances"]))


@dataclass(slots=True)
class _Tree:
    items: dict[str, _Item] = field(default_factory=dict)
    by_name: dict[str, _Item] = field(default_factory=dict)
    repeated: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)

    def read(self, record: Mapping[str, Any], place: str, around: _Item | None = None, *, at: str = "") -> None:
        """Read what is nested in a record; `at` is the place of its `rooms` if they have no such key in the file."""
        for key, value in record.items():
            if key == "building" and _is_by_name(value):
                self.read({"floors": value}, place, around)
            elif key in NESTED and isinstance(value, list | dict) and not (key in POSITIONS and _is_position(value)):
                for where, inner in _records(value, (key == "rooms" and at) or f"{place}.{key}", key):
                    self._add(inner, where, NESTED[key], RELATIONS.get(key), around)

    def _add(self, record: Any, place: str, kind: str, relation: str | None, around: _Item | None) -> None:
        record = _with_names({"name": record} if isinstance(record, str) else record, kind)
        given = next((record[it] for it in ("id", *NAMES) if it in record), None) if isinstance(record, dict) else None
        if not isinstance(given, str | int):
            self.problems.append((place, f"should be a name, or a map with an id or a name, not {shown(record)}"))
            return
        id_ = str(given)
        while id_ in self.items and "id" not in record:
            self.repeated[str(given)] += 1
            id_ = f"{given}_{self.repeated[str(given)] + 1}"
        if id_ in self.items:
            self.problems.append((place, f"{shown(id_)} is the id of {self.items[id_].place} already; give it another"))
            return
        word = record.get("kind", record.get("type"))
        kind = KINDS.get(word.casefold(), kind) if isinstance(word, str) else kind
        if isinstance(word, str) and word.casefold() not in KINDS:
            record = {"class": word, **record}
        is_furniture = kind == "Object" and around is not None and around.kind == "Place" and _has_nested(record)
        try:
            facts = _facts(record, self.left)
        except InvalidValue as error:
            self.problems.append((place, str(error)))
            return
        item = _Item(place, id_, str(record.get("name", given)), "Asset" if is_furniture else kind, facts)
        self.items[id_] = item
        self.by_name.setdefault(item.name, item)
        if relation == "HOLDS" and around is not None:
            around.held.append(id_)
        elif around is not None:
            item.placed.append((relation, around.id))
        named = [(PARENTS[key] or None, str(record[key])) for key in PARENTS if type(record.get(key)) in {str, int}]
        item.named += [it for it in named if it[1] not in {id_, item.name}]
        item.held += [it for it in [record.get("holding")] if isinstance(it, str) and it != "nothing"]
        item.near += [it for key in NEIGHBOURS for it in texts(record.get(key))]
        self.read(record, place, item)

    def link(self, links: Any, key: str) -> None:
        """Read the links under a key: places are connected, of two others the lower is in the higher."""
        for index, link in enumerate(links if isinstance(links, list) else []):
            ends = _ends(link)
            found = [it for end in ends for it in [self._named(end)] if it is not None]
            if len(ends) != 2 or len(found) != 2:
                missing = next((end for end in ends if len(ends) == 2 and self._named(end) is None), None)
                cause = f"should join two nodes, as 'kitchen↔fridge' does, not {shown(link)}"
                cause += "" if missing is None else f"; there is no node {shown(missing)}"
                self.problems.append((f"$.{key}[{index}]", cause))
                continue
            high, low = sorted(found, key=lambda it: LEVELS.index(it.kind))
            if low.kind in OPEN_KINDS and low.kind == high.kind:
                low.near.append(high.id)
            elif not low.placed and not low.named:
                low.placed.append((None, high.id))

    def parts(self) -> Iterator[NodeDraft | RelationDraft]:
        for item in self.items.values():
            facts = dict(item.facts)
            class_ = facts.pop("class", None) or class_of_name(item.name)
            yield node_draft(item.place, item.id, item.kind, class_, name=item.name, **facts)
            yield from (RelationDraft(item.place, item.id, "HOLDS", self._id_of(it)) for it in item.held)
            for relation, word in self._placed(item):
                other = self._named(word)
                target = self._id_of(word)
                if other is not None and other.kind == "Agent" and relation is None:
                    yield RelationDraft(item.place, target, "HOLDS", item.id)
                    continue
                type_ = relation or ("INSIDE" if other is None or other.opens else "ON")
                yield RelationDraft(item.place, item.id, type_, target)
            for word in item.near:
                ends = (item.id, self._id_of(word))
                yield from (RelationDraft(item.place, one, "CONNECTS", it) for one, it in (ends, ends[::-1]))

    def _placed(self, item: _Item) -> list[tuple[str | None, str]]:
        """Return what an item is in or on: a thing that it names, else what it is nested in, else a room it names."""
        others = [(it, self._named(it[1])) for it in item.named]
        things = [
            it for it, other in others if other is not None and other.kind not in OPEN_KINDS and other is not item
        ]
        return things[:1] or item.placed or item.named[:1]

    def _id_of(self, word: str) -> str:
        other = self._named(word)
        return word if other is None else other.id

    def _named(self, word: str) -> _Item | None:
        """Return the node of an id, or of the first with a name."""
        return self.items.get(word) or self.by_name.get(word)


def _with_names(record: Any, kind: str) -> Any:
    """Return a record with its id, name and type under these keys, and as its parent what is no position but a name."""
    if not isinstance(record, dict):
        return record
    # `room_id`, `room_name`, `room_type` and `label` are such names too
    others = [(word, f"{it}_{word}") for it in listed(WORDS["names"].get(kind, ())) for word in ("id", "name", "type")]
    found = [(word, record[key]) for word, key in (*others, ("name", "label")) if record.get(key) is not None]
    record = {**dict(reversed(found)), **record}
    at = first_of(record, POSITIONS)
    if at is None or not isinstance(numbers(record[at]), str):
        return record
    return {"parent": record[at], **{key: it for key, it in record.items() if key != at}}


def _records(value: list[Any] | dict[str, Any], place: str, key: str) -> Iterator[tuple[str, Any]]:
    """Yield the records under a key, with their places: of a list, of a map by name, or the one that a map is."""
    if isinstance(value, list):
        yield from ((f"{place}[{index}]", inner) for index, inner in enumerate(value))
    elif value.keys() & {"id", "name"} or 2 * sum(_is_field(*it) for it in value.items()) >= len(value) > 0:
        yield place, {"name": key.rstrip("s"), **value} if "id" not in value else value
    else:
        for name, inner in value.items():
            is_by_name = isinstance(inner, list) or _is_by_name(inner)
            parts = {WITHIN.get(key, "contents"): inner} if is_by_name else inner or {}
            parts = {"parent": parts} if isinstance(parts, str) else parts
            yield f"{place}.{name}", {"name": name, **parts} if isinstance(parts, dict) else parts


def _is_field(key: str, value: Any) -> bool:
    """Check if a key is that of a field, and not the name of a thing such as `robot`, which has a map."""
    return key in KNOWN and (not isinstance(value, dict) or key.endswith("s") or key in listed(WORDS["space"]))


def _is_by_name(value: Any) -> bool:
    """Check if a map has names of things alone as keys: each holds a map or a list."""
    is_map = isinstance(value, dict) and bool(value) and all(isinstance(it, list | dict) for it in value.values())
    return is_map and value.keys().isdisjoint({*NOT_NAMES, *listed(WORDS["space"])})


def _is_room(record: Any) -> bool:
    """Check if a record under its name is a room: it has things in it or neighbours, and no rooms of its own."""
    has_rooms = isinstance(record, dict) and any(NESTED.get(key) == "Place" for key in record)
    return isinstance(record, dict) and not has_rooms and not record.keys().isdisjoint(THINGS.union(NEIGHBOURS))


def _has_nested(record: Mapping[str, Any]) -> bool:
    return any(key in NESTED and isinstance(value, list | dict) for key, value in record.items())


def _facts(record: Mapping[str, Any], left: Counter[str]) -> dict[str, Any]:
    """Return states and affordances, the position, and every other plain value as a property; `left` counts others."""
    states = [it for key in STATES for it in texts(record.get(key))]
    affordances = [AFFORDANCES.get(it, it) for key in AFFORDS for it in texts(record.get(key))]
    given = {key: as_value(it) for key, it in record.items() if key not in KNOWN}
    maps = [key for key, it in given.items() if isinstance(it, dict) and "point" not in it]
    inner = {key: it for name in maps for key, it in given[name].items() if key not in KNOWN}
    plain = without_nested(inner | {key: it for key, it in given.items() if key not in maps}, left)
    facts = {snake_case(key): value_from(it, key) if isinstance(it, dict) else it for key, it in plain.items()}
    at = first_of(record, POSITIONS)
    center = {} if at is None else position(record[at][:3] if _is_position(record[at]) else record[at], at)
    return {"states": states, "affordances": affordances, **facts, **center}


def _is_position(value: Any) -> bool:
    """Check if a value is a list of numbers: a position, or one with an angle after it."""
    return isinstance(value, list) and bool(value) and all(isinstance(it, int | float) for it in value)


def _ends(link: Any) -> list[str]:
    match link:
        case str():
            return _ENDS.split(link.strip())
        case [str(one), str(other)]:
            return [one, other]
        case {}:
            return [it for names in ENDS.values() for it in [link.get(first_of(link, names))] if isinstance(it, str)]
    return []
