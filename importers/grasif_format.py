"""The form of GraSIF's JSON scenes and tasks, and the one table of its words (LookPlanGraph, appendix A).

The forms that appendix F prints are read, too: `room` and `object` for `rooms` and `objects`, `id` for `name`,
`located` for an asset's `room`, a list of one agent, or none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

RELATIONS: Final[Mapping[str, str]] = {
    "ontop_of": "ON",
    "inside_of": "INSIDE",
    "under": "UNDER",
    "attached_to": "ATTACHED_TO",
}
"""GraSIF's relation words and ours. Assets and the agent are INSIDE their room; the agent HOLDS an object."""

NOTHING: Final = ("nothing", "", None)
"""The sources' words for an empty hand; an export writes the first."""

TRAITS: Final = "traits"
"""The property that keeps GraSIF's `properties` of a node, a list of text."""

RelationWord = Literal["ontop_of", "inside_of", "under", "attached_to"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


Name = Annotated[str, Field(validation_alias=AliasChoices("name", "id"))]


def only_one(value: Any) -> Any:
    """Return the item of a list of one; any other value as it is."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


class RoomForm(_Strict):
    """A place."""

    name: Name


class ItemFacts(_Strict):
    """The facts about an asset or an object."""

    states: list[str] = []
    affordances: list[str] = []
    properties: list[str] = []


class AssetForm(ItemFacts):
    """Furniture or an appliance in a room."""

    name: Name
    room: str = Field(validation_alias=AliasChoices("room", "located"))


class ObjectForm(ItemFacts):
    """An object on or in an asset or another object; both fields are null if the agent holds it."""

    name: Name
    relation: RelationWord | None
    related_to: str | None

    @model_validator(mode="after")
    def _whole(self) -> ObjectForm:
        if (self.relation is None) != (self.related_to is None):
            raise PydanticCustomError("half", "relation and related_to belong together; give both or neither")
        return self


class AgentForm(_Strict):
    """The robot."""

    name: Name
    location: str
    holding: str | None = "nothing"


class NodesForm(_Strict):
    """All nodes by kind; a scene without an agent can be asked about, and not acted in."""

    rooms: list[RoomForm] = Field(validation_alias=AliasChoices("rooms", "room"))
    asset: list[AssetForm]
    objects: list[ObjectForm] = Field(validation_alias=AliasChoices("objects", "object"))
    agent: Annotated[AgentForm | None, BeforeValidator(only_one)] = None


class GoalNode(_Strict):
    """The desired relation and states of one node, or of `count` nodes of a class."""

    name: str | None = None
    class_: str | None = Field(None, alias="class")
    count: int = Field(1, ge=1, le=10_000)
    relation: RelationWord | None = None
    related_to: str | None = None
    states: list[str] = []


class GrasifTaskForm(_Strict):
    """An instruction with its goal nodes."""

    id: str
    instruction: str
    goal: list[GoalNode] = Field(min_length=1)
    budget: int = Field(50, ge=1)


class SceneForm(_Strict):
    """A file: one scene, and optionally its tasks."""

    nodes: NodesForm
    tasks: list[GrasifTaskForm] = []
