"""Folders of GraSIF's own files in the experiments that play GraSIF's tasks, and in `plan`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from scenecypher.cli.app import run_command_line as command
from scenecypher.evaluation import dynamic, grasif
from scenecypher.evaluation.episodes import episodes_result
from scenecypher.evaluation.running import RunOptions, run_task
from tests.importers.test_grasif_folder import TASK, grasif_folder

MOVED: Final = TASK | {"id": "moved", "known": "known.json", "subset": "behavior-1k"}


def test_pairs_of_graphs_are_played_and_marked_by_their_goal_graph(server_settings: Path) -> None:
    """Released data that no experiment takes."""
    folder = str(grasif_folder(server_settings / "released", TASK, MOVED))
    options: dict[str, Any] = {"folder": folder, "methods": "symbolic"}
    for made in (grasif.grasif, dynamic.dynamic):
        log = run_task(made(**options), RunOptions(None, at_once=1))
        found = episodes_result(log, made.plan(**options))
        assert found.finished
        for table in found.tables:
            row = next(row for row in table.rows if row.method == "symbolic")
            assert (row.cells["sr"].value, row.cells["app"].value) == (1.0, 1.0), table.key
    tables = {table.key: table for table in grasif.grasif.plan(**options).tables}
    assert tables["behavior-1k"].published == ("lookplangraph", "IV-behavior-1k"), (
        "beside the paper's rows of its subset"
    )
    assert tables["released"].published == ("", "")
    (task,) = (it.tasks for it in grasif.realworld.plan(**options).tables if it.key == "released")
    assert task == ("released/two",)


@pytest.mark.usefixtures("server_settings")
def test_a_pair_is_imported_planned_and_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = grasif_folder(tmp_path / "released")
    assert command(["import", "grasif", str(folder)]) == 0
    assert "grasif/a: created" in capsys.readouterr().out
    assert command(["tasks", "list", "--file", str(folder)]) == 0
    assert "released/two" in capsys.readouterr().out
    assert command(["plan", "grasif/a", "--task", f"{folder}/two", "--method", "symbolic"]) == 0
    assert command(["tasks", "check", "released/two", "grasif/a", "--file", str(folder)]) == 0
    for name in ("a", "b", "known"):
        assert command(["scenes", "delete", f"grasif/{name}", "--yes"]) == 0
