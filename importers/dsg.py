"""3D scene graphs of Hydra and spark-dsg, as scenes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final, TypeAlias

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.problems import Problem, RelationDraft, document_error, json_path, validated
from scenecypher.db.graph.scene import InvalidValue, Node, Point, Properties, Value
from scenecypher.db.graph.value import LIST_LENGTH, shown
from scenecypher.db.schema import LAYER
from scenecypher.db.vocabulary import DEFAULT
from scenecypher.importers.assembly import NodeDraft, assemble
from scenecypher.importers.dsg_agents import INDEX_BITS, Robot, robots_of
from scenecypher.importers.dsg_format import (
    AGENTS,
    ATTRIBUTES,
    BOX_TYPE,
    DECLARED,
    LABELLED,
    LAYERS,
    NO_LABEL,
    ROTATIONS,
    SYMMETRIC,
    UPRIGHT,
    WAYPOINT_LAYERS,
    Dsg,
    DsgAttributes,
    DsgBox,
    DsgEdge,
    DsgNode,
    LayerKey,
    rotation_value,
)
from scenecypher.importers.json_file import read_json, stem_of, without_gaps
from scenecypher.importers.label_space import LabelSpace
from scenecypher.importers.vectors_file import vectors_of_nodes

NAME_PREFIX: Final = "dsg/"
ROOMS: Final = ("ROOMS",)
FEATURE: Final = "semantic_feature"
Labels: TypeAlias = Mapping[tuple[str, ...], LabelSpace]


class NodeMemory:
    """The nodes of a map's last version, by id: of the next one, nodes that are written alike are not made again."""

    def __init__(self) -> None:
        self._last: dict[int, tuple[object, str, str | None, Node]] = {}

    def node(self, written: object, node: DsgNode, layer: str, label: str | None) -> Node:
        """Return a node of a file, which has been validated, so that equal values are of the same type."""
        known = self._last.get(node.id)
        if known is not None and known[:3] == (written, layer, label):
            return known[3]
        made = _node(node, layer, label)
        self._last[node.id] = (written, layer, label, made)
        return made


def read_scene(
    path: Path,
    *,
    name: str | None = None,
    labels: LabelSpace | None = None,
    room_labels: LabelSpace | None = None,
    memory: NodeMemory | None = None,
    strict: bool = False,
) -> ImportedScene:
    """Return the scene of a file, named after it by default. Raises DocumentError with all its problems.

    `labels` name the semantic labels of objects, `room_labels` those of rooms; without them the file's own label
    space does. With a `memory` of the map's last version, only what is written otherwise is made anew.
    """
    document, own = read_json(path), name or NAME_PREFIX + stem_of(path)
    spaces: Labels = {layers: it for layers, it in ((LABELLED, labels), (ROOMS, room_labels)) if it is not None}
    return from_document(document, file=str(path), name=own, labels=spaces, memory=memory, strict=strict)


def from_document(
    document: Any,
    *,
    file: str,
    name: str,
    labels: Labels | None = None,
    memory: NodeMemory | None = None,
    strict: bool = False,
) -> ImportedScene:
    """Return the scene of a document of spark-dsg's form. Raises DocumentError with all its problems.

    `labels` are label spaces by the layers whose labels they name. Unless `strict`, positions with NaN are left out.
    """
    return without_gaps(
        partial(_from_document, file=file, name=name, labels=labels or {}, memory=memory), document, strict=strict
    )


def _from_document(document: Any, *, file: str, name: str, labels: Labels, memory: NodeMemory | None) -> ImportedScene:
    form = validated(Dsg, document, file)
    layers = _layers(form)
    problems: list[Problem] = []
    for index, node in enumerate(form.nodes):
        if layers[node.id] not in LAYERS:
            cause = f"the layer {shown(layers[node.id])} is none of {', '.join(LAYERS)}; leave it out of the file"
            problems.append((json_path(("nodes", index, "layer")), cause))
    if problems:
        raise document_error(file, problems)
    for names, space in labels.items():
        _check_labels(form, layers, names, space)
    the_map = _Map(form, layers, tuple(robots_of(node for node in form.nodes if layers[node.id] == AGENTS)))
    drafts = _drafts(the_map, document["nodes"], labels, memory or NodeMemory())
    graph, problems = assemble(drafts, the_map.links(), declared=DECLARED)
    if problems:
        raise document_error(file, problems)
    notes = tuple(_omission(robot) for robot in the_map.robots if robot.omitted)
    given = [(symbol(node.id), node.attributes.semantic_feature) for node in form.nodes]
    vectors = vectors_of_nodes(FEATURE, (it for it in given if it[0] in graph.nodes), graph.nodes, file=file)
    scene = ImportedScene(name, graph, DEFAULT, declared=DECLARED, source=file, merges=True, notes=notes)
    return replace(scene, vectors=vectors)


def _check_labels(form: Dsg, layers: Mapping[int, str], names: tuple[str, ...], labels: LabelSpace) -> None:
    given = (node.attributes.semantic_label for node in form.nodes if layers[node.id] in names)
    labels.refuse_missing(Counter(number for number in given if number is not None and number != NO_LABEL))


def _omission(robot: Robot) -> str:
    return f"{robot.id}: path and times list the latest {LIST_LENGTH:,} of {len(robot.poses):,} poses"


@lru_cache(maxsize=65_536)
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


