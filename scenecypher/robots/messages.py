"""What a planner asks of a robot, and what it is answered: actions and their states, as `openapi.json` has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError

from scenecypher.errors import InputError

Word: TypeAlias = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]*$")]
Kind: TypeAlias = Literal["hello", "act", "look", "approve"]
MAX_BYTES: Final = 30_000_000  # a picture of 20 MB in base64, and some


@dataclass(frozen=True, slots=True)
class Action:
    """What a robot is asked for: to act, to look at the node `name`, to have a person approve, or just to answer.

    The same id always means the same action, which is carried out once, however often it is asked for. `boot` is the
    memory that the planner relies on for that. `arguments` are ids of nodes, `words` what a person is asked.
    """

    id: str
    kind: Kind
    name: str = ""
    arguments: tuple[str, ...] = ()
    words: str = ""
    boot: str = ""


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

    Believed things that are not among `things` are absent if the view is `whole`, as far as it `covers`.
    """

    things: Annotated[tuple[Thing, ...], Field(max_length=1_000)] = ()
    states: tuple[Word, ...] | None = None
    covers: tuple[Word, ...] = ("ON", "INSIDE")
    whole: bool = True


@dataclass(frozen=True, slots=True)
class State:
    """The state of an action in the robot's memory `boot`, a name that is new with each start of its program.

    A refused action has a `reason`, and nothing of it remains to be done; a forgotten one was asked of another memory.
    A look that is done has a `view`, or a `picture` in base64; an approval the name of the person it is `by`.
    """

    id: str
    boot: Word
    state: Literal["working", "done", "refused", "forgotten"]
    reason: str = ""
    view: View | None = None
    picture: str = ""
    by: str = ""


def read_state(answer: bytes | Mapping[str, Any], action: Action) -> State:
    """Return the state of an action in an answer. Raises InputError naming the field."""
    try:
        state = _STATE.validate_json(answer) if isinstance(answer, bytes) else _STATE.validate_python(answer)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"])) or "the answer"
        raise InputError(f"{place}: {first['msg']}; docs/robots.md lists the fields") from error
    if state.id != action.id:
        raise InputError("it is of another id; answer with the state of the action that was asked for")
    if (action.kind, state.state) == ("look", "done") and not (state.view or state.picture):
        raise InputError("a look that is done has a `view` or a `picture`; send one")
    return state


_STATE: Final = TypeAdapter(State)
