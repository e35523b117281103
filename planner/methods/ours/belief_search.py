"""What is believed of a scene, and where to look in it: room by room, the likeliest places first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final

import scenecypher.db.condition as c
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.vocabulary import conventions_of
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.prompts.layout import SceneLayout, is_confirmed
from scenecypher.planner.sessions.method import Act
from scenecypher.planner.symbolic.parts import part_of
from scenecypher.planner.symbolic.plan import planning_state
from scenecypher.planner.symbolic.states import MAX_REPAIRS, PlanningState, with_repairs
from scenecypher.planner.vocabularies.vocabulary import operators_of, vocabulary_named
from scenecypher.planner.worlds.belief_simulator import LOOK_ACTIONS
from scenecypher.planner.worlds.perturbation import AFFORDED_RELATIONS
from scenecypher.planner.worlds.usual_places import plain_class, usual_places

ROOM_COST: Final = 12
"""Actions that a change of rooms counts for."""
LOOK_COST: Final = 2
"""Actions that a look at a place in a room takes: walking to it, and looking."""
UNKNOWN_PLACE: Final = 1.0
"""Times that a thing counts as seen at a class of furniture where the data sets never have it."""
BARE_PLACE: Final = 0.1
"""Factor for what can hold nothing, as far as its affordances say, and holds nothing, such as a painting."""


class Belief:
    """The graph that is believed now, and the nodes `looked` at."""

    def __init__(self, graph: SceneGraph, vocabulary: str, looked: frozenset[str]) -> None:
        self.graph, self.looked, self._vocabulary = graph, looked, vocabulary
        self._layout, self._types = SceneLayout(graph, vocabulary), conventions_of(vocabulary).containment
        self.places = sorted(it for it in graph.by_kind.get("Asset", ()) if it != self._layout.agent)

    def state_of(self, goal: c.Condition, plan: Sequence[ActionCall]) -> PlanningState | None:
        """Return the state of what a goal and a plan name; None without an agent."""
        named = c.And((goal, *(c.Same(c.Id(x), c.Id(x)) for call in plan for x in call.arguments)))
        return planning_state(part_of(self.graph, named, wide=False, small=0), self._vocabulary)

    def look_at_first(self, things: Sequence[str]) -> Act | None:
        """Return the next action towards a look at the remembered place of the first thing that was not seen."""
        for thing in things:
            if thing in self.graph and not is_confirmed(self.graph.nodes[thing]):
                for place in self.graph.targets(thing, *self._types):
                    way = None if self.graph.nodes[place].kind == "Place" else self.way_to_look(place)
                    if place not in self.looked and way:
                        return Act(str(way[0]), f"make sure that {thing} is at {place}")
        return None

    def way_to_look(self, place: str) -> tuple[ActionCall, ...]:
        """Return the actions that lead to a look at a place, the look last; none if there is no way."""
        part = part_of(self.graph, c.Same(c.Id(place), c.Id(place)), wide=False, small=0)
        state = planning_state(part, self._vocabulary)
        if state is None:
            return ()
        look = look_action(self._vocabulary)
        shows = vocabulary_named(self._vocabulary).looking.revealing
        opened = with_repairs(ActionCall("open", (place,)), state, MAX_REPAIRS) if self._is_shut(place) else None
        if opened is not None and "open" in shows:
            return opened
        state = state.after(*(opened or ()))
        seen = with_repairs(ActionCall(look, (place,)), state, MAX_REPAIRS)
        return () if seen is None else (*(opened or ()), *seen)

    def in_order_of_search(self, weights: Mapping[str, float]) -> Iterator[str]:
        """Yield the places of `weights`: the most promising room first, and in a room the likeliest place first."""
        rooms: dict[str | None, list[str]] = {}
        for place in sorted(weights, key=lambda it: (-weights[it], it)):
            rooms.setdefault(self._layout.room_of(place), []).append(place)

        def promise(room: str | None) -> float:
            """Return the largest weight for an action, over the numbers of places that might be looked at."""
            way, sums = ROOM_COST * (room != self._layout.here), accumulate(weights[it] for it in rooms[room])
            return max(found / (way + LOOK_COST * number) for number, found in enumerate(sums, 1))

        for room in sorted(rooms, key=lambda it: (-promise(it), it or "")):
            yield from rooms[room]

    def _is_shut(self, place: str) -> bool:
        return "closed" in self.graph.nodes[place].states and "open" in operators_of(self._vocabulary)

    def weights(self, classes: Sequence[str], places: Sequence[str], ranked: Sequence[str]) -> Mapping[str, float]:
        """Return how likely the classes are at each place: by rank if there is one, else by the data sets' counts."""
        kinds = {place: plain_class(self.graph.nodes[place].class_) for place in places}
        alike = {kind: [*kinds.values()].count(kind) for kind in kinds.values()}
        found = {
            place: sum(usual_places().get(plain_class(it), {}).get(kind, UNKNOWN_PLACE) for it in classes)
            / alike[kind]
            * (1 if self._holds_things(place) else BARE_PLACE)
            for place, kind in kinds.items()
        }
        total = sum(found.values()) or 1.0
        return {
            it: 1 / (1 + ranked.index(it)) if it in ranked else found[it] / total / 10 if ranked else found[it]
            for it in places
        }

    def _holds_things(self, place: str) -> bool:
        """Check if something is, or could be, in or on a place."""
        afforded = AFFORDED_RELATIONS.keys() & {*self.graph.nodes[place].affordances}
        return bool(afforded or self.graph.sources(place, *self._types))

    def place_lines(self) -> Iterator[str]:
        """Yield a line for each room, with the places in it."""
        rooms: dict[str, list[str]] = {}
        for place in self.places:
            if place not in self.looked:
                rooms.setdefault(self._layout.room_of(place) or "no known room", []).append(place)
        yield from (f"{room}: {', '.join(places)}" for room, places in sorted(rooms.items()))


def look_action(vocabulary: str) -> str:
    """Return the name of the action that looks at a node."""
    approach = vocabulary_named(vocabulary).words.approach
    if approach is not None:
        return approach.look
    known = {*operators_of(vocabulary)}
    return min((LOOK_ACTIONS & known) or (vocabulary_named(vocabulary).looking.revealing & known), default="")
