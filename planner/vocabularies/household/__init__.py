"""The vocabulary of any home: of a scene that names no other."""

from __future__ import annotations

from typing import Final

from scenecypher.db.vocabulary import DEFAULT, Conventions
from scenecypher.planner.vocabularies.household.operators import CONTAINMENT, OPERATORS
from scenecypher.planner.vocabularies.vocabulary import Planning, Vocabulary, words_beside

VOCABULARY: Final = Vocabulary(
    name=DEFAULT,
    about="The actions in a home that names no other vocabulary: a robot with one hand. Where a file is silent, every "
    "object can be picked up and furniture bears things; an affordance that is given counts.",
    conventions=Conventions(containment=CONTAINMENT, one_parent=False, notes=(), texts=__name__),
    operators=OPERATORS,
    **words_beside(__name__),
    planning=Planning(keeps_one_parent=True),
)
