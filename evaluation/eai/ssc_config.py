"""Configuration shared by the samples of the experiment `ssc`.

It is apart from the task, since Inspect loads the task's file without registering its module.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from scenecypher.chat.model import Reply, Request, Usage
from scenecypher.evaluation.eai.scoring import OutputScorer
from scenecypher.evaluation.eai.task_table import EaiTask
from scenecypher.evaluation.replies import ModelSource
from scenecypher.evaluation.ssc.prompts import Prompts


@dataclass(frozen=True, slots=True)
class EmptyModel:
    """Model used if none is asked: it returns an empty reply."""

    def reply(self, request: Request) -> Reply:  # noqa: ARG002 - the request is ignored
        """Return an empty reply, which is invalid."""
        return Reply("", Usage(), "none", source="scripted")


@dataclass(frozen=True, slots=True)
class SscConfig:
    """Scorer of outputs, prompts by form, and source of replies, shared by all samples."""

    name: ClassVar[str] = "Bench"
    """Name of this type in Inspect's logs."""

    task: EaiTask
    scorer: OutputScorer
    prompts: Mapping[str, Prompts]
    replies: ModelSource
