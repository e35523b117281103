"""The experiment `augmentation` as an Inspect task: pictures read into subgraphs (LookPlanGraph, Table III).

`inspect eval evaluation/augmentation.py --model PROVIDER/NAME -T folder=DIR`, or `scenecypher eval augmentation`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, Literal

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.scorer import Score, mean, stderr
from inspect_ai.solver import TaskState

from scenecypher.chat.model import Model
from scenecypher.evaluation.attempts import measured_task
from scenecypher.evaluation.options import take_of_each
from scenecypher.evaluation.picture_samples import GOLD, SIMULATED_OBSERVER, score_reading, score_simulation
from scenecypher.evaluation.published import data_columns, published_rows
from scenecypher.evaluation.replies import LIVE, REFERENCE, ModelSource, prompt_version
from scenecypher.evaluation.result import Cell, ExperimentResult, Row, Table, TableSetting, Trial
from scenecypher.evaluation.run_result import LoggedSample, Run, mean_cell, share_cell
from scenecypher.evaluation.views import ViewFile, bundled_views, read_views
from scenecypher.planner.perception.truth import Noise

VERSION: Final = 2
"""Version of prompts and scoring; results of different versions are not comparable."""
SIMULATED: Final = "simulated"
SCORER: Final = "subgraph_match"
NOISE: Final = Noise()
FIGURES: Final = ("nodes", "edges", "exact")


@task
def augmentation(
    *,
    folder: str = "",
    replies: str = LIVE,
    record: str = "",
    simulated: int = 0,
    limit: int = 0,
    seed: int | None = None,
) -> Task:
    """Return the task of reading pictures that have gold subgraphs.

    `folder` holds the pictures; by default these are the bundled renderings of MiniGrid. `replies` is `live`,
    `reference` (the gold), `simulated` (an observer whose mistakes have the seed `simulated`; both use neither model
    nor what the picture shows) or a cassette file. Live replies are appended to the new cassette
    `record`. `limit` and `seed` as in `take_of_each`, over the sets of pictures. Raises InputError.
    """
    files = read_views(Path(folder) if folder else bundled_views())
    views = {file.name: file for file in take_of_each(files, limit, seed, kind=lambda file: file.view.set)}
    noise = {SIMULATED: NOISE, REFERENCE: GOLD}.get(replies)
    source = ModelSource.open(REFERENCE if noise else replies, record=record)

    def work(state: TaskState, model: Model) -> dict[str, Any]:
        file = views[str(state.sample_id)]
        seen = score_simulation(file, noise=noise, seed=simulated) if noise else score_reading(file, model)
        state.output.completion = seen["description"]
        return {"set": file.view.set, "size": len(file.view.gold)} | seen

    return measured_task(
        "augmentation",
        [*map(_sample, views.values())],
        work=work,
        judge=subgraph_match,
        found="seen",
        scored=SCORER,
        metrics={name: [mean(), stderr()] for name in FIGURES},
        version=VERSION,
        prompts=prompt_version(),
        replies=lambda _: source,
    )


def subgraph_match(_: TaskState, seen: dict[str, Any]) -> Score:
    """Score the F1 of nodes, the F1 of edges, and the exact match with the gold subgraph.

    The explanation is the description, then a line each for missed, superfluous, and lost hidden things.
    """
    headings = {"missed": "missed", "invented": "too many", "lost": "lost, though the pictures can't show it"}
    mistakes = {words: seen["mistakes"].get(kind) for kind, words in headings.items()}
    found = [f"{words}: {', '.join(things)}" for words, things in mistakes.items() if things]
    return Score(
        value={name: float(seen[name]) for name in FIGURES},
        answer=", ".join(seen["parts"]),
        explanation="\n".join([seen["description"], *(found or ["nothing was missed, and nothing is too many"])]),
        metadata=seen,
    )


def _sample(file: ViewFile) -> Sample:
    view = file.view
    question = f"What is on or in {view.asset.name}? {', '.join(view.images)}"
    target = ", ".join(f"{it.name} {it.relation} {it.related_to}" for it in view.gold) or "nothing"
    return Sample(id=file.name, input=question, target=target, metadata={"set": view.set})


TABLE: Final = "augmentation"
ALL: Final = "all"
OTHER_PICTURES: Final = (
    "The published rows are of pictures from VirtualHome and OmniGibson, which are not public; these are others, "
    "and compare only in kind."
)
SIMULATED_NOTE: Final = (
    "A simulated observer: the gold subgraph with seeded mistakes, no picture and no model. It is no reading of Table "
    "III and stands beside no published figure."
)
REFERENCE_NOTE: Final = (
    "The gold subgraphs themselves, seen without mistakes: this checks the set-up only, and measures no model."
)
OF_PROGRAMS: Final[Mapping[str, tuple[str, str]]] = {
    SIMULATED: (SIMULATED_OBSERVER, SIMULATED_NOTE),
    REFERENCE: (REFERENCE, REFERENCE_NOTE),
}
"""Labels and notes of runs in which no model reads, by the source of their replies."""


def augmentation_result(log: EvalLog) -> ExperimentResult:
    """Return the result of one run's log; samples that failed count as zeros."""
    run = Run.read(log, SCORER)
    source, seed = str(run.arguments.get("replies")), int(run.arguments.get("simulated", 0))
    is_read, is_simulated = bool(run.sources & {"live", "recorded"}), source == SIMULATED
    paper, number, rows = published_rows("lookplangraph", "III") if is_read else ("", "", ())
    label, *notes = OF_PROGRAMS.get(source, (run.model,))
    noise = ", ".join(f"{name} {chance}" for name, chance in asdict(NOISE).items())
    own = (TableSetting(name="noise", value=f"{noise}; seed {seed}"),) if is_simulated else ()
    table = Table(
        key=TABLE,
        title="Graph augmentation",
        columns=data_columns(TABLE),
        rows=tuple(_rows(run, label, kind="paper" if is_read else "ours")),
        published=rows,
        paper=paper,
        paper_table=number,
        settings=(*run.settings("lookplangraph-3"), *own),
        notes=(OTHER_PICTURES,) if is_read else (),
    )
    return run.result(
        TABLE,
        "Pictures read into subgraphs",
        [table],
        map(_trial, run.samples),
        notes=(*notes, *run.error_notes, *run.limit_notes),
        seeds=(seed,) if is_simulated else (),
    )


