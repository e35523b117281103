"""CONTRIBUTING's recipe for an experiment, tried with a file of a temporary folder, as Inspect loads it."""

from __future__ import annotations

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

from scenecypher.evaluation.episodes_result import episodes_result
from scenecypher.evaluation.result import ExperimentResult
from scenecypher.evaluation.running import RunOptions, run_task
from scenecypher.importers.reference_plans import reference_plan
from tests.evaluation.inspect_mock import mock_model

pytest.importorskip("bddl", reason="needs `pip install 'scenecypher[behavior]'`")

EXPERIMENT: Final = '''\
"""An experiment with two tasks and two rows."""

from inspect_ai import Task, task

from scenecypher.evaluation.assignments import AssignmentCache
from scenecypher.evaluation.episode import EpisodePlan
from scenecypher.evaluation.episodes import episodes_task
from scenecypher.evaluation.experiment import PAPER, RowPlan, TablePlan, select_rows
from scenecypher.evaluation.replies import LIVE, ModelSource
from scenecypher.importers import behavior

TASKS = ("attach_a_camera_to_a_tripod", "bag_groceries")


@task
def attic(*, methods=PAPER, replies=LIVE, record="") -> Task:
    return episodes_task(plan_experiment(methods=methods), ModelSource(replies, record=record))


def plan_experiment(*, methods=PAPER):
    table = TablePlan(
        key="attic",
        title="Two tasks",
        columns=("success", "rounds"),
        rows=(RowPlan("zero-shot", "At once"), RowPlan("symbolic", "By an engine")),
        tasks=TASKS,
        common=EpisodePlan(group="attic", goal_graph=False),
    )
    tasks = [task for name in TASKS for task in behavior.tasks(name)]
    assignments = AssignmentCache(tasks, scenes=lambda task: next(behavior.scenes(task.id)), plans={})
    return select_rows("attic", "An attic", [table], methods=methods, assignments=assignments)
'''


@pytest.mark.usefixtures("server_settings")
def test_an_experiment_is_one_file(tmp_path: Path) -> None:
    made = loaded(tmp_path / "attic.py")
    plan = ", ".join(reference_plan("behavior-1k/attach_a_camera_to_a_tripod"))
    log = run_task(made.attic(methods="zero-shot"), RunOptions(mock_model(lambda _: f"Solution: [{plan}]")))
    found = episodes_result(log, made.plan_experiment(methods="zero-shot"))
    assert isinstance(found, ExperimentResult)
    (table,) = found.tables
    assert [(row.label, bool(row.cells)) for row in table.rows] == [("At once", True), ("By an engine", False)]
    assert (table.rows[0].cells["success"].count, table.rows[0].cells["success"].n) == (1, 2), "a failed one counts"


def loaded(file: Path) -> ModuleType:
    """Load a file as Inspect does: by its path, as an unregistered module."""
    file.write_text(EXPERIMENT, encoding="utf-8")
    loader = SourceFileLoader(file.as_posix(), str(file))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module
