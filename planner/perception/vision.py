"""Observer by pictures: a vision-language model describes a picture, and the description is parsed.

Two stages, since models that are asked for a form at once tend to answer that they can't see the picture
(LookPlanGraph, section IV-D and the appendix on prompts). Its form has no counts: `count` is ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Final, Literal, Protocol, Self, TypeVar

from pydantic import AfterValidator, BaseModel, Field, model_validator

from scenecypher.chat import Image, Message, Model, Request, Usage, ask_for, clean_reply
from scenecypher.chat.model import SEED
from scenecypher.errors import ReplyRejected
from scenecypher.planner.perception.draft import MergeResult
from scenecypher.planner.perception.footage import PictureSet, SeenBox
from scenecypher.planner.perception.merge import merge
from scenecypher.planner.perception.naming import (
    KnownNode,
    describe_prompt,
    meaning_of_name,
    parse_prompt,
    place_prompt,
    with_names,
)
from scenecypher.planner.perception.observation import CONFIDENCE, MAX_THINGS, Extent, ExtentKind, Observation, Sighting
from scenecypher.planner.perception.wording import WORDS, cleaned_name, compact, one_line, without_orders

ATTEMPTS: Final = 3
MAX_WORDS: Final = 300
"""Characters that are kept of a reply's free text."""

STATES: Final = {"open": "open", "closed": "closed", "turned_on": "on", "turned_off": "off"}
RELATIONS: Final = {"ontop_of": "ON", "inside_of": "INSIDE"}
EXTENTS: Final[Mapping[str, ExtentKind]] = {
    "whole": "whole",
    "part": "part",
    "nothing": "nothing",
    "another_place": "elsewhere",
}
"""Words of the form, and the graph's states and relation types, and the extents of observations."""

_BEGINNING: Final = 400
"""Characters of a reply in which a refusal stands."""
_REFUSALS: Final = tuple(re.compile(it.format_map(WORDS["refusal"]["parts"])) for it in WORDS["refusal"]["patterns"])

Form = TypeVar("Form", bound=BaseModel)


class Camera(Protocol):
    """Camera that takes pictures of the world."""

    def picture(self, of: str) -> Image:
        """Return a picture of what the agent sees at a node. Raises InputError if there is none."""
        ...


class SeenThing(BaseModel):
    """One thing, or several alike, in a reply."""

    name: Annotated[str, Field(min_length=1, max_length=200), AfterValidator(cleaned_name)]
    count: int = Field(ge=1, le=100)
    relation: Literal["ontop_of", "inside_of"] | None
    related_to: Annotated[str, AfterValidator(one_line)] | None
    states: list[Literal["open", "closed", "turned_on", "turned_off"]]
    confidence: float | None = Field(ge=0, le=1)


class Subgraph(BaseModel):
    """A reply: how much of one node a picture shows, and all that is on or in it there."""

    extent: Literal["whole", "part", "nothing", "another_place"]
    part: str | None
    reason: str | None
    objects: Annotated[list[SeenThing], Field(max_length=MAX_THINGS)]

    @model_validator(mode="after")
    def _are_few(self) -> Self:
        if (count := sum(it.count for it in self.objects)) > MAX_THINGS:
            raise ValueError(f"{count} things are too many; tell at most {MAX_THINGS}, the nearest ones")
        return self

    def seen_extent(self) -> Extent:
        """Return the extent of the observation."""
        part, why = (without_orders(words or "")[:MAX_WORDS] for words in (self.part, self.reason))
        return Extent(EXTENTS[self.extent], part, why)


class LocatedSubgraph(Subgraph):
    """A reply about pictures with cameras: the boxes of things, too."""

    boxes: Annotated[list[SeenBox], Field(max_length=MAX_THINGS)]


@dataclass(frozen=True, slots=True)
class ImageReading:
    """Reading of one look: the observation, the model's description, and the tokens."""

    observation: Observation
    description: str
    usage: Usage = field(default_factory=Usage)


@dataclass(slots=True)
class VisionObserver:
    """Observer with a camera and a vision model; `known` returns the belief about a node. `usage` counts tokens.

    With `accept`, an observation that contradicts most of the belief is merged too.
    """

    model: Model
    camera: Camera
    known: Callable[[str], KnownNode]
    accept: bool = field(default=False, kw_only=True)
    usage: Usage = field(default_factory=Usage, init=False)

    def observe(self, of: str, *, step: int) -> Observation:
        """Take a picture and read it. Raises UnknownReference, InputError, ReplyRejected, ModelUnavailable."""
        reading = read_image(self.model, self.camera.picture(of), self.known(of), step=step, accept=self.accept)
        self.usage += reading.usage
        return reading.observation


def read_image(model: Model, image: Image, known: KnownNode, *, step: int, accept: bool = False) -> ImageReading:
    """Read what a picture shows of a node; see `read_pictures`. Raises ReplyRejected, ModelUnavailable."""
    return read_pictures(model, PictureSet((image,)), known, step=step, accept=accept)


def read_pictures(
    model: Model, pictures: PictureSet, known: KnownNode, *, step: int, accept: bool = False
) -> ImageReading:
    """Read what the pictures of one look show of a node.

    If most of what is believed there is not seen, the model is asked again with that fact. If it stays so, the extent
    of the observation is ``disputed`` or ``doubted`` unless `accept`. One that is not told what was there is not asked
    about it again. Raises ReplyRejected, ModelUnavailable.
    """
    reading = _read_once(model, pictures, known, describe_prompt(known), step)
    found = _merged(reading.observation, known)
    if found.most_vanished and known.tells_earlier:
        again = _read_once(model, pictures, known, describe_prompt(known, found.vanished), step)
        reading = replace(again, usage=reading.usage + again.usage)
        found = _merged(reading.observation, known)
    if accept or found.doubtful_extent is None:
        return reading
    return replace(reading, observation=replace(reading.observation, extent=found.doubtful_extent))


