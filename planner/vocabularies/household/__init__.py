"""The vocabulary of a scene that names no other: a robot with one hand among rooms, furniture and things.

Where the file is silent, the world is kind: every object can be picked up, furniture bears things, and what is in no
room is within reach. An affordance that is given counts, and states decide what is open, closed, on or off. A file may
state the place of a thing alone, or its room as well; both stay so.
"""

from __future__ import annotations

from typing import Final

import scenecypher.db.condition as c
from scenecypher.db.schema import HOLDING
from scenecypher.db.vocabulary import DEFAULT, Conventions
from scenecypher.planner.actions import operator as op
from scenecypher.planner.vocabularies.vocabulary import Planning, Vocabulary, words_beside

CONTAINMENT: Final = ("INSIDE", "ON", "UNDER", "ATTACHED_TO")
NEARNESS: Final = ("CLOSE", "FACING")
"""Relations that a thing loses when it is picked up."""

LIFTABLE: Final = ("grabbable", "pick_up")
SURFACES: Final = ("surfaces", "put_on")
CONTAINERS: Final = ("containers", "put_inside", "put_in")
OPENABLE: Final = ("can_open", "open", "close")
SWITCHES: Final = ("has_switch", "turn_on", "turn_off", "switch_on", "switch_off")
"""Affordances, in the words of the formats that are imported."""

HERE: Final = op.Choose("here", (c.And((c.Related(op.AGENT, "INSIDE", "here"), c.HasKind("here", "Place"))),))
HELD: Final = op.Choose("held", (c.HeldBy("held", op.AGENT),))


def affords(x: str, words: tuple[str, ...]) -> c.Condition:
    """Return the condition that `x` has one of the affordances."""
    return c.Or(tuple(c.HasAffordance(x, word) for word in words))


def is_in_or_on(x: str, y: str) -> c.Condition:
    """Return the condition that `x` is directly in, on, under or attached to `y`."""
    return c.Or(tuple(c.Related(x, type_, y) for type_ in CONTAINMENT))


def is_furniture(x: str) -> c.Condition:
    """Return the condition that `x` is furniture whose affordances don't say what it bears."""
    return c.And((c.HasKind(x, "Asset"), c.Not(affords(x, (*SURFACES, *CONTAINERS)))))


def bears(x: str) -> c.Condition:
    """Return the condition that things can be put on `x`."""
    return c.Or((affords(x, SURFACES), is_furniture(x)))


def contains(x: str) -> c.Condition:
    """Return the condition that things can be put into `x`: a container, furniture, what can be opened, or a room."""
    openable = c.Or((affords(x, OPENABLE), c.HasState(x, "open"), c.HasState(x, "closed")))
    return c.Or((affords(x, CONTAINERS), is_furniture(x), openable, c.HasKind(x, "Place")))


def is_carried(x: str) -> c.Condition:
    """Return the condition that the agent holds `x`, or what `x` is in or on."""
    return c.Or(
        (c.HeldBy(x, op.AGENT), c.Exists("hand", c.And((c.HeldBy("hand", op.AGENT), c.Within(x, "hand", CONTAINMENT)))))
    )


def room_of(x: str) -> op.Choose:
    """Choose the room of `x`: itself, the place that it is in, that of what it is in or on, or any place above it."""
    place, above = c.HasKind("room", "Place"), c.Within(x, "room", CONTAINMENT)
    support = (c.Within(x, "support", CONTAINMENT), c.Not(c.HasKind("support", "Place")))
    through = c.Exists("support", c.And((*support, c.Related("support", "INSIDE", "room"))))
    among = (
        c.And((place, c.Same("room", x))),
        c.And((c.Related(x, "INSIDE", "room"), place)),
        c.And((above, place, through)),
        c.And((above, place)),
    )
    return op.Choose("room", among)


def closed_container_of(x: str) -> op.Choose:
    """Choose a closed node that `x` is inside of, over any number of containers."""
    inside = c.Exists("content", c.And((c.Within(x, "content", CONTAINMENT), c.Related("content", "INSIDE", "lid"))))
    closed = c.And((c.HasState("lid", "closed"), c.Not(c.HasKind("lid", "Place"))))
    within = c.Or((c.Related(x, "INSIDE", "lid"), inside))
    return op.Choose("lid", (c.And((c.Within(x, "lid", CONTAINMENT), closed, within)),))


def reach(x: str) -> tuple[op.Choose, ...]:
    """Return the choices that `within_reach` reads."""
    return HERE, HELD, room_of(x), closed_container_of(x)


