"""Structured replies: a JSON schema is sent, the reply is validated, and mistakes are sent back for another attempt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from scenecypher.chat.clean import clean_reply, json_values
from scenecypher.chat.model import SEED, Message, Model, Reply, Request, Usage, ask_until, bounded_text
from scenecypher.errors import ReplyRejected

Form = TypeVar("Form", bound=BaseModel)

_SHOWN_MISTAKES: Final = 5
_MISFIT: Final = (
    "That reply can't be used: {}. Reply again with one JSON object that fits the schema, and nothing else."
)
_DROPPED: Final = frozenset({"title", "default", "discriminator"})
_RENAMED: Final = {"oneOf": "anyOf"}
_NAMED_SCHEMAS: Final = frozenset({"properties", "$defs"})
_SCHEMA_LISTS: Final = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SCHEMAS: Final = frozenset({"items", "additionalProperties"})
_FINISHES: Final[Mapping[str, str]] = {
    "length": "it was cut off at the length limit: be briefer",
    "tool_call": "it called a tool, and there are none: answer in text",
    "refusal": "it declines to answer",
    "filtered": "it was held back by the service's content filter",
}


def ask_for(
    model: Model, asked: Sequence[Message] | Request, form: type[Form], *, attempts: int = 3
) -> tuple[Form, Usage]:
    """Ask until the reply fits `form`, sending back its mistakes; return the value and the tokens of all attempts.

    `asked` is the conversation so far, sent with SEED, or a Request if temperature, seed or limits matter; its schema
    is replaced by that of `form`. Raises ReplyRejected, with the last reply and the tokens spent, after `attempts` (at
    least 1) replies that don't fit, and ModelUnavailable as the model does.
    """
    plain = asked if isinstance(asked, Request) else Request(tuple(asked), seed=SEED)
    request = replace(plain, schema=schema_of(form))
    try:
        return ask_until(model, request, lambda it: _read(it, form), attempts=attempts, complaint=_MISFIT, echoed=4_000)
    except ReplyRejected as rejected:
        title = form.model_config.get("title") or form.__name__
        raise ReplyRejected(
            f"the reply does not have the form of {title}, after {_times(attempts)}: {rejected}; "
            "answer with one JSON object of that form",
            reply=rejected.reply,
            prompt_tokens=rejected.prompt_tokens,
            completion_tokens=rejected.completion_tokens,
        ) from None


@lru_cache(maxsize=256)
def schema_of(form: type[BaseModel]) -> dict[str, object]:
    """Return the JSON schema of a form in the subset that strict services accept: closed objects, all required.

    Fields with defaults are required too; give a field a nullable type if a model should be able to leave it out.
    """
    return _strict(form.model_json_schema())


def _strict(node: Mapping[str, Any]) -> dict[str, Any]:
    schema = {_RENAMED.get(key, key): _strict_value(key, value) for key, value in node.items() if key not in _DROPPED}
    if "properties" in schema:
        schema |= {"required": list(schema["properties"]), "additionalProperties": False}
    if "$ref" in schema and len(schema) > 1:
        schema["anyOf"] = [{"$ref": schema.pop("$ref")}]  # strict services accept no keyword beside a reference
    return schema


def _strict_value(keyword: str, value: Any) -> Any:
    if keyword in _NAMED_SCHEMAS:
        return {name: _strict(schema) for name, schema in value.items()}
    if keyword in _SCHEMA_LISTS:
        return [_strict(schema) for schema in value]
    return _strict(value) if keyword in _SCHEMAS and isinstance(value, Mapping) else value


def _read(reply: Reply, form: type[Form]) -> Form:
    """Return the first value in the reply that fits, searching from its end.

    Raises ReplyRejected with the mistakes of the likeliest one.
    """
    mistakes = []
    for text in json_values(reply.text) or (clean_reply(reply.text),):
        try:
            found = form.model_validate_json(text)
        except ValidationError as error:
            mistakes.append(_words(error))
        else:
            bounded_text(reply)
            return found
    finish = _FINISHES.get(reply.finish)
    said = mistakes[0] if reply.text.strip() else "it is empty"
    raise ReplyRejected(f"{said}; {finish}" if finish else said)


def _times(attempts: int) -> str:
    return "1 attempt" if attempts == 1 else f"{attempts} attempts"


def _words(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    shown = [f"{_path(mistake['loc'])}: {mistake['msg']}" for mistake in found[:_SHOWN_MISTAKES]]
    more = len(found) - len(shown)
    return "; ".join([*shown, f"and {more} more"] if more else shown)


def _path(place: Sequence[int | str]) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
