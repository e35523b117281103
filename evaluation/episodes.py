"""The Inspect task of every experiment in which a method plays: a sample is one task, one method, its options."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from typing import Final

from anyio import Lock, to_thread
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, grouped, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from scenecypher.chat.model import Model
from scenecypher.errors import InputError
from scenecypher.evaluation.assignments import AssignmentCache
from scenecypher.evaluation.episode import EpisodePlan, Trace
from scenecypher.evaluation.experiment import Experiment
from scenecypher.evaluation.inspect_model import InspectModel
from scenecypher.evaluation.measures import figures
from scenecypher.evaluation.playing import play
from scenecypher.evaluation.prompt_version import METADATA_KEY, prompt_version
from scenecypher.evaluation.replies import ModelSource
from scenecypher.evaluation.world_pool import WorldPool
from scenecypher.planner.methods import recipe_named
from scenecypher.planner.staging import NoModel

VERSION: Final = 3
"""Of tasks, play and scoring together: results of different versions are not compared."""
EPISODE: Final = "episode"
TRACE: Final = "trace"
SCORER: Final = "plan_execution"


def episodes_task(experiment: Experiment, replies: ModelSource, *, stage: WorldPool | None = None) -> Task:
    """The task: each of the experiment's episodes is a sample, and stands on no other's result.

    Raises InputError where none can be played.
    """
    samples = [_sample(one) for one in experiment.episodes()]
    if not samples:
        raise InputError(f"nothing of {experiment.name} can be played so: name a model with --model, or other methods")
    return Task(
        dataset=MemoryDataset(samples, name=experiment.name),
        solver=play_episode(experiment.book, replies, stage or WorldPool()),
        scorer=plan_execution(),
        name=experiment.name,
        version=VERSION,
        metadata={METADATA_KEY: prompt_version()},
        fail_on_error=False,
    )


@solver
def play_episode(book: AssignmentCache, replies: ModelSource, stage: WorldPool) -> Solver:
    """Play the sample's episode in a worker thread; the trace of it goes to the sample's metadata.

    A person plays one at a time, however many samples run.
    """
    person = Lock()

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - the method asks itself
        episode = EpisodePlan.model_validate(state.metadata[EPISODE])
        model = _model(episode, replies)
        turn: AbstractAsyncContextManager[None] = person if episode.eyes == "person" else nullcontext()
        async with turn:
            trace = await to_thread.run_sync(partial(play, stage, book, episode, model=model))
        state.metadata[TRACE] = trace.model_dump(mode="json")
        state.output.completion = trace.answer or "\n".join(trace.executed)
        return state

    return solve


@scorer(metrics=[accuracy(), stderr(), grouped(accuracy(), "row", all=False)], name=SCORER)
def plan_execution() -> Scorer:
    """Whether the executed plan is a success as the sample's paper has it; all its figures are in the metadata."""

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
    """The figure that is an episode's success: with LookPlanGraph's goals nothing infeasible may be in the plan."""
    return "success" if episode.marking == "goal" and not episode.outcome_only else "done"


def _model(episode: EpisodePlan, replies: ModelSource) -> Model:
    if not recipe_named(episode.method).model and episode.eyes != "person":
        return NoModel()
    live = InspectModel(get_model()) if replies.is_live else None
    return replies.of(episode.id, live, reference=NoModel())


def _sample(episode: EpisodePlan) -> Sample:
    return Sample(
        id=episode.id,
        input=f"{episode.task} by {episode.row}",
        metadata={"row": f"{episode.group}/{episode.row}", EPISODE: episode.model_dump(mode="json")},
    )
