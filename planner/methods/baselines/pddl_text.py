"""Parser and writer of PDDL domains and problems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from scenecypher.errors import DocumentError, ReplyRejected
from scenecypher.importers.pddl.syntax import expression_text, expressions, nested_words

PddlExpression: TypeAlias = Any
"""A word, or a list of expressions."""
PddlFact: TypeAlias = tuple[str, ...]

CONNECTIVES: Final = ("and", "or", "not", "imply")
QUANTIFIERS: Final = ("forall", "exists")


@dataclass(frozen=True, slots=True)
class PddlDomain:
    """A domain: types, and predicates and actions with the types of their parameters."""

    name: str
    text: str
    types: tuple[str, ...]
    predicates: Mapping[str, tuple[str, ...]]
    actions: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class PddlProblem:
    """A problem written by a model: objects with their types, initial facts, and the goal."""

    objects: Mapping[str, str]
    init: tuple[PddlFact, ...]
    goal: PddlExpression

    def text(self, domain: PddlDomain) -> str:
        """Return the problem as PDDL."""
        objects = " ".join(f"{name} - {type_}" for name, type_ in self.objects.items())
        init = " ".join(expression_text(list(fact)) for fact in self.init)
        return (
            f"(define (problem written) (:domain {domain.name}) (:objects {objects}) "
            f"(:init {init}) (:goal {expression_text(self.goal)}))"
        )


def read_domain(text: str) -> PddlDomain:
    """Parse one of our domains."""
    (_, (_, name), *sections) = parse_expression(text)
    found = {section[0]: section[1:] for section in sections if section[0] != ":action"}
    actions = {section[1]: section for section in sections if section[0] == ":action"}
    predicates = {predicate[0]: (*parse_typed_list(predicate[1:]).values(),) for predicate in found[":predicates"]}
    parameters = {name: (*parse_typed_list(action[3]),) for name, action in actions.items()}
    return PddlDomain(name, text, tuple(found[":types"]), predicates, parameters)


def read_problem(text: str) -> PddlProblem:
    """Parse the problem in a reply. Raises ReplyRejected if there is none.

    Negated facts in the initial state, such as ``(not (closed fridge))`` (PDDL 2.1, appendix A), are dropped: facts
    that are not stated are false anyway.
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
    """Parse the first expression of a text, in lower case and without comments. Raises ReplyRejected."""
    try:
        return nested_words(next(expressions(text, "the reply")))
    except (DocumentError, StopIteration) as error:
        msg = "that is no PDDL: its brackets do not close; write the problem again, whole"
        raise ReplyRejected(msg) from error


def parse_typed_list(words: Sequence[PddlExpression]) -> dict[str, str]:
    """Parse a list such as ``a b - room c`` into types by name; the default type is ``object``."""
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
    """Yield the facts of a goal, each with True if it must hold and False if it must not."""
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
