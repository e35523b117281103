"""3D scene graphs of Hydra and spark-dsg, as scenes. The poses of one robot are one Agent that knows its path."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final, TypeAlias

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.problems import Problem, RelationDraft, document_error, json_path, validated
from scenecypher.db.graph.scene import LIST_LENGTH, InvalidValue, Node, Point, Properties, Value
from scenecypher.db.graph.value import shown
from scenecypher.db.schema import LAYER
from scenecypher.db.vocabulary import DEFAULT
from scenecypher.importers import dsg_format as spark
from scenecypher.importers.assembly import NodeDraft, assemble
from scenecypher.importers.json_file import read_json, stem_of, without_gaps
from scenecypher.importers.vectors_file import with_vectors_of_nodes

INDEX_BITS: Final = 56
NAME_PREFIX: Final = "dsg/"
ROOMS: Final = ("ROOMS",)
FEATURE: Final = "semantic_feature"
Labels: TypeAlias = Mapping[tuple[str, ...], spark.LabelSpace]
NO_LABELS: Final[Labels] = {}
Robots: TypeAlias = Mapping[str, Sequence[spark.DsgNode]]


def _robots(form: spark.Dsg, layers: Mapping[int, str]) -> Robots:
    """Return the poses of each robot, oldest first, by the letter of their symbols."""
    poses = (it for it in form.nodes if layers[it.id] == spark.AGENTS)
    groups: dict[str, list[spark.DsgNode]] = {}
    for pose in sorted(poses, key=lambda it: (it.time or 0, it.id)):
        letter = chr(pose.id >> INDEX_BITS)
        is_letter = letter.isascii() and letter.isalpha()
        groups.setdefault(letter if is_letter else f"robot_{ord(letter)}", []).append(pose)
    return dict(sorted(groups.items()))


def _agent(id_: str, poses: Sequence[spark.DsgNode]) -> Node:
    """Return the Agent: the latest pose is its `center`; `path` and `times` list the latest LIST_LENGTH poses."""
    kept = poses[-LIST_LENGTH:]
    path = tuple(Point(*pose.attributes.position) for pose in kept if pose.attributes.position is not None)
    times = tuple(pose.time for pose in kept if pose.time is not None)
    properties: dict[str, Value | None] = {
        LAYER: spark.AGENTS,
        "center": path[-1] if path else None,
        "pose_rotation": spark.rotation_value(poses[-1].attributes.pose_rotation),
        spark.PATH: path or None,
        spark.TIMES: times if len(times) == len(path) else None,
    }
    layer = spark.LAYERS[spark.AGENTS]
    return Node(id_, layer.kind, f"{layer.class_}_{id_}", layer.class_, (), (), Properties(properties))


def read_scene(
    path: Path,
    *,
    name: str | None = None,
    labels: spark.LabelSpace | None = None,
    room_labels: spark.LabelSpace | None = None,
    strict: bool = False,
) -> ImportedScene:
    """Return the scene of a file, named after it by default. Raises DocumentError with all its problems.

    `labels` name the semantic labels of objects, `room_labels` those of rooms; without them the file's own label
    space does. Unless `strict`, positions with NaN are left out.
    """
    document, own = read_json(path), name or NAME_PREFIX + stem_of(path)
    spaces: Labels = {layers: it for layers, it in ((spark.LABELLED, labels), (ROOMS, room_labels)) if it is not None}
    read = partial(from_document, file=str(path), name=own, labels=spaces)
    return without_gaps(read, document, strict=strict)


def from_document(document: Any, *, file: str, name: str, labels: Labels = NO_LABELS) -> ImportedScene:
    """Return the scene of a document of spark-dsg's form. Raises DocumentError with all its problems.

    `labels` are label spaces by the layers whose labels they name.
    """
    form = validated(spark.Dsg, document, file)
    layers = _layers(form)
    problems: list[Problem] = []
    for index, node in enumerate(form.nodes):
        if layers[node.id] not in spark.LAYERS:
            cause = f"the layer {shown(layers[node.id])} is none of {', '.join(spark.LAYERS)}; leave it out of the file"
            problems.append((json_path(("nodes", index, "layer")), cause))
    if problems:
        raise document_error(file, problems)
    for names, space in labels.items():
        numbers = (node.attributes.semantic_label for node in form.nodes if layers[node.id] in names)
        space.refuse_missing(Counter(it for it in numbers if it is not None and it != spark.NO_LABEL))
    the_map = _Map(form, layers, _robots(form, layers))
    drafts = _drafts(the_map, labels)
    graph = assemble((*drafts, *the_map.links()), file=file, declared=spark.DECLARED)
    notes = tuple(
        f"{robot}: path and times list the latest {LIST_LENGTH:,} of {len(poses):,} poses"
        for robot, poses in the_map.robots.items()
        if len(poses) > LIST_LENGTH
    )
    scene = ImportedScene(name, graph, DEFAULT, declared=spark.DECLARED, source=file, merges=True, notes=notes)
    given = [(symbol(it.id), it.attributes.semantic_feature) for it in form.nodes if it.attributes.semantic_feature]
    return with_vectors_of_nodes(scene, FEATURE, [it for it in given if it[0] in graph.nodes])


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
        raise InvalidValue(f"id {shown(node_id)} is no symbol of a 3D scene graph, such as O(3); rename the node")
    return number


def _layers(form: spark.Dsg) -> Mapping[int, str]:
    """Return the name of each node's layer: the file's own names take precedence over spark-dsg's defaults."""
    names = {(layer.number, layer.partition): name for name, layer in spark.LAYERS.items()}
    for name, given in form.layer_names.items():
        key = given if isinstance(given, spark.LayerKey) else spark.LayerKey(layer=given)
        if name != "AGENTS":
            names[key.layer, key.partition] = name
    found: dict[int, str] = {}
    for node in form.nodes:
        partition = node.partition or (node.id >> INDEX_BITS if node.timestamp is not None else 0)
        own = names.get((node.layer, partition))
        is_pose = own is None and names.get((node.layer, 0)) == "OBJECTS"
        found[node.id] = spark.AGENTS if is_pose else own or str(node.layer)
    return found


