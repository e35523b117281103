"""The experiment `eai` as an Inspect task: recorded outputs for the Embodied Agent Interface, scored by our database.

`inspect eval evaluation/eai/recorded.py -T task=action-sequencing`, or `scenecypher eval eai --recorded`. No model is
asked: a sample is one recorded output.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, grouped, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from scenecypher.errors import InputError
from scenecypher.evaluation.attempts import attempt
from scenecypher.evaluation.eai.recordings import check_model, fetch_recordings, read_recordings, recorded_model_names
from scenecypher.evaluation.eai.scoring import OutputScorer
from scenecypher.evaluation.eai.task_table import ALL, EAI_TASKS, tasks_named
from scenecypher.evaluation.eai.transition import PLANNED
from scenecypher.evaluation.options import take_spread
from scenecypher.settings import Settings

VERSION: Final = 1
"""Version of grounding and scoring; results of different versions are not comparable."""
JUDGEMENT: Final = "judgement"
SCORER: Final = "as_published"
BLOCK: Final = 32
"""Tasks that all models are scored on before the next block, which bounds the scenes in use at a time."""
GOOD: Final = ("executed", "correct")


@task
def eai(
    *,
    task: str = ALL,
    model: str = "",
    limit: int = 0,
    seed: int | None = None,
    wheel: str = "",
    plans: int = PLANNED,
) -> Task:
    """Return the task of scoring recorded outputs, of one task or all, and of one model or all.

    `limit` is the number of tasks of each (0: all), spread evenly, or drawn by `seed`. `plans` is the number of a
    model's outputs that are planned with in transition modelling (0: all). `wheel` is the file of recordings; without
    one it is downloaded from PyPI once.
    Raises InputError, ServiceError.
    """
    tasks = tasks_named(task)
    path = Path(wheel) if wheel else fetch_recordings(Settings().home.expanduser(), tell=lambda _: None)
    if model:
        check_model(model, recorded_model_names(path))
    scorers: dict[str, OutputScorer] = {one.name: one.make_scorer(plans or None) for one in tasks}
    samples = [
        sample
        for name, one in scorers.items()
        for sample in _samples(name, take_spread(one.task_ids(), limit, seed), path, model)
    ]
    if not samples:
        raise InputError(f"{path} has no outputs for {', '.join(scorers)}; give another file with --recordings WHEEL")
    return Task(
        dataset=MemoryDataset(samples, name="eai"),
        solver=judge_output(scorers),
        scorer=as_published(),
        name="eai",
        version=VERSION,
        fail_on_error=False,
    )


@solver
def judge_output(scorers: Mapping[str, OutputScorer]) -> Solver:
    """Score the sample's output in a worker thread and store the judgement in the sample's metadata."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - nothing is generated
        metadata = state.metadata
        output = state.input_text if metadata["answered"] else None
        judge = partial(scorers[metadata["task"]].score, metadata["task_id"], output)
        metadata[JUDGEMENT] = dict(await attempt(state, judge))
        return state

    return solve


@scorer(metrics=[accuracy(), grouped(accuracy(), "model", all=False)], name=SCORER)
def as_published() -> Scorer:
    """Score 1 if the output was executed, or parsed to its end; the full judgement is in the metadata."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - the goals are the task's
        judged: dict[str, Any] = state.metadata[JUDGEMENT]
        outcome = str(judged.get("outcome", "read" if judged.get("parsed", True) else "unread"))
        is_good = outcome in (*GOOD, "read")
        return Score(value=CORRECT if is_good else INCORRECT, answer=outcome, metadata=judged)

    return score


def _samples(task: str, ids: Sequence[str], wheel: Path, model: str) -> Iterator[Sample]:
    """Yield the samples block by block, model after model in each; a task without an output is a sample too."""
    found = read_recordings(task, wheel)
    outputs = {name: {one.task_id: one.output for one in rows} for name, rows in found.items() if model in {"", name}}
    for start in range(0, len(ids), BLOCK):
        for name, by_id in outputs.items():
            for task_id in ids[start : start + BLOCK]:
                yield _sample(task, name, task_id, by_id.get(task_id))


def _sample(task: str, model: str, task_id: str, output: str | None) -> Sample:
    return Sample(
        id=f"{task}/{model}/{task_id}",
        input=output or "(nothing)",
        target=EAI_TASKS[task].target(task_id),
        metadata={"task": task, "model": model, "task_id": task_id, "answered": bool(output)},
    )
