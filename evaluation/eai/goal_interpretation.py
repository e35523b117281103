"""Goal interpretation: predicted node, relation and action goals against a task's own, counted in two ways.

`eai` counts as the Embodied Agent Interface's evaluator: an unreadable output is left out together with its gold goals;
goals with unknown objects or missing keys are left out; an action goal may be met more than once. `strict`, ours,
counts all of these as false alarms or misses, and meets a goal once.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from scenecypher.evaluation.eai.counting import ConfusionCounts, Metric, sum_counts
from scenecypher.evaluation.eai.goal_interpretation_gold import GoldGoals, goal_task_ids, gold_goals
from scenecypher.evaluation.eai.scoring import Figures, Judgement, f1_figures, percent_cell

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


@dataclass(slots=True)
class _Tally:
    """Counts of one kind of goal in one output."""

    hits: int = 0
    alarms: int = 0
    unknown: int = 0
    malformed: int = 0
    met: set[Any] = field(default_factory=set)


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
            counts = {kind: sum_counts(ConfusionCounts.of(one[prefix + kind]) for one in judged) for kind in KINDS}
            for name, one in {**counts, "all": sum_counts(counts.values())}.items():
                rows = partial(_rows, judged, [prefix + kind for kind in (KINDS if name == "all" else (name,))])
                names: dict[Metric, str] = {
                    "precision": f"{prefix}{name}_precision",
                    "recall": f"{prefix}{name}_recall",
                    "f1": f"{prefix}f1" if prefix and name == "all" else f"{prefix}{name}_f1",
                }
                figures |= f1_figures(one, names, rows=rows, intervals=intervals)
        predicted = sum(ConfusionCounts.of(one[f"strict_{kind}"]).predicted for one in judged for kind in KINDS)
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
    tallies = {kind: _tally(kind, found.get(LISTS[kind], []), wanted) for kind in KINDS}
    return {
        "parsed": True,
        **{kind: [one.hits, one.alarms, sizes[kind] - one.hits] for kind, one in tallies.items()},
        **{f"strict_{kind}": _strict_counts(one, sizes[kind]) for kind, one in tallies.items()},
        "unknown": sum(one.unknown for one in tallies.values()),
        "malformed": sum(one.malformed for one in tallies.values()),
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


def _rows(judged: Sequence[Judgement], keys: Sequence[str]) -> list[ConfusionCounts]:
    return [sum_counts(ConfusionCounts.of(one[key]) for key in keys) for one in judged]


def _strict_counts(tally: _Tally, wanted: int) -> list[int]:
    hits = len(tally.met)
    return [hits, tally.alarms + tally.unknown + tally.malformed + tally.hits - hits, wanted - hits]


def _tally(kind: str, goals: Any, wanted: GoldGoals) -> _Tally:
    tally = _Tally()
    for goal in _distinct(goals):
        if goal in ({}, [], ""):
            continue
        words = _words(kind, goal)
        if words is None:
            tally.malformed += 1
        elif kind != "action" and not all(
            name in wanted.ids for name in (words[0], words[-1 if kind == "edge" else 0])
        ):
            tally.unknown += 1
        elif (met := _met_goal(kind, words, wanted)) is None:
            tally.alarms += 1
        else:
            tally.hits += 1
            tally.met.add(met)
    return tally


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


def _met_goal(kind: str, words: tuple[str, ...], wanted: GoldGoals) -> object | None:
    """Return the gold goal that the words state, None if there is none; of actions, the first with this alternative."""
    match kind:
        case "node":
            goal: Any = (wanted.ids[words[0]], words[1])
            return goal if goal in wanted.nodes else None
        case "edge":
            goal = (wanted.ids[words[0]], words[1], wanted.ids[words[2]])
            return goal if goal in wanted.edges else None
        case _:
            return next((group for group in wanted.actions if words[0].upper() in group), None)
