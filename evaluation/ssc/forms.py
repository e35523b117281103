"""Canonicalisers of the four tasks: the schema that an output must satisfy, and its meaning.

The schema covers form and words: JSON, keys, and the known states, relations, actions and predicates. It does not cover
names of objects, since the paper's own results keep outputs with unknown objects (its Table 5).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from scenecypher.evaluation.eai.goal_interpretation import KEYS, LISTS, MAX_CHARACTERS, parse_goals
from scenecypher.evaluation.eai.grounding import ACTIONS, parse_object_number
from scenecypher.evaluation.eai.subgoal_expansion import ACTION_ARITY, ARITY
from scenecypher.evaluation.eai.transition_gold import domain_head, gold_actions
from scenecypher.evaluation.eai.transition_text import EMPTY, Expression, PddlAction, parse_actions, parse_expression
from scenecypher.evaluation.ssc.expressions import (
    Signature,
    canonical_tree,
    parameter_names,
    read_clause,
    rename_variables,
)
from scenecypher.evaluation.ssc.voting import Form
from scenecypher.importers.json_file import read_json
from scenecypher.importers.virtualhome import package_folder

_ARGUMENT: Final = re.compile(r"\?q?\d+|[^?].*")
"""Parameter or bound variable as named in canonical forms, or an object of the problem."""
SUBGOALS: Final[Signature] = {**ARITY, **ACTION_ARITY}
"""Words of a sub-goal with their numbers of arguments, as in its scorer."""
_PREDICATE: Final = re.compile(r"\((\w+)((?:\s+\?\w+|\s+-\s+\w+)*)\s*\)")


def goal_form(output: str) -> Form | None:
    """Return three sets of goals; keys that the schema does not have are ignored."""
    found = parse_goals(output)
    if found is None or not found.keys() >= set(LISTS.values()):
        return None
    sets = [_goal_set(kind, found[LISTS[kind]]) for kind in LISTS]
    return None if None in sets else tuple(sets)


def sequence_form(output: str) -> Form | None:
    """Return the steps in order: an action in upper case and its objects, with or without numbers."""
    pairs = _json_pairs(output)
    if not pairs:
        return None
    steps = [_step(word, objects) for word, objects in pairs]
    return None if None in steps else tuple(steps)


def subgoal_form(output: str) -> Form | None:
    """Return the lines in order; within a line, the order of operands of ``and`` or ``or`` is ignored."""
    found = dict(_json_pairs(output) or ())
    lines = found.get("output")
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        return None
    clauses = [read_clause(line, SUBGOALS) for line in lines if line.strip()]
    return None if None in clauses or not clauses else tuple(clauses)


def transition_form(output: str) -> Form | None:
    """Return a set of actions; order and repetition within ``and`` and ``or``, and names of variables, are ignored."""
    found = parse_actions(output)
    if not found or not found.keys() <= gold_actions().keys():
        return None
    actions = [action_form(action) for action in found.values()]
    return None if None in actions else frozenset(actions)


def action_form(action: PddlAction) -> Form | None:
    """Return the form of one action of transition modelling."""
    try:
        parameters = parameter_names(action.parameters)
        names = {name: f"?{at}" for at, name in enumerate(parameters)}
        parts = [
            _check_predicates(canonical_tree(rename_variables(parse_expression(text), names)))
            for text in (action.precondition, action.effect)
        ]
    except ValueError:
        return None
    return (action.name, len(parameters), *parts)


def _goal_set(kind: str, goals: Any) -> frozenset[tuple[str, ...]] | None:
    if not isinstance(goals, list):
        return None
    found: set[tuple[str, ...]] = set()
    for goal in goals:
        words = [goal.get(key) for key in KEYS[kind]] if isinstance(goal, dict) else [None]
        named = tuple(word.strip() for word in words if isinstance(word, str))
        if len(named) != len(words):
            return None
        one = (*named[:-1], named[-1].upper()) if kind == "action" else named
        if not _is_known(kind, one):
            return None
        found.add(one)
    return frozenset(found)


def _is_known(kind: str, goal: tuple[str, ...]) -> bool:
    words = _vocabulary()
    match kind:
        case "node":
            return goal[1] in words["vh_states"]
        case "edge":
            return goal[1] in _relations()
        case _:
            return goal[0] in words["actions"]


def _json_pairs(output: str) -> list[tuple[str, Any]] | None:
    """Return the pairs of the outermost object, repeated keys included; fences, quotes and other text are repaired."""
    start, end = output.find("{"), output.rfind("}")
    if len(output) > MAX_CHARACTERS or start < 0:
        return None
    text = output[start : end + 1].replace("\n", " ")
    for mended in (text, text.replace("'", '"')):
        try:
            found = json.loads(mended, object_pairs_hook=_Pairs)
        except (ValueError, RecursionError):
            continue
        return list(found) if isinstance(found, _Pairs) else None
    return None


class _Pairs(tuple[tuple[str, Any], ...]):
    """Pairs of an object, in order."""

    __slots__ = ()


def _step(word: str, objects: Any) -> tuple[str, ...] | None:
    """Return a step with as many objects as the action takes, each a name, or a name and a number.

    Only executable actions are valid: the others that EAI's prompt offers always fail.
    """
    _, wanted = ACTIONS.get(word.strip().upper(), ("", None))
    if not isinstance(objects, list) or wanted is None:
        return None
    if not all(isinstance(one, str) or (isinstance(one, int) and not isinstance(one, bool)) for one in objects):
        return None
    has_numbers = len(objects) == 2 * wanted and all(parse_object_number(one) is not None for one in objects[1::2])
    named = tuple(str(one).strip() for one in objects)
    return (word.strip().upper(), *named) if len(named) == wanted or has_numbers else None


def _check_predicates(found: Expression) -> Expression:
    """Return the expression if it is valid.

    Raises ValueError for unknown predicates, wrong numbers of arguments, and arguments that are no variables.
    """
    for name, *arguments in _atoms(found):
        if _predicates().get(name) != len(arguments):
            raise ValueError(f"{name[:60]} with {len(arguments)} arguments is no predicate")
        if not all(map(_ARGUMENT.fullmatch, arguments)):
            raise ValueError(f"{name[:60]} is of something that is no parameter")
    return found


def _atoms(found: Expression) -> Iterator[list[str]]:
    if isinstance(found, str):
        if found != EMPTY:
            yield found.split()
        return
    for part in found[2 if found[0] in {"exists", "forall"} else 1 :]:
        yield from _atoms(part)


@cache
def _predicates() -> Mapping[str, int]:
    """Return the number of arguments of each predicate."""
    text = re.sub(r";.*", "", domain_head()).partition("(:predicates")[2]
    return {name: arguments.count("?") for name, arguments in _PREDICATE.findall(text)}


@cache
def _vocabulary() -> Mapping[str, Any]:
    found: Mapping[str, Any] = read_json(package_folder() / "resources/virtualhome/vocabulary.json")
    return found


@cache
def _relations() -> frozenset[str]:
    """Return the relations that the prompt of goal interpretation offers; the vocabulary's list includes a state."""
    return frozenset(read_json(package_folder() / "resources/virtualhome/relation_types.json"))
