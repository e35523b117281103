"""The words of a scene: its classes by kind, places, agents, states and colours, which acting hardly changes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from scenecypher.db.store.enumerations import Enumerations
from scenecypher.planner.actions.giving import given_states
from scenecypher.planner.actions.operator import Operator

CLASSES_OF: Final = {
    "Place": "Classes of rooms and other places",
    "Asset": "Classes of furniture and appliances",
    "Object": "Classes of movable things",
    "Agent": "Classes of agents",
    "Door": "Classes of doors",
}
"""Titles of the lists of classes by kind: a kind's own name would be taken for a class."""


def class_lists(occurring: Enumerations) -> dict[str, Collection[str]]:
    """Return the classes by kind, the places and the agents, each list under its title.

    A number stands where there are several, as the first title says; classes of places and agents that are named below
    are left out.
    """
    named = {"Places": occurring.places, "Agents": [agent.name for agent in occurring.agents]}
    told = [it.casefold() for names in named.values() for it in names]
    of_kind: dict[str, list[str]] = {}
    for use in occurring.classes:
        if use.kind not in {"Place", "Agent"} or not any(use.name.casefold() in it for it in told):
            of_kind.setdefault(use.kind, []).append(f"{use.name} {use.count}" if use.count > 1 else use.name)
    noted = (CLASSES_OF[kind] + ("" if n else ", and how many if several") for n, kind in enumerate(of_kind))
    return {**dict(zip(noted, of_kind.values(), strict=True)), **named}


def colors(occurring: Enumerations) -> Collection[str]:
    """Return the colours that occur."""
    return [str(value) for use in occurring.properties if use.name == "color" for value in use.values]


def as_lines(lists: Mapping[str, Iterable[object]]) -> str:
    """Return lists as text, a line each; empty ones are left out."""
    lines = (f"{title}: {', '.join(map(str, listed))}" for title, words in lists.items() if (listed := [*words]))
    return "\n".join(lines)


def states_given(operators: Mapping[str, Operator]) -> tuple[str, ...]:
    """Return the states that actions give to something."""
    return tuple(sorted({state for operator in operators.values() for state, _ in given_states(operator.effects)}))


def scene_words(occurring: Enumerations, operators: Mapping[str, Operator]) -> str:
    """Return the words of a scene for who asks about it and sees the agents; carrying things about changes none."""
    states = {*(use.value for use in occurring.states), *states_given(operators)}
    lists = {**class_lists(occurring), "Agents": ()}
    return as_lines({**lists, "States": sorted(states), "Colours": colors(occurring)})
