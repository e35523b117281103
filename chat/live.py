"""A model behind an OpenAI-compatible service, over HTTP."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from threading import Lock
from types import TracebackType
from typing import Any, Final, Protocol, Self

from scenecypher.chat.dialect import FormRefused, fallback_for
from scenecypher.chat.endpoint import OPENAI_URL, Endpoint
from scenecypher.chat.model import Reply, Request
from scenecypher.chat.wire import RequestParameter, body, read_reply
from scenecypher.errors import ModelUnavailable
from scenecypher.settings import Settings
from scenecypher.waiting import waiting_for

_log: Final = logging.getLogger("scenecypher.chat")


class _Client(Protocol):
    def send(self, body: dict[str, Any], *, timeout_s: float | None = None) -> bytes: ...
    def close(self) -> None: ...


class OpenAIModel:
    """One model of one service, safe for use from many threads. Close it, or use it in a `with`.

    `timeout_s` is the time limit in seconds of each request; a failed one is retried `retries` times. Raises InputError
    for a `base_url` that is not an HTTP address.
    """

    def __init__(
        self,
        *,
        model: str,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout_s: float = 120.0,
        retries: int = 2,
    ) -> None:
        key, url = (api_key or "").strip(), (base_url or "").strip()
        self._endpoint = Endpoint(url or OPENAI_URL, key, timeout_s, tries=1 + retries)
        self._model, self._is_set_up = model, bool(key or url)
        self._lock = Lock()
        self._client: _Client | None = None
        self._unsupported: dict[str, frozenset[RequestParameter]] = {}
        self._uncounted: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The name under which the service knows the model."""
        return self._model

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Return the configured model. Raises ModelUnavailable if no service is configured."""
        key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
        url = settings.openai_base_url
        model = cls(
            model=settings.model,
            api_key=key,
            base_url=url,
            timeout_s=settings.model_timeout_s,
            retries=settings.model_retries,
        )
        model.check_set_up()
        return model

    def session(self, name: str) -> Self:  # noqa: ARG002 - only recordings tell sessions apart
        """Return the model itself: it has no sessions."""
        return self

    def reply(self, request: Request) -> Reply:
        """Ask; if the service refuses a parameter, ask again with the fallback. Raises ModelUnavailable."""
        client, model = self._connected(), request.model or self._model
        while True:
            sent = body(request, model=model, unsupported=self._unsupported.get(model, frozenset()))
            try:
                with waiting_for(f"the model {model}"):
                    answer = client.send(sent, timeout_s=self._shorter_timeout(request.timeout_s))
            except FormRefused as refusal:
                if not self._fall_back(model, sent, refusal.words):
                    raise
            else:
                return self._read(answer, model)

    def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def check_set_up(self) -> None:
        """Check that there is a service to ask, before anything is done for it. Raises ModelUnavailable."""
        if not self._is_set_up:
            raise ModelUnavailable(
                "no model is set up; set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own "
                "(vLLM, Ollama, llama.cpp), and SCENECYPHER_MODEL for the model's name"
            )

    def _connected(self) -> _Client:
        self.check_set_up()
        from scenecypher.chat.client import Client  # imports `openai`, which takes a second

        with self._lock:
            if self._client is None:
                self._client = Client(self._endpoint)
            return self._client

    def _shorter_timeout(self, timeout_s: float | None) -> float | None:
        """Return `timeout_s` if it is shorter than the usual timeout with retries, else None."""
        usual = self._endpoint.timeout_s * self._endpoint.tries
        return timeout_s if timeout_s is not None and timeout_s < usual else None

    def _fall_back(self, model: str, sent: Mapping[str, Any], complaint: str) -> bool:
        """Remember the fallback for a complaint, and log it once; return False if there is none."""
        fallback = fallback_for(complaint, sent)
        if fallback is None:
            return False
        with self._lock:
            before = self._unsupported.get(model, frozenset())
            self._unsupported[model] = before.union((fallback.parameter,))
        if fallback.parameter not in before:
            _log.warning("model %r refuses %s (%s): %s", model, fallback.parameter, complaint[:200], fallback.instead)
        return True

    def _read(self, answer: bytes, model: str) -> Reply:
        reply, is_counted = read_reply(answer, model=model)
        if not is_counted:
            self._warn_uncounted(model)
        return reply

    def _warn_uncounted(self, model: str) -> None:
        with self._lock:
            is_new = model not in self._uncounted
            self._uncounted |= {model}
        if is_new:
            _log.warning("model %r reports no token usage: its tokens count as 0", model)
