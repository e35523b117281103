"""The experiment `augmentation` as an Inspect task: pictures read into subgraphs (LookPlanGraph, Table III).

`inspect eval evaluation/augmentation.py --model PROVIDER/NAME -T folder=DIR`, or `scenecypher eval augmentation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from scenecypher.errors import InputError
from scenecypher.evaluation.attempts import attempt_asking
from scenecypher.evaluation.augmentation_gold import GoldReader
from scenecypher.evaluation.options import take_of_each
from scenecypher.evaluation.picture_samples import score_reading, score_simulation
from scenecypher.evaluation.prompt_version import METADATA_KEY, prompt_version
from scenecypher.evaluation.replies import LIVE, ModelSource
from scenecypher.evaluation.views import GoldView, ViewFile, bundled_views, read_views
from scenecypher.planner.perception.truth import Noise

VERSION: Final = 2
"""Version of prompts and scoring; results of different versions are not comparable."""
SIMULATED: Final = "simulated"
READING: Final = "seen"
NOISE: Final = Noise()


@task
def augmentation(
    *,
    folder: str = "",
    replies: str = LIVE,
    record: str = "",
    simulated: int = 0,
    missed: float = NOISE.missed,
    mislabelled: float = NOISE.mislabelled,
    undercounted: float = NOISE.undercounted,
    limit: int = 0,
    seed: int | None = None,
) -> Task:
    """Return the task of reading pictures that have gold subgraphs.

    `folder` holds the pictures; by default these are the bundled renderings of MiniGrid. `replies` is `live`,
    `reference` (the gold answers, read by the same reader), `simulated` (an observer whose mistakes have the seed
    `simulated`; it uses neither model nor picture) or a cassette file. Live replies are appended to the new cassette
    `record`. `limit` and `seed` as in `take_of_each`, over the sets of pictures. Raises InputError.
    """
    _check(missed=missed, mislabelled=mislabelled, undercounted=undercounted)
    files = read_views(Path(folder) if folder else bundled_views())
    views = {file.name: file for file in take_of_each(files, limit, seed, kind=lambda file: file.view.set)}
    noise = Noise(missed, mislabelled, undercounted)
    return Task(
        dataset=MemoryDataset([*map(_sample, views.values())], name="augmentation"),
        solver=simulate_observer(views, noise, simulated)
        if replies == SIMULATED
        else read_pictures(views, ModelSource(replies, record=record)),
        scorer=subgraph_match(views),
        version=VERSION,
        metadata={METADATA_KEY: prompt_version()},
        fail_on_error=False,
    )


@solver(name="look")
def read_pictures(views: Mapping[str, ViewFile], replies: ModelSource) -> Solver:
    """Read a sample's picture in a worker thread and store the observed subgraph in the sample's metadata."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - the reader calls the model
        file = views[str(state.sample_id)]
        read = partial(score_reading, file)
        return _with_metadata(state, await attempt_asking(state, replies, read, reference=GoldReader(file.view)))

    return solve


@solver(name="simulate")
def simulate_observer(views: Mapping[str, ViewFile], noise: Noise, seed: int) -> Solver:
    """Observe the sample's gold subgraph with seeded mistakes."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - no model is asked
        return _with_metadata(state, score_simulation(views[str(state.sample_id)], noise=noise, seed=seed))

    return solve


@scorer(metrics={"nodes": [mean(), stderr()], "edges": [mean(), stderr()], "exact": [mean(), stderr()]})
def subgraph_match(views: Mapping[str, ViewFile]) -> Scorer:
    """Score the F1 of nodes, the F1 of edges, and the exact match with the gold subgraph."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - gold is in the view
        view, seen = views[str(state.sample_id)].view, state.metadata[READING]
        return Score(
            value={name: float(seen[name]) for name in ("nodes", "edges", "exact")},
            answer=", ".join(seen["parts"]),
            explanation=_explanation(seen),
            metadata={"set": view.set, "size": len(view.gold)} | seen,
        )

    return score


def _with_metadata(state: TaskState, seen: dict[str, Any]) -> TaskState:
    state.metadata[READING] = seen
    state.output.completion = str(seen["description"])
    return state


def _explanation(seen: Mapping[str, Any]) -> str:
    """Return the description, then a line each for missed, superfluous, and lost hidden things."""
    headings = {"missed": "missed", "invented": "too many", "lost": "lost, though the pictures can't show it"}
    mistakes = {words: seen["mistakes"].get(kind) for kind, words in headings.items()}
    found = [f"{words}: {', '.join(things)}" for words, things in mistakes.items() if things]
    return "\n".join([seen["description"], *(found or ["nothing was missed, and nothing is too many"])])


def _target(view: GoldView) -> str:
    return ", ".join(f"{it.name} {it.relation} {it.related_to}" for it in view.gold) or "nothing"


def _sample(file: ViewFile) -> Sample:
    view = file.view
    question = f"What is on or in {view.asset.name}? {', '.join(view.images)}"
    return Sample(id=file.name, input=question, target=_target(view), metadata={"set": view.set})


def _check(**chances: float) -> None:
    for name, chance in chances.items():
        if not 0 <= chance <= 1:
            raise InputError(f"{name} can't be {chance}; give a chance from 0 to 1")
