"""Structured Self-Consistency: canonicalisers of the four tasks (schema and meaning of an output), and the vote.

The schema covers form and words: JSON, keys, and the known states, relations, actions and predicates. It does not cover
names of objects, since the paper's own results keep outputs with unknown objects (its Table 5).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from functools import cache, wraps
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from scenecypher.evaluation.eai.goal_interpretation import KEYS, parse_goals
from scenecypher.evaluation.eai.grounding import ACTIONS, MAX_CHARACTERS, SUBGOALS, parse_object_number
from scenecypher.evaluation.eai.pddl import EMPTY, Expression, PddlAction, parse_actions, parse_expression
from scenecypher.evaluation.eai.subgoal import (
    ACTIONS_WITHOUT_BRACKETS,
    Compound,
    Formula,
    Primitive,
    parse_subgoal,
)
from scenecypher.evaluation.eai.transition import domain_head, gold_actions
from scenecypher.importers.json_file import read_json
from scenecypher.importers.virtualhome import package_folder

Form: TypeAlias = Hashable
"""Meaning of an output, independent of its notation; equal forms count as votes for the same output."""
Canonical: TypeAlias = Callable[[str], Form | None]
"""The paper's Φ: returns the canonical form, or None if the schema does not allow the output (⊥)."""

_BARE: Final = re.compile(rf"\b({'|'.join(ACTIONS_WITHOUT_BRACKETS)})\b(?!\s*\()")
"""Action without brackets."""


def _or_none(form: Callable[[T], Form]) -> Callable[[T], Form | None]:
    """Return the function of a form that returns None where `form` raises ValueError, for what the schema excludes."""

    @wraps(form)
    def checked(of: T) -> Form | None:
        try:
            return form(of)
        except ValueError:
            return None

    return checked


def _require(found: object) -> None:
    """Raise ValueError if what the schema requires is false, empty or None."""
    if not found:
        raise ValueError("the schema does not allow this")


def canonical_tree(found: Expression, bound: int = 0) -> Expression:
    """Flatten nested ``and`` and ``or``, sort and deduplicate parts, unwrap single ones, and number bound names."""
    if isinstance(found, str):
        return found
    head, parts = found[0], found[1:]
    if head in {"exists", "forall"}:
        names = {name: f"?q{bound + at}" for at, name in enumerate(parameter_names(str(parts[0])))}
        return (
            head,
            rename_variables(parts[0], names),
            canonical_tree(rename_variables(parts[1], names), bound + len(names)),
        )
    inner = [canonical_tree(part, bound) for part in parts]
    if head not in {"and", "or"}:
        return (head, *inner)
    flat = {one for part in inner for one in (part[1:] if part[0] == head and not isinstance(part, str) else (part,))}
    kept = sorted(flat - {EMPTY} if head == "and" else flat, key=repr)
    return kept[0] if len(kept) == 1 else (head, *kept) if kept else EMPTY


def parameter_names(parameters: str) -> tuple[str, ...]:
    """Return the names in a list of parameters, in order. Raises ValueError if one occurs twice."""
    found = tuple(re.findall(r"\?[\w-]+", parameters))
    if len(set(found)) != len(found):
        raise ValueError(f"{parameters[:60]} has a parameter twice")
    return found


def rename_variables(found: Expression, names: Mapping[str, str]) -> Expression:
    """Return the expression with variables renamed as in `names`."""
    if isinstance(found, str):
        return " ".join(names.get(word, word) for word in found.split())
    return tuple(rename_variables(part, names) for part in found)


def _joined(found: Formula) -> Expression:
    """Return a formula of known words, ``and`` and ``or`` as an expression. Raises ValueError for another one."""
    match found:
        case Primitive(name, arguments) if SUBGOALS.get(name) == len(arguments):
            return f"{name}({', '.join(arguments)})"
        case Compound("and" | "or" as word, parts):
            return (word, *map(_joined, parts))
        case _:
            raise ValueError("no sub-goal of known words")


_ARGUMENT: Final = re.compile(r"\?q?\d+|[^?].*")
"""Parameter or bound variable as named in canonical forms, or an object of the problem."""
KNOWN_AT: Final = {"node": 1, "edge": 1, "action": 0}
"""Place of a goal's known word."""
T = TypeVar("T")
_PREDICATE: Final = re.compile(r"\((\w+)((?:\s+\?\w+|\s+-\s+\w+)*)\s*\)")


@_or_none
def goal_form(output: str) -> Form:
    """Return three sets of goals; keys that the schema does not have are ignored."""
    found = parse_goals(output)
    return tuple(_goal_set(kind, (found or {}).get(f"{kind} goals")) for kind in KEYS)


@_or_none
def sequence_form(output: str) -> Form:
    """Return the steps in order: an action in upper case and its objects, with or without numbers."""
    pairs = _json_pairs(output)
    _require(pairs)
    return tuple(_step(word, objects) for word, objects in pairs)


