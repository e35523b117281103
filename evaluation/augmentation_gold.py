"""The gold subgraph as the replies of a perfect model, and as the observation of a perfect observer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from scenecypher.chat.model import Reply, Request, Usage
from scenecypher.evaluation.replies import REFERENCE
from scenecypher.evaluation.views import GoldView, PlacedThing, belief_before_view
from scenecypher.planner.perception.observation import Extent, Observation, Sighting
from scenecypher.planner.perception.vision import EXTENTS, RELATIONS, STATES

SIMULATED_OBSERVER: Final = "simulated observer"
RELATION_WORDS: Final = {ours: word for word, ours in RELATIONS.items()}
STATE_WORDS: Final = {ours: word for word, ours in STATES.items()}
EXTENT_WORDS: Final = {
    "whole": "All of it is in view.",
    "part": "Only a part of it is in view.",
    "nothing": "Nothing can be made out.",
    "another_place": "The picture shows another place.",
}
PHRASES: Final = {"ON": "on top of", "INSIDE": "inside"}


@dataclass(frozen=True, slots=True)
class GoldReader:
    """Model that knows the gold subgraph: it answers a picture in words, and a schema in JSON."""

    view: GoldView

    def reply(self, request: Request) -> Reply:
        """Return the gold subgraph, at no cost."""
        view = self._asked(request.messages[-1].text)
        text = _words(view) if request.schema is None else json.dumps(_form(view))
        return Reply(text, Usage(), REFERENCE, source="scripted")

    def _asked(self, prompt: str) -> GoldView:
        """Return the view of the look that a prompt is about: the one whose asset it names first."""
        looks = [self.view.of_look(), *map(self.view.of_look, self.view.looks)]
        places = [prompt.find(f"of {it.asset.name}") % (len(prompt) + 1) for it in looks]
        return looks[places.index(min(places))]


def _words(view: GoldView) -> str:
    sentences = [f"{it.name} is {PHRASES[it.relation]} {it.related_to}{_told(it)}." for it in view.gold]
    if not sentences and view.seen == "whole":
        return f"All of {view.asset.name} is in view. There is nothing on or in it."
    return " ".join([EXTENT_WORDS[view.seen], *sentences])


def _told(thing: PlacedThing) -> str:
    return f", {' and '.join(thing.states)}" if thing.states else ""


def _form(view: GoldView) -> dict[str, Any]:
    objects: list[dict[str, Any]] = [
        {
            "name": it.name,
            "count": 1,
            "relation": RELATION_WORDS[it.relation],
            "related_to": it.related_to,
            "states": [STATE_WORDS[state] for state in it.states],
            "confidence": None,
        }
        for it in view.gold
    ]
    return {"extent": view.seen, "part": view.part or None, "reason": view.reason or None, "objects": objects}


@dataclass(frozen=True, slots=True)
class GoldObserver:
    """Observer that sees the whole gold subgraph in one look."""

    view: GoldView

    def observe(self, of: str, *, step: int) -> Observation:
        """Return the gold subgraph as an observation, for any node."""
        sightings = tuple(_sighting(it) for it in self.view.gold)
        extent = Extent(EXTENTS[self.view.seen], self.view.part, self.view.reason)
        return Observation(of, sightings, step, ("INSIDE", "ON"), partial_states=True, extent=extent)


def view_classes(view: GoldView) -> tuple[str, ...]:
    """Return the classes that a thing in this view may be mistaken for."""
    known = belief_before_view(view)
    return tuple(sorted({node.class_ for node in known.nodes.values()} | {it.class_name for it in view.gold}))


def _sighting(thing: PlacedThing) -> Sighting:
    return Sighting(thing.name, thing.class_name, (thing.relation, thing.related_to), tuple(thing.states) or None)
