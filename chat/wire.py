"""The chat-completions protocol: a Request becomes a body, an answer's bytes become a Reply."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scenecypher.chat.model import Finish, Message, Reply, Request, Usage
from scenecypher.errors import ModelUnavailable

RequestParameter = Literal["response_format", "max_tokens", "temperature", "seed"]

_FINISHES: Final[Mapping[str, Finish]] = {
    "length": "length",
    "tool_calls": "tool_call",
    "function_call": "tool_call",
    "content_filter": "filtered",
}


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Part(_Lenient):
    text: str = ""


class _Turn(_Lenient):
    content: str | list[_Part] | None = None
    refusal: str | None = None


class _Choice(_Lenient):
    message: _Turn
    finish_reason: str | None = None


class _TokenCounts(_Lenient):
    prompt_tokens: int | None = Field(default=0, ge=0)
    completion_tokens: int | None = Field(default=0, ge=0)


class _Answer(_Lenient):
    choices: list[_Choice] | None = None
    usage: _TokenCounts | None = None
    model: str | None = None
    error: object = None


def body(request: Request, *, model: str, unsupported: frozenset[RequestParameter] = frozenset()) -> dict[str, Any]:
    """Return the JSON body that asks `request` of `model`, without the parameters in `unsupported`."""
    schema_in_prompt = "response_format" in unsupported
    sent: dict[str, Any] = {"model": model, "messages": _turns(request, schema_in_prompt=schema_in_prompt)}
    if request.schema is not None and not schema_in_prompt:
        sent["response_format"] = _response_format(request.schema)
    if request.max_tokens is not None:
        sent["max_completion_tokens" if "max_tokens" in unsupported else "max_tokens"] = request.max_tokens
    if request.temperature is not None and "temperature" not in unsupported:
        sent["temperature"] = request.temperature
    if request.seed is not None and "seed" not in unsupported:
        sent["seed"] = request.seed
    return sent


def read_reply(content: bytes, *, model: str) -> tuple[Reply, bool]:
    """Return the Reply in an answer's bytes, and True if the service counted its tokens.

    Raises ModelUnavailable for bytes that are not of the protocol, and for an answer without a choice.
    """
    try:
        answer = _Answer.model_validate(json.loads(content))
    except (ValidationError, ValueError, RecursionError) as error:
        raise ModelUnavailable(
            f"the service's answer is not of the chat-completions protocol (it begins {_beginning(content)}); "
            "check that OPENAI_BASE_URL is an OpenAI-compatible address, which usually ends in /v1",
            retryable=True,
        ) from error
    if not answer.choices:
        said = f": {json.dumps(answer.error)[:300]}" if answer.error else ""
        raise ModelUnavailable(
            f"model {model!r} answered without a choice{said}; try again, or choose another model", retryable=True
        )
    return _reply(answer, answer.choices[0], model), answer.usage is not None


def _reply(answer: _Answer, choice: _Choice, model: str) -> Reply:
    turn, counts = choice.message, answer.usage or _TokenCounts()
    content = "".join(part.text for part in turn.content) if isinstance(turn.content, list) else turn.content
    return Reply(
        text=_valid_unicode(content or turn.refusal or ""),
        usage=Usage(counts.prompt_tokens or 0, counts.completion_tokens or 0),
        model=_valid_unicode(answer.model or model),
        source="live",
        finish="refusal" if turn.refusal and not content else _FINISHES.get(choice.finish_reason or "", "stop"),
    )


def _turns(request: Request, *, schema_in_prompt: bool) -> list[dict[str, Any]]:
    turns = [_turn(message) for message in request.messages]
    if request.schema is not None and schema_in_prompt:
        last = request.messages[-1]
        turns[-1] = _turn(Message(last.role, f"{last.text}\n\n{schema_prompt(request.schema)}", last.images))
    return turns


def _turn(message: Message) -> dict[str, Any]:
    if not message.images:
        return {"role": message.role, "content": message.text}
    pictures = [{"type": "image_url", "image_url": {"url": image.data_url}} for image in message.images]
    return {"role": message.role, "content": [{"type": "text", "text": message.text}, *pictures]}


def schema_prompt(schema: Mapping[str, object]) -> str:
    """Return the schema as a demand in words, for services that take it only in the prompt."""
    text = json.dumps(schema, ensure_ascii=False)
    return f"Answer with one JSON object and nothing else. It must fit this JSON schema:\n{text}"


def _response_format(schema: Mapping[str, object]) -> dict[str, Any]:
    described = {"name": "reply", "schema": dict(schema), "strict": is_closed(schema)}
    return {"type": "json_schema", "json_schema": described}


def is_closed(schema: object) -> bool:
    """Return True if every object in the schema lists its properties, all required: a service may then be strict."""
    if isinstance(schema, list):
        return all(is_closed(item) for item in schema)
    if not isinstance(schema, Mapping):
        return True
    is_open = schema.get("type") == "object" and not _lists_all(schema)
    return not is_open and all(is_closed(value) for value in schema.values())


def _lists_all(schema: Mapping[str, Any]) -> bool:
    properties, required = schema.get("properties"), schema.get("required", [])
    return schema.get("additionalProperties") is False and properties is not None and set(properties) == set(required)


def _valid_unicode(text: str) -> str:
    """Replace half a surrogate pair, which a model can write as an escape, by U+FFFD: it could never be sent back."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _beginning(content: bytes) -> str:
    return repr(content[:80].decode("utf-8", "replace")) if content else "and ends with nothing"
