"""3D scene graphs of Hydra and spark-dsg, as scenes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.problems import Problem, document_error, json_path, problems_of
from scenecypher.db.graph.scene import InvalidValue, Node, Point, Properties, Value
from scenecypher.db.graph.value import shown
from scenecypher.db.vocabulary import DEFAULT
from scenecypher.importers.assembly import NodeDraft, RelationDraft, assemble
from scenecypher.importers.dsg_format import (
    ATTRIBUTES,
    BOX_TYPE,
    DECLARED,
    LABELLED,
    LAYERS,
    NO_LABEL,
    ROTATIONS,
    SYMMETRIC,
    UPRIGHT,
    Dsg,
    DsgAttributes,
    DsgBox,
    DsgNode,
    LayerKey,
    Quaternion,
)
from scenecypher.importers.json_file import read_json

NAME_PREFIX: Final = "dsg/"
INDEX_BITS: Final = 56


def read_scene(path: Path, *, name: str | None = None) -> ImportedScene:
    """Return the scene of a file, named after it by default. Raises DocumentError with all its problems."""
    return from_document(read_json(path), file=str(path), name=name or NAME_PREFIX + path.stem)


def from_document(document: object, *, file: str, name: str) -> ImportedScene:
    """Return the scene of a document of spark-dsg's form. Raises DocumentError with all its problems."""
    try:
        form = Dsg.model_validate(document)
    except ValidationError as error:
        raise document_error(file, problems_of(error, document)) from error
    layers = _layers(form)
    problems: list[Problem] = []
    for index, node in enumerate(form.nodes):
        if layers[node.id] not in LAYERS:
            cause = f"the layer {shown(layers[node.id])} is none of {', '.join(LAYERS)}; leave it out of the file"
            problems.append((json_path(("nodes", index, "layer")), cause))
    if problems:
        raise document_error(file, problems)
    graph, problems = assemble(_drafts(form, layers), _links(form, layers), declared=DECLARED)
    if problems:
        raise document_error(file, problems)
    return ImportedScene(name, graph, DEFAULT, declared=DECLARED, source=file)


def symbol(number: int) -> str:
    """Return a node's id as spark-dsg prints it: O(3), or the number itself if it has no letter."""
    letter, index = chr(number >> INDEX_BITS), number & ((1 << INDEX_BITS) - 1)
    return f"{letter}({index})" if letter.isascii() and letter.isalpha() else str(number)


def symbol_number(node_id: str) -> int:
    """Return the number of an id such as O(3). Raises InvalidValue for an id of another form."""
    found = re.fullmatch(r"([A-Za-z])\((\d+)\)", node_id)
    number = (ord(found[1]) << INDEX_BITS) + int(found[2]) if found else int(node_id) if node_id.isdecimal() else -1
    if number not in range(2**64) or symbol(number) != node_id:
        msg = f"id {shown(node_id)} is no symbol of a 3D scene graph, such as O(3); rename the node"
        raise InvalidValue(msg)
    return number


def _layers(form: Dsg) -> Mapping[int, str]:
    """Return the name of each node's layer: the file's own names take precedence over spark-dsg's defaults."""
    names = {(layer.number, layer.partition): name for name, layer in LAYERS.items()}
    for name, given in form.layer_names.items():
        key = given if isinstance(given, LayerKey) else LayerKey(layer=given)
        if name != "AGENTS":
            names[key.layer, key.partition] = name
    return {node.id: _layer(node, names) for node in form.nodes}


def _layer(node: DsgNode, names: Mapping[tuple[int, int], str]) -> str:
    partition = node.partition or (node.id >> INDEX_BITS if node.timestamp is not None else 0)
    own = names.get((node.layer, partition))
    if own is None and names.get((node.layer, 0)) == "OBJECTS":
        return "AGENTS"
    return own or str(node.layer)


def _drafts(form: Dsg, layers: Mapping[int, str]) -> Iterator[NodeDraft]:
    spaces = {key: _labels(given) for key, given in form.metadata.labelspaces.items()}
    for index, node in enumerate(form.nodes):
        space = spaces.get(f"_l{node.layer}p{node.partition or 0}", {})
        label = space.get(node.attributes.semantic_label)
        yield NodeDraft(json_path(("nodes", index)), partial(_node, node, layers[node.id], label))


def _labels(given: Any) -> dict[Any, str]:
    pairs = given if isinstance(given, list) else [(int(key), name) for key, name in given.items() if key.isdecimal()]
    return dict(pairs)


def _node(node: DsgNode, layer: str, label: str | None) -> Node:
    id_ = symbol(node.id)
    class_ = label or plain_class(layer, node.attributes.semantic_label)
    properties = Properties({"layer": layer, **_properties(node.attributes)})
    return Node(id_, LAYERS[layer].kind, node.attributes.name or id_, class_, (), (), properties)


def plain_class(layer: str, label: int | None) -> str:
    """Return the class of a node whose label has no name."""
    unlabelled = label in {None, NO_LABEL} or layer not in LABELLED
    return LAYERS[layer].class_ if unlabelled else f"label_{label}"


def _properties(attributes: DsgAttributes) -> dict[str, Value | None]:
    box, position = attributes.bounding_box, Point(*attributes.position)
    read: dict[str, Value | None] = {ours: getattr(attributes, theirs) for theirs, ours in ATTRIBUTES.items()}
    read |= {ours: _rotation(getattr(attributes, ours)) for ours in ROTATIONS.values()}
    read |= {"color": attributes.color, "center": position}
    return read if box is None else read | {"position": position, **_box(box)}


def _box(box: DsgBox) -> dict[str, Value | None]:
    size = box.dimensions
    if size is None:
        if box.min is None or box.max is None:
            raise InvalidValue("bounding_box has neither dimensions nor the corners min and max; give it one of them")
        size = (box.max[0] - box.min[0], box.max[1] - box.min[1], box.max[2] - box.min[2])
    turned = _rotation(box.rotation)
    return {
        "center": Point(*box.center),
        **dict(zip(("size_x", "size_y", "size_z"), size, strict=True)),
        "box_type": None if box.type == BOX_TYPE else box.type,
        "box_rotation": None if turned == UPRIGHT else turned,
    }


def _rotation(rotation: Quaternion | None) -> tuple[float, ...] | None:
    return None if rotation is None else (rotation.w, rotation.x, rotation.y, rotation.z)


def _links(form: Dsg, layers: Mapping[int, str]) -> Iterator[RelationDraft]:
    for index, edge in enumerate(form.edges):
        one, other = layers.get(edge.source), layers.get(edge.target)
        low, type_, high = _relation(edge.source, one, edge.target, other)
        place = json_path(("edges", index))
        yield RelationDraft(place, symbol(low), type_, symbol(high))
        if type_ in SYMMETRIC and low != high:
            yield RelationDraft(place, symbol(high), type_, symbol(low))


def _relation(source: int, one: str | None, target: int, other: str | None) -> tuple[int, str, int]:
    """Return the relation of an edge between nodes of these layers; None is the layer of a missing node."""
    if one is None or other is None:
        return source, "INSIDE", target
    if one == other:
        return source, LAYERS[one].siblings, target
    if LAYERS[one].number == LAYERS[other].number:
        return source, "CLOSE", target
    below = LAYERS[one].number < LAYERS[other].number
    return (source, "INSIDE", target) if below else (target, "INSIDE", source)
