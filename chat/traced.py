"""A model with an OpenTelemetry span for each reply, by the conventions for generative AI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from scenecypher.chat.model import Model, Reply, ReplySource, Request
from scenecypher.db.telemetry import span

OPERATION: Final = "chat"
PROVIDERS: Final[Mapping[ReplySource, str]] = {"live": "openai", "recorded": "cassette", "scripted": "script"}
"""The provider name of each source; any service that speaks OpenAI's protocol counts as OpenAI."""


@dataclass(frozen=True, slots=True)
class TracedModel:
    """A model whose tokens and times are traced; the words of messages never are."""

    model: Model

    def reply(self, request: Request) -> Reply:
        """Answer once, in a span. Raises as the model does."""
        with span(OPERATION, _request_attributes(request), kind="CLIENT") as current:
            reply = self.model.reply(request)
            current.rename(f"{OPERATION} {reply.model}")
            current.note(
                {
                    "gen_ai.provider.name": PROVIDERS[reply.source],
                    "gen_ai.request.model": request.model or reply.model,
                    "gen_ai.response.model": reply.model,
                    "gen_ai.response.finish_reasons": [reply.finish],
                    "gen_ai.usage.input_tokens": reply.usage.prompt_tokens,
                    "gen_ai.usage.output_tokens": reply.usage.completion_tokens,
                }
            )
            return reply


def _request_attributes(request: Request) -> dict[str, str | int | float | bool | list[str] | None]:
    return {
        "gen_ai.operation.name": OPERATION,
        "gen_ai.output.type": "text" if request.schema is None else "json",
        "gen_ai.request.temperature": request.temperature,
        "gen_ai.request.seed": request.seed,
        "gen_ai.request.max_tokens": request.max_tokens,
    }
