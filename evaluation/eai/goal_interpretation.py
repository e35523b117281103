"""Goal interpretation: predicted node, relation and action goals against a task's own, counted in two ways.

`eai` counts as the Embodied Agent Interface's evaluator: an unreadable output is left out together with its gold goals;
goals with unknown objects or missing keys are left out; an action goal may be met more than once. `strict`, ours,
counts all of these as false alarms or misses, and meets a goal once.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final, TypeAlias

from scenecypher.evaluation.eai.scoring import (
    ConfusionCounts,
    Figures,
    Judgement,
    Metric,
    grouped_f1_figures,
    percent_cell,
)
from scenecypher.evaluation.eai.tasks import task_entries, task_start
from scenecypher.importers.virtualhome import task_order

GoldGoal: TypeAlias = tuple[Any, ...] | frozenset[str]
"""State or relation by numbers, or the alternatives of an action goal."""


@dataclass(frozen=True, slots=True)
class GoldGoals:
    """Goals of one task: object and state, or object, relation and object, by numbers; `ids` are the relevant objects.

    An action goal is the set of its upper-case alternatives.
    """

    nodes: frozenset[tuple[Any, ...]]
    edges: frozenset[tuple[Any, ...]]
    actions: tuple[frozenset[str], ...]
    ids: Mapping[str, int]


def goal_task_ids() -> tuple[str, ...]:
    """Return all 342 tasks with an output, by number; four of them have no goal."""
    return tuple(sorted(task_entries(), key=task_order))


@cache
def gold_goals(task_id: str) -> GoldGoals:
    """Return the goals of one task. Raises InputError, ServiceError without `eai-eval`.

    Of several relevant objects of a class, its name means the one with the highest number; the original's choice
    depends on the order of a set.
    """
    found = task_entries()[task_id].vh_goal
    return GoldGoals(
        nodes=frozenset((fact.id, fact.state) for fact in found.goal if fact.state is not None),
        edges=frozenset((it.from_id, it.relation_type, it.to_id) for it in found.goal if it.to_id is not None),
        actions=tuple(frozenset(action.upper().split("|")) for action in sorted(set(found.actions))),
        ids={name: max(numbers) for name, numbers in task_start(task_id).objects.items()},
    )


KINDS: Final = ("node", "edge", "action")
LISTS: Final[Mapping[str, str]] = {"node": "node goals", "edge": "edge goals", "action": "action goals"}
"""Key in an output for each kind."""
KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "node": ("name", "state"),
    "edge": ("from_name", "relation", "to_name"),
    "action": ("action",),
}
MAX_CHARACTERS: Final = 100_000
"""Characters that an output may have; recorded ones have at most 3,000."""


class GoalScorer:
    """Scorer of all 342 outputs; four tasks have no goal, so that each prediction for them is a false alarm."""

    def task_ids(self) -> Sequence[str]:
        """Return the tasks with an output, by number. Raises InputError, ServiceError without `eai-eval`."""
        return goal_task_ids()

    def score(self, task_id: str, output: str | None) -> Judgement:
        """Count hits, false alarms and misses by kind in both ways, goals with unknown objects, and malformed goals."""
        return judge_goals(gold_goals(task_id), output)

    def figures(self, judged: Sequence[Judgement], *, intervals: Collection[str] = ()) -> Figures:
        """Return precision, recall and F1 by kind and in total."""
        figures: Figures = {}
        for prefix in ("", "strict_"):
            keys = {kind: (prefix + kind,) for kind in KINDS}
            groups = {**keys, "all": [prefix + kind for kind in KINDS]}
            figures |= grouped_f1_figures(judged, groups, partial(_figure, prefix), intervals=intervals)
        predicted = sum(ConfusionCounts(*one[f"strict_{kind}"]).predicted for one in judged for kind in KINDS)
        return figures | {
            "unparsed": percent_cell(sum(not one["parsed"] for one in judged), len(judged)),
            "unknown_objects": percent_cell(sum(one["unknown"] for one in judged), predicted),
            "malformed_goals": percent_cell(sum(one["malformed"] for one in judged), predicted),
        }


def judge_goals(wanted: GoldGoals, output: str | None) -> Judgement:
    """Return the judgement of one output; see GoalScorer.score."""
    found = None if output is None else parse_goals(output)
    sizes = {"node": len(wanted.nodes), "edge": len(wanted.edges), "action": len(wanted.actions)}
    if found is None:
        missed = {f"strict_{kind}": [0, 0, size] for kind, size in sizes.items()}
        return {"parsed": False, **{kind: [0, 0, 0] for kind in KINDS}, **missed, "unknown": 0, "malformed": 0}
    tallies = {kind: Counter(_verdicts(kind, found.get(LISTS[kind], []), wanted)) for kind in KINDS}
    met = {kind: [one[it] for it in one if not isinstance(it, str)] for kind, one in tallies.items()}
    return {
        "parsed": True,
        **{kind: [sum(met[kind]), one["alarm"], sizes[kind] - sum(met[kind])] for kind, one in tallies.items()},
        **{
            f"strict_{kind}": [len(met[kind]), one.total() - len(met[kind]), sizes[kind] - len(met[kind])]
            for kind, one in tallies.items()
        },
        "unknown": sum(one["unknown"] for one in tallies.values()),
        "malformed": sum(one["malformed"] for one in tallies.values()),
    }


def goal_outcome(found: Judgement) -> tuple[str, bool]:
    """Return an output's outcome, and whether no goal is wrong or missed."""
    exact = found["parsed"] and not any(sum(found[f"strict_{kind}"][1:]) for kind in KINDS)
    return ("inexact" if found["parsed"] else "unread"), exact


