"""The form of GraSIF's JSON scenes and tasks, and the one table of its words (LookPlanGraph, appendix A)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
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


class RoomForm(_Strict):
    """A place."""

    name: str


class ItemFacts(_Strict):
    """The facts about an asset or an object."""

    states: list[str] = []
    affordances: list[str] = []
    properties: list[str] = []


class AssetForm(ItemFacts):
    """Furniture or an appliance in a room."""

    name: str
    room: str


class ObjectForm(ItemFacts):
    """An object on or in an asset or another object; both fields are null if the agent holds it."""

    name: str
    relation: RelationWord | None
    related_to: str | None

    @model_validator(mode="after")
    def _whole(self) -> ObjectForm:
        if (self.relation is None) != (self.related_to is None):
            raise PydanticCustomError("half", "relation and related_to belong together; give both or neither")
        return self


class AgentForm(_Strict):
    """The robot."""

    name: str
    location: str
    holding: str | None = "nothing"


class NodesForm(_Strict):
    """All nodes by kind."""

    rooms: list[RoomForm]
    asset: list[AssetForm]
    objects: list[ObjectForm]
    agent: AgentForm


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
