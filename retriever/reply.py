"""Parsing of replies (a query, an answer in words, a reason, a verdict), and the messages sent back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from scenecypher.chat.clean import clean_cypher, clean_reply
from scenecypher.chat.model import Message, Model, Reply, Request
from scenecypher.retriever import prompt
from scenecypher.retriever.conversation import Conversation
from scenecypher.retriever.events import Verified
from scenecypher.retriever.retrieval import Attempt, AttemptEnding, Declined, Rejected, TextAnswer

CUT_OFF: Final = "the reply was cut off at the length limit; be briefer"
ENDING: Final = 40
"""Characters by which a query is known to reach to a reply's end: after a whole one stands a fence, or prose."""
NO_ANSWER: Final = "the reply is empty"


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
