"""What OpenAI-compatible services refuse of the protocol, and what is sent instead."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from scenecypher.chat.wire import RequestParameter
from scenecypher.errors import ModelUnavailable


class FormRefused(ModelUnavailable):
    """The service refuses a request as it stands, in these `words`; another form of it may be taken."""

    def __init__(self, message: str, *, words: str, retryable: bool) -> None:
        super().__init__(message, retryable=retryable)
        self.words = words


@dataclass(frozen=True, slots=True)
class Fallback:
    """A parameter that some services refuse: the words they refuse it in, and what is done instead."""

    parameter: RequestParameter
    words: re.Pattern[str]
    instead: str


_NOT_TAKEN: Final = (
    r"unsupported|not\s+support|n't\s+support|only the default|deprecated|unavailable|"
    r"unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed|extra_forbidden|instead"
)


def _refused(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?=.*\b{name}\b)(?=.*(?:{_NOT_TAKEN}))", re.IGNORECASE | re.DOTALL)


FALLBACKS: Final = (
    Fallback(
        "response_format",
        re.compile(r"response.?format|json.?schema|structured.?output|guided|grammar", re.IGNORECASE),
        "the JSON schema is written into the prompt",
    ),
    Fallback("max_tokens", _refused("max_tokens"), "max_completion_tokens is sent"),
    Fallback("temperature", _refused("temperature"), "the model samples at a temperature of its own"),
    Fallback("seed", _refused("seed"), "no seed is sent, so replies may differ from run to run"),
)


def fallback_for(complaint: str, sent: Iterable[str]) -> Fallback | None:
    """What can be done about a service's `complaint` over one of the `sent` parameters, if anything."""
    parameters = frozenset(sent)
    fitting = (row for row in FALLBACKS if row.parameter in parameters and row.words.search(complaint))
    return next(fitting, None)
