"""Axes: scenes are stored right-handed, with z up, in metres. Unity's are left-handed with y up: y and z exchanged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, SceneGraph
from scenecypher.db.graph.value import Point, Properties, Scalar, Value
from scenecypher.db.vocabulary import base_name

Up: TypeAlias = Literal["y", "z"]
UP: Final[Up] = "z"
"""The axis that points up in every stored scene; its Scene node and its documents declare it as `up`."""
TURNED: Final = "positions turned from Unity's axes (y up) to ours (z up): x, z, y of the file"
"""The note of an import."""

_Y_UP_BEFORE: Final = frozenset({"virtualhome", "virtualhome_ext"})
"""Vocabularies whose scenes had Unity's axes before a scene declared its own."""
_SIZES: Final[Mapping[str, str]] = {"size_y": "size_z", "size_z": "size_y"}


def is_y_up(up: str | None, vocabulary: str) -> bool:
    """Check if a scene has Unity's axes: it declares them, or declares nothing and is VirtualHome's."""
    return up == "y" or (up is None and base_name(vocabulary) in _Y_UP_BEFORE)


def upright(scene: ImportedScene, up: str | None) -> ImportedScene:
    """Return a scene that was read with the axes that its file declares with z up, and with a note if it was turned."""
    if not is_y_up(up, scene.vocabulary):
        return scene
    nodes = {it.id: exchanged(it) for it in scene.graph.nodes.values()}
    if all(nodes[id_] is it for id_, it in scene.graph.nodes.items()):
        return scene
    graph = SceneGraph(MappingProxyType(nodes), scene.graph.outgoing)
    return replace(scene, graph=graph, notes=(*scene.notes, TURNED))


def exchanged(node: Node) -> Node:
    """Return a node of Unity's axes in ours, or of ours in Unity's; the same object if it has no place in space."""
    properties = Properties(dict(exchanged_facts(node.properties)))
    return node if properties == node.properties else replace(node, properties=properties)


def exchanged_facts(properties: Mapping[str, Value | None]) -> Iterator[tuple[str, Value | None]]:
    """Yield properties with y and z exchanged, by their names and types."""
    for name, value in properties.items():
        yield _SIZES.get(name, name), _exchanged_value(name, value)


def _exchanged_value(name: str, value: Value | None) -> Value | None:
    match name, value:
        case "scale", (x, y, z):
            return (x, z, y)
        case "rotation", (float(x), float(y), float(z), float(w)):
            return (-x, -z, -y, w)
        case _, tuple():
            return tuple(map(_exchanged_scalar, value))
        case _, None:
            return None
        case _:
            return _exchanged_scalar(value)


def _exchanged_scalar(value: Scalar) -> Scalar:
    return Point(value.x, value.z, value.y) if isinstance(value, Point) and value.z is not None else value
