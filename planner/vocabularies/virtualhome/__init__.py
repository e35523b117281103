"""VirtualHome's vocabulary, as its own engine has it, and the one with two of the engine's gaps closed."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from scenecypher.db.vocabulary import Conventions
from scenecypher.planner.vocabularies.virtualhome import extended
from scenecypher.planner.vocabularies.virtualhome.operators import OPERATORS
from scenecypher.planner.vocabularies.virtualhome.simplified import simplify_operators
from scenecypher.planner.vocabularies.vocabulary import Approach, Looking, Planning, Problems, Vocabulary, Words

ENVIRONMENT: Final = """\
The environment is a home with several rooms. Furniture and appliances stand in rooms; things lie on them, in them or \
in a room. Things have states, such as open or closed, on or off, and affordances, which say what can be done with \
them. A character acts there; it has two hands and must be close to what it uses."""

LISTED: Final = (
    *("walk", "grab", "open", "close", "switch_on", "switch_off", "sit"),
    *("put_in", "put_on"),
)
"""The action space of SG2's household tasks (SG2, "VirtualHome Environment and Scene Graph Details"), in our names."""

APPROACH: Final = Approach(
    "find",
    ("walk", "run"),
    "walk(x): go up to an asset or object, too; you see what is on it, and in it if it is open",
)

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
    operators=OPERATORS,
    words=Words(
        environment=ENVIRONMENT,
        listed=LISTED,
        approach=APPROACH,
    ),
    looking=Looking(
        revealing=frozenset({"find", "open"}),
        nearness=True,
        affordances_of=lambda _: ("grabbable",),
    ),
    planning=Planning(simplify=simplify_operators, keeps_one_parent=False),
    problems=Problems(
        argument_places={
            **dict.fromkeys(("put_on", "put_in"), (0, 1)),
            **dict.fromkeys(("walk", "grab", "open", "close", "switch_on", "switch_off"), (0,)),
        },
        required_affordances={
            "inside": (2, "containers"),
            "on": (2, "surfaces"),
            "closed": (1, "can_open"),
            "on-state": (1, "has_switch"),
            "held": (1, "grabbable"),
        },
        relation_predicates={"ontop_of": "on", "inside_of": "inside"},
        closed=True,
    ),
)

EXTENDED: Final = replace(
    VOCABULARY,
    name="virtualhome_ext",
    about="VirtualHome's actions; appliances work, and held things come along into the next room.",
    base=VOCABULARY,
    operators=extended.OPERATORS,
)
