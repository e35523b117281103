"""BEHAVIOR-1K's rearrangement activities as GraSIF scenes and tasks, built from their definitions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Final

import scenecypher.db.condition as c
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.importers import behavior_definitions as bddl
from scenecypher.importers.grasif import NAME_PREFIX
from scenecypher.importers.pddl.syntax import expression_text
from scenecypher.importers.task import Task

STACKED: Final = frozenset({"sorting_books_on_shelf"})
"""The activities whose goal wants the same objects both inside one object and on another.

There, an object that lies on one inside counts as inside too: an object has one parent here, so such a goal would be
impossible otherwise. In all other goals `inside` is the one relation, and an object in a bag in the car is not inside
the car.
"""

_NO_LETTER: Final = re.compile(r"\W")
_CARRIER: Final = "_carrier"
SUBSET: Final = "behavior-1k"
INSTRUCTIONS: Final = "behavior_instructions.json"
MIN_BUDGET: Final = 50
ACTIONS_A_THING: Final = 6
"""The most actions to move one object: go, open, pick up, go, open, put."""
_RELATIONS: Final[Mapping[str, str]] = {"ontop": "ON", "inside": "INSIDE"}


def activity_goal(activity: bddl.Activity) -> c.Condition:
    """Return the goal of an activity. Raises ValueError for an expression outside the language."""
    numbers = {synset: len(found) for synset, found in activity.objects.items()}
    reader = _Reader(numbers, stacked=activity.name in STACKED)
    return c.And(tuple(reader.read(part) for part in activity.goal))


@dataclass(frozen=True, slots=True)
class _Reader:
    """A reader of expressions within the quantifiers around them."""

    numbers: Mapping[str, int]
    stacked: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)

    def read(self, expression: bddl.BddlExpression) -> c.Condition:
        match expression:
            case ["and", *parts]:
                return c.And(tuple(map(self.read, parts)))
            case ["or", *parts]:
                return c.Or(tuple(map(self.read, parts)))
            case ["not", part]:
                return c.Not(self.read(part))
            case ["imply", condition, consequence]:
                return c.Or((c.Not(self.read(condition)), self.read(consequence)))
            case ["forall" | "exists" | "forn" | "forpairs", *_]:
                return self._quantified(expression)
            case _:
                return self._fact(expression)

    def _quantified(self, expression: bddl.BddlExpression) -> c.Condition:
        match expression:
            case ["forall", declared, body]:
                x, sort, inner = self.bind(declared)
                return c.ForAll(x, sort, inner.read(body))
            case ["exists", declared, body]:
                x, sort, inner = self.bind(declared)
                return c.Exists(x, c.And((sort, inner.read(body))))
            case ["forn", [number], declared, body]:
                x, sort, inner = self.bind(declared)
                return c.Exactly(int(number), x, c.And((sort, inner.read(body))))
            case ["forpairs", one, other, body]:
                return self._pairs(one, other, body=body)
        raise _no_goal(expression)

    def _pairs(self, one: bddl.BddlExpression, other: bddl.BddlExpression, *, body: bddl.BddlExpression) -> c.Condition:
        """Return the condition that as many on either side as the smaller side has each have a partner: `bddl`'s count.

        That is a matching wherever an object is on or inside one other at most, as this vocabulary guarantees.
        """
        x, sort, inner = self.bind(one)
        y, other_sort, inner = inner.bind(other)
        least = min(self.numbers[one[2]], self.numbers[other[2]])
        fact = inner.read(body)
        if one[2] == other[2]:
            fact = c.And((c.Not(c.Same(x, y)), fact))
        sides = ((x, sort, y, other_sort), (y, other_sort, x, sort))
        return c.And(
            tuple(c.AtLeast(least, a, c.And((of_a, c.Exists(b, c.And((of_b, fact)))))) for a, of_a, b, of_b in sides)
        )

    def bind(self, declared: bddl.BddlExpression) -> tuple[str, c.Condition, _Reader]:
        """Return the variable of ``?book.n.02 - book.n.02``, what it ranges over, and a reader that knows it."""
        word, _, synset = declared
        if synset not in self.numbers:
            raise _no_goal(declared)
        name = _NO_LETTER.sub("_", word.lstrip("?"))
        return (
            name,
            c.HasClass(name, bddl.synset_class(synset)),
            replace(self, variables={**self.variables, word: name}),
        )

    def _fact(self, fact: bddl.BddlExpression) -> c.Condition:
        match fact:
            case ["ontop", x, y]:
                return c.Related(self._term(x), "ON", self._term(y))
            case ["inside", x, y]:
                here, there = self._term(x), self._term(y)
                carried = c.And((c.Related(_CARRIER, "INSIDE", there), c.Within(here, _CARRIER, ("ON",))))
                inside = c.Related(here, "INSIDE", there)
                return c.Or((inside, c.Exists(_CARRIER, carried))) if self.stacked else inside
            case ["real", x]:
                return c.Same(self._term(x), self._term(x))
            case [predicate, x] if predicate in bddl.STATES:
                return c.HasState(self._term(x), bddl.STATES[predicate][1])
        raise _no_goal(fact)

    def _term(self, word: str) -> c.Term:
        return self.variables.get(word) or c.Id(bddl.instance_name(word))


def _no_goal(expression: bddl.BddlExpression) -> ValueError:
    return ValueError(f"{expression_text(expression)} is no expression of BEHAVIOR's goals")


def scene_name(activity: str) -> str:
    """Return the name of an activity's scene."""
    return f"{NAME_PREFIX}{SUBSET}/{activity}"


