"""Experiments by name: Inspect's task and the result of its log, each imported when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scenecypher.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

    from scenecypher.evaluation.result import ExperimentResult


class Experiment(NamedTuple):
    """`task` returns Inspect's task, `result` the result of its log; they raise InputError.

    Arguments `limit` and `seed` of each task choose a part of it.
    """

    task: Callable[..., Any]
    result: Callable[[EvalLog], ExperimentResult]


def questions() -> Experiment:
    """Questions about scenes."""
    from scenecypher.evaluation.question_result import questions_result
    from scenecypher.evaluation.questions import questions as task

    return Experiment(task, questions_result)


def memory() -> Experiment:
    """Questions about what happened."""
    from scenecypher.evaluation.memory import memory as task
    from scenecypher.evaluation.question_result import questions_result

    return Experiment(task, questions_result)


def dynamic() -> Experiment:
    """LookPlanGraph's dynamic worlds."""
    from scenecypher.evaluation.dynamic import dynamic as task

    return _played(task)


def augmentation() -> Experiment:
    """LookPlanGraph's graph augmentation."""
    from scenecypher.evaluation.augmentation import augmentation as task
    from scenecypher.evaluation.augmentation_result import augmentation_result

    return Experiment(task, augmentation_result)


def grasif() -> Experiment:
    """LookPlanGraph's GraSIF, and its ablations."""
    from scenecypher.evaluation.grasif import grasif as task

    return _played(task)


def realworld() -> Experiment:
    """LookPlanGraph's office."""
    from scenecypher.evaluation.realworld import realworld as task

    return _played(task)


def babyai() -> Experiment:
    """BabyAI of SG2 and SG-RwR."""
    from scenecypher.evaluation.babyai import babyai as task

    return _played(task)


def household() -> Experiment:
    """VirtualHome's homes of SG2 and SG-RwR."""
    from scenecypher.evaluation.household import household as task

    return _played(task)


def goals() -> Experiment:
    """Goals that people state."""
    from scenecypher.evaluation.goals import goals as task

    return _played(task)


def babyai_slm() -> Experiment:
    """SG2's small models."""
    from scenecypher.evaluation.babyai_slm import babyai_slm as task

    return _played(task)


def ssc() -> Experiment:
    """Structured Self-Consistency."""
    from scenecypher.evaluation.eai.live import ssc as task
    from scenecypher.evaluation.eai.live_report import ssc_result

    return Experiment(task, ssc_result)


def _played(task: Callable[..., Any]) -> Experiment:
    from scenecypher.evaluation.episodes_result import played_result

    return Experiment(task, played_result)


EXPERIMENTS: Final[dict[str, Callable[[], Experiment]]] = {
    "questions": questions,
    "memory": memory,
    "dynamic": dynamic,
    "augmentation": augmentation,
    "grasif": grasif,
    "realworld": realworld,
    "babyai": babyai,
    "household": household,
    "goals": goals,
    "babyai-slm": babyai_slm,
    "ssc": ssc,
}
"""Experiments by name, in the order of the help."""


def experiment_name(task: str) -> str:
    """Return the name of the experiment of a command, or of a task in a log. Raises InputError."""
    own = task.rpartition("/")[2].replace("_", "-")
    if own not in EXPERIMENTS:
        raise InputError(f"there is no experiment {own[:60]!r}{did_you_mean(own[:60], tuple(EXPERIMENTS))}")
    return own


def experiment_named(task: str) -> Experiment:
    """Return the experiment of a command, or of a task in a log. Raises InputError."""
    return EXPERIMENTS[experiment_name(task)]()
