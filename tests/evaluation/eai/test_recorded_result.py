"""Tables of recorded outputs: published figures have columns, and sampled figures are not compared with full ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import read_eval_log

from scenecypher.cli.app import run_command_line as command
from scenecypher.evaluation.eai.published import published_figures
from scenecypher.evaluation.eai.recorded_result import eai_result
from scenecypher.evaluation.eai.task_table import EAI_TASKS, TaskName
from tests.evaluation.eai.recorded import RECORDED
from tests.evaluation.eai.samples import Outputs, wheel_of

MODEL = "gpt-4o-2024-05-13"


def run_command(task: TaskName, folder: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    said: Outputs = {task: {MODEL: RECORDED[task][MODEL]}}
    some = ["--limit", "2", "--plans", "1"]
    where = ["--recordings", str(wheel_of(said, folder / "some.whl")), "--log-dir", str(folder)]
    assert command(["eval", "eai", "--recorded", "--task", task, *some, *where, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def columns_of(found: Any) -> set[str]:
    return {column["key"] for table in found["tables"] for column in table["columns"]}


def test_published_figures_have_columns_and_sampled_plans_are_not_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert {*published_figures(MODEL, EAI_TASKS["goal"])} <= {*EAI_TASKS["goal"].published.values()}
    found = run_command("transition", tmp_path, capsys)
    assert {f"{key}.published" for key in published_figures(MODEL, EAI_TASKS["transition"])} <= columns_of(found)
    planning = found["tables"][-1]
    assert "planned with 1 outputs" in planning["notes"][-1]
    assert planning["rows"][0]["cells"]["strict_planner"]["n"] == 1
    assert {one["outcome"] for one in found["samples"]} == {"unread"}
    log = read_eval_log(found["provenance"]["log"])
    log.eval.task_args = {**log.eval.task_args, "limit": 0}
    notes = eai_result(log).notes
    assert any("Transition modelling: F1" in note for note in notes), "as if it were of all"
    assert not any("planner" in note for note in notes)


@pytest.mark.parametrize(
    ("task", "judged", "ended"),
    [
        ("action-sequencing", {"outcome": "executed", "relations": [1, 1]}, ("executed", True)),
        ("action-sequencing", {"outcome": "executed", "relations": [0, 1]}, ("goal_missed", False)),
        ("goal", {"parsed": True, "strict_edge": [1, 0, 0]}, ("inexact", True)),
        ("goal", {"parsed": True, "strict_edge": [1, 1, 0]}, ("inexact", False)),
        ("goal", {"parsed": False, "strict_edge": [0, 0, 1]}, ("unread", False)),
        ("transition", {"parsed": True, "plan": True}, ("no plan", True)),
        ("transition", {"parsed": True, "plan": None}, ("not planned", False)),
    ],
)
def test_outcome_of_an_output(task: TaskName, judged: dict[str, Any], ended: tuple[str, bool]) -> None:
    others = {"states": [0, 0], "relations": [0, 0], "actions": [0, 0, 0]}
    strict = {f"strict_{kind}": [0, 0, 0] for kind in ("node", "edge", "action")}
    assert EAI_TASKS[task].outcome(others | strict | judged) == ended
