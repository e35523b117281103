"""Parameters that OpenAI-compatible services refuse, and the fallback for each."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from scenecypher.chat.wire import RequestParameter
from scenecypher.errors import ModelUnavailable


class FormRefused(ModelUnavailable):
    """The service refuses the form of a request, in these `words`; another form may be accepted."""

    def __init__(self, message: str, *, words: str, retryable: bool) -> None:
        super().__init__(message, retryable=retryable)
        self.words = words


@dataclass(frozen=True, slots=True)
class Fallback:
    """A parameter that some services refuse: a pattern of their refusals, and the fallback in words."""

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
    """Return the fallback for a service's `complaint` about one of the `sent` parameters, else None."""
    parameters = frozenset(sent)
    fitting = (row for row in FALLBACKS if row.parameter in parameters and row.words.search(complaint))
    return next(fitting, None)
