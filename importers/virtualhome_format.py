"""VirtualHome's environment graph: the form of its files, its check, and conversion from and to a scene graph.

The tables are read from left to right to import and from right to left to export; nothing else is translated. Classes,
categories and prefab names are kept as the source has them; Unity's axes become ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from scenecypher.db.graph.axes import exchanged, exchanged_facts
from scenecypher.db.graph.problems import Problem, document_error, json_path, problems_of
from scenecypher.db.graph.scene import InvalidValue, Node, Point, Properties, Relation, SceneGraph, Value
from scenecypher.db.graph.scene_check import NodeFacts, RelationDraft, Wording, find_faults
from scenecypher.db.graph.value import NAME_LENGTH, shown
from scenecypher.db.schema import REMEMBERED
from scenecypher.errors import did_you_mean
from scenecypher.importers.assembly import made

KIND_OF_CATEGORY: Final[Mapping[str, str]] = {
    "Rooms": "Place",
    "Doors": "Door",
    "Characters": "Agent",
}
"""Kinds of categories with nodes of one kind.

Every other category (Furniture, Appliances, Electronics, Decor, Props, placable_objects, …) holds both kinds, a couch
and a pillow, so GRABBABLE decides: with it a node is an Object, without it an Asset.
"""

STATES: Final[Mapping[str, str]] = {
    word.upper(): word
    for word in "open closed on off plugged_in plugged_out clean dirty sitting lying".split()  # noqa: SIM905
}
AFFORDANCES: Final[Mapping[str, str]] = {
    word.upper(): word
    for word in """body_part can_open clothes containers cover_object cream cuttable drinkable eatable grabbable
    hangable has_paper has_plug has_switch lieable lookable movable person pourable readable recipient sittable
    surfaces""".split()  # noqa: SIM905 - as a text
}
"""The source's `properties`."""
RELATIONS: Final[Mapping[str, str]] = {
    word: word for word in ("INSIDE", "ON", "CLOSE", "FACING", "BETWEEN", "HOLDS_LH", "HOLDS_RH", "SITTING")
}
"""Relations, all unchanged. SITTING is the simulator's, not in the public data: a scene with it declares it."""

PROPERTIES: Final[Mapping[str, str]] = {
    "category": "category",
    "prefab_name": "prefab",
    "bounding_box.center": "center",
    "bounding_box.size": "size_x, size_y, size_z",
    "obj_transform.position": "position",
    "obj_transform.rotation": "rotation",
    "obj_transform.scale": "scale",
}
"""A node's further properties; null means absent. `obj_transform` is from newer simulators: a scene declares it.

The file's axes are Unity's: y and z are exchanged on the way in and out.
"""

LONGEST_CLASS: Final = NAME_LENGTH - len(f"_{-(2**63)}")
_NO_CLASS: Final = re.compile(r"""[\x00-\x1f\x7f-\x9f\ud800-\udfff`'"\\(){}\[\],;:$=|&*<>/]""")


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


_STRICT: Final = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class _Strict(BaseModel):
    model_config = _STRICT


WholeNumber = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Vector3 = Annotated[tuple[float, float, float], Field(strict=False)]
Vector4 = Annotated[tuple[float, float, float, float], Field(strict=False)]
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


ENDS: Final = ("from_id", "relation_type", "to_id")


def _reference_problems(raw: Any, root: str) -> Iterator[Problem]:
    """Yield the reference problems that can be found even if the graph has other problems."""
    if not isinstance(raw, dict):
        return
    nodes, edges = (raw[key] if isinstance(raw.get(key), list) else [] for key in ("nodes", "edges"))
    ids = ((index, node.get("id") if isinstance(node, dict) else None) for index, node in enumerate(nodes))
    known: list[tuple[int, Any]] = [(index, number) for index, number in ids if type(number) is int]
    links = [RelationDraft(index, *map(edge.get, ENDS)) for index, edge in enumerate(edges) if _is_edge(edge)]
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


def _is_edge(edge: Any) -> bool:
    return isinstance(edge, dict) and [type(edge.get(key)) for key in ENDS] == [int, str, int]


_SOURCE_STATES: Final = {ours: theirs for theirs, ours in STATES.items()}
_SOURCE_AFFORDANCES: Final = {ours: theirs for theirs, ours in AFFORDANCES.items()}
_SOURCE_RELATIONS: Final = {ours: theirs for theirs, ours in RELATIONS.items()}
_BOX: Final = ("center", "size_x", "size_y", "size_z")
_TRANSFORM: Final = ("position", "rotation", "scale")
_HELD: Final = frozenset({"category", "prefab", *_BOX, *_TRANSFORM})


def node_id(class_name: str, source_id: int) -> str:
    """Return id and name of a node: ``soap_1001``; the number after the last underscore is the source's own."""
    return f"{class_name}_{source_id}"


def kind_by_category(category: str | None, properties: list[str]) -> str:
    """Return the kind by category if it decides, else by whether a hand can take the object."""
    movable = "Object" if "GRABBABLE" in properties else "Asset"
    return KIND_OF_CATEGORY.get(category or "", movable)


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
    return SceneGraph.of((node for _, node in nodes), (_relation(edge, ids) for edge in graph.edges))


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
        msg = f"id {shown(id_)} does not end in '_' and a number, as VirtualHome's must; rename the node"
        raise InvalidValue(msg)
    return int(number)


def _node(node: GraphNode, id_: str) -> Node:
    return Node(
        id_,
        kind_by_category(node.category, node.properties),
        id_,
        node.class_name,
        tuple(STATES[state] for state in node.states),
        tuple(AFFORDANCES[affordance] for affordance in node.properties),
        Properties(exchanged_facts(dict(_properties(node)))),
    )


def _relation(edge: GraphEdge, ids: Mapping[int, str]) -> Relation:
    return Relation(ids[edge["from_id"]], RELATIONS[edge["relation_type"]], ids[edge["to_id"]])


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
        msg = f"node {shown(node.id)}: VirtualHome has no property {key!r}; remove it before exporting"
        raise InvalidValue(msg)
    document = {
        "id": source_id(node.id),
        "class_name": node.class_,
        "category": node.properties.get("category"),
        "properties": [_word(_SOURCE_AFFORDANCES, word, "affordance") for word in node.affordances],
        "states": [_word(_SOURCE_STATES, word, "state") for word in node.states],
        "prefab_name": node.properties.get("prefab"),
        "bounding_box": _box(node.properties),
        **_transform(node.properties),
    }
    try:
        GraphNode.model_validate(document)
    except ValidationError as error:
        place = json_path(error.errors()[0]["loc"], root="")
        msg = f"node {shown(node.id)}: {place[1:]} would be no VirtualHome value; mend it before exporting"
        raise InvalidValue(msg) from error
    return document


def _box(properties: Properties) -> dict[str, Any] | None:
    if not any(key in properties for key in _BOX):
        return None
    center, *size = (_listed(properties.get(key)) for key in _BOX)
    return {"center": center, "size": size}


def _transform(properties: Properties) -> dict[str, Any]:
    if not any(key in properties for key in _TRANSFORM):
        return {}
    return {"obj_transform": {key: _listed(properties.get(key)) for key in _TRANSFORM}}


def _listed(value: Value | None) -> object:
    match value:
        case Point():
            return [value.x, value.y, value.z]
        case tuple():
            return list(value)
        case _:
            return value


def _word(table: Mapping[str, str], word: str, what: str) -> str:
    if word not in table:
        msg = f"VirtualHome has no {what} {shown(word)}; remove it before exporting"
        raise InvalidValue(msg)
    return table[word]