def in_room(x: str, here: c.Condition) -> op.Requirement:
    """Require that the agent is where `x` is."""
    return op.Requirement(here, f"{{{x}}} is not in the agent's room", repair=op.Repair("go_to", ("room",)))


def not_enclosed(x: str) -> op.Requirement:
    """Require that `x` is inside nothing closed."""
    words = f"{{{x}}} is inside {{lid}}, which is closed"
    return op.Requirement(c.Not(op.is_bound("lid")), words, repair=op.Repair("open", ("lid",)))


def go_to(here: op.Choose, *more: op.Effect) -> op.Operator:
    """Return the operator of going from one room to another, with `more` effects."""
    words = "{x} is no room: go to the room that it is in, or act on it as it is"
    room = op.Requirement(c.HasKind("x", "Place"), words, "affordance")
    effects = (op.Unrelate(op.AGENT, ("INSIDE",), "here"), op.Relate(op.AGENT, "INSIDE", "x"), *more)
    told = "go to a room; what is held comes along"
    return op.on_thing("go_to", told, room, x="a room", effects=effects, choose=(here,))


def within_reach(x: str) -> tuple[op.Requirement, ...]:
    """Require that the agent is in the room of `x`, if it is in one, and that `x` is in nothing closed."""
    here = c.Or((c.Not(op.is_bound("room")), c.Same("here", "room"), is_carried(x)))
    return in_room(x, here), not_enclosed(x)


def holds(x: str) -> op.Requirement:
    """Require that the agent holds `x`."""
    return op.Requirement(c.HeldBy(x, op.AGENT), f"{{agent}} does not hold {{{x}}}", repair=op.Repair("pick_up", (x,)))


LET_GO: Final = op.Unrelate("x", HOLDING, op.AGENT)

CARRY: Final = op.ForEach(
    "carried",
    c.And((is_carried("carried"), c.Related("carried", "INSIDE", "here"))),
    (op.Unrelate("carried", ("INSIDE",), "here", directed=True), op.Relate("carried", "INSIDE", "x")),
)
"""In files that state the room of each thing, the rooms of what is carried change."""


A_FREE_HAND: Final = op.Requirement(
    c.Not(op.is_bound("held")),
    "{agent} holds {held}, and has one hand",
    repair=op.Repair(
        "put_on",
        ("held", "surface"),
        (op.Choose("surface", (c.And((c.Related("surface", "INSIDE", "here"), bears("surface"))),)),),
        tells_choices=True,
    ),
)

SUPPORT: Final = op.Choose("support", (c.And((is_in_or_on("x", "support"), c.Not(c.HasKind("support", "Place")))),))
LEAVE_SUPPORT: Final[tuple[op.Effect, ...]] = (
    op.ForEach(
        "below",
        c.And((is_in_or_on("x", "below"), c.Not(c.HasKind("below", "Place")))),
        (op.Unrelate("x", CONTAINMENT, "below", directed=True),),
    ),
    op.When(op.is_bound("support"), (), (op.Unrelate("x", CONTAINMENT, directed=True),)),
)
"""A thing leaves what it is in or on; it stays in its room only if the file states that besides."""


def put_operator(
    name: str, relation: str, suits: c.Condition, doing: str, words: str, *extra: op.Requirement
) -> op.Operator:
    """Return an operator that gives the held `x` the `relation` to `y`."""
    return op.Operator(
        name,
        (op.Parameter("x", "what is held"), op.Parameter("y", words.partition("; ")[2])),
        (
            op.Requirement(suits, f"{{y}} can not be {doing}", "affordance"),
            holds("x"),
            op.Requirement(
                c.Not(is_carried("y")), "{y} is in the hand itself: choose what stands elsewhere", "affordance"
            ),
            *within_reach("y"),
            *extra,
        ),
        (LET_GO, op.Relate("x", relation, "y")),
        words.partition("; ")[0],
        reach("y"),
    )


def switch_operator(
    name: str, *, state: str, instead_of: str, affordances: tuple[str, ...], doing: str, words: str
) -> op.Operator:
    """Return an operator that changes the state of a node within reach."""
    changeable = c.Or((c.HasState("x", instead_of), c.HasState("x", state), affords("x", affordances)))
    return op.on_thing(
        name,
        words,
        op.Requirement(changeable, f"{{x}} can not be {doing}", "affordance"),
        op.Requirement(c.Not(c.HasState("x", state)), f"{{x}} is {state} already", "already"),
        *within_reach("x"),
        x="furniture, a door or an object",
        effects=(op.Become("x", state, instead_of=instead_of),),
        choose=reach("x"),
    )


