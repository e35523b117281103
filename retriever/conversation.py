"""The conversation about one question: an immutable value that grows by attempts and by what was said to them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Final, Self

from scenecypher.chat.model import Message, Usage
from scenecypher.retriever.events import Verified
from scenecypher.retriever.retrieval import (
    Attempt,
    Declined,
    QueryExecuted,
    Rejected,
    Retrieval,
    RetrievalOutcome,
    TextAnswer,
    rows_text,
)

ECHO_CHARACTERS: Final = 4_000
_QUOTED: Final = re.compile(r"('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Conversation:
    """What was said so far.

    `hinted` once the model was told why a query found nothing, `doubted` once it was told why its answer can't be
    right; `read_at` is the version of the graph that it was shown
    as text, None where it writes queries; `judged_at` is the attempt after which the last verdict was given.
    """

    question: str
    messages: tuple[Message, ...]
    attempts: tuple[Attempt, ...] = ()
    verdicts: tuple[Verified, ...] = ()
    hinted: bool = False
    doubted: bool = False
    read_at: int | None = None
    judged_at: int = 0

    @property
    def last(self) -> Attempt:
        """The latest attempt."""
        return self.attempts[-1]

    @property
    def verdict(self) -> Verified | None:
        """The last verdict, if the best attempt was among what was judged."""
        best = self.best
        return self.verdicts[-1] if self.verdicts and best is not None and best.number <= self.judged_at else None

    @property
    def best(self) -> Attempt | None:
        """The latest attempt that found something out: its query ran, or it answered in words."""
        return next(
            (attempt for attempt in reversed(self.attempts) if isinstance(attempt.ending, QueryExecuted | TextAnswer)),
            None,
        )

    @property
    def results(self) -> tuple[str, ...]:
        """What all attempts found out, in words."""
        return tuple(
            result_text(one.ending) for one in self.attempts if isinstance(one.ending, QueryExecuted | TextAnswer)
        )

    @property
    def usage(self) -> Usage:
        """The tokens of all replies, the verifier's too."""
        spent = [*(attempt.usage for attempt in self.attempts), *(verdict.usage for verdict in self.verdicts)]
        return reduce(Usage.__add__, spent, Usage())

    def earlier_query(self, cypher: str) -> Attempt | None:
        """The attempt with the same query but for blanks, if there was one."""
        return next((one for one in self.attempts if _bare(one.cypher) == _bare(cypher)), None)

    def earlier_text(self, text: str) -> Attempt | None:
        """The attempt that answered in the same words, if there was one."""
        return next(
            (one for one in self.attempts if isinstance(one.ending, TextAnswer) and one.ending.text == text), None
        )

    def with_attempt(self, attempt: Attempt) -> Self:
        """With one attempt more."""
        return replace(self, attempts=(*self.attempts, attempt))

    def with_message(self, message: Message, *, hinted: bool = False, doubted: bool = False) -> Self:
        """With the last query or answer and what the model was told of it."""
        messages = (*self.messages, Message("assistant", _echo(self.last)), message)
        return replace(self, messages=messages, hinted=self.hinted or hinted, doubted=self.doubted or doubted)

    def with_verdict(self, verdict: Verified) -> Self:
        """With a verdict of the verifier."""
        return replace(self, verdicts=(*self.verdicts, verdict), judged_at=self.last.number)

    def retrieval(self) -> Retrieval:
        """What came of it all."""
        best, verdict = self.best, self.verdict
        made = partial(Retrieval, self.question, self._outcome(), self._answer(), self.attempts, self.usage)
        if best is None or isinstance(self.last.ending, Declined):
            return made()
        made = partial(made, addressed=verdict.addressed if verdict else None)
        match best.ending:
            case QueryExecuted(answer):
                return made(
                    cypher=best.cypher,
                    columns=tuple(answer.columns),
                    rows=tuple(tuple(row) for row in answer.rows),
                    version=answer.version,
                    truncated=answer.truncated,
                )
            case TextAnswer(_, version):
                return made(version=version)
        raise AssertionError

    def _outcome(self) -> RetrievalOutcome:
        if isinstance(self.last.ending, Declined):
            return "unanswerable"
        return "answered" if self.best else "refused"

    def _answer(self) -> str:
        match self.last.ending, self.best:
            case Declined(reason), _:
                return reason
            case _, Attempt(ending=QueryExecuted() | TextAnswer() as ending):
                verdict = self.verdict
                return verdict.text if verdict and verdict.addressed else result_text(ending)
            case Rejected(_, message), _:
                many = f"{len(self.attempts)} attempts" if len(self.attempts) > 1 else "1 attempt"
                return f"no query was accepted after {many}; the last one: {message}"
        raise AssertionError


def result_text(ending: QueryExecuted | TextAnswer) -> str:
    """What an attempt found out, in words."""
    return ending.text if isinstance(ending, TextAnswer) else rows_text(ending.answer)


def _echo(attempt: Attempt) -> str:
    """What the model wrote, as it is shown to it again."""
    if isinstance(attempt.ending, TextAnswer):
        return attempt.ending.text[:ECHO_CHARACTERS]
    return f"```cypher\n{attempt.cypher[:ECHO_CHARACTERS]}\n```" if attempt.cypher else "(no query)"


def _bare(cypher: str) -> str:
    """The query without what makes no difference; blanks within quotes do."""
    pieces = _QUOTED.split(cypher)
    plain = (" ".join(piece.split()) + " " if number % 2 == 0 else piece for number, piece in enumerate(pieces))
    return "".join(plain).rstrip("; ")
