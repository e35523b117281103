"""The JSON files of Hydra's and spark-dsg's 3D scene graphs, old and new, and the tables between their words and ours.

Only fields named in a table are read. The others (indices into a mesh, bags of visual words, traversability masks)
point to data that a scene does not hold, and a relation has no place for an edge's weight. Label spaces are YAML files
that name the numbers of semantic labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from scenecypher.db.graph.field_types import Label
from scenecypher.db.graph.problems import document_error, validated
from scenecypher.db.graph.value import shown
from scenecypher.db.schema import LAYER, Declared
from scenecypher.errors import DocumentError
from scenecypher.importers.assembly import Read, Vector3
from scenecypher.importers.json_file import read_document
from scenecypher.importers.word_tables import tables

SYMMETRIC: Final = ("CLOSE", "CONNECTS")
AGENTS: Final = "AGENTS"
LABELLED: Final = ("SEGMENTS", "OBJECTS")
NO_LABEL: Final = 2**32 - 1
"""The semantic label that spark-dsg writes for none."""
WORDS: Final[Mapping[str, Any]] = tables("words")["dsg"]
ATTRIBUTES: Final[Mapping[str, str]] = WORDS["attributes"]
ROTATIONS: Final[Mapping[str, str]] = {"world_R_object": "rotation", "world_R_body": "pose_rotation"}
PATH: Final = "path"
TIMES: Final = "times"
BOX_TYPE: Final = "AABB"
UPRIGHT: Final = (1.0, 0.0, 0.0, 0.0)
DECLARED: Final = Declared(
    properties=(*ATTRIBUTES.values(), *ROTATIONS.values(), LAYER, "position", "box_type", "box_rotation", PATH, TIMES)
)
Unsigned = Annotated[int, Field(ge=0, lt=2**64)]
NAMES: Final = "label_names"


@dataclass(frozen=True, slots=True)
class Layer:
    """The representation of a layer; `siblings` relates two of its nodes, in both directions.

    `number` orders the layers: a node is INSIDE the nodes of higher layers that an edge joins it to.
    """

    number: int
    partition: int
    kind: str
    class_: str
    siblings: str


LAYERS: Final[Mapping[str, Layer]] = {name: Layer(*row) for name, row in WORDS["layers"].items()}
"""Layers by spark-dsg's names, kept as the property `layer`."""
WAYPOINT_LAYERS: Final = frozenset(name for name, layer in LAYERS.items() if layer.kind == "Waypoint")


def _valid_box(box: Any) -> Any:
    invalid = isinstance(box, dict) and (box.get("type") in {None, "INVALID"} or box.get("world_P_center", 0) is None)
    return None if invalid else box


def _color(color: Any) -> Any:
    """Return `#rrggbb` from a list (old files) or a map (new ones)."""
    parts = [color.get(key, 255) for key in "rgba"] if isinstance(color, dict) else color
    if parts is None:
        return None
    are_bytes = isinstance(parts, list) and all(type(it) is int and it in range(256) for it in parts)
    if not are_bytes or len(parts) not in {3, 4}:
        cause = f"should be red, green and blue from 0 to 255, not {shown(color)}"
        raise PydanticCustomError("color", "{cause}", {"cause": cause})
    return "#" + bytes(parts[:3] if parts[3:] in ([], [255]) else parts).hex()


class Quaternion(Read):
    """A rotation."""

    w: float
    x: float
    y: float
    z: float


def rotation_value(rotation: Quaternion | None) -> tuple[float, ...] | None:
    """Return a rotation as the list w, x, y, z."""
    return None if rotation is None else (rotation.w, rotation.x, rotation.y, rotation.z)


class DsgBox(Read):
    """A bounding box in metres; files before 1.0.3 give its corners, later ones its dimensions."""

    type: str
    center: Vector3 = Field(alias="world_P_center")
    rotation: Quaternion = Field(alias="world_R_center")
    dimensions: Vector3 | None = None
    min: Vector3 | None = None
    max: Vector3 | None = None


