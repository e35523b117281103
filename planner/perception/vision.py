"""Observer by pictures: a vision-language model describes a picture, and the description is parsed.

Two stages, since models that are asked for a form at once tend to answer that they can't see the picture
(LookPlanGraph, section IV-D and the appendix on prompts). Its form has no counts: `count` is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal, Protocol, Self, TypeAlias, TypeVar
from unicodedata import category, normalize

from pydantic import BaseModel, Field, field_validator, model_validator

from scenecypher.chat import Image, Message, Model, Request, Usage, ask_for, clean_reply
from scenecypher.chat.model import SEED
from scenecypher.errors import ReplyRejected
from scenecypher.planner.perception.naming import KnownNode, meaning_of_name
from scenecypher.planner.perception.observation import Extent, ExtentKind, Observation, Sighting

ATTEMPTS: Final = 3
CONFIDENCE: Final = 0.8
"""Confidence of a sighting in a picture (ground truth: 1) if the model gives none."""
MAX_WORDS: Final = 300
"""Characters that are kept of a reply's free text."""

SeenState: TypeAlias = Literal["open", "closed", "turned_on", "turned_off"]
STATES: Final = {"open": "open", "closed": "closed", "turned_on": "on", "turned_off": "off"}
RELATIONS: Final = {"ontop_of": "ON", "inside_of": "INSIDE"}
EXTENTS: Final[Mapping[str, ExtentKind]] = {
    "whole": "whole",
    "part": "part",
    "nothing": "nothing",
    "another_place": "elsewhere",
}
"""Words of the form, and the graph's states and relation types, and the extents of observations."""

DESCRIBE: Final = """\
Look at this picture of {name}. Say first how much of {name} it shows: the whole, a part (which one?), nothing that \
can be made out, or another place; and if not the whole, why: it may be dark, blurred, cut off, or hidden by something.
Say in words which things are on top of it or inside it: for each of what, and whether \
on top or inside; and how many there are where several are alike.
Say too whether what can be opened or switched on ({name} included) is open or closed, on or off.
Where one of these names fits, use it: {names}.
Seen there earlier: {priors}. Any of it may be gone by now, and other things may be there: tell only what you see."""

PARSE: Final = """\
A picture of {name} was described so:
---
{description}
---
- "extent": how much of {name} the picture shows by the description: whole, part, nothing (it can't be made out), or \
another_place; whole only where the description says or plainly implies that all of {name} is in view.
- "part": which part, if it is a part; else null. "reason": why it is not the whole, if the description says so; else \
null.
- "objects": the things that are on or in {name}, or on or in one another there; none of another place. Of each:
- "name": one of the possible names where one fits, each at most once; else a short singular noun.
- "count": how many of them there are; 1 for a thing with a name of its own.
- "relation" and "related_to": what the thing is ontop_of or inside_of, {name} or another thing in the list; both null \
where the description does not say.
- "states": those of open, closed, turned_on, turned_off that the description says; else empty.
- "confidence": from 0 to 1, how sure the description is of it, if it says so ("probably", "perhaps"); else null.
- For {name} itself: an entry with that name, its relation and related_to null, only if its state is described.
Add nothing that the description does not say.
Possible names: {names}."""

Form = TypeVar("Form", bound=BaseModel)


class Camera(Protocol):
    """Camera that takes pictures of the world."""

    def picture(self, of: str) -> Image:
        """Return a picture of what the agent sees at a node. Raises InputError if there is none."""
        ...


def one_line(words: str) -> str:
    """Normalise a text for the graph: NFC, on one line, without control characters."""
    printed = "".join(it for it in normalize("NFC", words) if it.isspace() or category(it) != "Cc")
    return " ".join(printed.split())


class SeenThing(BaseModel):
    """One thing, or several alike, in a reply."""

    name: str = Field(min_length=1, max_length=200)
    count: int = Field(ge=1, le=100)
    relation: Literal["ontop_of", "inside_of"] | None
    related_to: str | None
    states: list[SeenState]
    confidence: float | None = Field(ge=0, le=1)

    @field_validator("name", "related_to")
    @classmethod
    def _on_one_line(cls, words: str | None) -> str | None:
        return None if words is None else one_line(words)

    @model_validator(mode="after")
    def _is_named(self) -> Self:
        if not self.name:
            raise ValueError("a name is empty; give the name of a thing")
        return self


