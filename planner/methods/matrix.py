"""Which method runs on which data set: as its paper has it, as an addition of ours, or why that has no meaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

Cell: TypeAlias = str
"""``paper``, ``ours``, or ``no meaning: why``."""
Family: TypeAlias = Literal["virtualhome", "grasif", "babyai", "questions"]

SETS: Final[Mapping[str, Family]] = {
    "eai": "virtualhome",
    "homes": "virtualhome",
    "behavior-1k": "grasif",
    "robothow": "grasif",
    "sayplan-office": "grasif",
    "our-office": "grasif",
    "trv1": "babyai",
    "trv2": "babyai",
    "numqa": "questions",
}
"""The data sets whose tasks a method can be given, and what their scenes and tasks are like."""

_GRASIF: Final = ("behavior-1k", "robothow", "sayplan-office")
_BABYAI: Final = ("trv1", "trv2", "numqa")

IN_PAPERS: Final[Mapping[str, tuple[str, ...]]] = {
    "lookplangraph": (*_GRASIF, "our-office"),
    **dict.fromkeys(("sayplan-lite", "llm-as-p", "llm+p", "react-alfworld"), _GRASIF),
    "sayplan": (*_GRASIF, *_BABYAI),
    **dict.fromkeys(("sg2", "sg-rwr", "zero-shot", "0-cot", "ltm", "cot", "bag"), (*_BABYAI, "homes")),
    **dict.fromkeys(("algorithm", "sg-rwr-fs", "sg-rwr-alg", "single-coder", "rwr-text"), _BABYAI),
    **dict.fromkeys(("sg2-limit", "react-sg2", "react-limit", "react-rwr"), _BABYAI),
}
"""Where a paper has figures of a method (LookPlanGraph: tables II, IV, section VII-E; SG2 and SG-RwR: tables 1 to 3).

Where a paper's tasks are not to be had, ours of that kind stand for them: `homes` for VH-1 and VH-2, `our-office` for
the office of LookPlanGraph's real-world runs, `sayplan-office` for SayPlan's.
"""

_ACTS: Final = "it acts, and a question wants an answer"
_NO_EXAMPLES: Final = "it is its examples, and there are none of such tasks"
_NO_WORDS: Final = "its method in words is of BabyAI's tasks"

NO_MEANING: Final[Mapping[tuple[str, Family], str]] = {
    **{
        (name, "questions"): _ACTS
        for name in ("stepwise", "lookplangraph", "llm-as-p", "llm+p", "goal-then-plan", "symbolic", "react-alfworld")
    },
    **{(name, "grasif"): _NO_EXAMPLES for name in ("cot", "bag", "sg-rwr-fs")},
    **{(name, family): _NO_WORDS for name in ("algorithm", "sg-rwr-alg") for family in ("virtualhome", "grasif")},
}
"""What would be another method, or none, and why."""


def matrix_cell(method: str, data_set: str) -> Cell:
    """What a method on a data set is."""
    why = NO_MEANING.get((method, SETS[data_set]))
    if why is not None:
        return f"no meaning: {why}"
    return "paper" if data_set in IN_PAPERS.get(method, ()) else "ours"
