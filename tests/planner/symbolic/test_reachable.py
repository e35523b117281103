"""What no action can bring about is told at once, by its name; what a plan reaches is never called unreachable."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from itertools import product
from typing import Final

import pytest

from scenecypher.db.condition import (
    And,
    AtLeast,
    Condition,
    Exactly,
    Exists,
    ForAll,
    HasAffordance,
    HasClass,
    HasState,
    HeldBy,
    Id,
    Not,
    Or,
    Related,
    Within,
    evaluate,
)
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.importers.homes import our_home
from scenecypher.planner.actions.execution import Infeasible
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.symbolic.plan import PlanRequest, find_plan, planning_state, why_unreachable
from scenecypher.planner.symbolic.reachable import unreachable_part
from tests.planner.actions.grasif_worlds import home, random_home
from tests.planner.actions.household_worlds import ROOMLESS, SILENT, TWICE
from tests.planner.actions.worlds import HOME as FLAT
from tests.planner.methods.playing import ROOMS, play
from tests.planner.methods.test_goal_matches import reply

APARTMENT: Final = our_home("apartment")[0].graph
PILLOW: Final = APARTMENT.by_class["pillow"][0]
MICROWAVE: Final = APARTMENT.by_class["microwave"][0]
VOCABULARY: Final = "virtualhome_ext"


def is_dirty(x: str | Id) -> Condition:
    return HasState(x, "dirty")


@pytest.mark.parametrize(
    ("goal", "why"),
    [
        (is_dirty(Id(PILLOW)), f"no action makes {PILLOW} dirty"),
        (ForAll("x", HasClass("x", "pillow"), is_dirty("x")), f"no action makes {PILLOW} dirty"),
        (ForAll("x", HasAffordance("x", "grabbable"), is_dirty("x")), "no action makes shampoo_6 dirty"),
        (HasState(Id(MICROWAVE), "heated"), f"no action makes {MICROWAVE} heated"),
        (
            Exists("x", And((HasClass("x", "pillow"), is_dirty("x")))),
            "no action brings it about that a pillow is dirty",
        ),
        (
            And((HasState(Id(PILLOW), "clean"), Exists("x", And((HasClass("x", "sofa"), HeldBy("x", "nobody")))))),
            "no action brings it about",
        ),
    ],
)
def test_an_unreachable_fact_is_named_within_a_second(goal: Condition, why: str) -> None:
    """Kind: a goal that no action can bring about takes the engine's whole time, and is called too much for it."""
    pytest.importorskip("up_fast_downward", reason="needs `pip install 'scenecypher[pddl]'`")
    begun = time.thread_time()
    found = find_plan(PlanRequest(goal, VOCABULARY), APARTMENT)
    assert time.thread_time() - begun < 1
    assert found.plan is None
    assert found.why.startswith(why)


@pytest.mark.parametrize(
    ("goal", "is_reachable"),
    [
        (Related(Id("table-1"), "INSIDE", Id("fridge-1")), False),
        (Related(Id("apple-1"), "ON", Id("desk-1")), True),
        (Related(Id("apple-1"), "ON", Id("lamp-1")), False),
        (HasState(Id("desk-1"), "open"), False),
        (Not(HasState(Id("fridge-1"), "closed")), True),
        (Not(Related(Id("desk-1"), "INSIDE", Id("office"))), False),
        (AtLeast(3, "x", Related("x", "ON", Id("desk-1"))), True),
        (AtLeast(9, "x", Related("x", "ON", Id("desk-1"))), False),
    ],
)
def test_what_never_changes_bounds_what_can_be_brought_about(goal: Condition, *, is_reachable: bool) -> None:
    state = planning_state(home(), "grasif")
    assert (why_unreachable(goal, state) == "") is is_reachable


WORLDS: Final = (
    *(("grasif", random_home(random.Random(seed))) for seed in range(12)),  # noqa: S311
    *(("household", graph) for graph in (SILENT, TWICE, ROOMLESS, random_home(random.Random(99)))),  # noqa: S311
    *((vocabulary, FLAT) for vocabulary in ("virtualhome", "virtualhome_ext")),
    ("babyai", ROOMS),
)
STEPS: Final = 12


def claims(graph: SceneGraph, rng: random.Random) -> Iterator[Condition]:
    """Yield conditions about single nodes, paths and numbers of them, true or not."""
    types = sorted({it.type for it in graph.relations})
    states = sorted({it for node in graph.nodes.values() for it in node.states})
    for _ in range(60):
        x, y = Id(rng.choice(sorted(graph.nodes))), Id(rng.choice(sorted(graph.nodes)))
        kind, state = rng.choice(types), rng.choice(states or ["open"])
        yield from (Within(x, y, ("INSIDE", "ON")), Not(Within(x, y, ("INSIDE", "ON"))))
        yield from (HeldBy(x, y), Not(HeldBy(x, y)), Or((HasState(x, state), Related(x, kind, y))))
        yield from (quantity(rng.randint(0, 3), "v", Related("v", kind, y)) for quantity in (AtLeast, Exactly))
        yield ForAll("v", Related("v", kind, y), HasState("v", state))
        yield Exists("v", And((Related("v", kind, y), Not(HasState("v", state)))))
        yield Not(Exists("v", And((Related(x, kind, "v"), HasState("v", state)))))


def facts(graph: SceneGraph) -> set[Condition]:
    states: set[Condition] = {HasState(Id(node.id), it) for node in graph.nodes.values() for it in node.states}
    return states | {Related(Id(it.source), it.type, Id(it.target)) for it in graph.relations}


@pytest.mark.parametrize(("vocabulary", "graph"), WORLDS)
def test_whatever_actions_bring_about_is_reachable(vocabulary: str, graph: SceneGraph) -> None:
    """Kind: something is called impossible that a plan reaches."""
    rng = random.Random(7)  # noqa: S311
    start = planning_state(graph, vocabulary)
    assert start is not None
    state = start
    calls = [
        ActionCall(name, ends)
        for name, it in start.operators.items()
        for ends in product(sorted(graph.nodes), repeat=len(it.parameters))
    ]
    done = 0
    for call in rng.sample(calls, len(calls)):
        try:
            state = state.after(call)
        except Infeasible:
            continue
        done += 1
        if done == STEPS:
            break
    before, after = facts(start.graph), facts(state.graph)
    ends: list[Condition] = [*(after - before), *map(Not, before - after)]
    found = [it for it in claims(state.graph, rng) if evaluate(it, state.graph, {})]
    assert ends
    for goal in (*ends, And(tuple(ends)), *found):
        assert unreachable_part(goal, start) is None, goal


def test_an_unreachable_goal_is_told_to_the_model_which_may_state_another(store: SceneStore) -> None:
    """Kind: a model is never told that what it asks for can't be."""
    pytest.importorskip("up_fast_downward", reason="needs `pip install 'scenecypher[pddl]'`")
    wrong, right = reply("table-1 ON desk-1"), reply("cup-1 ON desk-1")
    played = play(store, "goal-then-plan", [wrong, right], graph=home(), vocabulary="grasif", instruction="tidy up")
    assert "no action brings it about that the table-1 is on desk-1" in played.last(1).replace("table-1", "the table-1")
    assert played.end.outcome == "done"
    assert played.actions[-1] == "put_on(desk-1)"
    insists = play(store, "goal-then-plan", [wrong, wrong], graph=home(), vocabulary="grasif", instruction="tidy up")
    assert insists.end.outcome == "given_up"
    assert "no action brings it about" in insists.end.reason
