"""The vocabulary of any home: of a scene that names no other."""

from __future__ import annotations

from typing import Final

from scenecypher.db.vocabulary import DEFAULT, Conventions
from scenecypher.planner.actions.pddl_effort import EFFORTS
from scenecypher.planner.vocabularies.household.operators import CONTAINMENT, OPERATORS
from scenecypher.planner.vocabularies.vocabulary import (
    Looking,
    Planning,
    Vocabulary,
    Words,
    as_it_is,
    unchanged,
)

ENVIRONMENT: Final = """\
The environment is a home, as far as its map goes: rooms, furniture that stays in its place, and objects that can be \
moved. Things are on or in one another or in a room, and may have states, such as open or closed, on or off. A robot \
acts there and holds one object at a time; what is in another room or inside something closed is out of its reach."""

VOCABULARY: Final = Vocabulary(
    name=DEFAULT,
    about="The actions in a home that names no other vocabulary: a robot with one hand. Where a file is silent, every "
    "object can be picked up and furniture bears things; an affordance that is given counts.",
    base=None,
    conventions=Conventions(containment=CONTAINMENT, one_parent=False, notes=(), texts=__name__),
    operators=OPERATORS,
    macros={},
    words=Words(
        environment=ENVIRONMENT,
        stepwise=None,
        whole=None,
        questions=(),
        approach=None,
        sayplan_actions=None,
        sayplan_example=None,
    ),
    looking=Looking(revealing=frozenset(), whole_rooms=False, colors=(), nearness=False),
    planning=Planning(efforts=EFFORTS, simplify=unchanged, prepare=as_it_is, rehearsed=True),
    problems=None,
    tools={},
)
