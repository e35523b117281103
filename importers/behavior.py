"""BEHAVIOR-1K's rearrangement activities as GraSIF scenes and tasks, from their definitions in `bddl`'s archive."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tarfile import TarFile
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from platformdirs import user_cache_path

import scenecypher.db.condition as c
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.errors import DocumentError, InputError
from scenecypher.importers.grasif import NAME_PREFIX
from scenecypher.importers.pddl.domain_data import DomainMapping, FactForm, SceneWords
from scenecypher.importers.pddl.expressions import DomainTypes, ExpressionReader
from scenecypher.importers.pddl.syntax import (
    Expression,
    Form,
    PddlFile,
    Word,
    expression_text,
    expressions,
    nested_words,
    typed_names,
)
from scenecypher.importers.published_file import PublishedFile
from scenecypher.importers.task import Task, chosen
from scenecypher.importers.word_tables import instructions, tables
from scenecypher.waiting import waiting_for

_WORDS: Final[Mapping[str, Any]] = tables("behavior_classes")
_CLASSES: Final = {name: frozenset(words.split()) for name, words in _WORDS["classes"].items()}
OPENABLE, TOGGLEABLE, SURFACES, CONTAINERS, HEAVY, LIGHT = map(
    _CLASSES.__getitem__, ("openable", "toggleable", "surfaces", "containers", "heavy", "light")
)
"""Classes by what they admit, by the package's annotations and by what is on or in them in any start or goal."""

STATES: Final = {predicate: (_CLASSES[key], yes, no) for predicate, (key, yes, no) in _WORDS["states"].items()}
"""The definitions' unary predicates: the classes that have them, and the states if they hold and if not."""

AGENT: Final = "agent"
_SYNSET: Final = re.compile(r"\??(.+)\.n\.\d+")
_INSTANCE: Final = re.compile(r"\??(.+\.n\.\d+)_(\d+)")
BddlExpression: TypeAlias = Any
"""An expression in the parser's form: a word, or a list of a head and its arguments."""
PREDICATES: Final = frozenset({"ontop", "inside", "inroom", "open", "toggled_on", "real"})
"""The predicates of rearrangement; an activity with no other one needs no cooking and no cleaning."""
_LOGIC: Final = frozenset("and or not imply forall exists forn forpairs fornpairs".split())  # noqa: SIM905
_HEAD: Final = re.compile(r"\(([a-z]\w*)")
"""What an expression begins with: a predicate, or a word of logic; a variable begins with a question mark."""
DOMAIN: Final = "omnigibson"
KEPT: Final = user_cache_path("scenecypher")
ARCHIVE: Final = PublishedFile(
    "bddl==3.5.0",
    "bddl-3.5.0.tar.gz",
    "1c994730d65170a2331224fdaf58e8c0e3862defd019099e42fa1ba656c2ce92",
    "BEHAVIOR-1K's activities (1.6 MB)",
    f"connect to the network and repeat the command, or put bddl-3.5.0.tar.gz from the package index into {KEPT}",
)
STACKED: Final = frozenset({"sorting_books_on_shelf"})
"""The activities whose goal wants the same objects both inside one object and on another.

There, an object that lies on one inside counts as inside too: an object has one parent here, so such a goal would be
impossible otherwise. In all other goals `inside` is the one relation, and an object in a bag in the car is not inside
the car.
"""

_CARRIER: Final = "_carrier"
_Ranged: TypeAlias = tuple[str, c.Condition]
"""A variable, and what it ranges over."""
SUBSET: Final = "behavior-1k"
SCENES: Final = f"{NAME_PREFIX}{SUBSET}/"
"""What the names of scenes begin with."""
MIN_BUDGET: Final = 50
ACTIONS_A_THING: Final = 6
"""The most actions to move one object: go, open, pick up, go, open, put."""
_RELATIONS: Final[Mapping[str, str]] = {"ontop": "ON", "inside": "INSIDE"}


def synset_class(synset: str) -> str:
    """Return the class of a synset: ``bottle__of__wine.n.01`` is a bottle_of_wine. Raises ValueError."""
    if not (found := _SYNSET.fullmatch(synset)):
        raise ValueError(f"{synset!r} is no synset such as candle.n.01")
    return found[1].replace("__", "_")


def instance_name(instance: str) -> str:
    """Return the name of ``butter_cookie.n.01_2`` or ``?butter_cookie.n.01_2``: butter_cookie-2. Raises ValueError."""
    if not (found := _INSTANCE.fullmatch(instance)):
        raise ValueError(f"{instance!r} is no object such as candle.n.01_1")
    return f"{synset_class(found[1])}-{found[2]}"


