"""GraSIF's vocabulary (LookPlanGraph): a robot with one hand among rooms, assets and objects."""

from __future__ import annotations

from typing import Final

from scenecypher.db.vocabulary import Conventions
from scenecypher.importers.behavior import affordances_of
from scenecypher.planner.vocabularies.grasif.operators import CONTAINMENT, DONE, MACROS, OPERATORS
from scenecypher.planner.vocabularies.vocabulary import Approach, Looking, Planning, Problems, Vocabulary, Words

STEPWISE: Final = (
    *("go_to", "discover_objects", "rearrange", "turn_on", "turn_off", "open", "close", "pick_up"),
    DONE.name,
)
"""Functions of LookPlanGraph's prompt (section IV-A, appendix F-3)."""

WHOLE: Final = (
    *("go_to", "pick_up", "put_on", "put_inside", "put_under", "attach"),
    *("turn_on", "turn_off", "open", "close"),
)
"""Functions of the prompts of baselines, which plan without looking (appendix F-1, F-4)."""

ENVIRONMENT: Final = """\
The environment is a building with several rooms. Assets (furniture and appliances) stand in rooms and stay there; \
objects are on, in or under assets or other objects and can be moved. Things have states, such as open or closed, \
on or off, and affordances, which say what can be done with them. A robot acts there and holds one object at a time."""

SAYPLAN_ACTIONS: Final = """\
go_to(room): go to a room
access(node): turn to an asset or object of this room, before something is taken from it or released at it
pick_up(object): take an object at the accessed node into the one hand
release(object): put what is held down on or into the accessed node
open(node), close(node): open or close it
turn_on(node), turn_off(node): switch it"""

SAYPLAN_EXAMPLE: Final = """
An example of a reply:
{"chain_of_thought": ["the mail is in the locker of the hall, which is closed", "the tray is in the studio"],
 "plan": ["go_to(hall-1)", "open(locker-1)", "pick_up(mail-1)", "go_to(studio-1)", "put_inside(tray-1)"]}"""

APPROACH: Final = Approach(
    "discover_objects",
    ("go_to",),
    "go_to(x): go to an asset or object in the room, too; you see what is on and in it",
)

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
    words=Words(
        environment=ENVIRONMENT,
        stepwise=STEPWISE,
        whole=WHOLE,
        approach=APPROACH,
        sayplan_actions=SAYPLAN_ACTIONS,
        sayplan_example=SAYPLAN_EXAMPLE,
    ),
    looking=Looking(affordances_of=lambda class_: affordances_of(class_, "Object")),
    planning=Planning(keeps_one_parent=True),
    problems=Problems(
        argument_places={
            "go_to": (1,),
            "pick_up": (0,),
            **dict.fromkeys(("put_on", "put_inside"), (1,)),
            **dict.fromkeys(("turn_on", "turn_off", "open", "close"), (0,)),
        },
        required_affordances={
            "inside": (2, "put_inside"),
            "ontop": (2, "put_on"),
            "closed": (1, "open"),
            "on-state": (1, "turn_on"),
            "agent-hold": (1, "pick_up"),
        },
        relation_predicates={"ontop_of": "ontop", "inside_of": "inside"},
        closed=True,
    ),
)
