"""Requests to a model and its replies as plain values, and the one interface that methods see."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol, TypeVar

from scenecypher.chat.clean import clean_reply
from scenecypher.db.telemetry import measure, span, timed
from scenecypher.errors import InputError, ReplyRejected

T = TypeVar("T")
MessageRole = Literal["system", "user", "assistant"]
ReplySource = Literal["live", "recorded", "scripted"]
Finish = Literal["stop", "length", "refusal", "tool_call", "filtered"]

SEED: Final = 0
"""The seed that methods send to make runs repeatable (SG2, "Experimental Settings": temperature and seed are 0)."""
RETRY_TEMPERATURE: Final = 0.8
"""Least temperature of a second attempt of ours: at 0.5 a small model repeats what was refused, word for word."""
LONGEST_REPLY: Final = 40_000
"""Characters of a reply after its thoughts; what it says is told again in the prompts after it."""
CUT_OFF_ECHO: Final = 200
"""Characters shown of a reply that was cut off at its limit: a model that sees all of it goes on in the same way."""


@dataclass(frozen=True, slots=True)
class Image:
    """The bytes of an image file and its media type, such as ``image/png``."""

    data: bytes = field(repr=False)
    media_type: str

    @property
    def data_url(self) -> str:
        """Return the image as a `data:` URL (RFC 2397), the form that the protocol carries."""
        return f"data:{self.media_type};base64,{b64encode(self.data).decode('ascii')}"


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation. Raises InputError for text that can't be sent as UTF-8."""

    role: MessageRole
    text: str
    images: tuple[Image, ...] = ()

    def __post_init__(self) -> None:
        try:
            self.text.encode()
        except UnicodeEncodeError as error:
            raise InputError(
                f"the {self.role} message holds half a surrogate pair at character {error.start}, "
                "which no service can be sent; type the text again as valid Unicode"
            ) from error


@dataclass(frozen=True, slots=True)
class Request:
    """Everything that decides a reply; equal requests are the same bytes on every machine.

    `model` None means the service's default. `schema` is a JSON schema that the reply must fit. Leave `seed` None to
    draw different samples at one temperature. `timeout_s` (seconds) decides no reply, only the time limit; None is the
    model's own limit.
    """

    messages: tuple[Message, ...]
    schema: Mapping[str, object] | None = field(default=None, hash=False)
    temperature: float | None = 0.0
    seed: int | None = None
    max_tokens: int | None = None
    model: str | None = None
    timeout_s: float | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not self.messages:
            raise InputError("a request needs at least one message; give it the question")
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise InputError(f"temperature {self.temperature} can't be used; choose one from 0 to 2")


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as counted by the service; scripted replies use none."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.prompt_tokens + other.prompt_tokens, self.completion_tokens + other.completion_tokens)

    def __sub__(self, other: Usage) -> Usage:
        return Usage(self.prompt_tokens - other.prompt_tokens, self.completion_tokens - other.completion_tokens)

    @property
    def total_tokens(self) -> int:
        """Return the tokens of prompt and completion together."""
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer as received; `text` may be empty, and `finish` then gives the reason.

    `source` is its true origin: a service, a recording of one, or a person's script.
    """

    text: str
    usage: Usage
    model: str
    source: ReplySource
    finish: Finish = "stop"


class Model(Protocol):
    """The interface of models: all that methods and the retriever know of them."""

    def reply(self, request: Request) -> Reply:
        """Answer once. Raises ModelUnavailable if the service failed or a cassette has no such reply."""
        ...


def model_name(model: Model) -> str:
    """Return the name under which a service knows a model; empty for what has none, such as a script."""
    name = getattr(model, "name", "")
    return name if isinstance(name, str) else ""


class Service(Model, Protocol):
    """A Model that can be split into named sessions.

    A session counts its own requests, so that sessions in several threads don't disturb each other's replay. A session
    is for one thread at a time. The same name gives the same session, whose count goes on.
    """

    def session(self, name: str) -> Model:
        """Return the view of this service that belongs to session `name`."""
        ...


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


def bounded_text(reply: Reply) -> str:
    """Return the cleaned text of a reply. Raises ReplyRejected if it is too long to be told again in each prompt."""
    text = clean_reply(reply.text)
    if len(text) > LONGEST_REPLY:
        raise ReplyRejected(f"it has {len(text):,} characters, over {LONGEST_REPLY:,}: be briefer")
    return text


def ask_until(
    model: Model,
    request: Request,
    read: Callable[[Reply], T],
    *,
    spent: Usage | None = None,
    attempts: int = 3,
    complaint: str = "That reply can't be used: {}.",
    echoed: int = 6_000,
) -> tuple[T, Usage]:
    """Ask until `read` takes the reply, sending back why it rejects one after so many `echoed` characters of it.

    Returns the value and the tokens of all attempts, with those `spent` before. Raises ReplyRejected, with the last
    reply and the tokens, after `attempts` rejected replies.
    """
    usage = spent or Usage()
    for attempt in range(1, attempts + 1):
        reply = model.reply(request)
        usage += reply.usage
        try:
            return read(reply), usage
        except ReplyRejected as rejected:
            if attempt == attempts:
                raise ReplyRejected(
                    str(rejected),
                    reply=reply.text,
                    prompt_tokens=usage.prompt_tokens,
                    completion_tokens=usage.completion_tokens,
                ) from rejected
            shown = min(echoed, CUT_OFF_ECHO) if reply.finish == "length" else echoed
            echo = Message("assistant", clean_reply(reply.text)[:shown] or "(no text)")
            again = (*request.messages, echo, Message("user", complaint.format(rejected)))
            request = replace(request, messages=again)
    raise AssertionError