IN_NO_OTHER_HAND: Final = op.Requirement(
    c.Not(op.is_bound("other")), "{other} holds {x}: wait until it is put down, or choose another", "affordance"
)
CLOSE: Final = switch_operator(
    "close", state="closed", instead_of="open", affordances=OPENABLE, doing="closed", words="close something"
)

UNSEEN: Final = c.PropertyEquals("child", "seen", value=False)
"""True only in a belief: in the world nothing is unseen."""


OPERATORS: Final = op.by_name(
    go_to(HERE, op.Forget(op.AGENT, "center"), CARRY),
    op.on_thing(
        "pick_up",
        "take an object into the one hand, with all that is in or on it",
        op.Requirement(
            c.Or((c.HasKind("x", "Object"), affords("x", LIFTABLE))), "{x} can not be picked up", "affordance"
        ),
        op.Requirement(c.Not(c.HeldBy("x", op.AGENT)), "{agent} holds {x} already", "already"),
        IN_NO_OTHER_HAND,
        *within_reach("x"),
        A_FREE_HAND,
        x="an object",
        effects=(
            *LEAVE_SUPPORT,
            op.Unrelate("x", NEARNESS),
            op.Relate(op.AGENT, "HOLDS", "x"),
            op.Forget("x", "center"),
        ),
        choose=(
            *reach("x"),
            SUPPORT,
            op.Choose("other", (c.And((c.HeldBy("x", "other"), c.Not(c.Same("other", op.AGENT)))),)),
        ),
    ),
    put_operator(
        "put_on",
        "ON",
        bears("y"),
        "something to put things on",
        "put what is held on something; furniture, or a surface",
    ),
    put_operator(
        "put_in",
        "INSIDE",
        contains("y"),
        "something to put things into",
        "put what is held into something that is not closed, or down in a room; furniture, a container or a room",
        op.Requirement(
            c.Or((c.Not(c.HasState("y", "closed")), c.HasKind("y", "Place"))),
            "{y} is closed",
            repair=op.Repair("open", ("y",)),
        ),
    ),
    switch_operator(
        "open", state="open", instead_of="closed", affordances=OPENABLE, doing="opened", words="open something"
    ),
    CLOSE,
    switch_operator(
        "switch_on", state="on", instead_of="off", affordances=SWITCHES, doing="switched on", words="switch a device on"
    ),
    switch_operator(
        "switch_off",
        state="off",
        instead_of="on",
        affordances=SWITCHES,
        doing="switched off",
        words="switch a device off",
    ),
    op.on_thing(
        "look_at",
        "see what is on and in something; it changes nothing in the world",
        *within_reach("x"),
        op.Requirement(
            c.Or((c.Not(c.HasState("x", "closed")), c.HasKind("x", "Place"))),
            "{x} is closed, so that nothing inside can be seen",
            repair=op.Repair("open", ("x",)),
        ),
        x="furniture, an object, or the room that the agent is in",
        effects=(
            op.ForEach("child", c.And((is_in_or_on("child", "x"), UNSEEN)), (op.Assign("child", "seen", value=True),)),
        ),
        choose=reach("x"),
    ),
    op.Operator(
        "hand_over",
        (op.Parameter("x", "what is held"), op.Parameter("y", "another agent in the room")),
        (
            op.Requirement(
                c.And((c.HasKind("y", "Agent"), c.Not(c.Same("y", op.AGENT)))), "{y} is no other agent", "affordance"
            ),
            holds("x"),
            *within_reach("y"),
            op.Requirement(c.Not(op.is_bound("full")), "{y} holds {full}, and has one hand: wait until it is put down"),
        ),
        (LET_GO, op.Relate("y", "HOLDS", "x")),
        "give what is held to another agent",
        (*reach("y"), op.Choose("full", (c.HeldBy("full", "y"),))),
    ),
)


VOCABULARY: Final = Vocabulary(
    name=DEFAULT,
    about="The actions in a home that names no other vocabulary: a robot with one hand. Where a file is silent, every "
    "object can be picked up and furniture bears things; an affordance that is given counts.",
    conventions=Conventions(containment=CONTAINMENT, one_parent=False, notes=(), texts=__name__),
    operators=OPERATORS,
    **words_beside(__name__),
    planning=Planning(keeps_one_parent=True),
)
