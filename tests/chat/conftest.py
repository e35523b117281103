"""Fixture: a scripted server and a model that asks it, for one test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from scenecypher.chat import OpenAIModel
from tests.scripted_model import MODEL_NAME, Script, ScriptedModel

Serve = Callable[[Script], tuple[OpenAIModel, ScriptedModel]]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start a server with a script; return a model for it (no retries, so that each step is one request)."""
    with ExitStack() as stack:

        def start(script: Script) -> tuple[OpenAIModel, ScriptedModel]:
            server = stack.enter_context(ScriptedModel(script))
            return stack.enter_context(model_of(server)), server

        yield start


def model_of(
    server: ScriptedModel, *, model: str = MODEL_NAME, key: str = "a-key", timeout_s: float = 10, retries: int = 0
) -> OpenAIModel:
    return OpenAIModel(base_url=server.base_url, api_key=key, model=model, timeout_s=timeout_s, retries=retries)
