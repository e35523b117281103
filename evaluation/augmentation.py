"""The experiment `augmentation`: how well pictures become subgraphs (LookPlanGraph, Table III). An Inspect task.

`inspect eval evaluation/augmentation.py --model PROVIDER/NAME -T folder=DIR`, or `scenecypher eval augmentation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from anyio import to_thread
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from chat.model import Model
from evaluation.augmentation_truth import SIMULATED_OBSERVER, GoldObserver, GoldReader, classes_of
from evaluation.heard import Heard
from evaluation.inspect_model import InspectModel
from evaluation.replies import LIVE, REFERENCE, Replies
from evaluation.subgraphs import STEP, Likeness, Part, gold_parts, likeness, seen_parts, slips
from evaluation.views import VOCABULARY, Taken, View, belief_of, read_views, shipped
from planner.perception.naming import known_of
from planner.perception.truth import Noise, NoisyObserver
from planner.perception.vision import read_image
from scenecypher.errors import InputError, ReplyRejected

VERSION: Final = 1
"""Of prompts and scoring together: results of different versions are not compared."""
SIMULATED: Final = "simulated"
SEEN: Final = "seen"
NOISE: Final = Noise()


@dataclass(frozen=True, slots=True)
class Looking:
    """How pictures are read: by a model, or by a simulated observer with this noise and seed."""

    replies: Replies
    noise: Noise
    seed: int


@task
def augmentation(
    *,
    folder: str = "",
    replies: str = LIVE,
    record: str = "",
    seed: int = 0,
    missed: float = NOISE.missed,
    mislabelled: float = NOISE.mislabelled,
    undercounted: float = NOISE.undercounted,
) -> Task:
    """Pictures with gold subgraphs: those of `folder`, by default the rendered MiniGrid views that come along.

    `replies` is live, reference (the gold itself, through the same reader), simulated (an observer with seeded
    mistakes; no model and no picture) or a cassette's file; live ones are appended to the new cassette `record`.
    Raises InputError.
    """
    _check(missed=missed, mislabelled=mislabelled, undercounted=undercounted)
    views = {taken.name: taken for taken in read_views(Path(folder) if folder else shipped())}
    tape = Replies(REFERENCE if replies == SIMULATED else replies, record=record)
    looking = Looking(tape, Noise(missed, mislabelled, undercounted), seed)
    return Task(
        dataset=MemoryDataset([_sample(taken) for taken in views.values()], name="augmentation"),
        solver=look(views, looking, is_simulated=replies == SIMULATED),
        scorer=subgraph_match(views),
        version=VERSION,
        fail_on_error=False,
    )


@solver
def look(views: Mapping[str, Taken], looking: Looking, *, is_simulated: bool) -> Solver:
    """Look at a sample's picture in a worker thread; what was seen is in the sample's metadata."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - the reader asks itself
        taken = views[str(state.sample_id)]
        if is_simulated:
            state.metadata[SEEN] = _simulated(taken, looking)
        else:
            live = InspectModel(get_model()) if looking.replies.is_live else None
            model = looking.replies.of(taken.name, live, reference=GoldReader(taken.view))
            state.metadata[SEEN] = await to_thread.run_sync(partial(_read, taken, model))
        state.output.completion = str(state.metadata[SEEN]["description"])
        return state

    return solve


@scorer(metrics={"nodes": [mean(), stderr()], "edges": [mean(), stderr()], "exact": [mean(), stderr()]})
def subgraph_match(views: Mapping[str, Taken]) -> Scorer:
    """F1 of nodes, F1 of edges, and whether all is as in the gold subgraph."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - gold is in the view
        view, seen = views[str(state.sample_id)].view, state.metadata[SEEN]
        return Score(
            value={name: float(seen[name]) for name in ("nodes", "edges", "exact")},
            answer=", ".join(seen["parts"]),
            explanation=seen["description"],
            metadata={"set": view.set, "size": len(view.gold)} | seen,
        )

    return score


def _read(taken: Taken, model: Model) -> dict[str, Any]:
    """A reply that can't be read has seen nothing, and is counted."""
    view, heard = taken.view, Heard(model)
    known = known_of(belief_of(view), view.asset.name, vocabulary=VOCABULARY)
    try:
        reading = read_image(heard, taken.image(), known, step=STEP)
    except ReplyRejected as error:
        unread = _compared(view, ()) | asdict(Likeness(0.0, 0.0, exact=False))
        return unread | _told(str(error), heard) | {"outcome": "unreadable"}
    return _compared(view, seen_parts(view, reading.observation)) | _told(reading.description, heard)


def _simulated(taken: Taken, looking: Looking) -> dict[str, Any]:
    view = taken.view
    eyes = NoisyObserver(GoldObserver(view), seed=looking.seed, classes=classes_of(view), noise=looking.noise)
    seen = eyes.observe(view.asset.name, step=STEP)
    return _compared(view, seen_parts(view, seen)) | _told(SIMULATED_OBSERVER, None)


def _compared(view: View, parts: tuple[Part, ...]) -> dict[str, Any]:
    gold = gold_parts(view)
    like = likeness(view.asset.name, gold, parts)
    return asdict(like) | {
        "outcome": "same graph" if like.exact else "another graph",
        "parts": [f"{part.name} {part.relation} {part.parent}" if part.parent else part.name for part in parts],
        "slips": slips(gold, parts),
    }


def _told(words: str, heard: Heard | None) -> dict[str, Any]:
    return {
        "description": words,
        "source": heard.source if heard else "",
        "model": heard.model_name if heard else "",
        "tokens": heard.usage.total_tokens if heard else 0,
    }


def _sample(taken: Taken) -> Sample:
    view = taken.view
    return Sample(
        id=taken.name, input=f"What is on or in {view.asset.name}? {view.image}", target="", metadata={"set": view.set}
    )


def _check(**chances: float) -> None:
    for name, chance in chances.items():
        if not 0 <= chance <= 1:
            raise InputError(f"{name} can't be {chance}; give a chance from 0 to 1")
