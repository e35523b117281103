"""Adapters to neo4j-graphrag: its LLMs as a Model, and a Model as its LLM. Importing this module takes two seconds."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from scenecypher.chat.model import Message, Model, Reply, Request, Usage
from scenecypher.chat.wire import schema_prompt
from scenecypher.errors import InputError, ModelUnavailable

try:
    from neo4j_graphrag.exceptions import LLMGenerationError, RateLimitError
    from neo4j_graphrag.llm import LLMInterface, LLMInterfaceV2, LLMResponse
    from neo4j_graphrag.llm.base import LLMBase
    from neo4j_graphrag.llm.types import LLMUsage
    from neo4j_graphrag.types import LLMMessage
except ImportError as error:
    raise InputError(f"neo4j-graphrag is missing ({error}): run `pip install 'scenecypher[agents]'`") from error

NAME: Final = "scenecypher"


@dataclass(frozen=True, slots=True)
class GraphragModel:
    """An LLM of neo4j-graphrag as a Model; temperature, seed and limits are those of the LLM."""

    llm: LLMInterface | LLMInterfaceV2

    def reply(self, request: Request) -> Reply:
        """Answer once; a schema is put into the prompt. Raises ModelUnavailable, and InputError for images."""
        messages = _messages(request)
        try:
            answer = self._invoke(messages)
        except LLMGenerationError as error:
            msg = f"the model {self.llm.model_name!r} failed: {error}; look at its service, or choose another model"
            raise ModelUnavailable(msg, retryable=isinstance(error, RateLimitError)) from error
        counted = answer.usage or LLMUsage()
        usage = Usage(counted.request_tokens or 0, counted.response_tokens or 0)
        return Reply(answer.content, usage, self.llm.model_name, source="live")

    def _invoke(self, said: list[LLMMessage]) -> LLMResponse:
        if isinstance(self.llm, LLMInterfaceV2):
            return self.llm.invoke(said)
        system = [message["content"] for message in said if message["role"] == "system"]
        rest = [message for message in said if message["role"] != "system"]
        return self.llm.invoke(rest[-1]["content"], rest[:-1], "\n\n".join(system) or None)


class ModelLLM(LLMBase):
    """A Model as an LLM of neo4j-graphrag, for its GraphRAG and its Text2CypherRetriever."""

    def __init__(self, model: Model, *, temperature: float | None = 0.0, seed: int | None = None) -> None:
        super().__init__(model_name=NAME)
        self._model, self._temperature, self._seed = model, temperature, seed

    def invoke(  # one function for both of the library's signatures, as in its own classes
        self,
        input: str | list[LLMMessage],  # noqa: A002 - the name is the base class's
        message_history: Any = None,
        system_instruction: str | None = None,
        response_format: object = None,
        **_: object,
    ) -> LLMResponse:
        """Ask the model. Raises LLMGenerationError, as the library's own LLMs do."""
        if response_format is not None:
            raise NotImplementedError("this LLM gives text; ask for a form in the prompt")
        turns = _turns(input, message_history, system_instruction)
        try:
            reply = self._model.reply(Request(turns, temperature=self._temperature, seed=self._seed))
        except ModelUnavailable as error:
            raise LLMGenerationError(str(error)) from error
        counted = LLMUsage(
            request_tokens=reply.usage.prompt_tokens,
            response_tokens=reply.usage.completion_tokens,
            total_tokens=reply.usage.total_tokens,
        )
        return LLMResponse(content=reply.text, usage=counted)

    async def ainvoke(self, *arguments: Any, **named: Any) -> LLMResponse:
        """Run `invoke` in a thread of its own."""
        return await asyncio.to_thread(self.invoke, *arguments, **named)


def _messages(request: Request) -> list[LLMMessage]:
    if any(message.images for message in request.messages):
        raise InputError("LLMs of neo4j-graphrag take no pictures; use an OpenAI-compatible service for them")
    said = [LLMMessage(role=message.role, content=message.text) for message in request.messages]
    if request.schema is not None:
        said[-1]["content"] += f"\n\n{schema_prompt(request.schema)}"
    return said


def _turns(said: str | list[LLMMessage], history: Any, system: str | None) -> tuple[Message, ...]:
    before: Sequence[LLMMessage] = getattr(history, "messages", history) or []
    turns = [*before, LLMMessage(role="user", content=said)] if isinstance(said, str) else said
    first = (Message("system", system),) if system else ()
    return (*first, *(Message(turn["role"], turn["content"]) for turn in turns))
