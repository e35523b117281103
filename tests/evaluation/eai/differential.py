"""Figures that the Embodied Agent Interface published for recorded outputs of 15 models, and these outputs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from zipfile import ZipFile

from scenecypher.evaluation.eai.task_table import TaskName
from scenecypher.evaluation.eai.transition import CATEGORIES
from scenecypher.evaluation.ssc.prompts import SCENE_PREFIX

FILE: Final[Any] = json.loads(
    (Path(__file__).resolve().parents[2] / "data" / "eai" / "published.json").read_text(encoding="utf-8")
)
FOLDERS: Final[Mapping[TaskName, str]] = {
    "action-sequencing": "action_sequence",
    "goal": "goal_interpretation",
    "transition": "transition_modeling",
}
"""Folder of outputs in the wheel by task."""
PUBLISHED_AS: Final[Mapping[TaskName, Mapping[str, str]]] = {
    "action-sequencing": {
        **{name: name for name in ("parsing", "hallucination", "wrong_order", "missing_step", "affordance")},
        "arguments": "argnum",
        "executed": "esr",
    },
    "goal": {"all_f1": "all_f1"},
    "transition": {f"{category}.{part}": f"{category}.{part}" for category in CATEGORIES for part in ("p", "r", "f1")},
}
"""Keys of published figures by our figure's name."""
TABLES: Final[Mapping[TaskName, str]] = {
    "action-sequencing": "action_sequencing",
    "goal": "goal_interpretation",
    "transition": "transition_modeling",
}
"""Name of the published table by task."""
MODELS: Final = tuple(FILE["recorded"])
"""Models that have recorded outputs and published figures."""


def published_figures(model: str, task: TaskName) -> dict[str, float]:
    """Return percentages by key, such as ``tsr`` and ``object_states.f1``."""
    table = FILE["models"][FILE["recorded"][model]][TABLES[task]]
    pairs = [(key, cell if isinstance(cell, dict) else {"": cell}) for key, cell in table.items()]
    return {f"{key}.{part}".rstrip("."): value for key, cell in pairs for part, value in cell.items()}


def recorded_outputs(wheel: Path, task: TaskName, model: str) -> dict[str, str]:
    """Return a model's outputs by task id."""
    name = f"virtualhome_eval/llm_response/{FOLDERS[task]}/{model}_outputs.json"
    with ZipFile(wheel) as archive:
        rows = json.loads(archive.read(name))
    return {row["identifier"].removeprefix(SCENE_PREFIX): row["llm_output"] for row in rows}
