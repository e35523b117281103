"""What the samples of the experiment `ssc` share; apart from its task, whose file Inspect loads under no name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scenecypher.chat.model import Reply, Request, Usage
from scenecypher.evaluation.eai.recordings import TaskName
from scenecypher.evaluation.eai.scoring import OutputScorer
from scenecypher.evaluation.replies import ModelSource
from scenecypher.evaluation.ssc.prompts import Prompts


@dataclass(frozen=True, slots=True)
class EmptyModel:
    """Stands in for a model where none is asked: replies with nothing."""

    def reply(self, request: Request) -> Reply:  # noqa: ARG002 - whatever is asked
        """Nothing, which is invalid."""
        return Reply("", Usage(), "none", source="scripted")


@dataclass(frozen=True, slots=True)
class SscConfig:
    """What all samples share: how outputs are scored, prompts by form, where replies come from."""

    task: TaskName
    scorer: OutputScorer
    prompts: Mapping[str, Prompts]
    replies: ModelSource
