"""The experiment `augmentation` as an Inspect task: pictures read into subgraphs (LookPlanGraph, Table III).

`inspect eval evaluation/augmentation.py --model PROVIDER/NAME -T folder=DIR`, or `scenecypher eval augmentation`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from scenecypher.errors import InputError
from scenecypher.evaluation.attempts import attempt_asking
from scenecypher.evaluation.options import take_of_each
from scenecypher.evaluation.picture_samples import SIMULATED_OBSERVER, GoldReader, score_reading, score_simulation
from scenecypher.evaluation.prompt_version import METADATA_KEY, prompt_version
from scenecypher.evaluation.published import data_columns, published_rows
from scenecypher.evaluation.replies import LIVE, REFERENCE, ModelSource
from scenecypher.evaluation.result import Cell, ExperimentResult, Row, Table, TableSetting, Trial
from scenecypher.evaluation.run_result import LoggedSample, Run, mean_cell, share_cell
from scenecypher.evaluation.views import ViewFile, bundled_views, read_views
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


def _sample(file: ViewFile) -> Sample:
    view = file.view
    question = f"What is on or in {view.asset.name}? {', '.join(view.images)}"
    target = ", ".join(f"{it.name} {it.relation} {it.related_to}" for it in view.gold) or "nothing"
    return Sample(id=file.name, input=question, target=target, metadata={"set": view.set})


def _check(**chances: float) -> None:
    for name, chance in chances.items():
        if not 0 <= chance <= 1:
            raise InputError(f"{name} can't be {chance}; give a chance from 0 to 1")


SCORER: Final = "subgraph_match"
TABLE: Final = "augmentation"
ALL: Final = "all"
COLUMNS: Final = data_columns(TABLE)
OTHER_PICTURES: Final = (
    "The published rows are of pictures from VirtualHome and OmniGibson, which are not public; these are others, "
    "and compare only in kind."
)
SIMULATED_NOTE: Final = (
    "A simulated observer: the gold subgraph with seeded mistakes, no picture and no model. It is no reading of Table "
    "III and stands beside no published figure."
)
REFERENCE_NOTE: Final = (
    "The gold subgraphs themselves, told as a model would: this checks the set-up only, and measures no model."
)


def augmentation_result(log: EvalLog) -> ExperimentResult:
    """Return the result of one run's log; samples that failed count as zeros."""
    run = Run.read(log, SCORER)
    arguments, source = run.arguments, str(run.arguments.get("replies"))
    is_read = bool(run.sources & {"live", "recorded"})
    paper, number, rows = published_rows("lookplangraph", "III") if is_read else ("", "", ())
    label = {SIMULATED: SIMULATED_OBSERVER, REFERENCE: REFERENCE}.get(source, run.model)
    table = Table(
        key=TABLE,
        title="Graph augmentation",
        columns=COLUMNS,
        rows=tuple(_rows(run, label, kind="paper" if is_read else "ours")),
        published=rows,
        paper=paper,
        paper_table=number,
        settings=(*run.settings("lookplangraph-3"), *_settings(arguments)),
        notes=(OTHER_PICTURES,) if is_read else (),
    )
    notes = {SIMULATED: (SIMULATED_NOTE,), REFERENCE: (REFERENCE_NOTE,)}.get(source, ())
    return run.result(
        TABLE,
        "Pictures read into subgraphs",
        [table],
        map(_trial, run.samples),
        notes=(*notes, *run.error_notes, *run.limit_notes),
        seeds=(_observer_seed(arguments),) if source == SIMULATED else (),
    )


def _trial(one: LoggedSample) -> Trial:
    """Return a sample as a trial; one without a score failed and is 0 in every figure."""
    found = one.found
    figures = {name: float(found.get(name, 0)) for name in ("nodes", "edges", "exact")}
    if found.get("kept") is not None:
        figures["kept"] = float(found["kept"])
    return one.trial(
        table=TABLE,
        method=_set(one),
        nodes=found.get("size"),
        outcome=str(found.get("outcome", "")),
        success=bool(figures["exact"]),
        mistakes=found.get("slips", {}),
        figures=figures,
    )


def _rows(run: Run, label: str, *, kind: Literal["paper", "ours"]) -> Iterator[Row]:
    sets = sorted({_set(one) for one in run.samples})
    for name in sets if len(sets) < 2 else (*(one for one in sets if one != ALL), ALL):
        group = [one for one in run.samples if name in {_set(one), ALL}]
        trials, options = [_trial(one) for one in group], {"pictures": name}
        cells, note = _cells(trials), _unreadable(trials)
        yield run.row(Row(method="two-stage", label=label, options=options, kind=kind, cells=cells, note=note), group)


def _set(one: LoggedSample) -> str:
    return str(one.metadata.get("set", ALL))


def _cells(group: Sequence[Trial]) -> dict[str, Cell]:
    figures = {name: [it.figures[name] for it in group if name in it.figures] for name in ("nodes", "edges", "kept")}
    means = {name: mean_cell(values) for name, values in figures.items() if values}
    exact = share_cell(sum(trial.success for trial in group), len(group))
    return {**means, "pictures": Cell(value=len(group)), "exact": exact}


def _unreadable(group: Sequence[Trial]) -> str:
    count = sum(trial.outcome == "unreadable" for trial in group)
    return f"{count} of {len(group)} replies could not be read, and count as 0" if count else ""


def _settings(arguments: Mapping[str, Any]) -> Iterator[TableSetting]:
    if arguments.get("replies") == SIMULATED:
        noise = ", ".join(f"{name} {arguments[name]}" for name in ("missed", "mislabelled", "undercounted"))
        yield TableSetting(name="noise", value=f"{noise}; seed {_observer_seed(arguments)}")


def _observer_seed(arguments: Mapping[str, Any]) -> int:
    """Return the seed of the simulated observer; older logs call it `seed`."""
    return int(arguments.get("simulated", arguments.get("seed")))
