"""Export of scenes that came from a 3D scene graph to a file that spark-dsg loads."""

from __future__ import annotations

import re
from typing import Any, Final

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import InvalidValue, Node, Point, Relation, Value
from scenecypher.db.graph.value import shown
from scenecypher.importers.dsg import INDEX_BITS, plain_class, symbol_number
from scenecypher.importers.dsg_format import ATTRIBUTES, BOX_TYPE, LAYERS, ROTATIONS, SYMMETRIC, UPRIGHT

HEADER: Final = {"project_name": "main", "version": {"major": 1, "minor": 1, "patch": 3}}


def to_document(scene: ImportedScene) -> dict[str, Any]:
    """Return the spark-dsg form of a scene that came from one; `DynamicSceneGraph.load` reads it.

    Data of the original file that was not imported is missing. Raises InvalidValue for content that the form lacks.
    """
    nodes = [scene.graph.nodes[node_id] for node_id in sorted(scene.graph.nodes)]
    spaces: dict[str, dict[int, str]] = {}
    for node in nodes:
        _note_label(node, spaces)
    used = sorted({_layer_of(node) for node in nodes})
    keys = {name: {"layer": LAYERS[name].number, "partition": LAYERS[name].partition} for name in used}
    edges = [_edge(r.source, r.type, r.target) for r in sorted(scene.graph.relations) if not _is_repeated(r)]
    return {
        "SPARK_DSG_header": HEADER,
        "directed": False,
        "multigraph": False,
        "nodes": [_node_document(node) for node in nodes],
        "edges": edges,
        "layer_keys": [*keys.values()],
        "layer_names": {**keys, **({"AGENTS": {"layer": 2, "partition": 0}} if "AGENTS" in keys else {})},
        "metadata": {
            "labelspaces": {key: [[*pair] for pair in sorted(space.items())] for key, space in spaces.items()}
        },
    }


def _note_label(node: Node, spaces: dict[str, dict[int, str]]) -> None:
    layer, label = _layer_of(node), node.properties.get("semantic_label")
    if isinstance(label, int) and node.class_ != plain_class(layer, label):
        key = f"_l{LAYERS[layer].number}p{_partition(node)}"
        spaces.setdefault(key, {})[label] = node.class_


def _partition(node: Node) -> int:
    layer = _layer_of(node)
    return symbol_number(node.id) >> INDEX_BITS if layer == "AGENTS" else LAYERS[layer].partition


def _layer_of(node: Node) -> str:
    layer = node.properties.get("layer")
    if not isinstance(layer, str) or layer not in LAYERS:
        msg = f"node {shown(node.id)} has no layer of a 3D scene graph; only scenes from `import dsg` can be written so"
        raise InvalidValue(msg)
    return layer


def _node_document(node: Node) -> dict[str, Any]:
    layer, rest = LAYERS[_layer_of(node)], dict(node.properties)
    attributes: dict[str, Any] = {"name": node.name}
    attributes |= {theirs: rest.pop(ours) for theirs, ours in ATTRIBUTES.items() if ours in rest}
    attributes |= {theirs: _quaternion(rest.pop(ours)) for theirs, ours in ROTATIONS.items() if ours in rest}
    attributes |= _space(node, rest)
    if "color" in rest:
        attributes["color"] = _channels(node, rest.pop("color"))
    rest.pop("layer")
    if rest or node.states or node.affordances:
        extra = next(iter(rest), "states or affordances")
        msg = f"node {shown(node.id)}: a 3D scene graph has no {extra}; remove it before exporting"
        raise InvalidValue(msg)
    number = symbol_number(node.id)
    return {"id": number, "layer": layer.number, "partition": _partition(node), "attributes": attributes}


def _space(node: Node, rest: dict[str, Value]) -> dict[str, Any]:
    """Return position and box, and remove them from the rest."""
    center, position = rest.pop("center", None), rest.pop("position", None)
    if position is None:
        return {"position": _axes(node, center)}
    size = [rest.pop(key, None) for key in ("size_x", "size_y", "size_z")]
    box = {
        "type": rest.pop("box_type", BOX_TYPE),
        "dimensions": size,
        "world_P_center": _axes(node, center),
        "world_R_center": _quaternion(rest.pop("box_rotation", UPRIGHT)),
    }
    return {"position": _axes(node, position), "bounding_box": box}


def _axes(node: Node, point: Value | None) -> list[float]:
    if not isinstance(point, Point) or point.z is None:
        msg = f"node {shown(node.id)} has no position in space, as every node of a 3D scene graph has"
        raise InvalidValue(msg)
    return [point.x, point.y, point.z]


def _quaternion(value: Value) -> dict[str, Value]:
    if not isinstance(value, tuple) or len(value) != 4:
        msg = f"{shown(value)} is no rotation, which has four numbers"
        raise InvalidValue(msg)
    return dict(zip("wxyz", value, strict=True))


def _channels(node: Node, color: Value) -> dict[str, int]:
    if not isinstance(color, str) or not re.fullmatch("#([0-9a-f]{6}|[0-9a-f]{8})", color):
        msg = f"node {shown(node.id)}: the colour {shown(color)} is not of the form #rrggbb"
        raise InvalidValue(msg)
    return dict(zip("rgba", (*bytes.fromhex(color[1:]), 255), strict=False))


def _is_repeated(relation: Relation) -> bool:
    """Return True for the second of a relation stored both ways, since one edge stands for both."""
    return relation.type in SYMMETRIC and relation.source > relation.target


def _edge(source: str, type_: str, target: str) -> dict[str, Any]:
    if type_ not in {"INSIDE", "NEXT", *SYMMETRIC}:
        msg = f"a 3D scene graph has no relation {type_}; remove it before exporting"
        raise InvalidValue(msg)
    ends = (target, source) if type_ == "INSIDE" else (source, target)
    info = {"type": "EdgeAttributes", "weighted": False, "weight": 1.0}
    return {"source": symbol_number(ends[0]), "target": symbol_number(ends[1]), "info": info}
