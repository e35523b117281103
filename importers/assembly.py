"""Assembly of a scene graph from the nodes and relations of a file: values in space, and each problem at its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from scenecypher.db.graph.graph_json import value_from
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.invariants import broken_rules
from scenecypher.db.graph.problems import NodeFacts, Problem, RelationDraft, document_error, find_faults
from scenecypher.db.graph.scene import EMPTY, InvalidValue, Node, Properties, SceneGraph, relation_between
from scenecypher.db.graph.value import Point, checked, label, labels, property_name, shown
from scenecypher.db.schema import Declared, vocabulary_of
from scenecypher.db.vocabulary import DEFAULT

T = TypeVar("T")
Given = Any
Vector3 = Annotated[tuple[float, float, float], Field(strict=False)]
SIZES = ("extent", "size", "dimensions")
OWN = ("name", "states", "affordances")


class Read(BaseModel):
    """A part of another's file: fields that are not named are not read."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, allow_inf_nan=False)


def position(given: Given, place: str) -> Mapping[str, object]:
    """Return the `center` of [x, y], [x, y, z], {"x": …, "y": …, "z": …}, or a pose's. Raises InvalidValue."""
    if isinstance(given, dict):
        given = next((given[it] for it in ("position", "Position", "translation") if it in given), given)
    if isinstance(given, dict) and "point" in given:
        return {"center": value_from(given, place)}
    given = numbers(_by_axis(given))
    if not isinstance(given, list) or len(given) not in {2, 3}:
        raise InvalidValue(f"{place} should be a position, [x, y] or [x, y, z], not {shown(given)}")
    return {"center": Point(*given)}


def as_value(given: Given) -> Given:
    """Return a map by axis as a position, one with `w` besides as a list; any other value as it is."""
    if isinstance(given, dict) and given.keys() == {"x", "y", "z", "w"}:
        parts: list[Any] = [given[axis] for axis in "xyzw"]
        return [float(it) if _is_length(it) else it for it in parts]
    axes = _by_axis(given)
    return given if axes is given else {"point": axes}


def size(given: Given, place: str) -> Mapping[str, object]:
    """Return `size_x`, `size_y` and `size_z` of two or three lengths, listed or by axis. Raises InvalidValue."""
    given = numbers(_by_axis(given))
    if not isinstance(given, list) or len(given) not in {2, 3} or not all(map(_is_length, given)):
        raise InvalidValue(f"{place} should be a size, [x, y] or [x, y, z], not {shown(given)}")
    return dict(zip(("size_x", "size_y", "size_z"), map(float, given), strict=False))


def box(given: Given, place: str) -> Mapping[str, object]:
    """Return center and size of a box: center with extent, corners by name, or a list of two corners.

    Raises InvalidValue.
    """
    match given:
        case {"center": None} | {"min": None} | {"max": None}:
            return {}
        case {"center": middle} if any(key in given for key in SIZES):
            lengths = next(given[key] for key in SIZES if key in given)
            return {**position(middle, f"{place}.center"), **size(lengths, f"{place} size")}
        case {"min": list() | dict() as low, "max": list() | dict() as high} | [list() as low, list() as high]:
            return _between(_by_axis(low), _by_axis(high), place)
        case [[_, _, _], [_, _, _], [_, _, _], *_] if _are_corners(given):
            low, high = ([*map(end, zip(*given, strict=True))] for end in (min, max))
            return _between(low, high, place)
        case [_, _, _, _, _, _]:
            return _between(given[:3], given[3:], place)
        case _:
            forms = "a center with an extent, the corners min and max, or a list of two or all corners"
            raise InvalidValue(f"{place} should be a box in space: {forms}, not {shown(given)}")


def _are_corners(given: Sequence[Given]) -> bool:
    return all(isinstance(it, list) and len(it) == 3 and all(map(_is_length, it)) for it in given)


def caption(given: Given, place: str) -> Mapping[str, object]:
    """Return a `caption`. Raises InvalidValue."""
    if not isinstance(given, str):
        raise InvalidValue(f"{place} should be text, not {shown(given)}")
    return {"caption": checked(given, place)}


def _between(low: Sequence[Given], high: Sequence[Given], place: str) -> Mapping[str, object]:
    one, other = (position([*corner], place)["center"] for corner in (low, high))
    assert isinstance(one, Point) and isinstance(other, Point)  # noqa: S101, PT018 - lists give points
    if len(low) != len(high):
        raise InvalidValue(f"{place}: its corners have {len(low)} and {len(high)} numbers; give as many to both")
    ends = [
        (a, b) for a, b in ((one.x, other.x), (one.y, other.y), (one.z, other.z)) if a is not None and b is not None
    ]
    middle = [(a + b) / 2 for a, b in ends]
    return {"center": Point(*middle), **size([abs(b - a) for a, b in ends], place)}


