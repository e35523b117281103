"""Columns, computed by hand, with failures counted."""

from __future__ import annotations

from collections import Counter
from typing import Final

import pytest

from scenecypher.chat.model import Usage
from scenecypher.evaluation.episode import EpisodePlan, Trace
from scenecypher.evaluation.marking import Marks
from scenecypher.evaluation.measures import COSTS, MEASURES, SHARES, Figures, figures, measured_cell
from scenecypher.evaluation.playing import count_infeasible, executed_actions, failure_kinds
from scenecypher.evaluation.result import Cell
from scenecypher.evaluation.stated_tasks import UNCLEAR_TASKS
from scenecypher.planner.sessions.events import Acted, Corrected, Event, Finished, Proposed, Refused, Solved

EPISODE: Final = EpisodePlan(group="g", row="r", method="lookplangraph", task="our-office/x")
WITH_A_PERSON: Final = EPISODE.model_copy(update={"person": "careful", "task": next(iter(UNCLEAR_TASKS))})


def trace(*, reached: bool, actions: int = 2, tokens: int = 100, infeasible: int = 0, needed: int = 2) -> Trace:
    return Trace(
        outcome="done",
        reason="",
        answer="",
        executed=("go_to(x)",) * actions,
        infeasible=infeasible,
        mistakes={},
        steps=4,
        prompt_tokens=tokens - 10,
        completion_tokens=10,
        rounds=(tokens,),
        sources=("scripted",),
        seconds=0.1,
        nodes=9,
        marks=Marks(reached=reached, correct=1, differing=2, correct_needed=needed, needed=2, same=False),
    )


SAMPLES: Final[tuple[Figures, ...]] = (
    figures(EPISODE, trace(reached=True, actions=2, tokens=100)),
    figures(EPISODE, trace(reached=True, actions=5, tokens=100)),
    figures(EPISODE, trace(reached=True, actions=3, tokens=500, infeasible=1)),
    figures(EPISODE, trace(reached=False, actions=0, tokens=300, needed=1)),
    figures(EPISODE, None),
)
"""Two successes, a goal reached by a plan with an infeasible action, a partial success, and a failure."""


WHOLE: Final = trace(reached=True).model_copy(update={"graph_tokens": 8, "cot_tokens": 4, "rooms_changed": 3})
"""A success that has every figure."""


def values(key: str, samples: tuple[Figures, ...] = SAMPLES) -> Cell:
    return measured_cell(MEASURES[key], samples)


def test_success_requires_a_feasible_plan() -> None:
    found = values("sr")
    assert (found.value, found.n, found.count) == (0.4, 5, 2)
    assert found.low == pytest.approx(0.1176, abs=1e-4), "Wilson's interval of 2 of 5"
    assert found.high == pytest.approx(0.7693, abs=1e-4)
    assert values("success").value == 0.4, "the simulators of SG2 and SG-RwR stop at what can't be done"
    assert values("success_skipping").value == 0.6, "beside it: the outcome alone"
    assert values("refused").value == pytest.approx(1 / 4), "and what was refused"
    assert values("sr_all").value == 0.0


def test_precision_is_a_mean_of_shares_in_which_failures_are_0() -> None:
    assert values("app").value == pytest.approx(4 * 0.5 / 5), "of all that differ, as the paper has it"
    assert values("app_needed").value == pytest.approx((1 + 1 + 1 + 0.5 + 0) / 5)
    homes = EPISODE.model_copy(update={"goal_graph": False})
    assert values("app", (figures(homes, trace(reached=True)), figures(homes, None))) == Cell(value=None, n=0)


def test_tokens_per_action_are_over_successes_and_pooled_over_all() -> None:
    assert values("tpa").value == pytest.approx((100 / 2 + 100 / 5) / 2)
    assert values("tpa").n == 2
    assert values("tpa_pooled").value == pytest.approx((100 + 100 + 500 + 300) / (2 + 5 + 3 + 0))
    assert values("tpa_pooled").n == 4, "a failed episode has no tokens"
    none = (figures(EPISODE, trace(reached=False)), figures(EPISODE, None))
    assert values("tpa", none) == Cell(value=None, n=0), "no success: n/a"


def test_moved_and_unmoved_samples_have_columns_of_their_own() -> None:
    moved = EPISODE.model_copy(update={"moved": 1})
    samples = (figures(moved, trace(reached=False)), figures(EPISODE, trace(reached=True)), figures(moved, None))
    assert (values("sr_moved", samples).value, values("sr_moved", samples).n) == (0.0, 2)
    assert (values("sr_unmoved", samples).value, values("sr_unmoved", samples).n) == (1.0, 1)
    assert values("sr", samples).value == pytest.approx(1 / 3)
    assert (values("app_moved", samples).value, values("app_moved", samples).n) == (0.25, 2)
    assert (values("app_unmoved", samples).value, values("app_unmoved", samples).n) == (0.5, 1)


