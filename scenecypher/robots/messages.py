"""The messages between a planner and a robot: one JSON object a line, in UTF-8."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError

from scenecypher.errors import InputError

Word: TypeAlias = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]*$")]
"""A name, on one line."""
MAX_BYTES: Final = 30_000_000
"""Length limit of a line: a picture of 20 MB in base64, and some."""


@dataclass(frozen=True, slots=True)
class Hello:
    """The planner asks which robot is there."""

    id: str
    kind: Literal["hello"] = "hello"


@dataclass(frozen=True, slots=True)
class Act:
    """The planner asks for one action, such as ``open(fridge-1)``: its `name`, and the ids of nodes.

    The same id always means the same action, which is carried out once, however often it is asked for. `boot` is the
    memory that the planner relies on for that.
    """

    id: str
    boot: str
    name: str
    arguments: tuple[str, ...] = ()
    kind: Literal["act"] = "act"


@dataclass(frozen=True, slots=True)
class Look:
    """The planner asks what is at, on and in the node `of`."""

    id: str
    boot: str
    of: str
    kind: Literal["look"] = "look"


@dataclass(frozen=True, slots=True)
class Cancel:
    """The planner asks to stop the request of this id: its result is told as always."""

    id: str
    boot: str
    kind: Literal["cancel"] = "cancel"


Request: TypeAlias = Hello | Act | Look | Cancel


@dataclass(frozen=True, slots=True)
class Thing:
    """One seen thing: `id` if it is a known node, else only `name` and `of_class`, such as ``mug``.

    `relation` is ON, INSIDE or another type of containment, `target` the id or name of what it is on or in (both None
    if unknown). `states` are None if unknown. `confidence` is from 0 to 1.
    """

    name: Word
    of_class: Word
    relation: Word | None = None
    target: Word | None = None
    states: tuple[Word, ...] | None = None
    id: Word | None = None
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0


@dataclass(frozen=True, slots=True)
class View:
    """What a robot sees at a node: the things, and the node's own `states` (None: unknown).

    Believed things that are not among `things` are absent if the view is `whole`, as far as it `covers`: nothing
    is seen inside a closed fridge.
    """

    things: Annotated[tuple[Thing, ...], Field(max_length=1_000)] = ()
    states: tuple[Word, ...] | None = None
    covers: tuple[Word, ...] = ("ON", "INSIDE")
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Ready:
    """The robot is there; `boot` names its memory of requests, which ends with its process."""

    id: str
    boot: str
    kind: Literal["ready"] = "ready"


@dataclass(frozen=True, slots=True)
class Working:
    """The robot carries the request out."""

    id: str
    boot: str
    kind: Literal["working"] = "working"


@dataclass(frozen=True, slots=True)
class Done:
    """The action is carried out."""

    id: str
    boot: str
    kind: Literal["done"] = "done"


@dataclass(frozen=True, slots=True)
class Refused:
    """The request can't be carried out, for this reason in words; nothing of the action remains to be done."""

    id: str
    boot: str
    reason: str
    kind: Literal["refused"] = "refused"


@dataclass(frozen=True, slots=True)
class Seen:
    """What a look shows."""

    id: str
    boot: str
    view: View
    kind: Literal["seen"] = "seen"


@dataclass(frozen=True, slots=True)
class Pictured:
    """The picture of a look, for a model to read: a PNG, JPEG, GIF or WebP file in base64."""

    id: str
    boot: str
    picture: str
    kind: Literal["pictured"] = "pictured"


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The request is of another memory than the robot's, `boot`: the robot was restarted."""

    id: str
    boot: str
    kind: Literal["forgotten"] = "forgotten"


Reply: TypeAlias = Ready | Working | Done | Refused | Seen | Pictured | Forgotten


def encode(message: Request | Reply) -> bytes:
    """Return a message as one line, its end included."""
    return json.dumps(asdict(message), ensure_ascii=False).encode() + b"\n"


def decode_request(line: bytes) -> Request:
    """Return the request of a line. Raises InputError naming the field."""
    request: Request = _decoded(_REQUEST, line)
    return request


def decode_reply(line: bytes) -> Reply:
    """Return the reply of a line. Raises InputError naming the field."""
    reply: Reply = _decoded(_REPLY, line)
    return reply


_REQUEST: Final[TypeAdapter[Any]] = TypeAdapter(Annotated[Request, Field(discriminator="kind")])
_REPLY: Final[TypeAdapter[Any]] = TypeAdapter(Annotated[Reply, Field(discriminator="kind")])


def _decoded(adapter: TypeAdapter[Any], line: bytes) -> Any:
    try:
        return adapter.validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"])) or "the line"
        raise InputError(f"no message of a robot: {place}: {first['msg']}; docs/robots.md lists the fields") from error
