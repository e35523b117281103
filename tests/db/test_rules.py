"""Rules against a change: what it newly breaks is refused, what it mends is not; what it can't touch is not read."""

from __future__ import annotations

import random

import pytest

from scenecypher.db.condition import evaluate
from scenecypher.db.graph.delta import Delta, diff
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.rules import Rules, broken_now, check_outcome, newly_broken
from scenecypher.errors import RuleBroken
from tests.planner.rules.homes import HOME, NO_KNIFE, NO_METAL, moved, rules, with_states

ON = with_states(HOME, microwave_1="closed on")
INSIDE = moved(HOME, "fork-1", "INSIDE", "microwave-1")
BROKEN = moved(ON, "fork-1", "INSIDE", "microwave-1")


def change(known: Rules, before: SceneGraph, after: SceneGraph) -> None:
    check_outcome(known, before, diff(before, after), action="it")


def test_either_half_of_a_hazard_is_refused_when_it_comes_second() -> None:
    """Broken by the other half: the fork was in first, and the microwave switched on after it."""
    known = rules(NO_METAL)
    for before in (ON, INSIDE):
        with pytest.raises(RuleBroken, match=r"rule-1 forbids it: never fork INSIDE .* \(fork-1 and microwave-1\); do"):
            change(known, before, BROKEN)
    change(known, HOME, ON)
    change(known, HOME, INSIDE)


def test_what_is_broken_may_be_mended_and_left_but_not_made_worse() -> None:
    """Locked in: a broken rule refused every action, the one that mends it as well."""
    known = rules(NO_METAL)
    change(known, BROKEN, INSIDE)
    change(known, BROKEN, ON)
    change(known, BROKEN, with_states(BROKEN, stove_1="on"))
    worse = moved(BROKEN, "fork-2", "INSIDE", "microwave-1")
    with pytest.raises(RuleBroken, match="fork-2 and microwave-1"):
        change(known, BROKEN, worse)
    change(known, worse, BROKEN)
    assert [things for _, things in broken_now(known, worse)] == ["fork-1 and microwave-1; fork-2 and microwave-1"]


def test_a_count_may_sink_where_it_is_too_high() -> None:
    known = rules("never x: 2 fork; y: one table; x ON y")
    two = moved(HOME, "fork-2", "ON", "table-1")
    change(known, two, HOME)
    with pytest.raises(RuleBroken):
        change(known, HOME, two)


def test_a_removed_rule_binds_nobody_and_the_past_has_it() -> None:
    known = rules(NO_METAL)
    (rule,) = known.documents
    ended = Rules.of([type(rule)(**{**{it: getattr(rule, it) for it in rule.__slots__}, "since": 2, "until": 5})])
    change(ended, ON, BROKEN)
    assert [len(ended.at(version)) for version in (1, 2, 4, 5)] == [0, 1, 1, 0]


TEXTS = (
    NO_METAL,
    NO_KNIFE,
    "never knife is held",
    "never stove is on and fork ON stove",
    "never plate ON stove",
    "never x: 2 fork; y: one table; x ON y",
    "never stove is on or microwave is open",
    "never x: one thing where it is held; x INSIDE nursery",
    "never x: no fork; x INSIDE kitchen",
    "never x: all microwave; x is open",
    "never robot INSIDE nursery and knife is held",
)


def random_change(graph: SceneGraph, seed: random.Random) -> SceneGraph:
    thing = seed.choice([it for it in graph.nodes if graph.nodes[it].kind in {"Object", "Agent"}])
    places = [it for it in graph.nodes if it not in {thing, *graph.reaching(thing, "INSIDE", "ON"), "robot"}]
    match seed.randrange(4):
        case 0:
            return with_states(
                graph, **{seed.choice(["microwave_1", "microwave_2", "stove_1"]): seed.choice(["on", "open", "off"])}
            )
        case 1 if thing != "robot":
            return moved(graph, "robot", "HOLDS", thing)
        case _:
            return moved(graph, thing, seed.choice(["ON", "INSIDE"]), seed.choice(places))


@pytest.mark.parametrize("number", range(40))
def test_what_a_rule_skips_it_could_not_have_found(number: int) -> None:
    """Skipped wrongly: a rule that a change can't touch is not evaluated; without skipping the verdict is the same."""
    seed, known = random.Random(number), rules(*TEXTS)  # noqa: S311 - a seeded walk
    graph = HOME
    for _ in range(30):
        after = random_change(graph, seed)
        broken = any(newly_broken(it.condition, graph, after) for it in known.in_force)
        try:
            change(known, graph, after)
            refused = False
        except RuleBroken:
            refused = True
        assert refused is broken
        graph = after
    assert all(evaluate(rule.condition, graph, {}) for rule, _ in broken_now(known, graph))


def test_no_change_breaks_nothing() -> None:
    check_outcome(rules(*TEXTS), BROKEN, Delta(), action="look")