def numbers(given: Given) -> Given:
    """Return numbers that are written as text, one by one or all in one, as numbers; any other value as it is."""
    parts = given.replace(",", " ").split() if isinstance(given, str) else given
    if not isinstance(parts, list) or not parts or not any(isinstance(it, str) for it in parts):
        return given
    try:
        return [float(it) for it in parts]
    except (TypeError, ValueError):
        return given


def _by_axis(given: Given) -> Given:
    """Return {"x": …, "y": …, "z": …} as a list; any other value as it is."""
    if isinstance(given, dict) and {"X", "Y"} <= given.keys() <= {"X", "Y", "Z"}:
        given = {key.lower(): value for key, value in given.items()}
    is_by_axis = isinstance(given, dict) and {"x", "y"} <= given.keys() <= {"x", "y", "z"}
    return [given[axis] for axis in "xyz" if axis in given] if is_by_axis else given


def _is_length(value: Given) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class NodeDraft:
    """A node to be made: its place in the file, and the function that makes it, which may raise InvalidValue.

    `id`, if given, is the node's even where it can't be made, so that its relations are no further problem.
    """

    place: str
    make: Callable[[], Node]
    id: str | None = None


def assemble(
    parts: Iterable[NodeDraft | RelationDraft],
    *,
    file: str,
    declared: Declared | None,
    vocabulary: str = DEFAULT,
    problems: Iterable[Problem] = (),
) -> SceneGraph:
    """Return the graph of nodes and relations. Raises DocumentError with their problems, after those found before.

    Without `declared`, as where a file's declarations can't be read, any names are accepted.
    """
    parts, found = [*parts], list[Problem]()
    drafts = [it for it in parts if isinstance(it, NodeDraft)]
    links = (it for it in parts if isinstance(it, RelationDraft))
    nodes = [*made(((draft.place, draft.make) for draft in drafts), found)]
    relations = [*made(((place, partial(relation_between, *link)) for place, *link in links), found)]
    found += find_faults(
        [NodeFacts(place, node.id, node.properties) for place, node in nodes],
        [RelationDraft(place, it.source, it.type, it.target) for place, it in relations],
        None if declared is None else vocabulary_of(declared),
        broken=[draft.id for draft in drafts if draft.id is not None],
    )
    graph = SceneGraph.of((node for _, node in nodes), (relation for _, relation in relations)) if not found else EMPTY
    places = {node.id: place for place, node in nodes}
    found += [(places[node_id], f"{node_id}: {cause}") for node_id, cause in broken_rules(graph, vocabulary)]
    if all_problems := [*problems, *found]:
        raise document_error(file, all_problems)
    return graph


def own_words(
    parts: Iterable[NodeDraft | RelationDraft], *, file: str, name: str, notes: Iterable[str] = ()
) -> ImportedScene:
    """Return the scene of a format whose words are its own: it declares those that we don't know.

    A relation that is given twice is stored once; one to a node that is not in the file is left out, with a note.
    Raises DocumentError.
    """
    parts = [*parts]
    drafts = [it for it in parts if isinstance(it, NodeDraft)]
    known = {draft.id for draft in drafts}
    once = {(it.source, it.type, it.target): it for it in parts if isinstance(it, RelationDraft)}
    inner = [link for link in once.values() if link.source in known and link.target in known]
    graph = assemble((*drafts, *inner), file=file, declared=None)
    missing = len(once) - len(inner)
    more = (f"{missing:,} relations to things that are not in the file left out",) if missing else ()
    return ImportedScene(name, graph, declared=declared_by(graph), source=file, notes=(*notes, *more))


def declared_by(graph: SceneGraph) -> Declared:
    """Return the relation types and properties of a graph beyond the registry's."""
    properties = {key for node in graph.nodes.values() for key in node.properties}
    return Declared(tuple({relation.type for relation in graph.relations}), tuple(properties))


def node_draft(place: str, id_: str, kind: str, class_: str, **facts: object) -> NodeDraft:
    """Return the draft of a node; of the `facts`, name, states and affordances are its own, others properties."""

    def make() -> Node:
        own, name = label(id_, "id"), label(facts.get("name") or id_, "name")
        states, affordances = (labels(facts.get(key) or (), key) for key in ("states", "affordances"))
        others = {key: value for key, value in facts.items() if value is not None and key not in OWN}
        given = {property_name(key): checked(value, key) for key, value in others.items()}
        return Node(own, kind, name, label(class_, "class"), states, affordances, Properties(given))

    return NodeDraft(place, make, id_)


def made(drafts: Iterable[tuple[str, Callable[[], T]]], problems: list[Problem]) -> Iterator[tuple[str, T]]:
    """Yield what can be made, with its place; add the problems of all else."""
    for place, make in drafts:
        try:
            yield place, make()
        except InvalidValue as error:
            problems.append((place, str(error)))


def refuse(problems: Iterable[Problem]) -> None:
    """Raise InvalidValue with all causes, each once, if there are any."""
    if causes := dict.fromkeys(cause for _, cause in problems):
        raise InvalidValue("; ".join(causes))
