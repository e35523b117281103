"""The only module that imports `openai` for requests: bodies in, bytes out. Its import takes a second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from openai import NotFoundError, OpenAI, OpenAIError

from scenecypher.chat.endpoint import Endpoint
from scenecypher.chat.faults import no_such_model, unavailable
from scenecypher.errors import ModelUnavailable

_LIST_TIMEOUT_S: Final = 5.0


class Client:
    """A thread-safe pool of connections to one service."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._openai = OpenAI(
            api_key=endpoint.key or "none",  # private servers need no key, but the client requires text
            base_url=endpoint.url,
            timeout=endpoint.timeout_s,
            max_retries=endpoint.tries - 1,
        )

    def send(self, body: dict[str, Any], *, timeout_s: float | None = None) -> bytes:
        """Send one request and return the answer's bytes; with `timeout_s` (seconds), send it once within that time.

        Raises ModelUnavailable, and its subclass FormRefused if the service may take another body.
        """
        client, endpoint = self._openai, self._endpoint
        if timeout_s is not None:
            client, endpoint = (
                client.with_options(max_retries=0, timeout=timeout_s),
                replace(endpoint, timeout_s=timeout_s, tries=1, limit="the session's time (`--max-seconds`)"),
            )
        try:
            return client.chat.completions.with_raw_response.create(**body).http_response.content
        except NotFoundError as error:
            raise no_such_model(error, endpoint, model=body["model"], known=self._models()) from error
        except OpenAIError as error:
            raise unavailable(error, endpoint, model=body["model"]) from error

    def embed(self, texts: Sequence[str], *, model: str) -> list[list[float]]:
        """Return a vector for each text, by the service's embeddings. Raises ModelUnavailable."""
        try:
            answer = self._openai.embeddings.create(input=list(texts), model=model, encoding_format="float")
        except NotFoundError as error:
            raise no_such_model(error, self._endpoint, model=model, known=self._models()) from error
        except OpenAIError as error:
            raise unavailable(error, self._endpoint, model=model) from error
        except ValueError as error:  # no data, or the answer is not JSON
            raise ModelUnavailable(f"the service gave no embeddings of {model}: {error}") from error
        found = getattr(answer, "data", None) or []
        if len(found) != len(texts):
            raise ModelUnavailable(f"the service gave {len(found)} embeddings of {len(texts)} texts; check {model}")
        return [one.embedding for one in sorted(found, key=lambda one: one.index)]

    def close(self) -> None:
        """Close the connections."""
        self._openai.close()

    def _models(self) -> tuple[str, ...]:
        """Return the names of the service's models; none if it does not list them."""
        hurried = self._openai.with_options(max_retries=0, timeout=_LIST_TIMEOUT_S)
        try:
            rows = getattr(hurried.models.list(), "data", None) or ()
        except (OpenAIError, ValueError):  # ValueError: the answer is not JSON
            return ()
        return tuple(sorted({str(row.id) for row in rows if getattr(row, "id", None)}))
