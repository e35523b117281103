"""Configuration shared by the samples of the experiment `ssc`.

It is apart from the task, since Inspect loads the task's file without registering its module.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from scenecypher.evaluation.eai.scoring import OutputScorer
from scenecypher.evaluation.eai.task_table import EaiTask
from scenecypher.evaluation.replies import ModelSource
from scenecypher.evaluation.ssc.prompts import Prompts


@dataclass(frozen=True, slots=True)
class SscConfig:
    """Scorer of outputs, prompts by form, and source of replies, shared by all samples."""

    name: ClassVar[str] = "Bench"
    """Name of this type in Inspect's logs."""

    task: EaiTask
    scorer: OutputScorer
    prompts: Mapping[str, Prompts]
    replies: ModelSource