@dataclass(frozen=True, slots=True)
class _Map:
    """A file's form, the layer of each node, and the robots that its poses are of."""

    form: spark.Dsg
    layers: Mapping[int, str]
    robots: Robots

    def links(self) -> Iterator[RelationDraft]:
        """Yield the relations of all edges; of each robot's poses only those of the latest that is joined to others.

        A robot is INSIDE the room of that pose's waypoint: a mapper joins a new pose to waypoints only after a while.
        """
        poses = {node_id for node_id, layer in self.layers.items() if layer == spark.AGENTS}
        of_poses = (edge for edge in self.form.edges if edge.source in poses or edge.target in poses)
        joined = {end for edge in of_poses for end in self._joined_pose(edge)}
        found = ((robot, [it.id for it in trail if it.id in joined]) for robot, trail in self.robots.items())
        latest = {trail[-1]: robot for robot, trail in found if trail}
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

    def _joined_pose(self, edge: spark.DsgEdge) -> list[int]:
        """Return the pose of an edge between a pose and another node."""
        poses = [end for end in (edge.source, edge.target) if self.layers.get(end) == spark.AGENTS]
        return poses if len(poses) == 1 else []

    def _link(self, place: str, one: int, other: int, latest: Mapping[int, str]) -> Iterator[RelationDraft]:
        low, type_, high = _relation(one, self.layers.get(one), other, self.layers.get(other))
        source, target = latest.get(low) or symbol(low), latest.get(high) or symbol(high)
        yield RelationDraft(place, source, type_, target)
        if type_ in spark.SYMMETRIC and source != target:
            yield RelationDraft(place, target, type_, source)

    def _rooms_of_waypoints(self) -> dict[int, int]:
        """Return the room of each waypoint that is in exactly one."""
        found: dict[int, set[int]] = {}
        all_rooms = {node_id for node_id, layer in self.layers.items() if layer == "ROOMS"}
        joined = (edge for edge in self.form.edges if edge.source in all_rooms or edge.target in all_rooms)
        for edge in joined:
            for end, other in ((edge.source, edge.target), (edge.target, edge.source)):
                if self.layers.get(end) in spark.WAYPOINT_LAYERS and other in all_rooms:
                    found.setdefault(end, set()).add(other)
        return {waypoint: min(rooms) for waypoint, rooms in found.items() if len(rooms) == 1}


