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


def our_parts(name: str) -> ExperimentParts:
    """Return the parts of one of our experiments."""
    from scenecypher.evaluation.augmentation import augmentation, augmentation_result
    from scenecypher.evaluation.babyai import babyai, babyai_slm
    from scenecypher.evaluation.dynamic import dynamic
    from scenecypher.evaluation.eai.live import ssc, ssc_result
    from scenecypher.evaluation.episodes import played_result
    from scenecypher.evaluation.goals import goals, unclear
    from scenecypher.evaluation.grasif import grasif, realworld
    from scenecypher.evaluation.household import household
    from scenecypher.evaluation.questions import memory, questions, questions_result
    from scenecypher.evaluation.rules import rules, rules_result

    played = (babyai, babyai_slm, dynamic, goals, grasif, household, realworld, unclear)
    results: dict[Any, Callable[[EvalLog], ExperimentResult]] = {
        questions: questions_result,
        memory: questions_result,
        augmentation: augmentation_result,
        rules: rules_result,
        ssc: ssc_result,
        **{task: played_result(task) for task in played},
    }
    return next(ExperimentParts(task, of) for task, of in results.items() if experiment_name(task.__name__) == name)


def experiment_name(task: str) -> str:
    """Return the name of the experiment of a task in a log."""
    return task.rpartition("/")[2].replace("_", "-")
