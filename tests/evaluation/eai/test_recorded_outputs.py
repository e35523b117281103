"""Recorded outputs keep the figures that they had, and have those that were published with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest

from scenecypher.evaluation.eai.scoring import model_figures
from scenecypher.evaluation.eai.task_table import EAI_TASKS, TaskName, value_of
from scenecypher.evaluation.result import Cell
from scenecypher.evaluation.ssc.prompts import fetch_recordings
from scenecypher.settings import Settings
from tests.evaluation.eai.differential import MODELS, PUBLISHED_AS, published_figures, recorded_outputs
from tests.evaluation.eai.recorded import RECORDED
from tests.evaluation.eai.samples import OUTPUTS
from tests.evaluation.tables import kept_tables

pytestmark = pytest.mark.usefixtures("server_settings")
MODEL: Final = "claude-3-opus-20240229"
SAID: Final[dict[Any, Any]] = dict(OUTPUTS) | dict(RECORDED)
OTHER_OUTPUTS: Final[Mapping[TaskName, frozenset[str]]] = {
    "action-sequencing": frozenset(),
    "goal": frozenset(),
    "transition": frozenset({"cohere-command-r-plus", "gemini-1.0-pro", "llama-3-70b-chat", "mistral-large-2402"}),
}
"""Models of which the published figures are of other outputs than the recorded ones."""


@pytest.mark.parametrize("task", EAI_TASKS)
def test_a_sample_keeps_all_its_figures(task: TaskName) -> None:
    """Scoring that changes a count, a denominator or an interval of the recorded outputs."""
    said, scorer = SAID[task][MODEL], EAI_TASKS[task].scorer
    kept = {
        key: Cell.model_validate(cell)
        for table in kept_tables()[f"eai {task}"]
        for key, cell in table["rows"][0]["cells"].items()
        if not key.endswith(".published")
    }
    judged = [scorer.score(one, said[one]) for one in scorer.task_ids() if one in said]
    found = model_figures(scorer, judged, intervals=list(kept))
    assert {key: found[key] for key in kept} == kept


def test_published_figures_are_read() -> None:
    assert published_figures("llama-3-8b-chat", "action-sequencing")["esr"] == 25.9
    assert published_figures("llama-3-8b-chat", "transition")["object_states.f1"] == 18.9
    assert len(MODELS) == 15


@pytest.mark.slow
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("task", OTHER_OUTPUTS)
def test_every_model_has_the_published_figures(task: TaskName, model: str) -> None:
    """Scoring that differs from the Embodied Agent Interface's own; it needs the 27 MB of recordings."""
    said = recorded_outputs(fetch_recordings(Settings().home, tell=lambda _: None), task, model)
    scorer = EAI_TASKS[task].scorer
    figures = scorer.figures([scorer.score(one, said.get(one)) for one in scorer.task_ids()])
    published = published_figures(model, task)
    for name, key in PUBLISHED_AS[task].items() if model not in OTHER_OUTPUTS[task] else ():
        assert figures[name].value == pytest.approx(published[key], abs=0.5), name
    if task == "action-sequencing":
        low, high = value_of(figures["success_least"]), value_of(figures["success_most"])
        assert low - 0.5 <= published["tsr"] <= high + 0.5
