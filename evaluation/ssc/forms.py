"""The canonicalisers of the four tasks: the schema that an output must have, and what it means.

The schema is of form and words: JSON, keys, and the states, relations, actions and predicates that there are. Names of
objects are not part of it: the paper's own results keep outputs with unknown objects (its Table 5).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from scenecypher.evaluation.eai.goal_interpretation import KEYS, LISTS, MAX_CHARACTERS, parse_goals
from scenecypher.evaluation.eai.grounding import ACTIONS, parse_object_number
from scenecypher.evaluation.eai.recordings import TaskName
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
from scenecypher.evaluation.ssc.voting import Canonical, Form
from scenecypher.importers.eai import package_folder
from scenecypher.importers.json_file import read_json

_ARGUMENT: Final = re.compile(r"\?q?\d+|[^?].*")
"""A parameter or quantified variable as canonical forms call it, or an object, which is one of the problem's."""
SUBGOALS: Final[Signature] = {**ARITY, **ACTION_ARITY}
"""What a sub-goal may say, with the numbers of arguments, as it is scored."""
_PREDICATE: Final = re.compile(r"\((\w+)((?:\s+\?\w+|\s+-\s+\w+)*)\s*\)")


def goal_form(output: str) -> Form | None:
    """Three sets of goals; keys beside those of the schema say nothing."""
    found = parse_goals(output)
    if found is None or not found.keys() >= set(LISTS.values()):
        return None
    sets = [_goal_set(kind, found[LISTS[kind]]) for kind in LISTS]
    return None if None in sets else tuple(sets)


def sequence_form(output: str) -> Form | None:
    """The steps in their order: an action in upper case, and its objects, with or without numbers."""
    pairs = _json_pairs(output)
    if not pairs:
        return None
    steps = [_step(word, objects) for word, objects in pairs]
    return None if None in steps else tuple(steps)


def subgoal_form(output: str) -> Form | None:
    """The lines in their order; within a line the order of what ``and`` or ``or`` connects says nothing."""
    found = dict(_json_pairs(output) or ())
    lines = found.get("output")
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        return None
    clauses = [read_clause(line, SUBGOALS) for line in lines if line.strip()]
    return None if None in clauses or not clauses else tuple(clauses)


def transition_form(output: str) -> Form | None:
    """A set of actions; order and repetition within ``and`` and ``or``, and what variables are called, say nothing."""
    found = parse_actions(output)
    if not found or not found.keys() <= gold_actions().keys():
        return None
    actions = [action_form(action) for action in found.values()]
    return None if None in actions else frozenset(actions)


def action_form(action: PddlAction) -> Form | None:
    """One action of transition modelling."""
    try:
        parameters = parameter_names(action.parameters)
        names = {name: f"?{at}" for at, name in enumerate(parameters)}
        parts = [
            _checked(canonical_tree(rename_variables(parse_expression(text), names)))
            for text in (action.precondition, action.effect)
        ]
    except ValueError:
        return None
    return (action.name, len(parameters), *parts)


FORMS: Final[Mapping[TaskName, Canonical]] = {
    "goal": goal_form,
    "action-sequencing": sequence_form,
    "subgoal": subgoal_form,
    "transition": transition_form,
}


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
    """The pairs of the outermost object, which may repeat a key; fences, words around it and quotes are mended."""
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
    """The pairs of an object, in their order."""

    __slots__ = ()


def _step(word: str, objects: Any) -> tuple[str, ...] | None:
    """As the schema has it: so many objects as the action takes, each a name, or a name and a number.

    Actions are those that can be carried out: what the prompt of EAI offers besides is always a failure.
    """
    _, wanted = ACTIONS.get(word.strip().upper(), ("", None))
    if not isinstance(objects, list) or wanted is None:
        return None
    if not all(isinstance(one, str) or (isinstance(one, int) and not isinstance(one, bool)) for one in objects):
        return None
    has_numbers = len(objects) == 2 * wanted and all(parse_object_number(one) is not None for one in objects[1::2])
    named = tuple(str(one).strip() for one in objects)
    return (word.strip().upper(), *named) if len(named) == wanted or has_numbers else None


def _checked(found: Expression) -> Expression:
    """Raises ValueError for predicates that the domain lacks, another number of arguments, and what is no variable."""
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
    """How many arguments each takes."""
    text = re.sub(r";.*", "", domain_head()).partition("(:predicates")[2]
    return {name: arguments.count("?") for name, arguments in _PREDICATE.findall(text)}


@cache
def _vocabulary() -> Mapping[str, Any]:
    found: Mapping[str, Any] = read_json(package_folder() / "resources/virtualhome/vocabulary.json")
    return found


@cache
def _relations() -> frozenset[str]:
    """Those that the prompt of goal interpretation offers; the vocabulary's own list has a state among them."""
    return frozenset(read_json(package_folder() / "resources/virtualhome/relation_types.json"))
