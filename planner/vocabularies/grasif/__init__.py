"""GraSIF's vocabulary (LookPlanGraph): a robot with one hand among rooms, assets and objects."""

from __future__ import annotations

from typing import Final

from scenecypher.db.vocabulary import Conventions
from scenecypher.importers.behavior import affordances_of
from scenecypher.planner.vocabularies.grasif.operators import CONTAINMENT, MACROS, OPERATORS
from scenecypher.planner.vocabularies.vocabulary import Looking, Planning, Vocabulary, words_beside

VOCABULARY: Final = Vocabulary(
    name="grasif",
    about="GraSIF's actions: a robot with one hand among rooms, assets and objects.",
    conventions=Conventions(
        containment=CONTAINMENT,
        one_parent=True,
        notes=(
            "Each thing is INSIDE, ON, UNDER or ATTACHED_TO one other thing or place, at most.",
            "The room of a thing ends its chain: (x)-[:INSIDE|ON|UNDER|ATTACHED_TO*1..5]->(:Place).",
        ),
        texts=__name__,
    ),
    operators=OPERATORS,
    macros=MACROS,
    looking=Looking(affordances_of=lambda class_: affordances_of(class_, "Object")),
    **words_beside(__name__),
    planning=Planning(keeps_one_parent=True),
)
