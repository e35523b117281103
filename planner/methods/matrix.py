"""Matrix of methods and data sets: run as in the paper, as an addition of ours, or meaningless for a reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scenecypher.importers.datasets import DATASETS, Family

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
"""Data sets on which a paper evaluates a method (LookPlanGraph: tables II, IV, section VII-E; SG2, SG-RwR: tables 1-3).

Tasks of ours replace those that are not published: `homes` for VH-1 and VH-2, `our-office` for the office of
LookPlanGraph's real-world runs, `sayplan-office` for SayPlan's.
"""

_ACTS: Final = "it plans actions and can't answer questions"
_NO_EXAMPLES: Final = "it consists of worked examples, and there are none for these tasks"
_NO_WORDS: Final = "its description of the method is for BabyAI's tasks only"

NO_MEANING: Final[Mapping[tuple[str, Family], str]] = {
    **{
        (name, "questions"): _ACTS
        for name in (
            *("stepwise", "lookplangraph", "llm-as-p", "llm+p", "goal-then-plan", "explore-then-plan", "symbolic"),
            "react-alfworld",
        )
    },
    **{(name, "grasif"): _NO_EXAMPLES for name in ("cot", "bag", "sg-rwr-fs")},
    **{(name, family): _NO_WORDS for name in ("algorithm", "sg-rwr-alg") for family in ("virtualhome", "grasif")},
}
"""Combinations without a meaning, with the reason."""


def matrix_cell(method: str, data_set: str) -> str:
    """Return ``paper``, ``ours``, or ``no meaning: REASON`` for a method on a data set."""
    why = NO_MEANING.get((method, DATASETS[data_set].family))
    if why is not None:
        return f"no meaning: {why}"
    return "paper" if data_set in IN_PAPERS.get(method, ()) else "ours"