def scenes(only: str | None = None) -> Iterator[ImportedScene]:
    """Return the scenes by the activities' names, or the one of `only`. Raises InputError, as `activities` does."""
    return map(activity_scene, bddl.activities(only))


def tasks(only: str | None = None) -> Iterator[Task]:
    """Return the tasks by the activities' names, or the one of `only`, each in its scene. Raises InputError."""
    texts = instructions()
    return (activity_task(activity, texts[activity.name]) for activity in bddl.activities(only))


def instructions() -> Mapping[str, str]:
    """Return one instruction in plain English for each activity."""
    text = (files("scenecypher.importers") / "data" / INSTRUCTIONS).read_text(encoding="utf-8")
    texts: dict[str, str] = json.loads(text)
    return texts


def activity_scene(activity: bddl.Activity) -> ImportedScene:
    """Return the scene at the start: rooms, furniture, the objects on and in it, and the agent."""
    graph = SceneGraph.of(_nodes(activity), _relations(activity))
    return ImportedScene(scene_name(activity.name), graph, "grasif", source=_source(activity))


def activity_task(activity: bddl.Activity, instruction: str) -> Task:
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


def _source(activity: bddl.Activity) -> str:
    return f"{bddl.package_name()}, {activity.name}"


def _rooms(activity: bddl.Activity) -> Mapping[str, str]:
    """Return the room of each object that the definition gives one: furniture, which stays where it is."""
    return {fact[1]: fact[2] for fact in activity.facts if fact[0] == "inroom"}


def _nodes(activity: bddl.Activity) -> Iterator[Node]:
    rooms = _rooms(activity)
    for room in sorted(set(rooms.values())):
        yield Node(room, "Place", room, room)
    for synset, found in activity.objects.items():
        class_ = bddl.synset_class(synset)
        for instance in found:
            name, kind = bddl.instance_name(instance), bddl.class_kind(class_, has_room=instance in rooms)
            states = (  # by default closed and off
                holding if [predicate, instance] in activity.facts else lacking
                for predicate, (classes, holding, lacking) in bddl.STATES.items()
                if class_ in classes
            )
            yield Node(name, kind, name, class_, tuple(states), bddl.affordances_of(class_, kind))


def _relations(activity: bddl.Activity) -> Iterator[Relation]:
    rooms = _rooms(activity)
    for instance, room in rooms.items():
        yield Relation(bddl.instance_name(instance), "INSIDE", room)
    for predicate, x, y in (fact for fact in activity.facts if fact[0] in _RELATIONS):
        name = bddl.instance_name(x)
        if bddl.synset_class(x.rpartition("_")[0]) == bddl.AGENT:
            yield Relation(name, "INSIDE", rooms[y])
        else:
            yield Relation(name, _RELATIONS[predicate], bddl.instance_name(y))
