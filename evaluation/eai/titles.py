"""Names of the four scorers' figures in the tables of Structured Self-Consistency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from scenecypher.evaluation.eai.recordings import TaskName
from scenecypher.evaluation.eai.scoring import Figure
from scenecypher.evaluation.result import Cell, Column, Interval

TITLES: Final[Mapping[TaskName, str]] = {
    "goal": "Goal interpretation",
    "action-sequencing": "Action sequencing",
    "subgoal": "Sub-goal decomposition",
    "transition": "Transition modelling",
}

_PARTS: Final = ("precision", "recall", "f1")
NAMES: Final[Mapping[TaskName, Mapping[str, tuple[str, str]]]] = {
    "goal": {
        "f1": ("F1", "strict_f1"),
        "precision": ("P", "strict_all_precision"),
        "recall": ("R", "strict_all_recall"),
        **{
            f"{kind}_{part}": (f"{kind} {'F1' if part == 'f1' else part[0].upper()}", f"strict_{kind}_{part}")
            for kind in ("node", "edge", "action")
            for part in _PARTS
        },
        "eai_f1": ("F1, as EAI", "all_f1"),
        "eai_precision": ("P, as EAI", "all_precision"),
        "eai_recall": ("R, as EAI", "all_recall"),
    },
    "action-sequencing": {
        "tsr": ("TSR", "success_most"),
        "tsr_least": ("TSR, worst order", "success_least"),
        "esr": ("ESR", "executed"),
        "states": ("states", "state_goals"),
        "relations": ("relations", "relation_goals"),
        "actions": ("actions", "action_goals_most"),
        "parsing": ("parsing", "parsing"),
        "hallucination": ("hallucination", "hallucination"),
        "missing_step": ("missing step", "missing_step"),
    },
    "subgoal": {
        "tsr": ("TSR", "success"),
        "esr": ("ESR", "executed"),
        "states": ("states", "state_goals"),
        "relations": ("relations", "relation_goals"),
        "actions": ("actions", "action_goals"),
        "goals": ("goals", "goals"),
    },
    "transition": {
        "f1": ("F1", "strict_f1"),
        "precision": ("P", "strict_p"),
        "recall": ("R", "strict_r"),
        "eai_f1": ("F1, as EAI", "f1"),
        "eai_precision": ("P, as EAI", "p"),
        "eai_recall": ("R, as EAI", "r"),
        "planner": ("planner", "planner"),
    },
}
"""Headings and the scorer's names of figures, by a cell's key.

The strict counts come first, since the paper counts malformed output as an error (section 4.1), and EAI leaves it out.
"""
SECONDARY: Final = frozenset({"eai_f1", "eai_precision", "eai_recall", "tsr_least", "planner"})
"""Other readings of a figure, and figures that the paper does not have."""
LOWER_IS_BETTER: Final = frozenset({"parsing", "hallucination", "missing_step"})
SHARE_TASKS: Final = frozenset({"action-sequencing", "subgoal"})
"""Tasks whose figures are shares with Wilson's interval; the others have a bootstrap interval over outputs."""


def _column(task: TaskName, key: str, heading: str) -> Column:
    interval: Interval = "wilson" if task in SHARE_TASKS or key == "planner" else "bootstrap"
    better = "lower" if key in LOWER_IS_BETTER else "higher"
    return Column(key=key, heading=heading, unit="percent", better=better, interval=interval, second=key in SECONDARY)


COLUMNS: Final[Mapping[TaskName, tuple[Column, ...]]] = {
    task: tuple(_column(task, key, heading) for key, (heading, _) in names.items()) for task, names in NAMES.items()
}
SVR: Final = (
    Column(key="svr", heading="SVR", unit="percent", interval="wilson"),
    Column(key="svr_samples", heading="SVR of samples", unit="percent", interval="wilson", second=True),
)


def figure_cells(task: TaskName, figures: Sequence[Figure]) -> dict[str, Cell]:
    """Return the cells of one row, each with its denominator."""
    by_name = {one.name: one for one in figures}
    return {
        key: Cell(value=one.percent, n=one.of, low=one.low, high=one.high, count=one.hits)
        for key, (_, name) in NAMES[task].items()
        if (one := by_name[name].with_interval() if name in by_name else None) is not None
    }
