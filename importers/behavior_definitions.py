"""BEHAVIOR-1K's activity definitions, in the published archive of `bddl`: names, classes, the selection of tasks."""

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

from scenecypher.errors import InputError
from scenecypher.importers.pddl.syntax import Form, expressions, nested_words, typed_names
from scenecypher.importers.published_file import PublishedFile
from scenecypher.importers.task import chosen
from scenecypher.importers.word_tables import tables
from scenecypher.waiting import waiting_for

_CLASSES: Final = {name: frozenset(words.split()) for name, words in tables("behavior_classes").items()}
OPENABLE, TOGGLEABLE, SURFACES, CONTAINERS, HEAVY, LIGHT = map(
    _CLASSES.__getitem__, ("openable", "toggleable", "surfaces", "containers", "heavy", "light")
)
"""Classes by what they admit, by the package's annotations and by what is on or in them in any start or goal."""

AFFORDANCES: Final[Mapping[str, tuple[frozenset[str], tuple[str, ...]]]] = {
    "opens": (OPENABLE, ("open", "close")),
    "toggles": (TOGGLEABLE, ("turn_on", "turn_off")),
    "has a top": (SURFACES, ("put_on",)),
    "has an inside": (CONTAINERS, ("put_inside",)),
}
"""Classes and the actions, in GraSIF's words, that they admit; objects that are not heavy admit pick_up too."""

STATES: Final[Mapping[str, tuple[frozenset[str], str, str]]] = {
    "open": (OPENABLE, "open", "closed"),
    "toggled_on": (TOGGLEABLE, "on", "off"),
}
"""The definitions' unary predicates: the classes that have them, and the states if they hold and if not."""

AGENT: Final = "agent"
_SYNSET: Final = re.compile(r"\??(.+)\.n\.\d+")
_INSTANCE: Final = re.compile(r"\??(.+\.n\.\d+)_(\d+)")
BddlExpression: TypeAlias = Any
"""An expression in the parser's form: a word, or a list of a head and its arguments."""
PREDICATES: Final = frozenset({"ontop", "inside", "inroom", "open", "toggled_on", "real"})
"""The predicates of rearrangement; an activity with no other one needs no cooking and no cleaning."""
BODIES: Final[Mapping[str, slice]] = {
    "and": slice(1, None),
    "or": slice(1, None),
    "not": slice(1, 2),
    "imply": slice(1, 3),
    "forall": slice(2, 3),
    "exists": slice(2, 3),
    "forn": slice(3, 4),
    "forpairs": slice(3, 4),
    "fornpairs": slice(4, 5),
}
"""Positions of the sub-expressions of each head; any other head is a predicate."""
DOMAIN: Final = "omnigibson"
KEPT: Final = user_cache_path("scenecypher")
ARCHIVE: Final = PublishedFile(
    "bddl==3.5.0",
    "bddl-3.5.0.tar.gz",
    "1c994730d65170a2331224fdaf58e8c0e3862defd019099e42fa1ba656c2ce92",
    "BEHAVIOR-1K's activities (1.6 MB)",
    f"connect to the network and repeat the command, or put bddl-3.5.0.tar.gz from the package index into {KEPT}",
)


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


def class_kind(class_: str, *, has_room: bool) -> str:
    """Return the kind of a class: furniture, which a definition gives a room, is an Asset, all else an Object."""
    if class_ == AGENT:
        return "Agent"
    return "Asset" if has_room and class_ not in LIGHT else "Object"


def affordances_of(class_: str, kind: str) -> tuple[str, ...]:
    """Return the affordances of a node of this class and kind."""
    carried = ("pick_up",) if kind == "Object" and class_ not in HEAVY else ()
    return carried + tuple(word for classes, words in AFFORDANCES.values() if class_ in classes for word in words)


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
    return frozenset(head for part in (*activity.facts, *activity.goal) for head in _predicates(part))


def package_name() -> str:
    """Return name and version of the package, for a scene's `source`."""
    return ARCHIVE.requirement.replace("==", " ")


def _predicates(expression: BddlExpression) -> Iterator[str]:
    head = expression[0]
    if head not in BODIES:
        yield head
        return
    for part in expression[BODIES[head]]:
        yield from _predicates(part)
