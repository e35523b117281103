"""VirtualHome's vocabulary, as its own engine has it, and the one with two of the engine's gaps closed."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from scenecypher.db.vocabulary import Conventions
from scenecypher.planner.vocabularies.virtualhome import operators
from scenecypher.planner.vocabularies.vocabulary import Looking, Planning, Vocabulary, words_beside

STRUCTURE: Final = frozenset({"ceiling", "curtain", "door", "doorjamb", "floor", "wall"})

NOTES: Final = (
    "A thing in a container is INSIDE the container and INSIDE its room too; so is a thing that lies ON something.",
    "(x)-[:INSIDE]->(:Place) gives the room of anything in one step.",
    "Containment has cycles and a thing may be ON several others: bound variable-length paths and use DISTINCT.",
    "Ids and names are the class and a number ('cup_2004'), so look things up by class.",
    "What an agent holds is HOLDS_RH or HOLDS_LH, by hand; ask for both.",
)

VOCABULARY: Final = Vocabulary(
    name="virtualhome",
    about="The actions of VirtualHome's own engine (`evolving_graph`, in `eai-eval`), with its "
    "semantics, oddities included: tests compare each step with it.",
    conventions=Conventions(
        containment=("INSIDE", "ON"),
        one_parent=False,
        notes=NOTES,
        texts=__name__,
        relations=("BETWEEN",),
        properties=("category", "prefab", "center", "size_x", "size_y", "size_z"),
        structure=STRUCTURE,
    ),
    operators=operators.OPERATORS,
    looking=Looking(
        revealing=frozenset({"find", "open"}),
        nearness=True,
        affordances_of=lambda _: ("grabbable",),
    ),
    **words_beside(__name__),
    planning=Planning(simplify=operators.simplify_operators, keeps_one_parent=False),
)

EXTENDED: Final = replace(
    VOCABULARY,
    name="virtualhome_ext",
    about="VirtualHome's actions; appliances work, and held things come along into the next room.",
    base=VOCABULARY,
    operators=operators.EXTENDED,
)
