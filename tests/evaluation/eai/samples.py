"""Sample of recorded outputs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeAlias

from scenecypher.evaluation.eai.task_table import TaskName

Outputs: TypeAlias = dict[TaskName, dict[str, dict[str, str]]]

OUTPUTS: Final[Outputs] = json.loads(
    (Path(__file__).resolve().parents[2] / "data" / "eai" / "outputs.json").read_text(encoding="utf-8")
)
"""Outputs by task, model and id."""


def outputs(task: TaskName) -> Iterator[tuple[str, str, str]]:
    """Yield model, task id and output."""
    return ((model, task_id, said) for model, found in OUTPUTS[task].items() for task_id, said in found.items())
