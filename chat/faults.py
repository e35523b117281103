"""Translation of every failure of a model service into an error that says what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from openai import APIConnectionError, APIStatusError, APITimeoutError, OpenAIError

from scenecypher.chat.dialect import FormRefused
from scenecypher.chat.endpoint import Endpoint
from scenecypher.errors import ModelUnavailable, did_you_mean

_SHOWN_MODELS: Final = 8
_SHOWN_CHARACTERS: Final = 500
_KEY_STATUSES: Final = frozenset({401, 403})
_TRANSIENT: Final = frozenset({408, 409, 425})
# llama.cpp answers 500, others 501, if they can't make a grammar of a schema.
_FORM_STATUSES: Final = frozenset({400, 422, 500, 501})


def unavailable(error: OpenAIError, endpoint: Endpoint, *, model: str) -> ModelUnavailable:
    """Return the failure as ModelUnavailable; `retryable` if the same request may succeed later."""
    match error:
        case APITimeoutError():
            return _timed_out(endpoint, model)
        case APIConnectionError():
            return ModelUnavailable(
                f"can't reach the model service at {endpoint.public_url} ({error.__cause__ or error}); "
                "see that it runs and that OPENAI_BASE_URL is its address",
                retryable=True,
            )
        case APIStatusError():
            return _status(error, endpoint, model)
        case _:
            return ModelUnavailable(f"the model client failed ({error}); check OPENAI_API_KEY and OPENAI_BASE_URL")


def no_such_model(error: APIStatusError, endpoint: Endpoint, *, model: str, known: Sequence[str]) -> ModelUnavailable:
    """Return the error for status 404, explained by the models that the service lists."""
    if known and model not in known:
        shown = ", ".join(known[:_SHOWN_MODELS]) + (", …" if len(known) > _SHOWN_MODELS else "")
        return ModelUnavailable(
            f"{endpoint.public_url} has no model {model!r}{did_you_mean(model, known)}; "
            f"set SCENECYPHER_MODEL to one that it has: {shown}"
        )
    return ModelUnavailable(
        f"{endpoint.public_url} knows no such model or address ({_service_message(error)}); "
        f"check SCENECYPHER_MODEL ({model}), and OPENAI_BASE_URL, which usually ends in /v1"
    )


def _timed_out(endpoint: Endpoint, model: str) -> ModelUnavailable:
    times = "once" if endpoint.tries == 1 else f"{endpoint.tries} times"
    return ModelUnavailable(
        f"model {model!r} at {endpoint.public_url} gave no answer within {endpoint.timeout_s:g} s, asked {times}; "
        f"try again later, raise {endpoint.limit}, or choose a faster model",
        retryable=True,
    )


def _status(error: APIStatusError, endpoint: Endpoint, model: str) -> ModelUnavailable:
    status, message = error.status_code, f"the model service at {endpoint.public_url} says {_service_message(error)}"
    if status == 429:
        return _rate_limited(error, message)
    if status in _KEY_STATUSES:
        return ModelUnavailable(f"{message}; set OPENAI_API_KEY to a key that it takes")
    if status in _FORM_STATUSES:
        advice = "try again later, and read its log" if status >= 500 else "mend what it names, or choose another model"
        return FormRefused(f"{message}; {advice}", words=_one_line(error), retryable=status >= 500)
    if status in _TRANSIENT or status > 501:
        return ModelUnavailable(f"{message}; try again later, and read its log", retryable=True)
    return ModelUnavailable(f"{message}; check the account, and the request to {model!r}, or choose another model")


def _rate_limited(error: APIStatusError, message: str) -> ModelUnavailable:
    if error.code == "insufficient_quota":
        return ModelUnavailable(f"{message}; the quota is used up: look at the account's balance")
    return ModelUnavailable(f"{message}; wait, or run fewer episodes at once", retryable=True)


def _service_message(error: APIStatusError) -> str:
    return f"{error.status_code}: {_one_line(error)[:_SHOWN_CHARACTERS]}"


def _one_line(error: APIStatusError) -> str:
    """Return the service's own message on one line."""
    message = error.body.get("message") if isinstance(error.body, dict) else None
    return " ".join(str(message or error.message).split())
