"""The arguments of tools, checked at the edge: unknown names and oversized texts are refused."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from scenecypher.planner.perception.observation import MAX_THINGS, SeenThing

Text = Annotated[str, Field(min_length=1, max_length=10_000)]
Cypher = Annotated[str, Field(min_length=1, max_length=100_000)]
Word = Annotated[str, Field(min_length=1, max_length=500)]
Version = Annotated[int, Field(ge=0)]

READ_SCENE = "the scene's name; NAME@7 (a version) and NAME@2026-11-23T10:15 (a time) are earlier states of it"


class Arguments(BaseModel):
    """The arguments of a tool."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SceneArguments(Arguments):
    """The arguments of a tool that works in one scene."""

    scene: Word = Field(description="the scene's name, as list_scenes shows it")


class ReadArguments(Arguments):
    """The arguments of a tool that reads one scene, as it is or as it was."""

    scene: Word = Field(description=READ_SCENE)


class ListScenes(Arguments):
    """Arguments of `list_scenes`."""

    containing: str = Field(default="", max_length=500, description="only scenes with this in their names")


class Schema(ReadArguments):
    """Arguments of `schema`."""

    past: bool = Field(default=False, description="also what can be queried of the past (a scene as it is now)")


class Query(ReadArguments):
    """Arguments of `query`."""

    cypher: Cypher = Field(description="a reading query, such as: MATCH (c:Object {class: 'cup'}) RETURN c.name")


class Look(ReadArguments):
    """Arguments of `look`."""

    of: Word = Field(description="a room or thing: its id, name or class")


class Tree(ReadArguments):
    """Arguments of `tree`."""

    of: Word | None = Field(default=None, description="a room or thing: its id, name or class; by default all")


class Actions(SceneArguments):
    """Arguments of `actions`."""


class Act(SceneArguments):
    """Arguments of `act`."""

    action: Word = Field(description="such as: grab(cup_2004)")
    action_id: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        default=None, description="a new text for each action, which makes the call safe to repeat with the same id"
    )
    expected_version: Version | None = Field(
        default=None, description="act only if nobody changed the scene since this version"
    )
    fix: bool = Field(default=False, description="first do by rule what the action needs")
    agent: Word | None = Field(default=None, description="the id of the agent that acts; by default the first")


class History(SceneArguments):
    """Arguments of `history`."""

    after: Version | None = Field(default=None, description="events after this version; by default the latest")
    limit: Annotated[int, Field(ge=1, le=200)] = Field(default=20, description="events at most")


class Past(SceneArguments):
    """Arguments of `past`."""

    cypher: Cypher = Field(
        description="a reading query, such as: MATCH (e:PastEvent)-[:CHANGED]->(n:PastNode {id: 'cup_2004'}) "
        "RETURN e.version, e.actor, e.action ORDER BY e.version"
    )


class Undo(SceneArguments):
    """Arguments of `undo`."""

    version: Version | None = Field(default=None, description="undo the action of this version alone")
    to: Version | None = Field(default=None, description="undo everything after this version")


class Diff(ReadArguments):
    """Arguments of `diff`."""

    since: Version | None = Field(default=None, description="compare an earlier version of the scene with it")
    other: Word | None = Field(default=None, description="compare with this scene, or earlier state of a scene")


class Observe(SceneArguments):
    """Arguments of `observe`."""

    of: Word = Field(description="what was looked at: a room or piece of furniture, by its id, name or class")
    things: Annotated[list[SeenThing], Field(max_length=MAX_THINGS)] = Field(description="what was seen there")
    seen: Literal["whole", "part"] = Field(
        default="part", description="whole: all of it was seen, so that what is not listed is not there"
    )
    accept: bool = Field(default=False, description="merge it even if most of what is believed there was not seen")


class Plan(SceneArguments):
    """Arguments of `plan`."""

    goal: Text | None = Field(
        default=None, description="what shall hold, such as: mug ON shelf; fridge is closed. By default the scene's own"
    )
    instruction: Text | None = Field(
        default=None, description="the task in words, for a method that asks a model; in place of a goal"
    )
    method: Word = Field(default="symbolic", description="symbolic needs a goal and no model; others ask one")
    max_steps: Annotated[int, Field(ge=1, le=200)] = Field(default=30, description="decisions at most")
