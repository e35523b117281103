"""PDDL as text: read into nested lists, and a problem's objects, facts and goal checked against its domain."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from scenecypher.errors import ReplyRejected

PddlExpression: TypeAlias = Any
"""A word, or a list of expressions."""
PddlFact: TypeAlias = tuple[str, ...]

_TOKEN: Final = re.compile(r"[()]|[^\s()]+")
MAX_DEPTH: Final = 50
CONNECTIVES: Final = ("and", "or", "not", "imply")
QUANTIFIERS: Final = ("forall", "exists")


@dataclass(frozen=True, slots=True)
class PddlDomain:
    """What a problem may say: predicates with their parameters' types, and the types there are."""

    name: str
    text: str
    types: tuple[str, ...]
    predicates: Mapping[str, tuple[str, ...]]
    actions: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class PddlProblem:
    """What a model wrote: objects with their types, the facts at first, and the goal as it stands."""

    objects: Mapping[str, str]
    init: tuple[PddlFact, ...]
    goal: PddlExpression

    def text(self, domain: PddlDomain) -> str:
        """The problem in PDDL again, written by us."""
        objects = " ".join(f"{name} - {type_}" for name, type_ in self.objects.items())
        init = " ".join(expression_text(list(fact)) for fact in self.init)
        return (
            f"(define (problem written) (:domain {domain.name}) (:objects {objects}) "
            f"(:init {init}) (:goal {expression_text(self.goal)}))"
        )


def read_domain(text: str) -> PddlDomain:
    """A domain of ours."""
    (_, (_, name), *sections) = parse_expression(text)
    found = {section[0]: section[1:] for section in sections if section[0] != ":action"}
    actions = {section[1]: section for section in sections if section[0] == ":action"}
    predicates = {predicate[0]: (*parse_typed_list(predicate[1:]).values(),) for predicate in found[":predicates"]}
    parameters = {name: (*parse_typed_list(action[3]),) for name, action in actions.items()}
    return PddlDomain(name, text, tuple(found[":types"]), predicates, parameters)


def read_problem(text: str) -> PddlProblem:
    """The problem in a reply. Raises ReplyRejected where there is none.

    Its initial state may hold ``(not (closed fridge))`` (PDDL 2.1, appendix A): left out, since all else is not so.
    """
    found = parse_expression(text[max(0, text.lower().find("(define")) :])
    if not isinstance(found, list) or not found or found[0] != "define":
        raise ReplyRejected('that is no PDDL problem: write one that begins with "(define (problem"')
    sections = {str(it[0]): it[1:] for it in found[1:] if isinstance(it, list) and it}
    missing = [name for name in (":objects", ":init", ":goal") if name not in sections]
    if missing or len(sections[":goal"]) != 1:
        raise ReplyRejected(f"the problem lacks {', '.join(missing) or 'one goal'}: write it whole")
    init = tuple(
        tuple(map(expression_text, it)) for it in sections[":init"] if isinstance(it, list) and it[:1] != ["not"]
    )
    return PddlProblem(parse_typed_list(sections[":objects"]), init, sections[":goal"][0])


def parse_expression(text: str) -> PddlExpression:
    """The first expression of a text, comments left out, in lower case as PDDL is read. Raises ReplyRejected."""
    pieces = _TOKEN.findall(re.sub(r";[^\n]*", "", text).lower())
    stack: list[list[PddlExpression]] = [[]]
    for piece in pieces:
        if piece == "(":
            stack.append([])
        elif piece != ")":
            stack[-1].append(piece)
        elif len(stack) > 1:
            closed = stack.pop()
            stack[-1].append(closed)
        if len(stack) == 1 and stack[0]:
            return stack[0][0]
        if len(stack) > MAX_DEPTH:
            break
    raise ReplyRejected("that is no PDDL: its brackets do not close; write the problem again, whole")


def expression_text(of: PddlExpression) -> str:
    """An expression as text."""
    return f"({' '.join(map(expression_text, of))})" if isinstance(of, list) else str(of)


def parse_typed_list(words: Sequence[PddlExpression]) -> dict[str, str]:
    """``a b - room c`` as types by name; what has none is an object."""
    found: dict[str, str] = {}
    waiting: list[str] = []
    rest = iter(map(expression_text, words))
    for word in rest:
        if word == "-":
            found |= dict.fromkeys(waiting, next(rest, "object"))
            waiting = []
        else:
            waiting.append(word)
    return found | dict.fromkeys(waiting, "object")


def goal_facts(goal: PddlExpression) -> Iterator[tuple[PddlFact, bool]]:
    """The facts that a goal speaks of, each with whether it shall hold."""
    yield from _facts(goal, wanted=True)


def _facts(goal: PddlExpression, *, wanted: bool) -> Iterator[tuple[PddlFact, bool]]:
    if not isinstance(goal, list) or not goal:
        return
    if goal[0] in CONNECTIVES:
        for part in goal[1:]:
            yield from _facts(part, wanted=wanted != (goal[0] == "not"))
    elif goal[0] in QUANTIFIERS and len(goal) > 1:
        yield from _facts(goal[-1], wanted=wanted)
    else:
        yield tuple(map(expression_text, goal)), wanted
