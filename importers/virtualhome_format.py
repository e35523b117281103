"""VirtualHome's environment graph: the form of its files, its check, and conversion from and to a scene graph.

The tables of words are in `data/words.toml`. Classes, categories and prefab names are kept as the source has them;
Unity's axes become ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import starmap
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from scenecypher.db.graph.axes import exchanged, exchanged_facts
from scenecypher.db.graph.problems import (
    NodeFacts,
    Problem,
    RelationDraft,
    Wording,
    document_error,
    find_faults,
    json_path,
    problems_of,
)
from scenecypher.db.graph.scene import InvalidValue, Node, Point, Properties, Relation, SceneGraph, Value
from scenecypher.db.graph.value import NAME_LENGTH, shown
from scenecypher.db.schema import REMEMBERED
from scenecypher.errors import did_you_mean
from scenecypher.importers.assembly import Vector3, made
from scenecypher.importers.task import ProgramStep
from scenecypher.importers.word_tables import listed, tables

WORDS: Final = tables("words")["virtualhome"]
KIND_OF_CATEGORY: Final[Mapping[str, str]] = WORDS["kinds"]
STATES, AFFORDANCES = ({word.upper(): word for word in listed(WORDS[key])} for key in ("states", "affordances"))
RELATIONS: Final = {word: word for word in listed(WORDS["relations"])}
PROPERTIES: Final[Mapping[str, str]] = WORDS["properties"]
LONGEST_CLASS: Final = NAME_LENGTH - len(f"_{-(2**63)}")
_NO_CLASS: Final = re.compile(r"""[\x00-\x1f\x7f-\x9f\ud800-\udfff`'"\\(){}\[\],;:$=|&*<>/]""")
_STRICT: Final = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)
WholeNumber = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Vector4 = Annotated[tuple[float, float, float, float], Field(strict=False)]
ENDS: Final = ("from_id", "relation_type", "to_id")
_SOURCE_STATES: Final = {ours: theirs for theirs, ours in STATES.items()}
_SOURCE_AFFORDANCES: Final = {ours: theirs for theirs, ours in AFFORDANCES.items()}
_SOURCE_RELATIONS: Final = {ours: theirs for theirs, ours in RELATIONS.items()}
_BOX: Final = ("center", "size_x", "size_y", "size_z")
_TRANSFORM: Final = ("position", "rotation", "scale")
_STEP: Final = re.compile(r"\[(\w+)\]((?: <[^<>]+> \((?:\d+\.)?\d+\))*)")
_ARGUMENT: Final = re.compile(r"<([^<>]+)> \((?:\d+\.)?(\d+)\)")
_HELD: Final = frozenset(name for names in PROPERTIES.values() for name in names.split(", "))


def _checked_class(name: str) -> str:
    if len(name) > LONGEST_CLASS:
        cause = f"{len(name):,} characters; at most {LONGEST_CLASS} are allowed"
        raise PydanticCustomError("class_name", "{cause}", {"cause": cause})
    odd = _NO_CLASS.search(name)
    if odd or not name or name != name.strip():
        piece = f"holds {shown(odd.group())}" if odd else "is empty or has a blank at an end"
        cause = f"{shown(name)} {piece}; a class is made of letters, digits, '_', '-', '.' and blanks"
        raise PydanticCustomError("class_name", "{cause}", {"cause": cause})
    return name


def _known(what: str, table: Mapping[str, str]) -> AfterValidator:
    def check(word: str) -> str:
        if word not in table:
            hint = did_you_mean(word[:100], tuple(table)) or f"; VirtualHome knows {', '.join(table)}"
            raise PydanticCustomError("unknown", "{cause}", {"cause": f"unknown {what} {shown(word)}{hint}"})
        return word

    return AfterValidator(check)


class _Strict(BaseModel):
    model_config = _STRICT


ClassName = Annotated[str, AfterValidator(_checked_class)]
StateWord = Annotated[str, _known("state", STATES)]
AffordanceWord = Annotated[str, _known("property", AFFORDANCES)]
RelationTypeWord = Annotated[str, _known("relation type", RELATIONS)]


class BoundingBox(_Strict):
    """An axis-aligned box in metres, by Unity's axes: left-handed, y upwards."""

    center: Vector3
    size: Vector3


class Transform(_Strict):
    """A pose of newer simulators, by Unity's axes: position in metres, a quaternion x, y, z, w, scale factors."""

    position: Vector3
    rotation: Vector4
    scale: Vector3


class GraphNode(_Strict):
    """A node; its last four fields are null in all public task data, but the simulator's own graphs have them."""

    id: WholeNumber
    class_name: ClassName
    properties: list[AffordanceWord]
    states: list[StateWord]
    category: str | None = None
    prefab_name: str | None = None
    bounding_box: BoundingBox | None = None
    obj_transform: Transform | None = None


class GraphEdge(TypedDict):
    """A directed relation; a plain dict, since a scene may have a million."""

    __pydantic_config__ = _STRICT  # type: ignore[misc]

    from_id: WholeNumber
    relation_type: RelationTypeWord
    to_id: WholeNumber


class Graph(_Strict):
    """One environment graph."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]


def _reference_problems(raw: Any, root: str) -> Iterator[Problem]:
    """Yield the reference problems that can be found even if the graph has other problems."""
    if not isinstance(raw, dict):
        return
    nodes, edges = (raw[key] if isinstance(raw.get(key), list) else [] for key in ("nodes", "edges"))
    ids = ((index, node.get("id") if isinstance(node, dict) else None) for index, node in enumerate(nodes))
    known: list[tuple[int, Any]] = [(index, number) for index, number in ids if type(number) is int]
    links = [
        RelationDraft(index, *(edge[key] for key in ENDS))
        for index, edge in enumerate(edges)
        if isinstance(edge, dict) and [type(edge.get(key)) for key in ENDS] == [int, str, int]
    ]
    are_all = isinstance(raw.get("nodes"), list) and len(known) == len(nodes)
    yield from find_faults(
        [NodeFacts(index, number, ()) for index, number in known],
        links,
        None,
        broken=() if are_all else {end for link in links for end in (link.source, link.target)},
        words=Wording(
            lambda index, *_: f"{root}.nodes[{index}].id",
            lambda index, *part: f"{root}.edges[{index}]" + "".join(f".{ENDS[it]}" for it in part),
            missing="no node has the id",
        ),
    )


def node_id(class_name: str, source_id: int) -> str:
    """Return id and name of a node: ``soap_1001``; the number after the last underscore is the source's own."""
    return f"{class_name}_{source_id}"


def parse_step(text: str) -> ProgramStep:
    """Return the step ``[GRAB] <soap> (1.1001)`` of a program; ``1.`` may be missing. Raises ValueError."""
    if (found := _STEP.fullmatch(text.strip())) is None:
        raise ValueError(f"{shown(text)} is no step such as [GRAB] <soap> (1.1001)")
    arguments = tuple(node_id(name, int(number)) for name, number in _ARGUMENT.findall(found[2]))
    return ProgramStep(found[1].lower(), arguments)


def graph_from_source(raw: Any, root: str, file: str) -> SceneGraph:
    """Return the graph at `root` (such as ``$.init_graph``) of a file. Raises DocumentError with all problems."""
    problems = [*_reference_problems(raw, root)]
    try:
        graph = Graph.model_validate(raw)
    except ValidationError as error:
        raise document_error(file, [*problems_of(error, raw, root=root), *problems]) from error
    ids = {node.id: node_id(node.class_name, node.id) for node in graph.nodes}
    nodes = [
        *made(((f"{root}.nodes[{n}]", partial(_node, it, ids[it.id])) for n, it in enumerate(graph.nodes)), problems)
    ]
    if problems:
        raise document_error(file, problems)
    ends = ((ids[it["from_id"]], RELATIONS[it["relation_type"]], ids[it["to_id"]]) for it in graph.edges)
    return SceneGraph.of((node for _, node in nodes), starmap(Relation, ends))


def document_of(graph: SceneGraph) -> dict[str, Any]:
    """Return the source's form of a graph, which has no place for the remembered origins of taken objects.

    Raises InvalidValue for the first item that it has no word for.
    """
    return {
        "nodes": [_source_node(node) for node in graph.nodes.values()],
        "edges": [
            {
                "from_id": source_id(relation.source),
                "relation_type": _word(_SOURCE_RELATIONS, relation.type, "relation type"),
                "to_id": source_id(relation.target),
            }
            for relation in graph.in_order()
            if relation.type not in REMEMBERED
        ],
    }


def source_id(id_: str) -> int:
    """Return the source's number of a node. Raises InvalidValue for a node that is not VirtualHome's."""
    _, _, number = id_.rpartition("_")
    if not number.removeprefix("-").isdecimal() or node_id("", int(number)) != f"_{number}":
        raise InvalidValue(f"id {shown(id_)} does not end in '_' and a number, as VirtualHome's must; rename the node")
    return int(number)


def _node(node: GraphNode, id_: str) -> Node:
    """Return a node, whose kind is by category if that decides, else by whether a hand can take the object."""
    movable = "Object" if "GRABBABLE" in node.properties else "Asset"
    return Node(
        id_,
        KIND_OF_CATEGORY.get(node.category or "", movable),
        id_,
        node.class_name,
        tuple(STATES[state] for state in node.states),
        tuple(AFFORDANCES[affordance] for affordance in node.properties),
        Properties(exchanged_facts(dict(_properties(node)))),
    )


def _properties(node: GraphNode) -> Iterator[tuple[str, Value | None]]:
    yield "category", node.category
    yield "prefab", node.prefab_name
    if node.bounding_box:
        yield from zip(_BOX, (Point(*node.bounding_box.center), *node.bounding_box.size), strict=True)
    if node.obj_transform:
        pose = node.obj_transform
        yield from zip(_TRANSFORM, (Point(*pose.position), pose.rotation, pose.scale), strict=True)


def _source_node(node: Node) -> dict[str, Any]:
    node = exchanged(node)
    for key in node.properties.keys() - _HELD:
        raise InvalidValue(f"node {shown(node.id)}: VirtualHome has no property {key!r}; remove it before exporting")
    facts = {key: _listed(value) for key, value in node.properties.items()}
    box, pose = {key: facts.get(key) for key in _BOX}, {key: facts.get(key) for key in _TRANSFORM}
    document = {
        "id": source_id(node.id),
        "class_name": node.class_,
        "category": facts.get("category"),
        "properties": [_word(_SOURCE_AFFORDANCES, word, "affordance") for word in node.affordances],
        "states": [_word(_SOURCE_STATES, word, "state") for word in node.states],
        "prefab_name": facts.get("prefab"),
        "bounding_box": {"center": box.pop("center"), "size": [*box.values()]} if facts.keys() & box.keys() else None,
        **({"obj_transform": pose} if facts.keys() & pose.keys() else {}),
    }
    try:
        GraphNode.model_validate(document)
    except ValidationError as error:
        place = json_path(error.errors()[0]["loc"], root="")
        msg = f"node {shown(node.id)}: {place[1:]} would be no VirtualHome value; mend it before exporting"
        raise InvalidValue(msg) from error
    return document


def _listed(value: Value | None) -> object:
    if isinstance(value, Point):
        return [value.x, value.y, value.z]
    return list(value) if isinstance(value, tuple) else value


def _word(table: Mapping[str, str], word: str, what: str) -> str:
    if word not in table:
        raise InvalidValue(f"VirtualHome has no {what} {shown(word)}; remove it before exporting")
    return table[word]
