"""Ours, beside the paper: what several samples agree on part by part, instead of one vote a whole form.

Goal interpretation is merged by element (each goal that more than half of the valid samples have), transition
modelling by clause (likewise each part of an action's ``and``), and sequences of steps and of sub-goals by edge: the
sample whose successions the others share most.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Final

from scenecypher.evaluation.eai.goal_interpretation import KEYS, LISTS
from scenecypher.evaluation.eai.recordings import TaskName
from scenecypher.evaluation.eai.transition_gold import gold_deeds
from scenecypher.evaluation.eai.transition_text import NOTHING, Deed, Tree, deeds, tree, written
from scenecypher.evaluation.ssc.expressions import canonical_tree, renamed, variables
from scenecypher.evaluation.ssc.forms import FORMS, deed_form
from scenecypher.evaluation.ssc.voting import Form


def merged(task: TaskName, samples: Sequence[str]) -> str | None:
    """One output from many; None where none is valid."""
    return MERGES[task](samples)


def merged_goals(samples: Sequence[str]) -> str | None:
    """Each goal that more than half of the valid samples have."""
    forms = _valid("goal", samples)
    if not forms:
        return None
    document = {
        LISTS[kind]: [dict(zip(KEYS[kind], goal, strict=True)) for goal in _most(form[at] for form in forms)]
        for at, kind in enumerate(LISTS)
    }
    return json.dumps(document)


def merged_deeds(samples: Sequence[str]) -> str | None:
    """Each action that more than half of the valid samples define, of those of its clauses that more than half have."""
    valid = [found for sample in samples if FORMS["transition"](sample) and (found := deeds(sample))]
    if not valid:
        return None
    names = _most(found.keys() for found in valid)
    made = [_merged_deed(name, [found[name] for found in valid if name in found]) for name in names]
    return json.dumps({"output": "\n".join(deed.pddl() for deed in made)})


def central(task: TaskName) -> Callable[[Sequence[str]], str | None]:
    """The valid sample whose edges, from each step to the next, most agree with those of the others."""

    def chosen(samples: Sequence[str]) -> str | None:
        forms = [FORMS[task](sample) for sample in samples]
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

    return chosen


MERGES: Final[Mapping[TaskName, Callable[[Sequence[str]], str | None]]] = {
    "goal": merged_goals,
    "transition": merged_deeds,
    "action-sequencing": central("action-sequencing"),
    "subgoal": central("subgoal"),
}
KINDS: Final[Mapping[TaskName, str]] = {
    "goal": "element",
    "transition": "clause",
    "action-sequencing": "edge",
    "subgoal": "edge",
}
"""What is merged."""


def _merged_deed(name: str, found: Sequence[Deed]) -> Deed:
    """In the gold action's variables, which the prompt gives; what is no such action is left out of the vote."""
    parameters = gold_deeds()[name].parameters
    wanted = variables(parameters)
    same = [one for one in found if deed_form(one) and len(variables(one.parameters)) == len(wanted)]
    parts = [_conjuncts(_in_terms_of(one, part, wanted) for one in same) for part in ("precondition", "effect")]
    return Deed(name, parameters, *parts)


def _in_terms_of(deed: Deed, part: str, wanted: Sequence[str]) -> Tree:
    names = dict(zip(variables(deed.parameters), wanted, strict=True))
    return canonical_tree(renamed(tree(getattr(deed, part)), names))


def _conjuncts(found: Iterable[Tree]) -> str:
    parts = [one[1:] if one[0] == "and" and not isinstance(one, str) else (one,) for one in found]
    kept = [written(one) for one in _most(parts) if one != NOTHING]
    return f"(and {' '.join(kept)})" if len(kept) > 1 else kept[0] if kept else NOTHING


def _most(sets: Iterable[Iterable[Any]]) -> list[Any]:
    """What more than half of the sets have, in an order that does not depend on theirs."""
    listed = [set(one) for one in sets]
    votes = Counter(part for one in listed for part in one)
    return sorted((part for part, count in votes.items() if 2 * count > len(listed)), key=repr)


def _valid(task: TaskName, samples: Sequence[str]) -> list[Any]:
    return [form for sample in samples if (form := FORMS[task](sample)) is not None]


def _edges(form: Sequence[Form]) -> frozenset[tuple[Hashable, Hashable]]:
    return frozenset(zip((None, *form), (*form, None), strict=True))


def _agreement(edges: frozenset[tuple[Hashable, Hashable]], votes: Counter[tuple[Hashable, Hashable]]) -> float:
    """The mean of how many samples share an edge: longer sequences have no advantage."""
    return sum(votes[edge] for edge in edges) / len(edges)