class Subgraph(BaseModel):
    """A reply: how much of one node a picture shows, and all that is on or in it there."""

    extent: Literal["whole", "part", "nothing", "another_place"]
    part: str | None
    reason: str | None
    objects: Annotated[list[SeenThing], Field(max_length=500)]

    def seen_extent(self) -> Extent:
        """Return the extent of the observation."""
        part, why = (one_line(words or "")[:MAX_WORDS] for words in (self.part, self.reason))
        return Extent(EXTENTS[self.extent], part, why)


@dataclass(frozen=True, slots=True)
class ImageReading:
    """Reading of one picture: the observation, the model's description, and the tokens."""

    observation: Observation
    description: str
    usage: Usage = field(default_factory=Usage)


class VisionObserver:
    """Observer with a camera and a vision model; `known` returns the belief about a node. `usage` counts tokens."""

    def __init__(self, model: Model, camera: Camera, known: Callable[[str], KnownNode]) -> None:
        self.usage = Usage()
        self._model, self._camera, self._known = model, camera, known

    def observe(self, of: str, *, step: int) -> Observation:
        """Take a picture and read it. Raises UnknownReference, InputError, ReplyRejected, ModelUnavailable."""
        known = self._known(of)
        reading = read_image(self._model, self._camera.picture(of), known, step=step)
        self.usage += reading.usage
        return reading.observation


def read_image(model: Model, image: Image, known: KnownNode, *, step: int) -> ImageReading:
    """Read what a picture shows of a node. Raises ReplyRejected, ModelUnavailable."""
    description, described = describe_image(model, image, _describe_prompt(known))
    subgraph, parsed = parse_description(model, _parse_prompt(known, description), Subgraph)
    return ImageReading(_observation(subgraph, known, step), description, described + parsed)


def describe_image(model: Model, image: Image, prompt: str) -> tuple[str, Usage]:
    """Describe a picture in words, the first stage. Raises ReplyRejected if the reply is empty or a refusal."""
    reply = model.reply(Request((Message("user", prompt, (image,)),), seed=SEED))
    text = clean_reply(reply.text).strip()
    if not text or reply.finish == "refusal":
        msg = "the model said nothing about the picture; try again, or choose a model that takes pictures"
        tokens = reply.usage.prompt_tokens, reply.usage.completion_tokens
        raise ReplyRejected(msg, reply=reply.text, prompt_tokens=tokens[0], completion_tokens=tokens[1])
    return text, reply.usage


def parse_description(model: Model, prompt: str, form: type[Form]) -> tuple[Form, Usage]:
    """Parse a description into a form, the second stage, without the picture. Raises ReplyRejected."""
    return ask_for(model, (Message("user", prompt),), form, attempts=ATTEMPTS)


def _describe_prompt(known: KnownNode) -> str:
    return DESCRIBE.format(name=known.name, names=_listed(known.names), priors=_listed(known.priors))


def _parse_prompt(known: KnownNode, description: str) -> str:
    return PARSE.format(name=known.name, names=_listed(known.names), description=description)


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "none"


def _observation(subgraph: Subgraph, known: KnownNode, step: int) -> Observation:
    itself = [it for it in subgraph.objects if known.is_itself(it.name)]
    states = tuple(sorted({STATES[state] for it in itself for state in it.states}))
    sightings = [
        _sighting(it, known) for it in subgraph.objects if not known.is_itself(it.name) for _ in range(it.count)
    ]
    inside = any(it.support is not None and it.support[0] == "INSIDE" for it in sightings)
    shut = "closed" in states or ("closed" in known.states and "open" not in states)
    covers = ("ON",) if shut and not inside else ("INSIDE", "ON")
    return Observation(
        known.id, tuple(sightings), step, covers, states or None, partial_states=True, extent=subgraph.seen_extent()
    )


def _sighting(seen: SeenThing, known: KnownNode) -> Sighting:
    """Return the sighting of a thing; a fixed one has no support and stays unplaced."""
    what = meaning_of_name(seen.name, known)
    placed = seen.relation is not None and seen.related_to and seen.name.casefold() not in known.fixed
    support = (RELATIONS[seen.relation], seen.related_to) if placed and seen.relation and seen.related_to else None
    states = tuple(sorted({STATES[state] for state in seen.states})) or None
    return Sighting(
        seen.name,
        what.class_,
        support,
        states,
        what.affordances,
        traits=what.traits,
        confidence=CONFIDENCE if seen.confidence is None else seen.confidence,
    )
