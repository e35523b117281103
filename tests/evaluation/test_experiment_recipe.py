"""CONTRIBUTING's recipe for an experiment, tried with two modules and a row."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

from docs.generate.experiments import page
from scenecypher.cli.app import run_command_line as command
from scenecypher.cli.evaluate import OURS, result_of_log
from scenecypher.cli.evaluate_run import Experiment
from scenecypher.evaluation.episodes import played_result
from scenecypher.evaluation.experiments import ExperimentParts
from scenecypher.evaluation.reporting.page import find_results
from scenecypher.evaluation.result import result_path
from scenecypher.importers.datasets import reference_plan
from tests.scripted_model import ScriptedModel

EXPERIMENT: Final = '''\
"""An experiment with two tasks and two rows."""

from inspect_ai import task

from scenecypher.evaluation.episode import AssignmentCache
from scenecypher.evaluation.episode import EpisodePlan
from scenecypher.evaluation.episodes import played
from scenecypher.evaluation.experiment import PAPER, RowPlan, TablePlan, select_rows
from scenecypher.importers import behavior

TASKS = ("attach_a_camera_to_a_tripod", "bag_groceries")


@task
@played
def attic(*, corner="left", methods=PAPER, limit=0, seed=None, steps=0):
    table = TablePlan(
        key="attic",
        title=f"Two tasks, {corner}",
        columns=("success", "rounds"),
        rows=(RowPlan("zero-shot", "At once"), RowPlan("symbolic", "By an engine")),
        tasks=TASKS,
        common=EpisodePlan(group="attic", goal_graph=False),
    )
    tasks = [task for name in TASKS for task in behavior.tasks(name)]
    assignments = AssignmentCache(tasks, scenes=lambda task: next(behavior.scenes(task.id)), plans={})
    return select_rows("attic", "An attic", [table], methods=methods, assignments=assignments)
'''


COMMAND: Final = '''\
from typing import Annotated, Literal

import typer

from scenecypher.cli.evaluate_run import Choices


def attic(
    choices: Choices,
    *,
    corner: Annotated[Literal["left", "right"], typer.Option("--corner", help="Where.")] = "left",
):
    """Play in an attic."""
    from own_experiments.attic import attic as task

    return task(corner=corner, **choices.playing())
'''
PUBLISHED: Final = {"attic": [{"section": "Ours", "table": "attics", "without_model": "plans of an engine"}]}


@pytest.fixture
def attic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Add the experiment as the recipe says: a module with a task, a function for its command, and a row."""
    folder = tmp_path / "own_experiments"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "attic.py").write_text(EXPERIMENT, encoding="utf-8")
    (folder / "command.py").write_text(COMMAND, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("attic", "command"):
        monkeypatch.delitem(sys.modules, f"own_experiments.{name}", raising=False)
    task, make = import_module("own_experiments.attic").attic, import_module("own_experiments.command").attic
    row = Experiment(make, lambda: ExperimentParts(task, played_result(task)), plays=True)
    monkeypatch.setitem(OURS, "attic", row)


@pytest.mark.usefixtures("attic", "server_settings")
def test_an_experiment_is_a_module_a_function_and_rows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = ", ".join(reference_plan("behavior-1k/attach_a_camera_to_a_tripod"))
    monkeypatch.setenv("OPENAI_API_KEY", "scripted")
    with ScriptedModel(lambda _: f"Solution: [{plan}]") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        words = ["--corner", "right", "--model", "scripted", "-m", "zero-shot", "--json"]
        assert command(["eval", "attic", *words]) == 0
    found = json.loads(capsys.readouterr().out)
    (table,) = found["tables"]
    assert table["title"] == "Two tasks, right"
    assert [(row["label"], bool(row["cells"])) for row in table["rows"]] == [("At once", True), ("By an engine", False)]
    success = table["rows"][0]["cells"]["success"]
    assert (success["count"], success["n"]) == (1, 2), "a failed one counts"
    assert command(["eval", "attic", "--resume", found["provenance"]["log"], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tables"] == found["tables"]
    result_path(found["provenance"]["log"]).unlink()
    (from_log,) = find_results([Path(found["provenance"]["log"])], result_of_log).results
    assert from_log.model_dump(mode="json")["tables"] == found["tables"], "its log has its result"
    section = "\n## Ours\n\n| published | command | without a model |\n|---|---|---|\n"
    assert "| attics | `scenecypher eval attic` | plans of an engine |" in page(section, PUBLISHED)
