"""The parts of each experiment: Inspect's task and the result of its log, imported when they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

    from scenecypher.evaluation.result import ExperimentResult


class ExperimentParts(NamedTuple):
    """`task` returns Inspect's task, `result` the result of its log; they raise InputError.

    Arguments `limit` and `seed` of each task choose a part of it.
    """

    task: Callable[..., Any]
    result: Callable[[EvalLog], ExperimentResult]


def questions() -> ExperimentParts:
    """Questions about scenes."""
    from scenecypher.evaluation.questions import questions as task
    from scenecypher.evaluation.questions import questions_result

    return ExperimentParts(task, questions_result)


def memory() -> ExperimentParts:
    """Questions about what happened."""
    from scenecypher.evaluation.memory import memory as task
    from scenecypher.evaluation.questions import questions_result

    return ExperimentParts(task, questions_result)


def dynamic() -> ExperimentParts:
    """LookPlanGraph's dynamic worlds."""
    from scenecypher.evaluation.dynamic import dynamic as task

    return _played(task)


def augmentation() -> ExperimentParts:
    """LookPlanGraph's graph augmentation."""
    from scenecypher.evaluation.augmentation import augmentation as task
    from scenecypher.evaluation.augmentation import augmentation_result

    return ExperimentParts(task, augmentation_result)


def grasif() -> ExperimentParts:
    """LookPlanGraph's GraSIF, and its ablations."""
    from scenecypher.evaluation.grasif import grasif as task

    return _played(task)


def realworld() -> ExperimentParts:
    """LookPlanGraph's office."""
    from scenecypher.evaluation.realworld import realworld as task

    return _played(task)


def babyai() -> ExperimentParts:
    """BabyAI of SG2 and SG-RwR."""
    from scenecypher.evaluation.babyai import babyai as task

    return _played(task)


def household() -> ExperimentParts:
    """VirtualHome's homes of SG2 and SG-RwR."""
    from scenecypher.evaluation.household import household as task

    return _played(task)


def goals() -> ExperimentParts:
    """Goals that people state."""
    from scenecypher.evaluation.goals import goals as task

    return _played(task)


def unclear() -> ExperimentParts:
    """Instructions that leave open what is meant."""
    from scenecypher.evaluation.unclear import unclear as task

    return _played(task)


def babyai_slm() -> ExperimentParts:
    """SG2's small models."""
    from scenecypher.evaluation.babyai_slm import babyai_slm as task

    return _played(task)


def rules() -> ExperimentParts:
    """Hazards and harmless tasks under rules of a house."""
    from scenecypher.evaluation.rules import rules as task
    from scenecypher.evaluation.rules import rules_result

    return ExperimentParts(task, rules_result)


def ssc() -> ExperimentParts:
    """Structured Self-Consistency."""
    from scenecypher.evaluation.eai.live import ssc as task
    from scenecypher.evaluation.eai.live_report import ssc_result

    return ExperimentParts(task, ssc_result)


def _played(task: Callable[..., Any]) -> ExperimentParts:
    from scenecypher.evaluation.episodes_result import played_result

    return ExperimentParts(task, played_result(task))


def experiment_name(task: str) -> str:
    """Return the name of the experiment of a task in a log."""
    return task.rpartition("/")[2].replace("_", "-")