def parse_goals(output: str) -> Mapping[str, Any] | None:
    """Parse an output with the original's repair of fences and quotes; None if it is not an object."""
    if len(output) > MAX_CHARACTERS:
        return None
    text = output.replace("<|eot_id|>", "")
    if text.startswith("```json"):
        text = text[7:].strip("`")
    try:
        found = json.loads(text.strip().replace("\n", "").replace("'", '"'))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _figure(prefix: str, group: str, part: Metric) -> str:
    """Return the name of a figure."""
    return f"{prefix}f1" if prefix and (group, part) == ("all", "f1") else f"{prefix}{group}_{part}"


def _verdicts(kind: str, goals: Any, wanted: GoldGoals) -> Iterator[GoldGoal | str]:
    """Yield of each goal the gold goal that it meets, or what is wrong with it."""
    for goal in _distinct(goals):
        if goal in ({}, [], ""):
            continue
        words = _words(kind, goal)
        if words is None:
            yield "malformed"
        elif kind != "action" and not {words[0], words[-1 if kind == "edge" else 0]} <= wanted.ids.keys():
            yield "unknown"
        else:
            yield _met_goal(kind, words, wanted) or "alarm"


def _distinct(goals: Any) -> Iterator[Any]:
    """Yield each distinct item once, as the original does; a value that is no list is one malformed item."""
    items = goals if isinstance(goals, list) else [goals]
    seen = {json.dumps(item, sort_keys=True): item for item in items}
    yield from seen.values()


def _words(kind: str, goal: Any) -> tuple[str, ...] | None:
    if not isinstance(goal, dict):
        return None
    words = KEYS[kind]
    found = tuple(word for word in map(goal.get, words) if isinstance(word, str))
    return found if len(found) == len(words) else None


def _met_goal(kind: str, words: tuple[str, ...], wanted: GoldGoals) -> GoldGoal | None:
    """Return the gold goal that the words state, None if there is none; of actions, the first with this alternative."""
    if kind == "action":
        return next((group for group in wanted.actions if words[0].upper() in group), None)
    at = (0, 2) if kind == "edge" else (0,)
    goal = tuple(wanted.ids[word] if place in at else word for place, word in enumerate(words))
    return goal if goal in (wanted.nodes if kind == "node" else wanted.edges) else None
