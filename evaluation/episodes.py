"""Inspect task of all experiments in which methods play; a sample is one task, one method and its options."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import wraps
from inspect import Signature, signature
from typing import Any, Final, Protocol, cast

from anyio import Lock
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, grouped, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from scenecypher.errors import InputError
from scenecypher.evaluation.assignments import AssignmentCache
from scenecypher.evaluation.attempts import attempt_asking
from scenecypher.evaluation.episode import EpisodePlan, Trace
from scenecypher.evaluation.experiment import Experiment
from scenecypher.evaluation.measures import figures
from scenecypher.evaluation.playing import play
from scenecypher.evaluation.prompt_version import METADATA_KEY, prompt_version
from scenecypher.evaluation.replies import LIVE, REFERENCE, ModelSource
from scenecypher.evaluation.world_pool import WorldPool
from scenecypher.planner.methods import recipe_named
from scenecypher.planner.sessions.setup import NoModel

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

    Raises InputError if no episode can be played.
    """
    samples = [_sample(one, experiment.assignments.aim(one)) for one in experiment.episodes()]
    if not samples:
        raise InputError(
            f"{experiment.name}: none of the chosen rows can be played; "
            "name a model with --model, or choose other rows with --method"
        )
    return Task(
        dataset=MemoryDataset(samples, name=experiment.name),
        solver=play_episode(experiment.assignments, replies, pool or WorldPool()),
        scorer=plan_execution(),
        name=experiment.name,
        version=VERSION,
        metadata={METADATA_KEY: prompt_version()},
        fail_on_error=False,
    )


@solver
def play_episode(book: AssignmentCache, replies: ModelSource, stage: WorldPool) -> Solver:
    """Play the sample's episode in a worker thread and store its trace in the sample's metadata.

    Episodes with a person run one at a time, whatever the number of parallel samples.
    """
    person = Lock()

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - the method calls the model
        episode = EpisodePlan.model_validate(state.metadata[EPISODE])
        turn: AbstractAsyncContextManager[None] = person if episode.eyes == "person" else nullcontext()
        asks = (recipe_named(episode.method).model and not episode.player) or episode.eyes == "person"
        async with turn:
            trace = await attempt_asking(
                state,
                replies if asks else ModelSource(REFERENCE),
                lambda model: play(stage, book, episode, model=model),
                reference=NoModel(),
            )
        state.metadata[TRACE] = trace.model_dump(mode="json")
        state.output.completion = trace.answer or "\n".join(trace.executed)
        return state

    return solve


@scorer(metrics=[accuracy(), stderr(), grouped(accuracy(), "row", all=False)], name=SCORER)
def plan_execution() -> Scorer:
    """Score an episode's success as its paper defines it; all figures are in the score's metadata."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - the goal is the task's
        episode = EpisodePlan.model_validate(state.metadata[EPISODE])
        trace = Trace.model_validate(state.metadata[TRACE])
        found = figures(episode, trace)
        return Score(
            value=CORRECT if found[success_figure(episode)] else INCORRECT,
            answer=state.output.completion,
            explanation=f"{trace.outcome}: {trace.reason}",
            metadata={"figures": found},
        )

    return score


def success_figure(episode: EpisodePlan) -> str:
    """Return the name of the figure that decides success.

    A plan with infeasible actions is no success, unless a person judges.
    """
    return "done" if episode.marking == "person" else "success"


def _sample(episode: EpisodePlan, aim: str) -> Sample:
    return Sample(
        id=episode.id,
        input=f"{episode.task} by {episode.row}",
        target=aim,
        metadata={"row": f"{episode.group}/{episode.row}", EPISODE: episode.model_dump(mode="json")},
    )