@dataclass(frozen=True, slots=True)
class _Map:
    """A file's form, the layer of each node, and the robots that its poses are of."""

    form: Dsg
    layers: Mapping[int, str]
    robots: tuple[Robot, ...]

    def links(self) -> Iterator[RelationDraft]:
        """Yield the relations of all edges; of each robot's poses only those of the latest that is joined to others.

        A robot is INSIDE the room of that pose's waypoint: a mapper joins a new pose to waypoints only after a while.
        """
        poses = {node_id for node_id, layer in self.layers.items() if layer == AGENTS}
        of_poses = (edge for edge in self.form.edges if edge.source in poses or edge.target in poses)
        joined = {end for edge in of_poses for end in self._joined_pose(edge)}
        found = ((robot, [pose.id for pose in robot.poses if pose.id in joined]) for robot in self.robots)
        latest = {poses[-1]: robot.id for robot, poses in found if poses}
        rooms = self._rooms_of_waypoints()
        places: set[tuple[int, ...]] = set()
        for index, edge in enumerate(self.form.edges):
            ends = (edge.source, edge.target)
            if edge.source in poses or edge.target in poses:
                ends = (rooms.get(edge.source, edge.source), rooms.get(edge.target, edge.target))
                if not latest.keys() & {*self._joined_pose(edge)} or ends in places:
                    continue
                places |= {ends, ends[::-1]}
            yield from self._link(f"$.edges[{index}]", *ends, latest)

    def _joined_pose(self, edge: DsgEdge) -> list[int]:
        """Return the pose of an edge between a pose and another node."""
        poses = [end for end in (edge.source, edge.target) if self.layers.get(end) == AGENTS]
        return poses if len(poses) == 1 else []

    def _link(self, place: str, one: int, other: int, latest: Mapping[int, str]) -> Iterator[RelationDraft]:
        low, type_, high = _relation(one, self.layers.get(one), other, self.layers.get(other))
        source, target = latest.get(low) or symbol(low), latest.get(high) or symbol(high)
        yield RelationDraft(place, source, type_, target)
        if type_ in SYMMETRIC and source != target:
            yield RelationDraft(place, target, type_, source)

    def _rooms_of_waypoints(self) -> dict[int, int]:
        """Return the room of each waypoint that is in exactly one."""
        found: dict[int, set[int]] = {}
        all_rooms = {node_id for node_id, layer in self.layers.items() if layer == "ROOMS"}
        joined = (edge for edge in self.form.edges if edge.source in all_rooms or edge.target in all_rooms)
        for edge in joined:
            for end, other in ((edge.source, edge.target), (edge.target, edge.source)):
                if self.layers.get(end) in WAYPOINT_LAYERS and other in all_rooms:
                    found.setdefault(end, set()).add(other)
        return {waypoint: min(rooms) for waypoint, rooms in found.items() if len(rooms) == 1}


def _drafts(the_map: _Map, written: Sequence[object], labels: Labels, memory: NodeMemory) -> Iterator[NodeDraft]:
    spaces = {key: _labels(given) for key, given in the_map.form.metadata.labelspaces.items()}
    robots = {robot.latest.id: robot for robot in the_map.robots}
    for index, node in enumerate(the_map.form.nodes):
        place, layer = f"$.nodes[{index}]", the_map.layers[node.id]
        if layer != AGENTS:
            space = spaces.get(f"_l{node.layer}p{node.partition or 0}", {})
            names = next((given.names for layers, given in labels.items() if layer in layers), space)
            number = node.attributes.semantic_label
            label = None if number is None else names.get(number)
            yield NodeDraft(place, partial(memory.node, _without_feature(written[index]), node, layer, label))
        elif node.id in robots:
            yield NodeDraft(place, robots[node.id].node)


def _without_feature(written: Any) -> Any:
    """Return a node of a file to be kept in memory, without its vector."""
    attributes = written["attributes"]
    return {**written, "attributes": {**attributes, FEATURE: None}} if FEATURE in attributes else written


def _labels(given: Any) -> dict[Any, str]:
    pairs = given if isinstance(given, list) else [(int(key), name) for key, name in given.items() if key.isdecimal()]
    return dict(pairs)


def _node(node: DsgNode, layer: str, label: str | None) -> Node:
    id_ = symbol(node.id)
    class_ = label or plain_class(layer, node.attributes.semantic_label)
    properties = Properties({LAYER: layer, **_properties(node.attributes)})
    return Node(id_, LAYERS[layer].kind, node.attributes.name or id_, class_, (), (), properties)


def plain_class(layer: str, label: int | None) -> str:
    """Return the class of a node whose label has no name."""
    unlabelled = label in {None, NO_LABEL} or layer not in LABELLED
    return LAYERS[layer].class_ if unlabelled else f"label_{label}"


def _properties(attributes: DsgAttributes) -> dict[str, Value | None]:
    box, position = attributes.bounding_box, attributes.position and Point(*attributes.position)
    read: dict[str, Value | None] = {ours: getattr(attributes, theirs) for theirs, ours in ATTRIBUTES.items()}
    read |= {ours: rotation_value(getattr(attributes, ours)) for ours in ROTATIONS.values()}
    read |= {"color": attributes.color, "center": position}
    return read if box is None else read | {"position": position, **_box(box)}


def _box(box: DsgBox) -> dict[str, Value | None]:
    size = box.dimensions
    if size is None:
        if box.min is None or box.max is None:
            raise InvalidValue("bounding_box has neither dimensions nor the corners min and max; give it one of them")
        size = (box.max[0] - box.min[0], box.max[1] - box.min[1], box.max[2] - box.min[2])
    turned = rotation_value(box.rotation)
    return {
        "center": Point(*box.center),
        **dict(zip(("size_x", "size_y", "size_z"), size, strict=True)),
        "box_type": None if box.type == BOX_TYPE else box.type,
        "box_rotation": None if turned == UPRIGHT else turned,
    }


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
