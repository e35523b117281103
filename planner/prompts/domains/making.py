"""LLM+P's domain for GraSIF, made from the operators: `python -m scenecypher.planner.prompts.domains.making` prints it.

The predicates are those of LookPlanGraph's domain (appendix D): rooms, objects, one hand, and two states. Each
requirement and effect of an operator is translated into them; what they can't express is dropped by an explicit rule
below, and a requirement without a rule is an error. MENDED lists what the paper's domain lacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from scenecypher.db.condition import Condition, HasAffordance, HasKind, HasState, Not, Or, Same
from scenecypher.planner.actions.operator import AGENT, Become, Effect, Operator, Relate, Unrelate
from scenecypher.planner.vocabularies.grasif import OPERATORS
from scenecypher.planner.vocabularies.household import CONTAINMENT

ACTIONS: Final = ("go_to", "pick_up", "put_on", "put_inside", "turn_on", "turn_off", "open", "close")
HEAD: Final = """\
; Rooms, things in them, a robot with one hand: the predicates and actions of LookPlanGraph's domain (appendix D), made
; from the operators by `python -m planner.prompts.domains.making`.
; Mended: what it uses is required; what is carried is in no room, so that it is nowhere twice, and what is in or on it
; comes along; the room of what a thing is taken from is not asked for, since it follows. Left as it is: affordances are
; not known here, and only what a thing is directly inside of can shut it in.
(define (domain grasif)
  (:requirements {requirements})
  (:types room object agent)
  (:predicates
    (robot-in ?r - room)
    (object-room ?o - object ?r - room)
    (agent-hold ?o - object)
    (hand-empty)
    (ontop ?o - object ?s - object)
    (inside ?o - object ?c - object)
    (closed ?o - object)
    (on-state ?o - object))
"""
PAPERS: Final = (":strips", ":typing")
MENDED: Final = (
    *(":negative-preconditions", ":disjunctive-preconditions", ":universal-preconditions", ":conditional-effects"),
)
"""PDDL requirements that the domain uses and the paper's does not declare."""

STATES: Final[Mapping[str, str]] = {
    "closed": "(closed ?{x})",
    "open": "(not (closed ?{x}))",
    "on": "(on-state ?{x})",
    "off": "(not (on-state ?{x}))",
}
OPPOSITE: Final = {"closed": "open", "open": "closed", "on": "off", "off": "on"}
WHERE: Final = {"ON": "(ontop ?{x} ?{y})", "INSIDE": "(inside ?{x} ?{y})"}
CONTENTS_FACT: Final = "(forall (?c - object) (when (or (inside ?c ?{x}) (ontop ?c ?{x})) {fact}))"
"""A fact about everything in or on an object that is moved."""

OF_THE_AGENT: Final[Mapping[Effect, tuple[str, ...]]] = {
    Unrelate(AGENT, ("INSIDE",), "here"): ("(not (robot-in ?here))",),
    Relate(AGENT, "INSIDE", "x"): ("(robot-in ?x)",),
    Relate(AGENT, "HOLDS", "x"): ("(agent-hold ?x)", "(not (hand-empty))"),
    Unrelate(AGENT, ("HOLDS",), "held"): ("(not (agent-hold ?held))", "(hand-empty)"),
}
PARENTS_ROOM: Final = "(object-room ?parent ?here)"
"""A precondition of the paper's domain; it follows from the object's own place."""
FROM_PARENT: Final = "(or (ontop ?x ?parent) (and (inside ?x ?parent) (not (closed ?parent))))"


def domain_pddl(*, mended: bool = True) -> str:
    """Return the domain as PDDL; the paper's own if not `mended`."""
    requirements = (*PAPERS, *MENDED) if mended else PAPERS
    actions = "\n".join(action_pddl(OPERATORS[name], mended=mended) for name in ACTIONS)
    return f"{HEAD.format(requirements=' '.join(requirements))}{actions})\n"


def action_pddl(operator: Operator, *, mended: bool) -> str:
    """Return one operator as PDDL. Raises ValueError for a requirement or effect without a rule."""
    types = {name: _type(operator, name) for name in _variables(operator)}
    parameters = " ".join(f"?{name} - {type_}" for name, type_ in types.items())
    precondition = [fact for requirement in operator.requires for fact in requirement_facts(requirement.condition)]
    if "parent" in types:
        precondition += [FROM_PARENT] if mended else [FROM_PARENT, PARENTS_ROOM]
    precondition = ["(robot-in ?here)"] if operator.name == "go_to" else precondition
    effects = [fact for effect in operator.effects for fact in effect_facts(effect, mended=mended)]
    return (
        f"  (:action {operator.name}\n    :parameters ({parameters})\n"
        f"    :precondition {_all(precondition)}\n    :effect {_all(effects)})"
    )


def requirement_facts(condition: Condition) -> tuple[str, ...]:
    """Return a requirement in the domain's predicates."""
    match condition:
        case Or((Same("here", "room"), _)):
            return "(robot-in ?here)", "(object-room ?x ?here)"
        case Or((Not(Same("held", "held")), _)):
            return ("(hand-empty)",)
        case Same("held", "held"):
            return ("(agent-hold ?held)",)
        case Not(HasState(str(x), state)):
            return (STATES[OPPOSITE[state]].format(x=x),)
        case HasAffordance() | HasKind():
            return ()
        case Not(Same("lid", "lid") | Same("other", "other") | Same("x", "held") | Or()):
            return ()
    msg = f"no rule translates {condition} into the domain's predicates"
    raise ValueError(msg)


def effect_facts(effect: Effect, *, mended: bool) -> tuple[str, ...]:
    """Return an effect in the domain's predicates."""
    match effect:
        case _ if effect in OF_THE_AGENT:
            return OF_THE_AGENT[effect]
        case Unrelate("x", types, "parent") if types == CONTAINMENT:
            out_of_room = "(not (object-room ?{x} ?here))"
            return (
                "(not (ontop ?x ?parent))",
                "(not (inside ?x ?parent))",
                *(_with_contents(out_of_room, "x") if mended else ()),
            )
        case Relate(x, type_, y) if type_ in WHERE:
            in_room = "(object-room ?{x} ?here)"
            room_facts = _with_contents(in_room, x) if mended else (in_room.format(x=x),)
            return (WHERE[type_].format(x=x, y=y), *room_facts)
        case Become(x, state):
            return (STATES[state].format(x=x),)
    msg = f"no rule translates {effect} into the domain's predicates"
    raise ValueError(msg)


def _with_contents(fact: str, x: str) -> tuple[str, str]:
    """Return a fact about an object that is moved, and about everything in or on it."""
    return fact.format(x=x), CONTENTS_FACT.format(x=x, fact=fact.format(x="c"))


def _variables(operator: Operator) -> Iterator[str]:
    """Yield the action's parameters: the object moved, its destination or origin, and the room."""
    chosen = {choice.var for choice in operator.choose}
    if operator.name == "go_to":
        yield from ("here", "x")
        return
    if any(isinstance(effect, Relate) and effect.source == "held" for effect in operator.effects):
        yield "held"
    yield "x"
    yield from (name for name in ("parent", "here") if name in chosen)


def _type(operator: Operator, name: str) -> str:
    return "room" if name == "here" or operator.name == "go_to" else "object"


def _all(facts: list[str]) -> str:
    return facts[0] if len(facts) == 1 else f"(and {' '.join(facts)})"


if __name__ == "__main__":
    print(domain_pddl(), end="")  # noqa: T201 - what it is for