def _trial(one: LoggedSample) -> Trial:
    """Return a sample as a trial; one without a score failed and is 0 in every figure."""
    found = one.found
    kept = {} if found.get("kept") is None else {"kept": found["kept"]}
    return one.trial(
        table=TABLE,
        method=_set(one),
        nodes=found.get("size"),
        outcome=str(found.get("outcome", "")),
        success=bool(found.get("exact")),
        mistakes=found.get("slips", {}),
        figures={name: float(found.get(name, 0)) for name in FIGURES} | kept,
    )


def _set(one: LoggedSample) -> str:
    return str(one.metadata.get("set", ALL))


def _rows(run: Run, label: str, *, kind: Literal["paper", "ours"]) -> Iterator[Row]:
    """Yield a row for each set of pictures, then one for all."""
    sets = sorted({_set(one) for one in run.samples})
    for name in sets if len(sets) < 2 else (*(one for one in sets if one != ALL), ALL):
        group = [one for one in run.samples if name in {_set(one), ALL}]
        trials = [*map(_trial, group)]
        lost = sum(it.outcome == "unreadable" for it in trials)
        note = f"{lost} of {len(group)} replies could not be read, and count as 0" if lost else ""
        row = Row(method="two-stage", label=label, options={"pictures": name}, kind=kind, note=note)
        yield run.row(row.model_copy(update={"cells": _cells(trials)}), group)


def _cells(group: Sequence[Trial]) -> dict[str, Cell]:
    figures = {name: [it.figures[name] for it in group if name in it.figures] for name in ("nodes", "edges", "kept")}
    means = {name: mean_cell(values) for name, values in figures.items() if values}
    exact = share_cell(sum(trial.success for trial in group), len(group))
    return {**means, "pictures": Cell(value=len(group)), "exact": exact}
