"""BEHAVIOR-1K's activities of moving things about, as GraSIF scenes and tasks built from their definitions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Final

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.importers.behavior_definitions import Activity, activities, package_name
from scenecypher.importers.behavior_goals import activity_goal, expression_text
from scenecypher.importers.behavior_words import AGENT, STATES, affordances_of, class_kind, instance_name, synset_class
from scenecypher.importers.grasif import NAME_PREFIX
from scenecypher.importers.task import Task

SUBSET: Final = "behavior-1k"
INSTRUCTIONS: Final = "behavior_instructions.json"
LEAST_BUDGET: Final = 50
ACTIONS_A_THING: Final = 6
"""What it may take to move one thing: go, open, pick up, go, open, put."""

_RELATIONS: Final[Mapping[str, str]] = {"ontop": "ON", "inside": "INSIDE"}


def scene_name(activity: str) -> str:
    """What an activity's scene is called."""
    return f"{NAME_PREFIX}{SUBSET}/{activity}"


def scenes(only: str | None = None) -> Iterator[ImportedScene]:
    """The scenes by the activities' names, or the one of `only`. Raises InputError, as `activities` does."""
    return map(activity_scene, activities(only))


def tasks(only: str | None = None) -> Iterator[Task]:
    """The tasks likewise, each in the scene of its activity. Raises InputError."""
    told = instructions()
    return (activity_task(activity, told[activity.name]) for activity in activities(only))


def instructions() -> Mapping[str, str]:
    """One instruction in plain English for each activity."""
    text = (files("scenecypher.importers") / "data" / INSTRUCTIONS).read_text(encoding="utf-8")
    told: dict[str, str] = json.loads(text)
    return told


def activity_scene(activity: Activity) -> ImportedScene:
    """The scene at the start: rooms, what stands in them, what lies on and in that, and the agent."""
    graph = SceneGraph.of(_nodes(activity), _relations(activity))
    return ImportedScene(scene_name(activity.name), graph, "grasif", source=_source(activity))


def activity_task(activity: Activity, instruction: str) -> Task:
    """The task of an activity; any arrangement that meets its goal is a solution."""
    movable = sum(node.kind == "Object" for node in _nodes(activity))
    return Task(
        id=activity.name,
        instruction=instruction,
        scene=scene_name(activity.name),
        goal=activity_goal(activity),
        action_goals=(),
        budget=max(LEAST_BUDGET, ACTIONS_A_THING * movable),
        source=_source(activity),
        category=SUBSET,
        formula=expression_text(["and", *activity.goal]),
    )


def _source(activity: Activity) -> str:
    return f"{package_name()}, {activity.name}"


def _rooms(activity: Activity) -> Mapping[str, str]:
    """The room of each object that the definition gives one: what stays where it is."""
    return {fact[1]: fact[2] for fact in activity.facts if fact[0] == "inroom"}


def _nodes(activity: Activity) -> Iterator[Node]:
    rooms = _rooms(activity)
    for room in sorted(set(rooms.values())):
        yield Node(room, "Place", room, room)
    for synset, found in activity.objects.items():
        for instance in found:
            class_ = synset_class(synset)
            kind = class_kind(class_, has_room=instance in rooms)
            yield _node(activity, instance, kind=kind, class_=class_)


def _node(activity: Activity, instance: str, *, kind: str, class_: str) -> Node:
    name = instance_name(instance)
    states = _states(activity, instance, class_=class_)
    return Node(name, kind, name, class_, states, affordances_of(class_, kind))


def _states(activity: Activity, instance: str, *, class_: str) -> tuple[str, ...]:
    """What the definition says, else closed and off."""
    return tuple(
        holding if [predicate, instance] in activity.facts else lacking
        for predicate, (classes, holding, lacking) in STATES.items()
        if class_ in classes
    )


def _relations(activity: Activity) -> Iterator[Relation]:
    rooms = _rooms(activity)
    for instance, room in rooms.items():
        yield Relation(instance_name(instance), "INSIDE", room)
    for predicate, x, y in (fact for fact in activity.facts if fact[0] in _RELATIONS):
        name = instance_name(x)
        if synset_class(x.rpartition("_")[0]) == AGENT:
            yield Relation(name, "INSIDE", rooms[y])
        else:
            yield Relation(name, _RELATIONS[predicate], instance_name(y))
