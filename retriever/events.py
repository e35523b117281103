"""What happens while a question is answered, as a closed union: the CLI, logs and methods listen to one stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from scenecypher.chat.model import Usage
from scenecypher.retriever.retrieval import Attempt, Retrieval


@dataclass(frozen=True, slots=True)
class Prompted:
    """The schema text, or the whole graph, that the model is shown before its first reply."""

    question: str
    schema: str


@dataclass(frozen=True, slots=True)
class Attempted:
    """The model replied: its query ran, was refused, or was an earlier one again; or it answered in words."""

    attempt: Attempt


@dataclass(frozen=True, slots=True)
class Hinted:
    """A query found nothing; the model is told what in it this scene does not have."""

    number: int
    causes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Doubted:
    """A check found that the answer can't be right; the model is told why."""

    number: int
    doubts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verified:
    """The verifier's verdict on the results so far: a summary where addressed, else what is missing, maybe nothing."""

    addressed: bool
    text: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class RetrievalEnded:
    """The end of the stream."""

    retrieval: Retrieval


RetrievalEvent: TypeAlias = Prompted | Attempted | Hinted | Doubted | Verified | RetrievalEnded
