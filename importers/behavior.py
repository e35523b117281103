"""BEHAVIOR-1K's rearrangement activities as GraSIF scenes and tasks, built from their definitions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Final

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.importers.behavior_definitions import Activity, activities, package_name
from scenecypher.importers.behavior_goals import activity_goal
from scenecypher.importers.behavior_words import AGENT, STATES, affordances_of, class_kind, instance_name, synset_class
from scenecypher.importers.grasif import NAME_PREFIX
from scenecypher.importers.pddl.syntax import expression_text
from scenecypher.importers.task import Task

SUBSET: Final = "behavior-1k"
INSTRUCTIONS: Final = "behavior_instructions.json"
MIN_BUDGET: Final = 50
ACTIONS_A_THING: Final = 6
"""The most actions to move one object: go, open, pick up, go, open, put."""

_RELATIONS: Final[Mapping[str, str]] = {"ontop": "ON", "inside": "INSIDE"}


def scene_name(activity: str) -> str:
    """Return the name of an activity's scene."""
    return f"{NAME_PREFIX}{SUBSET}/{activity}"


def scenes(only: str | None = None) -> Iterator[ImportedScene]:
    """Return the scenes by the activities' names, or the one of `only`. Raises InputError, as `activities` does."""
    return map(activity_scene, activities(only))


def tasks(only: str | None = None) -> Iterator[Task]:
    """Return the tasks by the activities' names, or the one of `only`, each in its scene. Raises InputError."""
    texts = instructions()
    return (activity_task(activity, texts[activity.name]) for activity in activities(only))


def instructions() -> Mapping[str, str]:
    """Return one instruction in plain English for each activity."""
    text = (files("scenecypher.importers") / "data" / INSTRUCTIONS).read_text(encoding="utf-8")
    texts: dict[str, str] = json.loads(text)
    return texts


def activity_scene(activity: Activity) -> ImportedScene:
    """Return the scene at the start: rooms, furniture, the objects on and in it, and the agent."""
    graph = SceneGraph.of(_nodes(activity), _relations(activity))
    return ImportedScene(scene_name(activity.name), graph, "grasif", source=_source(activity))


def activity_task(activity: Activity, instruction: str) -> Task:
    """Return the task of an activity; any arrangement that meets its goal is a solution."""
    movable = sum(node.kind == "Object" for node in _nodes(activity))
    return Task(
        id=activity.name,
        instruction=instruction,
        scene=scene_name(activity.name),
        goal=activity_goal(activity),
        action_goals=(),
        budget=max(MIN_BUDGET, ACTIONS_A_THING * movable),
        source=_source(activity),
        category=SUBSET,
        formula=expression_text(["and", *activity.goal]),
    )


def _source(activity: Activity) -> str:
    return f"{package_name()}, {activity.name}"


def _rooms(activity: Activity) -> Mapping[str, str]:
    """Return the room of each object that the definition gives one: furniture, which stays where it is."""
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
    """Return the states in the definition, by default closed and off."""
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
