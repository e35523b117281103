"""The conversation about one question, a value that grows by attempts and messages, and what its replies say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Final, Literal, Self, TypeAlias

from scenecypher.chat.clean import clean_cypher, clean_reply
from scenecypher.chat.model import Message, Model, Reply, Request, Usage
from scenecypher.retriever import prompt
from scenecypher.retriever.events import Verified
from scenecypher.retriever.retrieval import (
    Attempt,
    AttemptEnding,
    Declined,
    QueryExecuted,
    Rejected,
    Retrieval,
    RetrievalOutcome,
    TextAnswer,
    rows_text,
)

ECHO_CHARACTERS: Final = 4_000
CUT_OFF: Final = "the reply was cut off at the length limit; be briefer"
ENDING: Final = 40
"""Characters by which a query is known to reach to a reply's end: after a whole one stands a fence, or prose."""
NO_ANSWER: Final = "the reply is empty"
_QUOTED: Final = re.compile(r"('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Conversation:
    """All that was said so far.

    `hinted` is True once the model was given the causes of an empty result, `doubted` once it was given doubts about
    its answer. `read_at` is the version of the graph that it was shown as text, None if it writes queries. `judged_at`
    is the number of the last attempt before the last verdict.
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
        """Return the latest attempt."""
        return self.attempts[-1]

    @property
    def tries(self) -> int:
        """Return the number of attempts at an answer: all but the one to be shown the past."""
        return len(self.attempts) - any(map(asks_for_past, self.attempts))

    @property
    def cut_off(self) -> int:
        """Return the number of replies that were cut off at their limit."""
        return sum(isinstance(one.ending, Rejected) and one.ending.code == "cut_off" for one in self.attempts)

    @property
    def verdict(self) -> Verified | None:
        """Return the last verdict if it covers the best attempt, else None."""
        best = self.best
        return self.verdicts[-1] if self.verdicts and best is not None and best.number <= self.judged_at else None

    @property
    def best(self) -> Attempt | None:
        """Return the latest attempt with a result: an executed query or an answer in words."""
        return next(
            (attempt for attempt in reversed(self.attempts) if isinstance(attempt.ending, QueryExecuted | TextAnswer)),
            None,
        )

    @property
    def results(self) -> tuple[str, ...]:
        """Return the results of all attempts in words, each after the query that gave it."""
        return tuple(
            f"{_echo(one)}\n{result_text(one.ending)}" if one.cypher else result_text(one.ending)
            for one in self.attempts
            if isinstance(one.ending, QueryExecuted | TextAnswer)
        )

    @property
    def usage(self) -> Usage:
        """Return the tokens of all replies, including the verifier's."""
        spent = [*(attempt.usage for attempt in self.attempts), *(verdict.usage for verdict in self.verdicts)]
        return reduce(Usage.__add__, spent, Usage())

    def earlier_query(self, cypher: str) -> Attempt | None:
        """Return the attempt with the same query up to blanks, if any."""
        return next((one for one in self.attempts if _normalized(one.cypher) == _normalized(cypher)), None)

    def earlier_text(self, text: str) -> Attempt | None:
        """Return the attempt with the same answer in words, if any."""
        return next(
            (one for one in self.attempts if isinstance(one.ending, TextAnswer) and one.ending.text == text), None
        )

    def with_attempt(self, attempt: Attempt) -> Self:
        """Return the conversation with one more attempt."""
        return replace(self, attempts=(*self.attempts, attempt))

    def with_message(self, message: Message, *, hinted: bool = False, doubted: bool = False) -> Self:
        """Return the conversation with the last query or answer and the `message` that follows it.

        After a refused query that was written twice the queries so far are left out: a small model copies them.
        """
        is_copy = self.last.repeats is not None and isinstance(self.last.ending, Rejected)
        said = Message("assistant", _echo(self.last))
        earlier = self.messages[:1] if is_copy else (*self.messages, said)
        messages = (*earlier, message)
        return replace(self, messages=messages, hinted=self.hinted or hinted, doubted=self.doubted or doubted)

    def with_verdict(self, verdict: Verified) -> Self:
        """Return the conversation with a verdict of the verifier."""
        return replace(self, verdicts=(*self.verdicts, verdict), judged_at=self.last.number)

    def retrieval(self) -> Retrieval:
        """Return the result of the conversation."""
        best, verdict = self.best, self.verdict
        made = partial(Retrieval, self.question, self._outcome(), self._answer(), self.attempts, self.usage)
        if best is None or isinstance(self.last.ending, Declined):
            return made()
        if verdict:
            made = partial(made, addressed=verdict.addressed, worded=self._is_worded(verdict))
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

    def _is_worded(self, verdict: Verified) -> bool:
        return verdict.addressed is not False and bool(verdict.text)

    def _answer(self) -> str:
        match self.last.ending, self.best:
            case Declined(reason), _:
                return reason
            case _, Attempt(ending=QueryExecuted() | TextAnswer() as ending, turned=turned):
                verdict = self.verdict
                answer = verdict.text if verdict and self._is_worded(verdict) else result_text(ending)
                return "\n".join((answer, *(f"({it})" for it in turned)))
            case Rejected(_, message), _:
                many = f"{len(self.attempts)} attempts" if len(self.attempts) > 1 else "1 attempt"
                return f"no query was accepted after {many}; the last one: {message}"
        raise AssertionError


def asks_for_past(attempt: Attempt) -> bool:
    """Check if an attempt asked to be shown the past."""
    return isinstance(attempt.ending, Rejected) and attempt.ending.code == "past"


def result_text(ending: QueryExecuted | TextAnswer) -> str:
    """Return the result of an attempt in words."""
    return ending.text if isinstance(ending, TextAnswer) else rows_text(ending.answer)


def _echo(attempt: Attempt) -> str:
    """Return the model's own query or text, bounded in size, for the next prompt."""
    if isinstance(attempt.ending, TextAnswer):
        return attempt.ending.text[:ECHO_CHARACTERS]
    return f"```cypher\n{attempt.cypher[:ECHO_CHARACTERS]}\n```" if attempt.cypher else "(no query)"


def _normalized(cypher: str) -> str:
    """Return the query without insignificant blanks; blanks within quotes are kept."""
    pieces = _QUOTED.split(cypher)
    plain = (" ".join(piece.split()) + " " if number % 2 == 0 else piece for number, piece in enumerate(pieces))
    return "".join(plain).rstrip("; ")


# --- what a reply says, and what is answered


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """The Cypher in a reply, maybe none, or the model's `reason` why the question can't be answered.

    `wants_past` if it asks to be shown the past, `cut_off` if it reached its limit before the end of a query.
    """

    cypher: str
    reason: str | None = None
    wants_past: bool = False
    cut_off: bool = False


def parse_reply(reply: Reply) -> ParsedReply:
    """Parse the reply of a model that writes queries."""
    said = clean_reply(reply.text)
    if said.strip(" .:") == prompt.PAST:
        return ParsedReply("", wants_past=True)
    if (reason := _reason(said)) is not None:
        return ParsedReply("", reason)
    cypher = clean_cypher(reply.text)
    is_cut_off = reply.finish == "length" and reply.text.rstrip().endswith(cypher[-ENDING:])
    return ParsedReply("" if is_cut_off else cypher, cut_off=is_cut_off)


def text_attempt(conversation: Conversation, reply: Reply, *, read_at: int) -> Attempt:
    """Return the attempt of a model that was shown the graph of version `read_at`."""
    said = clean_reply(reply.text)
    reason = _reason(said)
    before = conversation.earlier_text(said) if reason is None else None
    ending: AttemptEnding = Declined(reason) if reason is not None else TextAnswer(said, read_at)
    if not said:
        ending = Rejected("no_answer", CUT_OFF if reply.finish == "length" else NO_ANSWER)
    number, repeats = len(conversation.attempts) + 1, before.number if before else None
    return Attempt(number, "", ending, usage=reply.usage, source=reply.source, repeats=repeats)


def _reason(said: str) -> str | None:
    return said.removeprefix(prompt.UNANSWERABLE).strip() if said.startswith(prompt.UNANSWERABLE) else None


def refusal_message(conversation: Conversation, message: str) -> Message:
    """Return the message to the model about a refused reply."""
    if conversation.read_at is not None:
        return prompt.retry_in_words(conversation.question, f"Your answer can't be used: {message}.")
    if conversation.last.repeats is not None:
        return prompt.write_otherwise(conversation.question, message)
    return prompt.retry(conversation.question, f"The query was refused: {message}")


def not_addressed_message(conversation: Conversation, missing: str) -> Message:
    """Return the message to the model about a result that does not address the question."""
    more = f" What is missing: {missing}" if missing else ""
    if conversation.read_at is not None:
        return prompt.retry_in_words(conversation.question, f"Your answer does not address the question.{more}")
    return prompt.retry(conversation.question, f"The query ran, but its rows don't answer the question.{more}")


VerifierMode: TypeAlias = Literal["off", "words", "paper", "hints"]
_VERDICT: Final = re.compile(rf"\W*{prompt.NOT_ADDRESSED}\b[\s.:*]*(.*)", re.IGNORECASE | re.DOTALL)


def verify(model: Model, question: str, results: Sequence[str], *, mode: VerifierMode, request: Request) -> Verified:
    """Return the verdict on `results`, all of them so far. A partial answer counts as addressed.

    With `hints` the text of a negative verdict says what is missing; with `words` there is no verdict, only an answer.
    `request` gives temperature, seed and limits.
    """
    reply = model.reply(replace(request, messages=prompt.verify(question, results, mode=mode)))
    text = clean_reply(reply.text)
    if mode == "words":
        return Verified(addressed=None, text=text, usage=reply.usage)
    verdict = _VERDICT.match(text)
    if verdict is None and text:
        return Verified(addressed=True, text=text, usage=reply.usage)
    missing = verdict[1].strip() if verdict and mode == "hints" else ""
    return Verified(addressed=False, text=missing, usage=reply.usage)
