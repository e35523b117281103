"""The conversation about one question: an immutable value that grows by attempts and by what was said to them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import Final, Self

from chat.model import Message, Usage
from retriever.events import Verified
from retriever.retrieval import Attempt, Declined, Outcome, Ran, Rejected, Retrieval, rows_text

ECHO_CHARACTERS: Final = 4_000


@dataclass(frozen=True, slots=True)
class Talk:
    """What was said so far; `hinted` once the model was told why a query found nothing."""

    question: str
    messages: tuple[Message, ...]
    attempts: tuple[Attempt, ...] = ()
    verdicts: tuple[Verified, ...] = ()
    hinted: bool = False

    @property
    def last(self) -> Attempt:
        """The latest attempt."""
        return self.attempts[-1]

    @property
    def ran(self) -> Attempt | None:
        """The latest attempt whose query ran."""
        return next((attempt for attempt in reversed(self.attempts) if isinstance(attempt.ending, Ran)), None)

    @property
    def usage(self) -> Usage:
        """The tokens of all replies, the verifier's too."""
        spent = [*(attempt.usage for attempt in self.attempts), *(verdict.usage for verdict in self.verdicts)]
        return reduce(Usage.__add__, spent, Usage())

    def earlier(self, cypher: str) -> Attempt | None:
        """The attempt with the same query but for blanks, if there was one."""
        return next((one for one in self.attempts if _bare(one.cypher) == _bare(cypher)), None)

    def tried(self, attempt: Attempt) -> Self:
        """With one attempt more."""
        return replace(self, attempts=(*self.attempts, attempt))

    def told(self, said: Message, *, hinted: bool = False) -> Self:
        """With the last query and what the model was told of it."""
        query = f"```cypher\n{self.last.cypher[:ECHO_CHARACTERS]}\n```" if self.last.cypher else "(no query)"
        messages = (*self.messages, Message("assistant", query), said)
        return replace(self, messages=messages, hinted=self.hinted or hinted)

    def judged(self, verdict: Verified) -> Self:
        """With a verdict of the verifier."""
        return replace(self, verdicts=(*self.verdicts, verdict))

    def retrieval(self) -> Retrieval:
        """What came of it all."""
        shown = Retrieval(self.question, self._outcome(), self._answer(), self.attempts, self.usage)
        if self.ran is None or not isinstance(self.ran.ending, Ran) or shown.outcome != "answered":
            return shown
        answer = self.ran.ending.answer
        return replace(
            shown,
            cypher=self.ran.cypher,
            columns=tuple(answer.columns),
            rows=tuple(tuple(row) for row in answer.rows),
            version=answer.version,
            truncated=answer.truncated,
            addressed=self.verdicts[-1].addressed if self.verdicts else None,
        )

    def _outcome(self) -> Outcome:
        if isinstance(self.last.ending, Declined):
            return "unanswerable"
        return "answered" if self.ran else "refused"

    def _answer(self) -> str:
        match self.last.ending, self.ran:
            case Declined(reason), _:
                return reason
            case _, Attempt(ending=Ran(answer)):
                is_addressed = bool(self.verdicts) and self.verdicts[-1].addressed
                return self.verdicts[-1].text if is_addressed else rows_text(answer)
            case Rejected(_, message), _:
                many = f"{len(self.attempts)} attempts" if len(self.attempts) > 1 else "1 attempt"
                return f"no query was accepted after {many}; the last one: {message}"
        raise AssertionError


def _bare(cypher: str) -> str:
    return " ".join(cypher.split()).rstrip("; ")
