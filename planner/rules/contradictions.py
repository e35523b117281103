"""Rules that contradict each other: no state of a few things keeps both."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, combinations, compress, islice, product, takewhile
from typing import Final, TypeAlias

import scenecypher.db.condition as c
from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.db.rules import PATH, Rule, keys_of
from scenecypher.db.schema import HOLDING

LONGEST_S: Final = 1.0
"""Time after which pairs of rules are left unchecked."""
MAX_FACTS: Final = 16
"""Facts of which every combination is looked at."""
Fact: TypeAlias = Relation | tuple[str, str]


@dataclass(frozen=True, slots=True)
class Contradictions:
    """Names of rules that contradict one that was added, and whether all were checked."""

    names: tuple[str, ...]
    all_checked: bool


def contradictions(added: Iterable[Rule], known: Iterable[Rule], graph: SceneGraph) -> Contradictions:
    """Return the rules that contradict an added one, as far as small examples and a second of time tell."""
    pairs = chain(product(new := [*added], known), combinations(new, 2))
    end, checked, names = time.monotonic() + LONGEST_S, True, dict[str, None]()
    for one, other in pairs:
        if time.monotonic() > end:
            return Contradictions((*names,), all_checked=False)
        wanted = _wanted_together(one, other)
        if wanted is None:
            continue
        part, facts = _about(wanted, graph)
        in_time = takewhile(lambda _: time.monotonic() < end, _states(facts, part))
        keeps_both = len(facts) <= MAX_FACTS and any(c.evaluate(wanted, it, {}) for it in in_time)
        if not keeps_both and (len(facts) > MAX_FACTS or time.monotonic() >= end):
            checked = False
        elif not keeps_both:
            names[other.name] = None
    return Contradictions((*names,), checked)


def _wanted_together(one: Rule, other: Rule) -> c.Condition | None:
    """Return what holds where both rules can be kept; None if one does not concern the other."""
    never = [c.Not(it.condition) for it in (one, other) if it.kind == "never"]
    positive = [it for it in (one, other) if it.kind == "within" or (it.kind == "only" and not it.tense)]
    names = [{key[0] for key in keys_of(it.condition)} - {"class"} for it in (one, other)]
    is_alike = len({(it.action, it.arguments, it.fits) for it in positive}) <= 1
    if len(never) + len(positive) < 2 or not is_alike or names[0].isdisjoint(names[1]):
        return None
    wanted: c.Condition = c.And(tuple(part for it in positive for part in (it.fits, it.condition)))
    for argument in positive[0].arguments if positive else ():
        wanted = c.Exists(argument, wanted)
    return c.And((wanted, *never))


def _about(wanted: c.Condition, graph: SceneGraph) -> tuple[SceneGraph, list[Fact]]:
    """Return the nodes that a condition is about, and the facts about them, a few too many at most."""
    found, about = dict[Fact, None](), set[str]()
    for name, *labels in keys_of(wanted):
        nodes = [[it for it, n in graph.nodes.items() if label in (None, it, n.class_, n.kind)] for label in labels]
        about.update(*nodes)
        type_ = str(name).removeprefix(PATH)
        ends = product(*(nodes[::-1] if type_ in HOLDING else nodes))
        for chosen in islice(ends, MAX_FACTS + 1) if name != "class" else ():
            found[(chosen[0], type_) if len(chosen) == 1 else Relation(chosen[0], type_, chosen[1])] = None
    return SceneGraph.of(graph.nodes[it] for it in about), [*found]


def _states(facts: list[Fact], part: SceneGraph) -> Iterator[SceneGraph]:
    """Yield the nodes with each combination of facts."""
    for chosen in product((False, True), repeat=len(facts)):
        true = [*compress(facts, chosen)]
        relations = [it for it in true if isinstance(it, Relation)]
        states = {node: tuple(it[1] for it in true if isinstance(it, tuple) and it[0] == node) for node in part.nodes}
        yield SceneGraph.of((replace(it, states=states[it.id]) for it in part.nodes.values()), relations)