def describe_images(model: Model, images: Sequence[Image], prompt: str) -> tuple[str, Usage]:
    """Describe pictures in words, the first stage. Raises ReplyRejected if the reply is empty or a refusal."""
    reply = model.reply(Request((Message("user", prompt, tuple(images)),), seed=SEED))
    text = "\n".join(map(one_line, clean_reply(reply.text).splitlines())).strip()
    if not text or reply.finish == "refusal" or is_refusal(text):
        said = repr(one_line(text)[:MAX_WORDS]) if text else "nothing"
        msg = f"the model said {said} about the picture; try again, or choose a model that takes pictures"
        tokens = reply.usage.prompt_tokens, reply.usage.completion_tokens
        raise ReplyRejected(msg, reply=reply.text, prompt_tokens=tokens[0], completion_tokens=tokens[1])
    return text, reply.usage


def parse_description(model: Model, asked: Sequence[Message], form: type[Form], *, spent: Usage) -> tuple[Form, Usage]:
    """Parse a description into a form, the second stage, without the picture; return the form and all tokens.

    Raises ReplyRejected with the tokens `spent` before, too.
    """
    try:
        found, usage = ask_for(model, asked, form, attempts=ATTEMPTS)
    except ReplyRejected as error:
        msg = f"the model described the picture, but gave no list of at most {MAX_THINGS} things in {ATTEMPTS} attempts"
        raise ReplyRejected(
            f"{msg}: look again, or choose another model",
            reply=error.reply,
            prompt_tokens=spent.prompt_tokens + error.prompt_tokens,
            completion_tokens=spent.completion_tokens + error.completion_tokens,
        ) from error
    return found, spent + usage


def _read_once(model: Model, pictures: PictureSet, known: KnownNode, prompt: str, step: int) -> ImageReading:
    """Describe and parse pictures; ask once more for places that are unclear, from which nothing else is taken."""
    description, described = describe_images(model, pictures.images, prompt + pictures.describe_words(known.node.name))
    asked = parse_prompt(known, description) + pictures.parse_words
    form: type[Subgraph] = LocatedSubgraph if any(pictures.cameras) else Subgraph
    subgraph, usage = parse_description(model, (Message("user", asked),), form, spent=described)
    observation = with_names(_observation(subgraph, known, step), known)
    if isinstance(subgraph, LocatedSubgraph):
        observation = pictures.located(observation, subgraph.boxes)
    unclear = _unclear(observation, known)
    if not unclear:
        return ImageReading(observation, description, usage)
    named = {it.name for it in observation.sightings}
    objects = [it for it in subgraph.objects if it.name in named or known.is_itself(it.name)]
    reply = Message("assistant", subgraph.model_copy(update={"objects": objects}).model_dump_json())
    messages = (Message("user", asked), reply, Message("user", place_prompt(known, unclear, observation)))
    second, usage = parse_description(model, messages, Subgraph, spent=usage)
    supports = {it.name: _sighting(it, known).support for it in reversed(second.objects)}
    sightings = tuple(replace(it, support=supports.get(it.name, it.support)) for it in observation.sightings)
    return ImageReading(replace(observation, sightings=sightings), description, usage)


def _merged(observation: Observation, known: KnownNode) -> MergeResult:
    return merge(known.belief, observation, vocabulary=known.vocabulary)


def _unclear(observation: Observation, known: KnownNode) -> tuple[Sighting, ...]:
    """Return the sightings whose place is unclear, without furniture."""
    seen = map(observation.sightings.__getitem__, _merged(observation, known).unplaced)
    return tuple(it for it in seen if compact(it.name) not in known.fixed)


def _observation(subgraph: Subgraph, known: KnownNode, step: int) -> Observation:
    itself = [it for it in subgraph.objects if known.is_itself(it.name)]
    states = tuple(sorted({STATES[state] for it in itself for state in it.states}))
    sightings = tuple(_sighting(it, known) for it in subgraph.objects if it not in itself for _ in range(it.count))
    supports = (it.support for it in sightings if it.support is not None)
    inside = any(type_ == "INSIDE" and known.is_itself(target or "") for type_, target in supports)
    shut = "closed" in states or ("closed" in known.node.states and "open" not in states)
    covers = ("ON",) if shut and not inside else ("INSIDE", "ON")
    extent = subgraph.seen_extent()
    return Observation(known.id, sightings, step, covers, states or None, partial_states=True, extent=extent)


def _sighting(seen: SeenThing, known: KnownNode) -> Sighting:
    """Return the sighting of a thing; a fixed one has no support and stays unplaced."""
    what = meaning_of_name(seen.name, known, plural=seen.count > 1)
    relation = RELATIONS[seen.relation] if seen.relation else None
    is_fixed = compact(seen.name) in known.fixed
    support = None if is_fixed or not (relation or seen.related_to) else (relation, seen.related_to or None)
    states = tuple(sorted({STATES[state] for state in seen.states})) or None
    confidence = CONFIDENCE if seen.confidence is None else seen.confidence
    return Sighting(seen.name, what.class_, support, states, traits=what.traits, confidence=confidence)


def is_refusal(description: str) -> bool:
    """Check if a description of a picture begins with a refusal or an apology instead."""
    words = " ".join(description[:_BEGINNING].replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").casefold().split())
    return any(pattern.search(words) for pattern in _REFUSALS)
