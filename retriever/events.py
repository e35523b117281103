"""Events of answering a question, as a closed union: one stream for the CLI, logs and methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from scenecypher.chat.model import Usage
from scenecypher.retriever.retrieval import Attempt, Retrieval


@dataclass(frozen=True, slots=True)
class Prompted:
    """The schema text, or the whole graph, shown to the model before its first reply."""

    question: str
    schema: str


@dataclass(frozen=True, slots=True)
class Attempted:
    """A reply of the model: its query was executed, refused, or equal to an earlier one; or it answered in words."""

    attempt: Attempt


@dataclass(frozen=True, slots=True)
class Hinted:
    """A query that found nothing, and the causes that the model is given: values that the scene lacks."""

    number: int
    causes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Doubted:
    """An answer that a check found wrong, and the reasons that the model is given."""

    number: int
    doubts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verified:
    """The verifier's verdict on the results so far: a summary if they address the question, else the missing part.

    `addressed` is None if the model was asked for the answer in words, and for no verdict.
    """

    addressed: bool | None
    text: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class RetrievalEnded:
    """The last event of the stream."""

    retrieval: Retrieval


RetrievalEvent: TypeAlias = Prompted | Attempted | Hinted | Doubted | Verified | RetrievalEnded
