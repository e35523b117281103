"""The vocabulary of any home: of a scene that names no other."""

from __future__ import annotations

from typing import Final

from scenecypher.db.vocabulary import DEFAULT, Conventions
from scenecypher.planner.vocabularies.household.operators import CONTAINMENT, OPERATORS
from scenecypher.planner.vocabularies.vocabulary import Approach, Planning, Problems, Vocabulary, Words

ENVIRONMENT: Final = """\
The environment is a home: rooms, furniture that stays in its place, and objects that can be \
moved. Things are on or in one another or in a room, and may have states, such as open or closed, on or off. A robot \
acts there and holds one object at a time; what is in another room or inside something closed is out of its reach."""

VOCABULARY: Final = Vocabulary(
    name=DEFAULT,
    about="The actions in a home that names no other vocabulary: a robot with one hand. Where a file is silent, every "
    "object can be picked up and furniture bears things; an affordance that is given counts.",
    conventions=Conventions(containment=CONTAINMENT, one_parent=False, notes=(), texts=__name__),
    operators=OPERATORS,
    words=Words(
        environment=ENVIRONMENT,
        approach=Approach(
            "look_at",
            ("go_to",),
            "go_to(x): go to furniture or an object in the room, too; you see what is on and in it",
        ),
    ),
    planning=Planning(keeps_one_parent=True),
    problems=Problems(
        argument_places={
            "go_to": (1,),
            **dict.fromkeys(("put_on", "put_in"), (0, 1)),
            **dict.fromkeys(("pick_up", "open", "close", "switch_on", "switch_off"), (0,)),
        },
        required_affordances={},
        relation_predicates={"ontop_of": "on", "inside_of": "inside"},
        closed=True,
    ),
)
