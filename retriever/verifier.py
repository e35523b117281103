"""The verifier: a model's verdict on whether the results address the question, and the answer in words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal, TypeAlias

from scenecypher.chat.clean import clean_reply
from scenecypher.chat.model import Model, Request
from scenecypher.retriever import prompt
from scenecypher.retriever.events import Verified

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