class DsgAttributes(Read):
    """The attributes of a node that are read."""

    type: str
    position: Vector3 | None
    name: str = ""
    bounding_box: Annotated[DsgBox | None, BeforeValidator(_valid_box)] = None
    color: Annotated[str | None, BeforeValidator(_color)] = None
    semantic_label: int | None = None
    is_active: bool | None = None
    is_predicted: bool | None = None
    registered: bool | None = None
    real_place: bool | None = None
    distance: float | None = None
    last_update_time_ns: int | None = None
    timestamp: int | None = None
    rotation: Quaternion | None = Field(None, alias="world_R_object")
    pose_rotation: Quaternion | None = Field(None, alias="world_R_body")
    semantic_feature: Any = None


class DsgNode(Read):
    """A node; the mark of an agent is a timestamp in files before 1.1.0, a partition in later ones."""

    id: Unsigned
    layer: int
    partition: int | None = None
    timestamp: int | None = None
    attributes: DsgAttributes

    @property
    def time(self) -> int | None:
        """The time of a pose, in nanoseconds."""
        return self.attributes.timestamp if self.timestamp is None else self.timestamp


class DsgEdge(Read):
    """An edge, within a layer or between two."""

    source: Unsigned
    target: Unsigned


class LayerKey(Read):
    """A layer's number and partition."""

    layer: int
    partition: int = 0


class Metadata(Read):
    """`labelspaces`: the names of semantic labels, a layer's under `_l2p0`, as a list of pairs or a map."""

    labelspaces: dict[str, list[Annotated[tuple[int, str], Field(strict=False)]] | dict[str, str]] = Field({})


class Dsg(Read):
    """A file, as `DynamicSceneGraph.save` writes it; the mesh is not read."""

    nodes: list[DsgNode]
    edges: list[DsgEdge]
    layer_names: dict[str, LayerKey | int] = Field({})
    metadata: Metadata = Metadata()


class _Entry(Read):
    label: Annotated[int, Field(ge=0)]
    name: Label


class _LabelFile(Read):
    label_names: list[_Entry]


@dataclass(frozen=True, slots=True)
class LabelSpace:
    """The names of labels in a file."""

    file: str
    names: Mapping[int, str]

    def refuse_missing(self, numbers: Mapping[int, int]) -> None:
        """Check that each label is named; `numbers` maps it to how many nodes have it. Raises DocumentError."""
        causes: list[str] = []
        for number in sorted(numbers.keys() - self.names.keys()):
            count = numbers[number]
            nodes = f"{count:,} nodes of the map have" if count > 1 else "1 node of the map has"
            causes.append(f"label {number} has no name, and {nodes} it; add `- {{label: {number}, name: ...}}`")
        if causes:
            raise document_error(self.file, [(f"$.{NAMES}", cause) for cause in causes])


def read_labels(path: Path) -> LabelSpace:
    """Return the label space of a file such as `uhumans2_apartment_label_space.yaml`.

    Only `label_names` is read. Raises DocumentError with all its problems.
    """
    document = read_document(path)
    if not isinstance(document, dict) or not isinstance(document.get(NAMES), list):
        cause = f"no list {NAMES!r} is here, with lines such as `- {{label: 5, name: chair}}`"
        raise DocumentError(str(path), "$", f"{cause}; give a label space of Hydra")
    first: dict[int, int] = {}
    entries = validated(_LabelFile, document, str(path)).label_names
    repeated = [
        (f"$.{NAMES}[{index}]", f"label {it.label} has a name at {NAMES}[{first[it.label]}] already; keep one")
        for index, it in enumerate(entries)
        if first.setdefault(it.label, index) != index
    ]
    if repeated:
        raise document_error(str(path), repeated)
    return LabelSpace(str(path), {it.label: it.name for it in entries})
