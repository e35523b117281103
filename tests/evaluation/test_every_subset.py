"""Each part of an experiment's data is played without a model: by an oracle, or by the data's reference plans."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from scenecypher.evaluation import dynamic, grasif
from scenecypher.evaluation.episodes import episodes_result
from scenecypher.evaluation.running import RunOptions, run_task
from scenecypher.evaluation.stated_tasks import dynamic_tasks
from scenecypher.importers.robothow import program_task
from tests.evaluation.inspect_mock import mock_model
from tests.oracle import provider

pytest.importorskip("eai_eval", reason="needs `pip install --no-deps eai-eval`")
assert provider.PROGRAMS, "importing it makes the oracles known"
pytestmark = pytest.mark.usefixtures("server_settings")


def test_the_oracle_plays_the_other_subsets_of_grasif_and_their_ablations() -> None:
    options: dict[str, Any] = {
        "data": "sayplan-office,robothow,ablations",
        "methods": "lookplangraph",
        "wording": "goal",
        "limit": 1,
    }
    read = program_task.cache_info().misses
    found = episodes_result(
        run_task(grasif.grasif(**options), RunOptions("oracle/lookplangraph", at_once=2)),
        grasif.grasif.plan(**options),
    )
    played = {table.key: [row.cells["sr"].value for row in table.rows if row.cells] for table in found.tables}
    assert played == {"sayplan-office": [1.0], "robothow": [1.0], "ablations": [1.0]}
    assert len(found.samples) == 2, "what two tables share is played once"
    assert program_task.cache_info().misses <= read + 1, "programs that are not chosen are not read"


def test_a_plan_made_beforehand_succeeds_only_where_nothing_was_moved() -> None:
    """Reply as LLM-as-P with the reference plans: a thing that is not where the robot believes it can't be gone to."""
    options: dict[str, Any] = {"data": "virtualhome", "methods": "llm-as-p", "limit": 2}
    plans = {line.instruction: line.plan for line in dynamic_tasks() if line.home == "apartment"}

    def answer(asked: str) -> str:
        instruction = re.findall(r"^.*The instruction: (.*)$", asked, re.MULTILINE)[-1]
        return json.dumps({"plan": plans[instruction]})

    found = episodes_result(
        run_task(dynamic.dynamic(**options), RunOptions(mock_model(answer), at_once=2)),
        dynamic.dynamic.plan(**options),
    )
    row = next(row for row in found.tables[0].rows if row.cells)
    assert {key: (row.cells[key].value, row.cells[key].n) for key in ("sr_moved", "sr_unmoved", "sr_all")} == {
        "sr_moved": (0.0, 1),
        "sr_unmoved": (1.0, 1),
        "sr_all": (0.5, 2),
    }
    assert row.failed == 0