def _drafts(the_map: _Map, labels: Labels) -> Iterator[NodeDraft]:
    spaces: dict[str, dict[int, str]] = {
        key: dict(given) if isinstance(given, list) else {int(it): given[it] for it in given if it.isdecimal()}
        for key, given in the_map.form.metadata.labelspaces.items()
    }
    robots = {trail[-1].id: (robot, trail) for robot, trail in the_map.robots.items()}
    for index, node in enumerate(the_map.form.nodes):
        place, layer = f"$.nodes[{index}]", the_map.layers[node.id]
        if layer != spark.AGENTS:
            space = spaces.get(f"_l{node.layer}p{node.partition or 0}", {})
            names = next((given.names for layers, given in labels.items() if layer in layers), space)
            number = node.attributes.semantic_label
            label = None if number is None else names.get(number)
            yield NodeDraft(place, partial(_node, node, layer, label))
        elif node.id in robots:
            yield NodeDraft(place, partial(_agent, *robots[node.id]))


def _node(node: spark.DsgNode, layer: str, label: str | None) -> Node:
    id_ = symbol(node.id)
    class_ = label or plain_class(layer, node.attributes.semantic_label)
    properties = Properties({LAYER: layer, **_properties(node.attributes)})
    return Node(id_, spark.LAYERS[layer].kind, node.attributes.name or id_, class_, (), (), properties)


def plain_class(layer: str, label: int | None) -> str:
    """Return the class of a node whose label has no name."""
    unlabelled = label in {None, spark.NO_LABEL} or layer not in spark.LABELLED
    return spark.LAYERS[layer].class_ if unlabelled else f"label_{label}"


def _properties(attributes: spark.DsgAttributes) -> dict[str, Value | None]:
    box, position = attributes.bounding_box, attributes.position and Point(*attributes.position)
    read: dict[str, Value | None] = {ours: getattr(attributes, theirs) for theirs, ours in spark.ATTRIBUTES.items()}
    read |= {ours: spark.rotation_value(getattr(attributes, ours)) for ours in spark.ROTATIONS.values()}
    read |= {"color": attributes.color, "center": position}
    return read if box is None else read | {"position": position, **_box(box)}


def _box(box: spark.DsgBox) -> dict[str, Value | None]:
    size = box.dimensions
    if size is None:
        if box.min is None or box.max is None:
            raise InvalidValue("bounding_box has neither dimensions nor the corners min and max; give it one of them")
        size = (box.max[0] - box.min[0], box.max[1] - box.min[1], box.max[2] - box.min[2])
    turned = spark.rotation_value(box.rotation)
    return {
        "center": Point(*box.center),
        **dict(zip(("size_x", "size_y", "size_z"), size, strict=True)),
        "box_type": None if box.type == spark.BOX_TYPE else box.type,
        "box_rotation": None if turned == spark.UPRIGHT else turned,
    }


def _relation(source: int, one: str | None, target: int, other: str | None) -> tuple[int, str, int]:
    """Return the relation of an edge between nodes of these layers; None is the layer of a missing node."""
    if one is None or other is None:
        return source, "INSIDE", target
    if one == other:
        return source, spark.LAYERS[one].siblings, target
    if spark.LAYERS[one].number == spark.LAYERS[other].number:
        return source, "CLOSE", target
    below = spark.LAYERS[one].number < spark.LAYERS[other].number
    return (source, "INSIDE", target) if below else (target, "INSIDE", source)
