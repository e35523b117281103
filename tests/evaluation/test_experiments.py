"""Each experiment runs on a task or two with a program for a model, and its tables have the published rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from itertools import groupby
from pathlib import Path
from threading import get_ident
from time import sleep
from typing import Any, Final

import pytest

from scenecypher.chat.model import Reply, Request, Usage
from scenecypher.evaluation import babyai, dynamic, grasif, household
from scenecypher.evaluation.episodes import episodes_result
from scenecypher.evaluation.experiment import Experiment
from scenecypher.evaluation.measures import MEASURES
from scenecypher.evaluation.playing import play
from scenecypher.evaluation.published import published_rows, table_settings
from scenecypher.evaluation.running import RunOptions, run_task
from scenecypher.evaluation.stated_tasks import dynamic_tasks, to_task
from scenecypher.evaluation.world_pool import WorldPool
from scenecypher.importers.datasets import reference_plans
from scenecypher.importers.homes import our_home
from tests.evaluation.inspect_mock import mock_model
from tests.oracle import provider

pytest.importorskip("minigrid", reason="needs `pip install 'scenecypher[papers]'`")
assert provider.PROGRAMS, "importing it makes the oracles known"
pytestmark = pytest.mark.usefixtures("server_settings")


def solution(plan: Iterable[str]) -> str:
    return f"Solution: [{', '.join(plan)}]"


def test_homes_are_scored_by_desired_states_and_feasible_plans() -> None:
    plans = reference_plans()
    by_goal = {task.formula: plans[f"homes/apartment/{task.id}"] for task in our_home("apartment")[1]}
    first = next(iter(by_goal))

    def answer(asked: str) -> str:
        goal = asked.rpartition("Task: ")[2].strip()
        plan = by_goal.get(goal, ())
        return solution(("walk(nowhere)", *plan) if goal == first else plan[:1] or ("walk(nowhere)",))

    options: dict[str, Any] = {"methods": "zero-shot", "limit": 2}
    found = episodes_result(
        run_task(household.household(**options), RunOptions(mock_model(answer), at_once=2)),
        household.household.plan(**options),
    )
    assert len(found.samples) == 4, "two homes; what two papers' tables share is played once"
    row = next(row for row in found.tables[0].rows if row.method == "zero-shot")
    assert (row.cells["success"].count, row.cells["success"].n) == (0, 2), "it began with an action that can't be"
    assert (row.cells["success_skipping"].count, row.cells["refused"].value) == (1, 0.5), (
        "one refused step in two plans"
    )
    assert (found.provenance.replies, found.provenance.model) == (("scripted",), "none")


def test_prompts_of_a_home_show_examples_of_the_other_home() -> None:
    """Worked examples that name nodes of the tested home, or of one home in all of them."""
    asked: list[str] = []

    def answer(text: str) -> str:
        asked.append(text)
        return solution(["walk(nowhere)"])

    run_task(household.household(methods="cot", limit=1), RunOptions(mock_model(answer, whole=True), at_once=1))
    shown = [[step in text for step in ("put_in(milk_48, fridge_64)", "put_in(milk_79, fridge_71)")] for text in asked]
    assert sorted(shown) == [[False, True], [True, False]]


def test_moved_things_are_found_by_observation() -> None:
    options: dict[str, Any] = {"data": "behavior", "methods": "lookplangraph-gt", "wording": "goal", "limit": 2}
    found = episodes_result(
        run_task(dynamic.dynamic(**options), RunOptions("oracle/lookplangraph", at_once=2)),
        dynamic.dynamic.plan(**options),
    )
    (table,) = found.tables
    row = next(row for row in table.rows if row.cells)
    assert (row.cells["sr_moved"].n, row.cells["sr_unmoved"].n) == (1, 1)
    assert (row.label, row.cells["sr"].value, row.cells["app"].value) == ("LookPlanGraphGT", 1.0, 1.0)
    notes = {row.label: row.note for row in table.rows}
    assert "needs pictures" in notes["LookPlanGraph"]
    assert len(table.rows) == 8, "six methods, and two with ground truth"


def test_our_methods_stand_beside_the_papers_with_what_they_took() -> None:
    options: dict[str, Any] = {"data": "behavior", "methods": "ours", "wording": "goal", "limit": 2}
    found = episodes_result(
        run_task(dynamic.dynamic(**options), RunOptions("oracle/goals", at_once=2)), dynamic.dynamic.plan(**options)
    )
    (table,) = found.tables
    assert [row.method for row in table.rows if row.cells] == ["goal-then-plan", "explore-then-plan"]
    searched = table.rows[-1]
    assert (searched.kind, searched.options, searched.cells["sr"].value) == (
        "ours",
        {"augmentation": "ground truth"},
        1.0,
    )
    assert all(cell.value is not None for cell in searched.cells.values())
    rooms = [one.figures["rooms_changed"] for one in found.samples if one.method == "explore-then-plan"]
    assert searched.cells["rooms_changed"].value == sum(rooms) / 2


def test_our_methods_plan_for_desired_states_of_classes() -> None:
    options: dict[str, Any] = {"methods": "goal-then-plan", "limit": 1}
    found = episodes_result(
        run_task(household.household(**options), RunOptions("oracle/goals", at_once=2)),
        household.household.plan(**options),
    )
    played = [row for table in found.tables for row in table.rows if row.cells]
    assert [(row.method, row.cells["success"].value) for row in played] == [("goal-then-plan", 1.0)] * 4


def test_our_methods_are_in_each_table_that_they_fit() -> None:
    plans: list[Experiment] = [
        grasif.grasif.plan(methods="paper,ours", limit=1),
        dynamic.dynamic.plan(methods="paper,ours", limit=1, simulated=True),
        household.household.plan(methods="paper,ours", limit=1),
        babyai.babyai.plan(methods="paper,ours", limit=1),
        babyai.babyai_slm.plan(methods="paper,ours", limit=1),
        grasif.realworld.plan(methods="paper,ours", limit=1),
        grasif.realworld.plan(methods="paper,ours", limit=1, hands="person"),
    ]
    tables = [(plan, table) for plan in plans for table in plan.tables]
    both = {"goal-then-plan", "explore-then-plan"}
    has_ours = {table.key: both & {row.key for row in table.rows} for _, table in tables if table.columns[0] != "sr"}
    assert all(len({row.key for row in table.rows}) == len(table.rows) for _, table in tables)
    played = {table.key for plan, table in tables if {(table.group, name) for name in both} <= plan.run and table.ours}
    assert played == {
        *("sayplan-office", "behavior-1k", "robothow", "virtualhome", "behavior", "our-office"),
        *(f"{part}-{home}" for part in ("sg2-2", "sg-rwr-2") for home in ("apartment", "cottage")),
        *(f"{part}-{level}" for part in ("sg2-1", "sg-rwr-1") for level in ("trv1", "trv2")),
    }
    looking = {(f"{world}-simulated", "explore-then-plan-simulated") for world in ("virtualhome", "behavior")}
    assert looking <= plans[1].run, "goal-then-plan does not look"
    assert not has_ours["sg2-3-trv1"], "its rows are parts of one method"
    numqa = next(table for _, table in tables if table.key == "sg2-1-numqa")
    assert {row.absent for row in numqa.rows if row.is_ours} == {
        "no meaning: it plans actions and can't answer questions"
    }


def test_our_method_that_looks_is_played_with_an_observer_that_errs() -> None:
    options: dict[str, Any] = {"data": "behavior", "methods": "explore-then-plan-simulated", "wording": "goal"}
    options |= {"limit": 2, "simulated": True}
    found = episodes_result(
        run_task(dynamic.dynamic(**options), RunOptions("oracle/goals", at_once=2)), dynamic.dynamic.plan(**options)
    )
    (row,) = (row for table in found.tables for row in table.rows if row.cells)
    assert (row.kind, row.options, row.cells["n"].value) == ("ours", {"augmentation": "simulated observer"}, 2)


def test_a_simulated_observer_looks_for_the_wanted_methods() -> None:
    for methods, played in (
        ("paper", {"react-alfworld-simulated", "lookplangraph-simulated"}),
        ("ours", {"explore-then-plan-simulated"}),
        ("explore-then-plan", {"explore-then-plan-simulated"}),
        ("lookplangraph-gt", {"lookplangraph-simulated"}),
        ("lookplangraph", {"lookplangraph-simulated"}),
        ("sayplan,react-alfworld-simulated", {"react-alfworld-simulated"}),
    ):
        made = dynamic.dynamic.plan(data="behavior", methods=methods, simulated=True, limit=1)
        assert {row for group, row in made.run if group == "behavior-simulated"} == played


def test_the_office_is_played_by_the_simulator_or_by_a_person() -> None:
    options: dict[str, Any] = {"methods": "lookplangraph", "wording": "goal", "limit": 1}
    log = run_task(grasif.realworld(**options), RunOptions("oracle/lookplangraph"))
    scripted = episodes_result(log, grasif.realworld.plan(**options))
    assert scripted.tables[0].rows[0].cells["sr"].value == 1.0
    made = grasif.realworld.plan(hands="person", methods="zero-shot", limit=1)
    assert made.tables[0].columns[0] == "sr", "what the paper prints"
    (episode,) = made.episodes()
    asked: list[str] = []

    def person(question: str) -> str:
        asked.append(question)
        return "y" if question.startswith("is this done") else ""

    pool = WorldPool()
    trace = play(pool, made.assignments, episode, model=OnePlanModel(reference_plans()[episode.task]), ask=person)
    pool.close()
    assert trace.marks.reached
    assert len(asked) == len(trace.executed) + 1, "each action was asked for, and then whether all is done"
    assert trace.executed == reference_plans()[episode.task]


class SilentPerson:
    """Person who does every action without comment; `threads` are the threads that asked, in order."""

    def __init__(self) -> None:
        self.threads: list[int] = []

    def readline(self) -> str:
        self.threads.append(get_ident())
        sleep(0.02)  # time in which other threads could ask
        return "\n"


def test_a_person_plays_one_task_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {"hands": "person", "methods": "zero-shot", "limit": 2}
    made = grasif.realworld.plan(**options)
    plan = solution(reference_plans()[next(made.episodes()).task])
    monkeypatch.setattr("sys.stdin", person := SilentPerson())
    found = episodes_result(
        run_task(grasif.realworld(**options), RunOptions(mock_model(lambda _: plan), at_once=2)), made
    )
    assert [one.success for one in found.samples] == [False, False], "nobody said that it is done"
    assert len(person.threads) > 4
    assert len([*groupby(person.threads)]) <= 2, "what was asked for one task is not amid another's"


class OnePlanModel:
    """Model that knows one plan."""

    def __init__(self, plan: Iterable[str]) -> None:
        self._plan = tuple(plan)

    def reply(self, request: Request) -> Reply:
        assert request.messages
        return Reply(solution(self._plan), Usage(10, 5), "solving", source="scripted")


ROOT: Final = Path(__file__).resolve().parents[2]
TASK_FILES: Final = sorted(
    file for file in (ROOT / "evaluation").rglob("*.py") if "\n@task\n" in file.read_text("utf-8")
)


@pytest.mark.parametrize("file", TASK_FILES, ids=lambda file: file.stem)
def test_inspect_can_load_the_file_of_an_experiment(file: Path) -> None:
    """Load the file as `inspect eval FILE` and a resumed run do: by path, as an unregistered module."""
    loader = SourceFileLoader(file.as_posix(), str(file))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    loader.exec_module(module_from_spec(spec))


EXPERIMENTS: Final[tuple[Callable[..., Experiment], ...]] = (
    grasif.grasif.plan,
    babyai.babyai.plan,
    babyai.babyai_slm.plan,
    dynamic.dynamic.plan,
    household.household.plan,
    grasif.realworld.plan,
)


def tables() -> Iterator[Any]:
    for make in EXPERIMENTS:
        options = {"data": "sayplan-office,ablations"} if make is grasif.grasif.plan else {}
        yield from make(limit=1, **options).tables


def test_every_table_has_settings_and_the_papers_rows_are_ours_too() -> None:
    for table in tables():
        assert {*table.columns} <= {*MEASURES}, table.key
        assert all(setting.source for setting in table_settings(table.settings)), table.key
        name, key = table.published
        _, number, rows = published_rows(name, key)
        assert number, table.key
        ours = {row.label for row in table.rows}
        theirs = {row.label for row in rows if not re.match(r"GPT|Llama|Gemma", row.label)}
        assert theirs == ours, table.key
        assert all({*row.cells} <= {*table.columns, "sr"} for row in rows), table.key


def test_names_may_come_as_inspects_command_line_splits_them() -> None:
    made = grasif.grasif.plan(data=["sayplan-office", "ablations"], methods=["symbolic", "sayplan"], limit=1)
    assert [table.key for table in made.tables] == ["sayplan-office", "ablations"]
    assert made.run == {("sayplan-office", "symbolic"), ("sayplan-office", "sayplan")}
    looked = dynamic.dynamic.plan(data=["behavior"], methods=["sayplan", "lookplangraph"], simulated=True, limit=1)
    assert looked.run == {("behavior", "sayplan"), ("behavior-simulated", "lookplangraph-simulated")}


def test_half_of_the_dynamic_tasks_have_a_moved_thing() -> None:
    lines = dynamic_tasks()
    in_homes = [line for line in lines if line.category != "behavior"]
    assert (len(lines), len(in_homes)) == (100, 50)
    for part in (in_homes, [line for line in lines if line not in in_homes]):
        assert sum(line.seed is not None for line in part) == 25
    assert {line.category for line in in_homes} == {"fridge", "microwave", "dishwasher"}
    made = dynamic.dynamic.plan(data="virtualhome", methods="zero-shot")
    for episode in list(made.episodes())[::7]:
        given = made.assignments.of(episode)
        assert given.scheme.needed, episode.task
        if episode.moved:
            assert given.moved is not None
            assert given.moved.moves[0].thing in given.scheme.needed, episode.task
    assert to_task(in_homes[0]).instruction == "Put the breadslice into the fridge."