@_or_none
def subgoal_form(output: str) -> Form:
    """Return the lines in order; within a line, the order of operands of ``and`` or ``or`` is ignored."""
    lines: Any = dict(_json_pairs(output)).get("output")
    _require(isinstance(lines, list) and all(isinstance(line, str) for line in lines))
    formulas = [parse_subgoal(_BARE.sub(r"\1()", line)) for line in lines if line.strip()]
    clauses = tuple(canonical_tree(_joined(formula)) for formula in formulas)
    _require(clauses)
    return clauses


@_or_none
def transition_form(output: str) -> Form:
    """Return a set of actions; order and repetition within ``and`` and ``or``, and names of variables, are ignored."""
    found = parse_actions(output) or {}
    _require(found and found.keys() <= gold_actions().keys())
    return frozenset(map(action_form, found.values()))


def action_form(action: PddlAction) -> Form:
    """Return the form of one action of transition modelling. Raises ValueError if it has none."""
    parameters = parameter_names(action.parameters)
    names = {name: f"?{at}" for at, name in enumerate(parameters)}
    parts = [
        _check_predicates(canonical_tree(rename_variables(parse_expression(text), names)))
        for text in (action.precondition, action.effect)
    ]
    return (action.name, len(parameters), *parts)


def _goal_set(kind: str, goals: Any) -> frozenset[tuple[str, ...]]:
    _require(isinstance(goals, list) and all(isinstance(goal, dict) for goal in goals))
    found = [tuple(goal.get(key) for key in KEYS[kind]) for goal in goals]
    _require(all(isinstance(word, str) for words in found for word in words))
    named = {tuple(word.strip() for word in words) for words in found}
    if kind == "action":
        named = {(word.upper(),) for (word,) in named}
    _require({words[KNOWN_AT[kind]] for words in named} <= _known_words(kind))
    return frozenset(named)


def _json_pairs(output: str) -> list[tuple[str, Any]]:
    """Return the pairs of the outermost object, repeated keys included; fences, quotes and other text are repaired."""
    start, end = output.find("{"), output.rfind("}")
    _require(len(output) <= MAX_CHARACTERS and start >= 0)
    text = output[start : end + 1].replace("\n", " ")
    for mended in (text, text.replace("'", '"')):
        with suppress(ValueError, RecursionError):
            found = json.loads(mended, object_pairs_hook=_Pairs)
            break
    else:
        raise ValueError("no JSON")
    return list(found)


class _Pairs(tuple[tuple[str, Any], ...]):
    """Pairs of an object, in order."""

    __slots__ = ()


def _step(word: str, objects: Any) -> tuple[str, ...]:
    """Return a step with as many objects as the action takes, each a name, or a name and a number.

    Only executable actions are valid: the others that EAI's prompt offers always fail.
    """
    action = word.strip().upper()
    _require(action in ACTIONS and isinstance(objects, list))
    _require(all(isinstance(one, str | int) and not isinstance(one, bool) for one in objects))
    _, wanted = ACTIONS[action]
    has_numbers = len(objects) == 2 * wanted and all(parse_object_number(one) is not None for one in objects[1::2])
    _require(len(objects) == wanted or has_numbers)
    return (action, *(str(one).strip() for one in objects))


def _check_predicates(found: Expression) -> Expression:
    """Return the expression if it is valid.

    Raises ValueError for unknown predicates, wrong numbers of arguments, and arguments that are no variables.
    """
    if not isinstance(found, str):
        [*map(_check_predicates, found[2 if found[0] in {"exists", "forall"} else 1 :])]
    elif found != EMPTY:
        name, *arguments = found.split()
        _require(_predicates().get(name) == len(arguments) and all(map(_ARGUMENT.fullmatch, arguments)))
    return found


@cache
def _predicates() -> Mapping[str, int]:
    """Return the number of arguments of each predicate."""
    text = re.sub(r";.*", "", domain_head()).partition("(:predicates")[2]
    return {name: arguments.count("?") for name, arguments in _PREDICATE.findall(text)}


@cache
def _known_words(kind: str) -> frozenset[str]:
    """Return the states, relations or actions of goals; the vocabulary's list of relations includes a state."""
    folder = package_folder() / "resources/virtualhome"
    if kind == "edge":  # those that the prompt of goal interpretation offers
        return frozenset(read_json(folder / "relation_types.json"))
    return frozenset(read_json(folder / "vocabulary.json")["vh_states" if kind == "node" else "actions"])


class Vote(NamedTuple):
    """Result of a vote: the index of the first sample with the winning form, its votes, and the number of forms.

    The winner is None if no sample was valid, which is a failure.
    """

    winner: int | None
    votes: int
    forms: int


def vote_on_forms(forms: Sequence[Form | None]) -> Vote:
    """Vote by the paper's Algorithm 1 on canonical forms; a tie goes to the form seen first."""
    votes = Counter(form for form in forms if form is not None)
    if not votes:
        return Vote(None, 0, 0)
    best = max(votes, key=votes.__getitem__)  # the first of equals, since dicts keep their order
    return Vote(forms.index(best), votes[best], len(votes))