def affordances_of(class_: str, kind: str) -> tuple[str, ...]:
    """Return the affordances of a node of this class and kind."""
    carried = ("pick_up",) if kind == "Object" and class_ not in HEAVY else ()
    admitted = (words for key, words in _WORDS["affordances"].items() if class_ in _CLASSES[key])
    return (*carried, *" ".join(admitted).split())


@dataclass(frozen=True, slots=True)
class Activity:
    """A definition: the objects of each synset, the facts at the start, and the goal."""

    name: str
    objects: Mapping[str, tuple[str, ...]]
    facts: tuple[BddlExpression, ...]
    goal: tuple[BddlExpression, ...]


def activities(only: str | None = None) -> Iterator[Activity]:
    """Yield the activities whose predicates are all in `PREDICATES`, by name, or the one called `only`.

    Raises InputError if there is no such activity, and with ServiceError where the archive can't be had.
    """
    for name, text in definitions(only).items():
        activity = read_activity(name, text)
        if activity is not None and predicates_of(activity) <= PREDICATES:
            yield activity
        elif only is not None:
            msg = f"activity {only!r} needs more than {', '.join(sorted(PREDICATES))}; choose one of those listed"
            raise InputError(f"{msg} by `scenecypher import grasif --subset behavior-1k --dry-run`")


def definitions(only: str | None = None) -> Mapping[str, str]:
    """Return the text of the first definition of each activity, by name, or of `only`.

    Raises InputError for an unknown `only`, and with ServiceError where the archive can't be had.
    """
    like = "names look like assembling_gift_baskets"
    return chosen(only, _published(archive()), "activity", where=f"of {package_name()}", like=like)


def archive() -> Path:
    """Return `bddl` as published, fetched on first use: an installed one may be mixed with another package's files."""
    with waiting_for(ARCHIVE.holds):
        return ARCHIVE.fetch(KEPT, tell=lambda _: None)


@cache
def _published(file: Path) -> Mapping[str, str]:
    with TarFile.open(file) as members:
        found = {
            Path(member.name).parent.name: data.read().decode("utf-8")
            for member in members
            if Path(member.name).match("bddl/activity_definitions/*/problem0.bddl")
            and (data := members.extractfile(member)) is not None
        }
    return MappingProxyType(dict(sorted(found.items())))


def read_activity(name: str, text: str) -> Activity | None:
    """Parse a definition; return None for a simulator other than OmniGibson. Raises DocumentError."""
    if f"(:domain {DOMAIN})" not in text:
        return None
    (form,) = expressions(text, name)
    sections = {it.head: it.rest for it in form.items if isinstance(it, Form)} if isinstance(form, Form) else {}
    objects: dict[str, tuple[str, ...]] = {}
    for word, (synset,) in typed_names(sections[":objects"]):
        objects[synset.text] = (*objects.get(synset.text, ()), word.text)
    facts, (goal,) = (tuple(map(nested_words, sections[it])) for it in (":init", ":goal"))
    return Activity(name, objects, facts, tuple(goal[1:] if goal[0] == "and" else [goal]))


def predicates_of(activity: Activity) -> frozenset[str]:
    """Return every predicate in the facts and the goal."""
    return frozenset(_HEAD.findall(expression_text([*activity.facts, *activity.goal]))) - _LOGIC


def package_name() -> str:
    """Return name and version of the package, for a scene's `source`."""
    return ARCHIVE.requirement.replace("==", " ")


def activity_goal(activity: Activity) -> c.Condition:
    """Return the goal of an activity. Raises ValueError for an expression outside the language."""
    reader = _GoalReader(activity)
    try:
        return c.And(tuple(reader.condition(_as_form(part)) for part in activity.goal))
    except (DocumentError, ValueError) as error:
        raise ValueError(f"{expression_text([*activity.goal])} is no expression of BEHAVIOR's goals") from error


def _as_form(expression: BddlExpression) -> Expression:
    return Word(expression, 1) if isinstance(expression, str) else Form(tuple(map(_as_form, expression)), 1)


