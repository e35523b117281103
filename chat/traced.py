"""A model with an OpenTelemetry span and metrics of each reply, by the conventions for generative AI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from scenecypher.chat.model import Model, Reply, ReplySource, Request
from scenecypher.db.telemetry import measure, span, timed

OPERATION: Final = "chat"
PROVIDERS: Final[Mapping[ReplySource, str]] = {"live": "openai", "recorded": "cassette", "scripted": "script"}
"""The provider name of each source; any service that speaks OpenAI's protocol counts as OpenAI."""


@dataclass(frozen=True, slots=True)
class TracedModel:
    """A model whose tokens and times are traced; the words of messages never are."""

    model: Model

    def reply(self, request: Request) -> Reply:
        """Answer once, in a span. Raises as the model does."""
        common = {"gen_ai.operation.name": OPERATION, "gen_ai.request.model": request.model or None}
        with (
            timed("gen_ai.client.operation.duration", common) as measured,
            span(OPERATION, _request_attributes(request), kind="CLIENT") as current,
        ):
            reply = self.model.reply(request)
            asked = request.model or reply.model
            current.rename(f"{OPERATION} {asked}")
            of_reply = {
                "gen_ai.provider.name": PROVIDERS[reply.source],
                "gen_ai.request.model": asked,
                "gen_ai.response.model": reply.model,
            }
            measured.update(of_reply)
            current.note(
                {
                    **of_reply,
                    "gen_ai.response.finish_reasons": [reply.finish],
                    "gen_ai.usage.input_tokens": reply.usage.prompt_tokens,
                    "gen_ai.usage.output_tokens": reply.usage.completion_tokens,
                }
            )
        for kind, tokens in (("input", reply.usage.prompt_tokens), ("output", reply.usage.completion_tokens)):
            measure("gen_ai.client.token.usage", tokens, {**measured, "gen_ai.token.type": kind})
        return reply


def traced(model: Model) -> TracedModel:
    """Return the model with its replies traced, once."""
    return model if isinstance(model, TracedModel) else TracedModel(model)


def _request_attributes(request: Request) -> dict[str, str | int | float | bool | list[str] | None]:
    return {
        "gen_ai.operation.name": OPERATION,
        "gen_ai.output.type": "text" if request.schema is None else "json",
        "gen_ai.request.temperature": request.temperature,
        "gen_ai.request.seed": request.seed,
        "gen_ai.request.max_tokens": request.max_tokens,
    }
