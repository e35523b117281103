"""What a reply holds: a query, an answer in words, or a reason why there is none; and what is said back to it."""

from __future__ import annotations

from typing import Final

from chat.clean import clean, clean_cypher
from chat.model import Message, Reply
from retriever import prompt
from retriever.retrieval import Attempt, Declined, Ending, Rejected, Told
from retriever.talk import Talk

CUT_OFF: Final = "the reply was cut off at the length limit; be briefer"
NO_ANSWER: Final = "the reply is empty"


def reason_in(reply: Reply) -> str | None:
    """Why the model says that the question can't be answered, if it says so."""
    said = clean(reply.text)
    return said.removeprefix(prompt.UNANSWERABLE).strip() if said.startswith(prompt.UNANSWERABLE) else None


def query_in(reply: Reply) -> str:
    """The Cypher in the reply, maybe none."""
    return "" if reason_in(reply) is not None else clean_cypher(reply.text)


def attempt_in_words(talk: Talk, reply: Reply, *, read_at: int) -> Attempt:
    """The attempt of a model that has the graph of version `read_at` before it."""
    said, reason = clean(reply.text), reason_in(reply)
    before = talk.told_before(said) if reason is None else None
    ending: Ending = Declined(reason) if reason is not None else Told(said, read_at)
    if not said:
        ending = Rejected("no_answer", CUT_OFF if reply.finish == "length" else NO_ANSWER)
    number, repeats = len(talk.attempts) + 1, before.number if before else None
    return Attempt(number, "", ending, usage=reply.usage, source=reply.source, repeats=repeats)


def again(talk: Talk, message: str) -> Message:
    """What the model is told of a reply that was refused."""
    if talk.read_at is not None:
        return prompt.again_in_words(talk.question, f"Your answer can't be used: {message}.")
    return prompt.again(talk.question, f"The query was refused: {message}")


def not_addressed(talk: Talk, missing: str) -> Message:
    """What the model is told where the verifier finds its result wanting."""
    more = f" What is missing: {missing}" if missing else ""
    if talk.read_at is not None:
        return prompt.again_in_words(talk.question, f"Your answer does not address the question.{more}")
    return prompt.again(talk.question, f"The query ran, but its rows don't answer the question.{more}")
