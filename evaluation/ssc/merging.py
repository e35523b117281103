"""Merging of samples part by part, instead of one vote for each whole form; ours, not the paper's.

Goal interpretation is merged by element (each goal that a majority of the valid samples have), transition modelling by
clause (each part of an action's ``and``, likewise), and sequences of steps and of sub-goals by edge: the sample whose
edges occur most in the others.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

from scenecypher.evaluation.eai.goal_interpretation import KEYS, LISTS
from scenecypher.evaluation.eai.transition_gold import gold_actions
from scenecypher.evaluation.eai.transition_text import (
    EMPTY,
    Expression,
    PddlAction,
    expression_text,
    parse_actions,
    parse_expression,
)
from scenecypher.evaluation.ssc.expressions import canonical_tree, parameter_names, rename_variables
from scenecypher.evaluation.ssc.forms import action_form, goal_form, transition_form
from scenecypher.evaluation.ssc.voting import Canonical, Form


def merge_goals(samples: Sequence[str]) -> str | None:
    """Return each goal that a majority of the valid samples have; None if no sample is valid."""
    forms: list[Any] = [form for sample in samples if (form := goal_form(sample)) is not None]
    if not forms:
        return None
    document = {
        LISTS[kind]: [dict(zip(KEYS[kind], goal, strict=True)) for goal in _majority(form[at] for form in forms)]
        for at, kind in enumerate(LISTS)
    }
    return json.dumps(document)


def merge_actions(samples: Sequence[str]) -> str | None:
    """Return the actions that a majority of the valid samples define, with the clauses that a majority of them have."""
    valid = [found for sample in samples if transition_form(sample) and (found := parse_actions(sample))]
    if not valid:
        return None
    names = _majority(found.keys() for found in valid)
    made = [_merge_action(name, [found[name] for found in valid if name in found]) for name in names]
    return json.dumps({"output": "\n".join(action.pddl() for action in made)})


def most_central(form_of: Canonical) -> Callable[[Sequence[str]], str | None]:
    """Return a function that picks the valid sample whose edges, from step to step, agree most with the others'."""

    def central_sample(samples: Sequence[str]) -> str | None:
        forms = [form_of(sample) for sample in samples]
        edges = [_edges(form) for form in forms if isinstance(form, tuple)]
        votes = Counter(edge for one in edges for edge in one)
        best = max((_agreement(_edges(form), votes) for form in forms if isinstance(form, tuple)), default=None)
        return next(
            (
                sample
                for sample, form in zip(samples, forms, strict=True)
                if isinstance(form, tuple) and _agreement(_edges(form), votes) == best
            ),
            None,
        )

    return central_sample


def _merge_action(name: str, found: Sequence[PddlAction]) -> PddlAction:
    """Merge an action in the gold action's variables, which the prompt gives; invalid actions are ignored."""
    parameters = gold_actions()[name].parameters
    wanted = parameter_names(parameters)
    same = [one for one in found if action_form(one) and len(parameter_names(one.parameters)) == len(wanted)]
    parts = [_conjuncts(_with_parameters(one, part, wanted) for one in same) for part in ("precondition", "effect")]
    return PddlAction(name, parameters, *parts)


def _with_parameters(action: PddlAction, part: str, wanted: Sequence[str]) -> Expression:
    names = dict(zip(parameter_names(action.parameters), wanted, strict=True))
    return canonical_tree(rename_variables(parse_expression(getattr(action, part)), names))


def _conjuncts(found: Iterable[Expression]) -> str:
    parts = [one[1:] if one[0] == "and" and not isinstance(one, str) else (one,) for one in found]
    kept = [expression_text(one) for one in _majority(parts) if one != EMPTY]
    return f"(and {' '.join(kept)})" if len(kept) > 1 else kept[0] if kept else EMPTY


def _majority(sets: Iterable[Iterable[Any]]) -> list[Any]:
    """Return what more than half of the sets contain, in an order that does not depend on theirs."""
    listed = [set(one) for one in sets]
    votes = Counter(part for one in listed for part in one)
    return sorted((part for part, count in votes.items() if 2 * count > len(listed)), key=repr)


def _edges(form: Sequence[Form]) -> frozenset[tuple[Hashable, Hashable]]:
    return frozenset(zip((None, *form), (*form, None), strict=True))


def _agreement(edges: frozenset[tuple[Hashable, Hashable]], votes: Counter[tuple[Hashable, Hashable]]) -> float:
    """Return the mean number of samples that share an edge, so that longer sequences have no advantage."""
    return sum(votes[edge] for edge in edges) / len(edges)
