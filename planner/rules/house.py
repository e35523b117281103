"""The rules of one scene: added, removed and checked; kept with the scene as documents, each with its author."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import wraps
from importlib.resources import files
from itertools import count
from typing import Final, ParamSpec, TypeVar

from scenecypher.db.rules import MAX_RULES, BrokenRule, Rule, Rules, broken_now, rules_json, rules_of
from scenecypher.db.store.load import LoadedScene
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import ConflictError, InputError, did_you_mean
from scenecypher.planner.actions.simulator import PERSON
from scenecypher.planner.rules.contradictions import Contradictions, contradictions
from scenecypher.planner.rules.words import read_rule
from scenecypher.planner.worlds.belief import world_name

P = ParamSpec("P")
T = TypeVar("T")
TRIES: Final = 5
"""Tries to change the rules of a scene that others change meanwhile."""

SETS: Final[Mapping[str, str]] = {"household-safety": "household_safety.toml"}
"""The file of each set: the `rules`' words by their names, and `synonyms` of classes."""


@dataclass(frozen=True, slots=True)
class AddedRules:
    """The rules that a scene was given, those of them that it breaks now, and why others of a set don't apply.

    `contradictions` are rules that no state keeps together with one of them.
    """

    rules: tuple[Rule, ...]
    broken: tuple[BrokenRule, ...]
    left_out: Mapping[str, str]
    contradictions: Contradictions


def _tried_again(change: Callable[P, T]) -> Callable[P, T]:
    """Return what changes rules, decided at the version at which they change: again if others came first."""

    @wraps(change)
    def tried(*given: P.args, **options: P.kwargs) -> T:
        for _ in range(TRIES - 1):
            with suppress(ConflictError):
                return change(*given, **options)
        return change(*given, **options)

    return tried


@_tried_again
def add_rule(store: SceneStore, scene: str, words: str, *, name: str = "", actor: str = PERSON) -> AddedRules:
    """Give a scene, and the beliefs about it, a rule in words; without a `name` it gets a number.

    Raises InputError for words that are no rule, for a name that a rule has already, and for a belief; SceneNotFound.
    """
    now, known = _now(store, scene)
    rule = read_rule(words, now, name=_checked(name, known))
    return _add(store, now, [rule], actor=actor, action=f"add the rule {rule.name}: {rule.words}")


@_tried_again
def add_set(store: SceneStore, scene: str, set_name: str, *, actor: str = PERSON) -> AddedRules:
    """Give a scene the rules of a set that it does not have; those that name what it lacks are left out.

    Raises InputError for an unknown set or a belief, and where no rule is left; SceneNotFound.
    """
    if set_name not in SETS:
        hint = did_you_mean(set_name[:60], [*SETS])
        raise InputError(f"there is no set of rules {set_name[:60]!r}{hint}; choose one of {', '.join(SETS)}")
    text = files("scenecypher.planner.rules").joinpath(SETS[set_name]).read_text(encoding="utf-8")
    found, added, left_out = tomllib.loads(text), list[Rule](), dict[str, str]()
    now, known = _now(store, scene)
    for name, words in found["rules"].items():
        try:
            if name not in {it.name for it in known.in_force}:
                added.append(read_rule(words, now, name=name, synonyms=found["synonyms"]))
        except InputError as error:
            left_out[name] = str(error)
    if not added:
        raise InputError(f"no rule of the set {set_name} is new to {scene}; `scenecypher rules list {scene}`")
    return replace(_add(store, now, added, actor=actor, action=f"take the rules {set_name}"), left_out=left_out)


@_tried_again
def remove_rule(store: SceneStore, scene: str, name: str, *, actor: str = PERSON) -> Rule:
    """End a rule of a scene: it binds nobody any more, and the scene's past still has it. Raises InputError."""
    now, known = _now(store, scene)
    found = next((it for it in known.in_force if it.name == name), None)
    if found is None:
        hint = did_you_mean(name[:60], [it.name for it in known.in_force])
        raise InputError(f"{scene} has no rule {name[:60]!r}{hint}; `scenecypher rules list {scene}` shows them")
    ended = replace(found, until=now.info.version + 1)
    kept = rules_json(ended if it is found else it for it in known.documents)
    store.set_rules(now.info, kept, actor=actor, action=f"remove the rule {name}: {found.words}")
    return ended


def rules_at(store: SceneStore, scene: str) -> tuple[Rule, ...]:
    """Return the rules of a scene, or those of then for ``NAME@VERSION`` or ``NAME@TIME``. Raises SceneNotFound."""
    found = store.load_at(scene).info
    return rules_of(found.declared).at(found.version)


def check_rules(store: SceneStore, scene: str) -> tuple[BrokenRule, ...]:
    """Return the rules that a scene breaks, or then broke. Raises SceneNotFound."""
    found = store.load_at(scene)
    return broken_now(Rules.of(rules_of(found.info.declared).at(found.info.version)), found.graph)


def _now(store: SceneStore, scene: str) -> tuple[LoadedScene, Rules]:
    """Return a scene and its rules. Raises InputError for a belief, SceneNotFound."""
    found = store.find(scene)
    if found.role == "belief":
        msg = f"{found.name} is a belief, which has the rules of its world; change those of {world_name(found.name)}"
        raise InputError(msg)
    now = store.now(found)
    return now, rules_of(now.info.declared)


def _add(store: SceneStore, now: LoadedScene, rules: Sequence[Rule], *, actor: str, action: str) -> AddedRules:
    known, at = rules_of(now.info.declared), datetime.now(UTC).isoformat(timespec="seconds")
    added = tuple(replace(it, author=actor, at=at, since=now.info.version + 1) for it in rules)
    if len(known.documents) + len(added) > MAX_RULES:
        msg = f"{now.info.name} would have over {MAX_RULES:,} rules, counting removed ones; say it with fewer"
        raise InputError(msg)
    store.set_rules(now.info, rules_json((*known.documents, *added)), actor=actor, action=action)
    found = contradictions(added, known.in_force, now.graph)
    return AddedRules(added, broken_now(Rules.of(added), now.graph), {}, found)


def _checked(name: str, known: Rules) -> str:
    """Return the name of a new rule, a number if none is given. Raises InputError for one that can't be."""
    if not name:
        used = {it.name for it in known.documents}
        return next(free for number in count(1) if (free := f"rule-{number}") not in used)
    if not name.isprintable() or name != name.strip() or len(name) > 60:
        raise InputError(f"{name[:60]!r} can't name a rule: use up to 60 printable characters, no blank at the ends")
    if any(it.name == name for it in known.in_force):
        raise InputError(f"there is a rule {name!r} already; remove it first, or choose another name")
    return name