def test_the_figures_of_an_episode() -> None:
    assert figures(EPISODE, WHOLE) == {
        "moved": 0,
        "success": 1,
        "done": 1,
        "refused": 0,
        "same": 0,
        "app": 0.5,
        "app_needed": 1,
        "tokens": 100,
        "actions": 2,
        "rounds": 4,
        "calls": 1,
        "tpa": 50,
        "round_tokens": 25,
        "rooms_changed": 3,
        "graph": 8,
        "cot": 4,
    }


def test_a_failed_episode_has_the_worst_value_of_each_share_and_no_costs() -> None:
    shares = ("success", "done", "same", "app", "app_needed")
    assert figures(EPISODE, None) == {"moved": 0, **dict.fromkeys(shares, 0)}


@pytest.mark.parametrize(
    ("changed", "missing"),
    [
        ({"executed": ()}, {"tpa"}),
        ({"infeasible": 1}, {"tpa"}),
        ({"steps": 0}, {"round_tokens"}),
        ({"rooms_changed": None}, {"rooms_changed"}),
        ({"graph_tokens": None}, {"graph", "cot"}),
        ({"cot_tokens": None}, {"graph", "cot"}),
    ],
)
def test_a_figure_that_an_episode_can_not_have_is_left_out(changed: dict[str, object], missing: set[str]) -> None:
    whole = figures(EPISODE, WHOLE)
    assert whole.keys() - figures(EPISODE, WHOLE.model_copy(update=changed)).keys() == missing


def test_equal_nodes_need_a_feasible_plan() -> None:
    equal = WHOLE.model_copy(update={"marks": WHOLE.marks.model_copy(update={"same": True})})
    assert figures(EPISODE, equal)["same"] == 1
    assert figures(EPISODE, equal.model_copy(update={"infeasible": 1}))["same"] == 0


@pytest.mark.parametrize("reached", [True, False])
def test_precision_of_a_task_that_changes_nothing_is_its_success(*, reached: bool) -> None:
    marked = WHOLE.model_copy(update={"marks": Marks(reached=reached, differing=0, needed=0)})
    assert (figures(EPISODE, marked)["app"], figures(EPISODE, marked)["app_needed"]) == (reached, reached)


@pytest.mark.parametrize("key", MEASURES)
def test_a_column_reads_figures_that_episodes_have_and_says_how(key: str) -> None:
    measure, column = MEASURES[key], MEASURES[key].column
    known = {*figures(EPISODE, WHOLE), *figures(WITH_A_PERSON, WHOLE)}
    assert {measure.of, measure.by, measure.where} - {""} <= known
    assert column.interval == {"share": "wilson", "mean": "bootstrap", "ratio": "none"}[measure.how]
    is_cost = measure.of not in {*SHARES, "asked"}
    assert column.unit == ("number" if is_cost else "share")
    assert column.better == ("lower" if is_cost or key == "asked_clear" else "higher")


@pytest.mark.parametrize("key", [*COSTS, "rounds", "round_tokens", "graph", "cot"])
def test_a_cost_has_a_column_of_its_name(key: str) -> None:
    assert (MEASURES[key].of, MEASURES[key].how) == (key, "mean")


def refused(step: int, cause: str = "missing", action: str = "open(x)") -> Refused:
    return Refused(step, action, cause, ("why",))  # type: ignore[arg-type]


ASKED_AGAIN: Final[tuple[Event, ...]] = (
    Proposed(1, "open(x)", ""),
    refused(1),
    Proposed(2, "open(x)", ""),
    Corrected(2, "go_to(y)", "it is there", 1),
    Acted(2, "open(x)", 2, 1),
    refused(3, "unknown", "open(z)"),
)


def test_reprompted_actions_are_not_executed() -> None:
    assert executed_actions(ASKED_AGAIN) == ("go_to(y)", "open(x)")
    assert count_infeasible(ASKED_AGAIN, reprompt=True) == 0


def test_without_reprompting_infeasible_actions_count_as_failures() -> None:
    assert count_infeasible(ASKED_AGAIN, reprompt=False) == 1, "a name that means nothing is asked again all the same"


def test_each_refusal_in_a_whole_solution_counts() -> None:
    events = (Solved(1, ("open(x)", "close(x)"), ""), refused(1), refused(1, "unknown"))
    assert count_infeasible(events, reprompt=True) == 2
    stepwise = (Solved(1, ("open(x)",), "", final=False), refused(1))
    assert count_infeasible(stepwise, reprompt=True) == 0


def test_failures_have_the_papers_kinds() -> None:
    """Kind of fault: results that can't say which of the paper's failures happened."""
    events: list[Event] = [
        Refused(1, "discover_objects(kitchen-1)", "affordance", ("a room",)),
        Refused(2, "open(box-1)", "missing", ("far",)),
        Solved(3, (), "semantic violation: (a); semantic violation: (b); temporal inconsistency: (c) is left out"),
        Finished("given_up", "predicate misalignment: (on x)", 3, 0, Usage(), 0.0),
    ]
    found = Counter(failure_kinds(events))
    assert found == {
        "wrong discovery": 1,
        "missing": 1,
        "semantic violation": 2,
        "temporal inconsistency": 1,
        "predicate misalignment": 1,
    }
