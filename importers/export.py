"""Export of scenes to every format that can be imported again: exact, or refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from scenecypher.db.graph.change import AddNode, AddRelation, Change, RemoveNode, RemoveRelation
from scenecypher.db.graph.delta import diff
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import InvalidValue, Node, Point, Relation, Value
from scenecypher.db.graph.scene_document import scene_document
from scenecypher.db.graph.value import shown
from scenecypher.errors import InputError
from scenecypher.importers import dsg, grasif, networkx_json, virtualhome
from scenecypher.importers import dsg_format as spark
from scenecypher.importers.dsg import INDEX_BITS, plain_class, symbol_number

JSON: Final = "json"
EDGE: Final = {"type": "EdgeAttributes", "weighted": False, "weight": 1.0}
HEADER: Final = {"project_name": "main", "version": {"major": 1, "minor": 1, "patch": 3}}


@dataclass(frozen=True, slots=True)
class Format:
    """The functions that write and read a document; `read` is None if the result need not be checked."""

    write: Callable[[ImportedScene], dict[str, Any]]
    read: Callable[..., ImportedScene] | None


def format_of(name: str) -> str:
    """Return `name` if it is a format. Raises InputError."""
    if name not in FORMATS:
        raise InputError(f"no format {shown(name)} is known; give one of {', '.join(FORMATS)}")
    return name


def export_document(scene: ImportedScene, name: str = JSON) -> dict[str, Any]:
    """Return a scene as a document of the format `name`, from which an import makes the same scene.

    Raises InputError if the format is not known or can't hold all of the scene.
    """
    chosen = FORMATS[format_of(name)]
    try:
        document = chosen.write(scene)
        if chosen.read is None:
            return document
        back = chosen.read(document, file="the export", name=scene.name)
    except InputError as error:
        raise InputError(f"{scene.name} can't be written as {name}: {error}; or give --format {JSON}") from error
    lost = _lost(scene, back)
    if lost:
        raise InputError(
            f"{scene.name} can't be written as {name}: {lost}; give --format {JSON}, which says everything"
        )
    return document


def _lost(scene: ImportedScene, back: ImportedScene) -> str:
    """Return the first difference of a scene that was written and read again, an empty text if there is none."""
    for fact in ("vocabulary", "role"):
        here, there = getattr(scene, fact), getattr(back, fact)
        if here != there:
            return f"its {fact} {here} would become {there}"
    changes = diff(scene.graph, back.graph).changes
    return f"{_about(changes[0])} would be lost or changed" if changes else ""


def _about(change: Change) -> str:
    match change:
        case AddNode(node) | RemoveNode(node):
            return f"node {shown(node.id)}"
        case AddRelation(relation) | RemoveRelation(relation):
            return f"relation {shown(relation.source)} {relation.type} {shown(relation.target)}"
    return f"{getattr(change, 'key', getattr(change, 'field', 'the kind'))} of {shown(change.id)}"


def dsg_document(scene: ImportedScene) -> dict[str, Any]:
    """Return the spark-dsg form of a scene that came from one; `DynamicSceneGraph.load` reads it.

    A robot becomes the poses of its path, numbered from 0, each joined to the next. Data of the original file that was
    not imported is missing. Raises InvalidValue for content that the form lacks.
    """
    nodes = [scene.graph.nodes[node_id] for node_id in sorted(scene.graph.nodes)]
    layers = {node.id: _layer_of(node) for node in nodes}
    poses = {node.id: _pose_documents(node) for node in nodes if layers[node.id] == spark.AGENTS}
    numbers = {agent: trail[-1]["id"] for agent, trail in poses.items()}
    rest = [node for node in nodes if node.id not in poses]
    spaces: dict[str, dict[int, str]] = {}
    for node in rest:
        layer, label = layers[node.id], node.properties.get("semantic_label")
        if isinstance(label, int) and node.class_ != plain_class(layer, label):
            key = f"_l{spark.LAYERS[layer].number}p{spark.LAYERS[layer].partition}"
            spaces.setdefault(key, {})[label] = node.class_
    used = {name: spark.LAYERS[name] for name in sorted({*layers.values()})}
    keys = {name: {"layer": it.number, "partition": it.partition} for name, it in used.items()}
    # one edge stands for the two relations that are stored both ways
    stored = [it for it in scene.graph.in_order() if it.type not in spark.SYMMETRIC or it.source <= it.target]
    ends = [*(_ends(it, numbers) for it in stored)]
    ends += [(one["id"], other["id"]) for trail in poses.values() for one, other in pairwise(trail)]
    return {
        "SPARK_DSG_header": HEADER,
        "directed": False,
        "multigraph": False,
        "nodes": [*map(_node_document, rest), *(pose for trail in poses.values() for pose in trail)],
        "edges": [{"source": source, "target": target, "info": EDGE} for source, target in ends],
        "layer_keys": [*keys.values()],
        "layer_names": {**keys, **({spark.AGENTS: {"layer": 2, "partition": 0}} if spark.AGENTS in keys else {})},
        "metadata": {"labelspaces": {key: [[*it] for it in sorted(space.items())] for key, space in spaces.items()}},
    }


def _layer_of(node: Node) -> str:
    layer = node.properties.get("layer")
    if not isinstance(layer, str) or layer not in spark.LAYERS:
        msg = f"node {shown(node.id)} has no layer of a 3D scene graph; only scenes from `import dsg` can be written so"
        raise InvalidValue(msg)
    return layer


def _node_document(node: Node) -> dict[str, Any]:
    layer, rest = spark.LAYERS[_layer_of(node)], dict(node.properties)
    attributes: dict[str, Any] = {"name": node.name}
    attributes |= {theirs: rest.pop(ours) for theirs, ours in spark.ATTRIBUTES.items() if ours in rest}
    attributes |= {theirs: _quaternion(rest.pop(ours)) for theirs, ours in spark.ROTATIONS.items() if ours in rest}
    attributes |= _space(node, rest)
    if "color" in rest:
        color = rest.pop("color")
        if not isinstance(color, str) or not re.fullmatch("#([0-9a-f]{6}|[0-9a-f]{8})", color):
            raise InvalidValue(f"node {shown(node.id)}: the colour {shown(color)} is not of the form #rrggbb")
        attributes["color"] = dict(zip("rgba", (*bytes.fromhex(color[1:]), 255), strict=False))
    rest.pop("layer")
    _refuse_rest(node, rest)
    number = symbol_number(node.id)
    return {"id": number, "layer": layer.number, "partition": layer.partition, "attributes": attributes}


def _pose_documents(node: Node) -> list[dict[str, Any]]:
    """Return the poses of a robot's path; only the latest has a rotation of its own."""
    facts: dict[str, Any] = {spark.PATH: None, spark.TIMES: None, "pose_rotation": spark.UPRIGHT, **node.properties}
    path, times, turned = (facts.pop(key) for key in (spark.PATH, spark.TIMES, "pose_rotation"))
    _refuse_rest(node, {key: it for key, it in facts.items() if key not in {"layer", "center"}})
    if not isinstance(path, tuple):
        raise InvalidValue(f"node {shown(node.id)} has no path, as a robot of a 3D scene graph has")
    documents: list[dict[str, Any]] = []
    for index, position in enumerate(path):
        number = symbol_number(f"{node.id}({index})")
        turn = _quaternion(turned if index == len(path) - 1 else spark.UPRIGHT)
        time = {"timestamp": times[index]} if isinstance(times, tuple) else {}
        pose = {"type": "AgentNodeAttributes", "position": _axes(node, position), "world_R_body": turn, **time}
        layer = spark.LAYERS[spark.AGENTS].number
        documents.append({"id": number, "layer": layer, "partition": number >> INDEX_BITS, "attributes": pose})
    return documents


