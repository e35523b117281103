"""The set of goals: each is planned for, its gold is no other than the end, and careless goals fail."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import pytest

from scenecypher.db.condition import evaluate
from scenecypher.db.graph.delta import apply
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.evaluation import goals
from scenecypher.evaluation.episodes import episodes_result
from scenecypher.evaluation.running import RunOptions, run_task
from scenecypher.evaluation.stated_tasks import GOAL_TASKS, GoalTask
from scenecypher.importers.homes import our_home
from scenecypher.planner.symbolic.plan import PlanRequest, find_plan, planning_state
from tests.oracle import provider
from tests.sampling import FULL

assert provider.PROGRAMS, "importing it makes the oracles known"
VOCABULARY: Final = "virtualhome_ext"
CAREFUL: Final = ("now", "impossible", "back")
"""Kinds of which a careful model plays all tasks: it states their goals, and the same planner plans for them."""
REACHED: Final = tuple(it for it in GOAL_TASKS if it.kind not in {*CAREFUL, "nothing"})


@cache
def start_of(task: GoalTask) -> SceneGraph:
    graph = our_home(task.home)[0].graph
    return apply(graph, task.moves(graph))


def test_there_are_forty_tasks_of_nine_kinds() -> None:
    assert (len(GOAL_TASKS), len({it.id for it in GOAL_TASKS}), len({it.kind for it in GOAL_TASKS})) == (40, 40, 9)


@pytest.mark.parametrize("task", GOAL_TASKS, ids=lambda it: it.id)
def test_a_task_is_done_at_its_start_only_if_nothing_is_to_be_done(task: GoalTask) -> None:
    goal, start = task.task(our_home(task.home)[0]).goal, start_of(task)
    is_idle = task.kind == "nothing"
    assert evaluate(goal, start, {}) is is_idle
    assert task.is_done(start, start, "done") is is_idle
    assert task.is_done(start, start, "impossible") is (task.kind in {"nothing", "impossible"})


@pytest.mark.parametrize("task", REACHED, ids=lambda it: it.id)
def test_each_goal_is_planned_for_and_its_end_is_right(task: GoalTask) -> None:
    """Kind: a goal that can be said and not be planned for."""
    pytest.importorskip("up_fast_downward", reason="needs `pip install 'scenecypher[pddl]'`")
    goal, start = task.task(our_home(task.home)[0]).goal, start_of(task)
    found = find_plan(PlanRequest(goal, VOCABULARY), start)
    assert found.plan, found.why
    state = planning_state(start, VOCABULARY)
    assert state is not None
    assert task.is_done(start, state.after(*found.plan).graph, "done"), [*map(str, found.plan)]


def play(model: str, kinds: str, methods: str, limit: int = 0) -> dict[str, bool]:
    """Return which tasks a scripted model has done."""
    options: dict[str, Any] = {"methods": methods, "kinds": kinds, "limit": limit}
    log = run_task(goals.goals(**options), RunOptions(f"oracle/{model}", at_once=2))
    found = episodes_result(log, goals.goals.plan(**options))
    return {one.id: one.success for one in found.samples}


@pytest.mark.usefixtures("server_settings")
def test_a_careful_model_has_all_right_and_a_careless_one_does_not() -> None:
    """Kind: a set that a model passes which says nothing of now, of how many, or of what was before."""
    assert {*play("careful", ",".join(CAREFUL), "ours").values()} == {True}
    done = play("careless", "now,quantity,back", "goal-then-plan", limit=0 if FULL else 8)
    assert sum(done.values()) <= len(done) / 2, done
