"""VirtualHome's environment graph: the form of its files, and the one table between its words and ours.

The tables are read from left to right to import and from right to left to export; nothing else is translated. Classes,
categories and prefab names are kept as the source has them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from scenecypher.db.graph.value import NAME_LENGTH, shown
from scenecypher.errors import did_you_mean

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