def _refuse_rest(node: Node, rest: dict[str, Value]) -> None:
    if rest or node.states or node.affordances:
        extra = next(iter(rest), "states or affordances")
        raise InvalidValue(f"node {shown(node.id)}: a 3D scene graph has no {extra}; remove it before exporting")


def _space(node: Node, rest: dict[str, Value]) -> dict[str, Any]:
    """Return position and box, and remove them from the rest."""
    center, position = rest.pop("center", None), rest.pop("position", None)
    if position is None:
        return {"position": _axes(node, center)}
    size = [rest.pop(key, None) for key in ("size_x", "size_y", "size_z")]
    box = {
        "type": rest.pop("box_type", spark.BOX_TYPE),
        "dimensions": size,
        "world_P_center": _axes(node, center),
        "world_R_center": _quaternion(rest.pop("box_rotation", spark.UPRIGHT)),
    }
    return {"position": _axes(node, position), "bounding_box": box}


def _axes(node: Node, point: Value | None) -> list[float]:
    if not isinstance(point, Point) or point.z is None:
        raise InvalidValue(f"node {shown(node.id)} has no position in space, as every node of a 3D scene graph has")
    return [point.x, point.y, point.z]


def _quaternion(value: Value) -> dict[str, Value]:
    if not isinstance(value, tuple) or len(value) != 4:
        raise InvalidValue(f"{shown(value)} is no rotation, which has four numbers")
    return dict(zip("wxyz", value, strict=True))


def _ends(relation: Relation, robots: dict[str, int]) -> tuple[int, int]:
    if relation.type not in {"INSIDE", *spark.SYMMETRIC}:
        raise InvalidValue(f"a 3D scene graph has no relation {relation.type}; remove it before exporting")
    source, target = (robots.get(end) or symbol_number(end) for end in (relation.source, relation.target))
    return (target, source) if relation.type == "INSIDE" else (source, target)


FORMATS: Final[Mapping[str, Format]] = {
    JSON: Format(scene_document, None),
    "grasif": Format(grasif.to_document, lambda *given, **how: grasif.from_document(*given, **how)[0]),
    "virtualhome": Format(virtualhome.to_document, virtualhome.from_document),
    "networkx": Format(networkx_json.to_document, networkx_json.from_document),
    "dsg": Format(dsg_document, dsg.from_document),
}
"""Formats by name. Our own document holds everything; the others only what their readers know."""
