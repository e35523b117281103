"""Inspect task of all experiments in which methods play; a sample is one task, one method and its options."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from inspect import Signature, signature
from threading import Lock
from typing import Any, Final, Protocol, cast

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import CORRECT, INCORRECT, Score, accuracy, grouped, stderr
from inspect_ai.solver import TaskState

from scenecypher.chat.model import Model
from scenecypher.errors import InputError
from scenecypher.evaluation.attempts import measured_task
from scenecypher.evaluation.episode import EpisodePlan, Trace
from scenecypher.evaluation.experiment import Experiment
from scenecypher.evaluation.measures import figures
from scenecypher.evaluation.playing import play
from scenecypher.evaluation.prompt_version import prompt_version
from scenecypher.evaluation.replies import LIVE, REFERENCE, ModelSource
from scenecypher.evaluation.world_pool import WorldPool
from scenecypher.planner.methods import recipe_named

VERSION: Final = 4
"""Version of tasks, play and scoring; results of different versions are not comparable."""
EPISODE: Final = "episode"
TRACE: Final = "trace"
SCORER: Final = "plan_execution"


class PlayedTask(Protocol):
    """Inspect task of an experiment, with the function that plans it."""

    plan: Callable[..., Experiment]

    def __call__(self, *, replies: str = LIVE, record: str = "", **options: Any) -> Task:
        """Return the task."""
        ...


def played(plan: Callable[..., Experiment]) -> PlayedTask:
    """Return the Inspect task, for `@task`, that plays what `plan` plans: its arguments, `replies` and `record`."""

    @wraps(plan)
    def make(*, replies: str = LIVE, record: str = "", **options: Any) -> Task:
        source = ModelSource(replies, record=record)
        return episodes_task(plan(**options), source)

    own, more = (signature(each).parameters.values() for each in (plan, PlayedTask.__call__))
    given = [one for one in (*own, *more) if one.name not in {"self", "options"}]
    make.__dict__.update(plan=plan, __signature__=Signature(given))
    return cast("PlayedTask", make)


def episodes_task(experiment: Experiment, replies: ModelSource, *, pool: WorldPool | None = None) -> Task:
    """Return the task whose samples are the experiment's episodes; each is independent of the others.

    Episodes with a person run one at a time, whatever the number of parallel samples. Raises InputError if no episode
    can be played.
    """
    samples = [_sample(one, experiment.assignments.aim(one)) for one in experiment.episodes()]
    if not samples:
        raise InputError(
            f"{experiment.name}: none of the chosen rows can be played; "
            "name a model with --model, or choose other rows with --method"
        )
    worlds, person = pool or WorldPool(), Lock()

    def work(state: TaskState, model: Model) -> dict[str, Any]:
        episode = _episode(state)
        with person if episode.eyes == "person" else nullcontext():
            trace = play(worlds, experiment.assignments, episode, model=model)
        state.output.completion = trace.answer or "\n".join(trace.executed)
        return trace.model_dump(mode="json")

    def sources(state: TaskState) -> ModelSource:
        episode = _episode(state)
        asks = (recipe_named(episode.method).model and not episode.player) or episode.eyes == "person"
        return replies if asks else ModelSource(REFERENCE)

    return measured_task(
        experiment.name,
        samples,
        work=work,
        judge=_plan_execution,
        found=TRACE,
        scored=SCORER,
        metrics=[accuracy(), stderr(), grouped(accuracy(), "row", all=False)],
        version=VERSION,
        prompts=prompt_version(),
        replies=sources,
    )


def _plan_execution(state: TaskState, found: dict[str, Any]) -> Score:
    """Score an episode's success as its paper defines it; all figures are in the score's metadata."""
    episode, trace = _episode(state), Trace.model_validate(found)
    counted = figures(episode, trace)
    return Score(
        value=CORRECT if counted[success_figure(episode)] else INCORRECT,
        answer=trace.answer or "\n".join(trace.executed),
        explanation=f"{trace.outcome}: {trace.reason}",
        metadata={"figures": counted},
    )


def success_figure(episode: EpisodePlan) -> str:
    """Return the name of the figure that decides success.

    A plan with infeasible actions is no success, unless a person judges.
    """
    return "done" if episode.marking == "person" else "success"


def _episode(state: TaskState) -> EpisodePlan:
    return EpisodePlan.model_validate(state.metadata[EPISODE])


def _sample(episode: EpisodePlan, aim: str) -> Sample:
    return Sample(
        id=episode.id,
        input=f"{episode.task} by {episode.row}",
        target=aim,
        metadata={"row": f"{episode.group}/{episode.row}", EPISODE: episode.model_dump(mode="json")},
    )
