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
from functools import cache
from typing import Any, Final, TypeAlias

from scenecypher.evaluation.eai.grounding import MAX_CHARACTERS
from scenecypher.evaluation.eai.scoring import Figures, Judgement, Metric, f1_figures
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


def task_ids() -> Sequence[str]:
    """Return all 342 tasks with an output, by number; predictions for the four without a goal are false alarms.

    Raises InputError, ServiceError without `eai-eval`.
    """
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


KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "node": ("name", "state"),
    "edge": ("from_name", "relation", "to_name"),
    "action": ("action",),
}
"""Keys of a goal of each kind; its list in an output is called ``node goals``, and so on."""


def score(task_id: str, output: str | None) -> Judgement:
    """Count hits, false alarms and misses by kind in both ways."""
    return judge_goals(gold_goals(task_id), output)


def figures(judged: Sequence[Judgement], *, intervals: Collection[str] = ()) -> Figures:
    """Return precision, recall and F1 in total, in the strict way also by kind."""
    found = f1_figures(judged, KEYS, "all_{}".format, intervals=intervals)
    for kind in KEYS:
        found |= f1_figures(judged, [f"strict_{kind}"], f"strict_{kind}_{{}}".format, intervals=intervals)
    return found | f1_figures(judged, [f"strict_{kind}" for kind in KEYS], _strict_name, intervals=intervals)


def outcome(judged: Judgement) -> tuple[str, bool]:
    """Return an output's outcome, and whether no goal is wrong or missed."""
    exact = judged["parsed"] and not any(sum(judged[f"strict_{kind}"][1:]) for kind in KEYS)
    return ("inexact" if judged["parsed"] else "unread"), exact


def _strict_name(part: Metric) -> str:
    return "strict_f1" if part == "f1" else f"strict_all_{part}"


def judge_goals(wanted: GoldGoals, output: str | None) -> Judgement:
    """Return the judgement of one output; see `score`."""
    found = None if output is None else parse_goals(output)
    judged: dict[str, Any] = {"parsed": found is not None}
    for kind, gold in zip(KEYS, (wanted.nodes, wanted.edges, wanted.actions), strict=True):
        verdicts = Counter(_verdicts(kind, (found or {}).get(f"{kind} goals", []), wanted))
        met = [count for verdict, count in verdicts.items() if not isinstance(verdict, str)]
        judged[kind] = [0, 0, 0] if found is None else [sum(met), verdicts["alarm"], len(gold) - sum(met)]
        judged[f"strict_{kind}"] = [len(met), verdicts.total() - len(met), len(gold) - len(met)]
    return judged


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


def _verdicts(kind: str, goals: Any, wanted: GoldGoals) -> Iterator[GoldGoal | str]:
    """Yield of each distinct goal the gold goal that it meets, "alarm", or "left out", as the original leaves it out.

    A value that is no list is one malformed item.
    """
    items = goals if isinstance(goals, list) else [goals]
    for goal in {json.dumps(item, sort_keys=True): item for item in items}.values():
        if goal in ({}, [], ""):
            continue
        words = [goal.get(key) for key in KEYS[kind]] if isinstance(goal, dict) else [None]
        named = words[:1] if kind == "node" else words[::2] if kind == "edge" else []
        if not all(isinstance(word, str) for word in words) or not {*named} <= wanted.ids.keys():
            yield "left out"
        else:
            yield _met_goal(kind, words, wanted) or "alarm"


def _met_goal(kind: str, words: Sequence[Any], wanted: GoldGoals) -> GoldGoal | None:
    """Return the gold goal that the words state, None if there is none; of actions, the first with this alternative."""
    if kind == "action":
        return next((group for group in wanted.actions if words[0].upper() in group), None)
    goal = tuple(word if place == 1 else wanted.ids[word] for place, word in enumerate(words))
    return goal if goal in (wanted.nodes if kind == "node" else wanted.edges) else None