class _GoalReader(ExpressionReader):
    """Reads the logic of PDDL, with BDDL's quantifiers and facts; each synset is a type."""

    def __init__(self, activity: Activity) -> None:
        synsets = [Word(it, 1) for it in activity.objects]
        source = PddlFile(activity.name, "", activity.name, (Form((Word(":types", 1), *synsets), 1),))
        mapping = DomainMapping(types={it: FactForm("class", synset_class(it)) for it in activity.objects})
        super().__init__(source, DomainTypes(source, mapping, SceneWords()), {}, ())
        self._numbers = {synset: len(found) for synset, found in activity.objects.items()}
        self._is_stacked = activity.name in STACKED

    def term(self, item: Expression) -> c.Term:
        """Return the variable or the node of a word such as ``?cup.n.01_2``."""
        word = item.text if isinstance(item, Word) else ""
        return self.names.get(word) or c.Id(instance_name(word))

    def condition(self, item: Expression) -> c.Condition:
        """Return an expression as a condition. Raises DocumentError for what is none."""
        outer = dict(self.names)
        match item:
            case Form((Word("forn"), Form((Word(number),)), declared, body)):
                ((x, sort),) = self.bind_all(declared)
                found: c.Condition = c.Exactly(int(number), x, c.And((sort, self.condition(body))))
            case Form((Word("forpairs"), Form((_, _, Word(one))) as first, Form((_, _, Word(other))) as second, body)):
                ((x, sort),), ((y, other_sort),) = self.bind_all(first), self.bind_all(second)
                different = [c.Not(c.Same(x, y))] if one == other else []
                fact = c.all_of((*different, self.condition(body)))
                found = self._pairs((x, sort), (y, other_sort), fact, min(self._numbers[one], self._numbers[other]))
            case Form((Word("ontop"), x_, y_)):
                found = c.Related(self.term(x_), "ON", self.term(y_))
            case Form((Word("inside"), x_, y_)):
                here, there = self.term(x_), self.term(y_)
                carried = c.And((c.Related(_CARRIER, "INSIDE", there), c.Within(here, _CARRIER, ("ON",))))
                found = c.Related(here, "INSIDE", there)
                found = c.Or((found, c.Exists(_CARRIER, carried))) if self._is_stacked else found
            case Form((Word("real"), x_)):
                found = c.Same(self.term(x_), self.term(x_))
            case Form((Word(predicate), x_)) if predicate in STATES:
                found = c.HasState(self.term(x_), STATES[predicate][1])
            case _:
                found = super().condition(item)
        self.names = outer
        return found

    @staticmethod
    def _pairs(one: _Ranged, other: _Ranged, fact: c.Condition, least: int) -> c.Condition:
        """Return the condition that as many on either side as the smaller side has each have a partner: `bddl`'s count.

        That is a matching wherever an object is on or inside one other at most, as this vocabulary guarantees.
        """
        sides = [(*one, c.Exists(other[0], c.And((other[1], fact)))), (*other, c.Exists(one[0], c.And((one[1], fact))))]
        return c.And(tuple(c.AtLeast(least, x, c.And((sort, partner))) for x, sort, partner in sides))


def scenes(only: str | None = None) -> Iterator[ImportedScene]:
    """Return the scenes by the activities' names, or the one of `only`. Raises InputError, as `activities` does."""
    return map(activity_scene, activities(only))


def tasks(only: str | None = None) -> Iterator[Task]:
    """Return the tasks by the activities' names, or the one of `only`, each in its scene. Raises InputError."""
    texts = instructions(SUBSET)
    return (activity_task(activity, texts[activity.name]) for activity in activities(only))


def activity_scene(activity: Activity) -> ImportedScene:
    """Return the scene at the start: rooms, furniture, the objects on and in it, and the agent."""
    graph = SceneGraph.of(_nodes(activity), _relations(activity))
    return ImportedScene(SCENES + activity.name, graph, "grasif", source=_source(activity))


def activity_task(activity: Activity, instruction: str) -> Task:
    """Return the task of an activity; any arrangement that meets its goal is a solution."""
    movable = sum(node.kind == "Object" for node in _nodes(activity))
    return Task(
        id=activity.name,
        instruction=instruction,
        scene=SCENES + activity.name,
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
        class_ = synset_class(synset)
        for instance in found:
            is_furniture = instance in rooms and class_ not in LIGHT
            kind = "Agent" if class_ == AGENT else "Asset" if is_furniture else "Object"
            name = instance_name(instance)
            states = (  # by default closed and off
                holding if [predicate, instance] in activity.facts else lacking
                for predicate, (classes, holding, lacking) in STATES.items()
                if class_ in classes
            )
            yield Node(name, kind, name, class_, tuple(states), affordances_of(class_, kind))


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
