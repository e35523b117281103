"""Sample of recorded outputs, and a zip of the published wheel's layout that contains them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeAlias
from zipfile import ZipFile

from scenecypher.evaluation.eai.recordings import SCENE_PREFIX
from scenecypher.evaluation.eai.task_table import EAI_TASKS, TaskName

Outputs: TypeAlias = dict[TaskName, dict[str, dict[str, str]]]

OUTPUTS: Final[Outputs] = json.loads(
    (Path(__file__).resolve().parents[2] / "data" / "eai" / "outputs.json").read_text(encoding="utf-8")
)
"""Outputs by task, model and id."""


def outputs(task: TaskName) -> Iterator[tuple[str, str, str]]:
    """Yield model, task id and output."""
    return ((model, task_id, said) for model, found in OUTPUTS[task].items() for task_id, said in found.items())


def wheel_of(found: Outputs, path: Path) -> Path:
    """Write a zip with these outputs in the wheel's layout."""
    with ZipFile(path, "w") as archive:
        for task, row in EAI_TASKS.items():
            prefix = SCENE_PREFIX if task == "subgoal" else ""
            for model, said in found.get(row.name, {}).items():
                rows = [{"identifier": prefix + task_id, "llm_output": text} for task_id, text in said.items()]
                archive.writestr(f"virtualhome_eval/llm_response/{row.folder}/{model}_outputs.json", json.dumps(rows))
    return path
