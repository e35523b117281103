"""The prompts of the observer by pictures (LookPlanGraph, appendix on prompts; `methods/differences.py` lists ours)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scenecypher.planner.perception.naming import KnownNode
from scenecypher.planner.perception.observation import Observation, Sighting

DESCRIBE: Final = """\
Look at this picture of {name}. Say first how much of {name} it shows: the whole, a part (which one?), nothing that \
can be made out, or another place; and if not the whole, why: it may be dark, blurred, cut off, or hidden by something.
Say in words which things are on top of it or inside it: for each of what, and whether on top or inside; and how many \
there are where several are alike.{room}
Say too whether what can be opened or switched on ({name} included) is open or closed, on or off.
Where one of these names fits, use it: {names}.
{earlier}"""

EARLIER: Final = """\
Seen there earlier: {seen}. Expected there, though not seen yet: {priors}. Any of it may be gone by now, and other \
things may be there: tell only what you see."""
ONLY_SEEN: Final = "Tell only what you see."
"""In place of EARLIER for methods that are shown no priors (LookPlanGraph, appendix D: ReAct)."""

ROOM: Final = """
{name} is a room. Say of each thing on top of or inside which piece of furniture it is; only what stands or lies on \
the floor is inside {name} itself. Its furniture: {furniture}. Its doors: {doors}."""

VANISHED: Final = """
An earlier description of this picture had none of these, which are believed there: {vanished}. Look again: is all \
of {name} in view, and are they really gone? Or is it only partly shown, or not at all, or is something before them?"""

PARSE: Final = """\
A picture of {name} was described so:
---
{description}
---
Put into the form what it says:
- "extent": how much of {name} the picture shows by the description: whole, part, nothing (it can't be made out), or \
another_place; whole only where the description says or plainly implies that all of {name} is in view.
- "part": which part, if it is a part; else null. "reason": why it is not the whole, if the description says so; else \
null.
- "objects": the things that are on or in {name}, or on or in one another there; none of another place. For each:
  - "name": one of the possible names where one fits, each at most once; else a short singular noun.
  - "count": how many of them there are; 1 for a thing with a name of its own.
  - "relation" and "related_to": what the thing is ontop_of or inside_of, {supports}; both null where the description \
does not say.
  - "states": those of open, closed, turned_on, turned_off that the description says; else empty.
  - "confidence": from 0 to 1, how sure the description is of it, if it says so ("probably", "perhaps"); else null.
  For {name} itself: an entry with that name, its relation and related_to null, only if its state is described.{doors}
Add nothing that the description does not say.
Possible names: {names}."""

FURNITURE: Final = """
  For a piece of furniture or a door: such an entry too, only if its state is described."""

PLACE: Final = """\
It is not clear where these are: {unclear}.
Reply again with the whole form. For each of them, "relation" is ontop_of or inside_of, and "related_to" is one of: \
{candidates}. Leave both null for what is none of these places, or where the description does not tell."""


SEVERAL: Final = """
There are {count} pictures, all of one moment, from several sides. What several of them show is one thing: name and \
count it once. What one of them shows of {name} is in view."""

BOXES: Final = """
Give of each thing its box too: left, top, right and bottom in thousandths of the picture's width and \
height{picture}."""

PARSE_BOXES: Final = """
- "boxes": for each thing with a box in the description one entry, with the thing's "name", the number of its \
"picture" (1 where there is one only) and "left", "top", "right", "bottom" in thousandths."""


def describe_prompt(known: KnownNode) -> str:
    """Return the prompt of the first stage, for the picture."""
    room = ROOM.format(name=known.name, furniture=_listed(known.furniture), doors=_listed(known.doors))
    return DESCRIBE.format(
        name=known.name,
        names=_listed(known.names),
        earlier=EARLIER.format(seen=_listed(known.seen), priors=_listed(known.priors))
        if known.tells_earlier
        else ONLY_SEEN,
        room=room if known.is_room else "",
    )


def vanished_prompt(known: KnownNode, vanished: Sequence[str]) -> str:
    """Return the prompt of the first stage after a description without most of what is believed there."""
    gone = tuple(known.belief.nodes[it].name for it in vanished)
    return describe_prompt(known) + VANISHED.format(name=known.name, vanished=_listed(gone))


def parse_prompt(known: KnownNode, description: str) -> str:
    """Return the prompt of the second stage, for the description."""
    room = f"{known.name} (its floor), its furniture ({_listed(known.furniture)}), or another thing in the list"
    return PARSE.format(
        name=known.name,
        names=_listed(known.names),
        description=description,
        supports=room if known.is_room else f"{known.name} or another thing in the list",
        doors=FURNITURE if known.is_room else "",
    )


def place_prompt(known: KnownNode, unclear: Sequence[Sighting], observation: Observation) -> str:
    """Return the question where things are, with the possible supports."""
    others = (it.name for it in observation.sightings if it not in unclear)
    candidates = (known.name, *known.furniture, *others)
    names = tuple(dict.fromkeys(it.name for it in unclear))
    return PLACE.format(unclear=_listed(names), candidates=_listed(tuple(dict.fromkeys(candidates))))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
