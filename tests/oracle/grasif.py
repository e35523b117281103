"""Static planner for GraSIF instructions in the goal's own words, by queries about single nodes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

WORDS: Final = {"on": "ON", "inside": "INSIDE", "under": "UNDER", "attached to": "ATTACHED_TO"}
PUT: Final = {"ON": "put_on", "INSIDE": "put_inside", "UNDER": "put_under", "ATTACHED_TO": "attach"}
SWITCH: Final = {"on": "turn_on", "off": "turn_off", "open": "open", "closed": "close"}
HOME_SWITCH: Final = {"on": "switch_on", "off": "switch_off", "open": "open", "closed": "close"}
FACT: Final = re.compile(r"(.+?) is (?:(on|inside|under|attached to) (?:the )?(.+)|(\w+))")


@dataclass(frozen=True)
class Place:
    """Place of a node: relation, container or support, and its states; `is_room` ends the chain."""

    relation: str
    id: str
    states: tuple[str, ...]
    is_room: bool


PlaceOf = Callable[[str], Place]
StatesOf = Callable[[str], tuple[str, ...]]


@dataclass
class StaticPlanner:
    """Planner with the actions so far and their changes of the initial scene, which `where` and `states` return."""

    where: PlaceOf
    states: StatesOf
    is_agent: Callable[[str], bool]
    actions: list[str] = field(default_factory=list)
    moved: dict[str, Place] = field(default_factory=dict)
    switched: dict[str, str] = field(default_factory=dict)
    room: str = ""

    def solve(self, instruction: str) -> list[str]:
        """Return the whole plan: things are moved first, then states are changed. It always begins with a walk."""
        facts = [FACT.fullmatch(part) for part in instruction.split("; ")]
        for found in facts:
            assert found, instruction
            if found[2]:
                self._move(found[1], WORDS[found[2]], found[3])
        for found in facts:
            if found and found[4] and found[4] not in self._state(found[1]):
                self._reach(found[1])
                self._switch(found[1], found[4])
        return self.actions

    def _move(self, thing: str, relation: str, target: str) -> None:
        if self.is_agent(thing):
            self._go(target)
            return
        at = self._at(thing)
        if (at.relation, at.id) == (relation, target):
            return
        self._reach(thing)
        self.actions.append(f"pick_up({thing})")
        self._reach(target)
        if relation == "INSIDE" and "closed" in self._state(target):
            self._switch(target, "open")
        self.actions.append(f"{PUT[relation]}({target})")
        self.moved[thing] = Place(relation, target, (), is_room=False)

    def _reach(self, thing: str) -> None:
        """Go to a thing's room and open its closed containers."""
        way = self._way(thing)
        self._go(way[-1].id)
        for place in reversed(way[:-1]):
            if "closed" in self._state(place.id) and place.relation == "INSIDE":
                self._switch(place.id, "open")

    def _go(self, room: str) -> None:
        if room != self.room:
            self.actions.append(f"go_to({room})")
            self.room = room

    def _switch(self, thing: str, state: str) -> None:
        self.actions.append(f"{SWITCH[state]}({thing})")
        self.switched[thing] = state

    def _state(self, thing: str) -> tuple[str, ...]:
        known = self.switched.get(thing)
        if known is None:
            return self.states(thing)
        pair = {"open", "closed"} if known in {"open", "closed"} else {"on", "off"}
        return (*(state for state in self.states(thing) if state not in pair), known)

    def _at(self, thing: str) -> Place:
        return self.moved.get(thing) or self.where(thing)

    def _way(self, thing: str) -> list[Place]:
        """Return the containers and supports of a thing, up to the room."""
        return [*self._up(thing)]

    def _up(self, thing: str) -> Iterator[Place]:
        place = self._at(thing)
        yield place
        while not place.is_room:
            place = self._at(place.id)
            yield place


class HomePlanner(StaticPlanner):
    """The same in VirtualHome: one walks up to things, and appliances heat or wash what is shut into them."""

    def _move(self, thing: str, relation: str, target: str) -> None:
        if (self._at(thing).relation, self._at(thing).id) == (relation, target):
            return
        self._reach(thing)
        self.actions += [f"grab({thing})", f"walk({target})"]
        if relation == "INSIDE" and "closed" in self._state(target):
            self._switch(target, "open")
        self.actions.append(f"{'put_in' if relation == 'INSIDE' else 'put_on'}({thing}, {target})")
        self.moved[thing] = Place(relation, target, (), is_room=False)

    def _reach(self, thing: str) -> None:
        place = self._at(thing)
        if place.relation == "INSIDE" and "closed" in self._state(place.id):
            self._reach(place.id)
            self._switch(place.id, "open")
        self.actions.append(f"walk({thing})")

    def _switch(self, thing: str, state: str) -> None:
        if state in {"heated", "washed"}:
            appliance = self._at(thing).id
            self._switch(appliance, "closed")
            self._switch(appliance, "on")
        elif state not in self._state(thing):
            self.actions.append(f"{HOME_SWITCH[state]}({thing})")
            self.switched[thing] = state
