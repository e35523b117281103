"""Votes over the recorded outputs of several models, compared with the best single model; ours, not the paper's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from random import Random
from types import MappingProxyType
from typing import Final, TypeAlias

from scenecypher.evaluation.eai.recordings import Recordings
from scenecypher.evaluation.eai.scoring import Judgement, OutputScorer
from scenecypher.evaluation.eai.task_table import EaiTask, value_of
from scenecypher.evaluation.ssc.voting import Form, is_decided, vote_on_forms

RESAMPLES: Final = 500
SUBSETS: Final = 10
"""Sets of models that each size of the sweep is averaged over."""
SIZES: Final = (1, 3, 5, 7, 9, 11, 13, 15)
SEED: Final = 0
WORKERS: Final = 4

Outputs: TypeAlias = Mapping[str, Mapping[str, str]]
"""Outputs by model, then by task."""


@dataclass(frozen=True, slots=True)
class JudgedOutputs:
    """Data of one task: its ids, and each model's outputs, their forms and their judgements."""

    task: EaiTask
    scorer: OutputScorer
    ids: Sequence[str]
    models: Sequence[str]
    outputs: Mapping[str, Sequence[str | None]]
    forms: Mapping[str, Sequence[Form | None]]
    judged: Mapping[str, Sequence[Judgement]]


@dataclass(frozen=True, slots=True)
class Candidate:
    """Way to choose or create an output."""

    name: str
    valid: int
    of: int
    used: float
    """Average number of outputs that a choice considered."""
    judged: Sequence[Judgement]


@dataclass(frozen=True, slots=True)
class BestModel:
    """Best single model in one figure; `draws` are resamples of tasks, `resampled` the figure of the best in each."""

    figure: str
    model: str
    percent: float
    draws: Sequence[Sequence[int]]
    resampled: Sequence[float]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Candidate against the best single model in one figure: the difference and its interval, in percentage points."""

    line: str
    figure: str
    voted: float
    best: float
    model: str
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """Verdict in words, by whether the interval contains zero."""
        if self.low > 0:
            return "beats the best single model"
        return (
            "is worse than the best single model" if self.high < 0 else "no clear difference: the interval contains 0"
        )


def judge_outputs(
    task: EaiTask,
    scorer: OutputScorer,
    recorded: Recordings,
    *,
    ids: Sequence[str],
    known: Mapping[tuple[str, str], Judgement] = MappingProxyType({}),
) -> JudgedOutputs:
    """Score every output for the tasks `ids` once, except those `known` by model and task; candidates choose of these.

    All models are scored on a task before the next one, so that its scene is read once; several tasks run in parallel.
    """
    canonical = task.form
    by = {model: {one.task_id: one.output for one in found} for model, found in recorded.items()}

    def judge(task_id: str) -> list[Judgement]:
        return [known.get((model, task_id)) or scorer.score(task_id, found.get(task_id)) for model, found in by.items()]

    with ThreadPoolExecutor(WORKERS) as pool:
        rows = list(pool.map(judge, ids))
    outputs = {model: [found.get(task_id) for task_id in ids] for model, found in by.items()}
    return JudgedOutputs(
        task=task,
        scorer=scorer,
        ids=ids,
        models=tuple(by),
        outputs=outputs,
        forms={model: [None if one is None else canonical(one) for one in found] for model, found in outputs.items()},
        judged={model: [row[at] for row in rows] for at, model in enumerate(by)},
    )


def single_models(of: JudgedOutputs) -> list[Candidate]:
    """Return each model as a candidate."""
    return [_candidate(of, model, of.judged[model], valid=_valid(of, model)) for model in of.models]


def vote_across_models(of: JudgedOutputs, models: Sequence[str] | None = None, *, name: str = "vote") -> Candidate:
    """Vote over the models' outputs by Algorithm 1, in the order of their names."""
    return _candidate(of, name, *_winning_judgements(of, models or of.models))


def vote_on_executable(of: JudgedOutputs, passes: Callable[[Judgement], bool], *, name: str) -> Candidate:
    """Vote over the outputs that a simulator executes; over all valid ones if it executes none."""
    found: list[Judgement] = []
    valid = 0
    for at in range(len(of.ids)):
        executable = [model for model in of.models if passes(of.judged[model][at])]
        winner = _winner(of, executable, at) or _winner(of, of.models, at)
        valid += winner is not None
        found.append(_judgement(of, winner, at))
    return _candidate(of, name, found, valid)


def merge_across_models(of: JudgedOutputs) -> Candidate:
    """Merge the models' outputs part by part, and score the result."""
    found: list[Judgement] = []
    valid = 0
    for at, task_id in enumerate(of.ids):
        made = of.task.merge([one for model in of.models if (one := of.outputs[model][at]) is not None])
        valid += made is not None
        found.append(_judgement_of_text(of, made, at) or of.scorer.score(task_id, made))
    return _candidate(of, f"merged by {of.task.merged_by}", found, valid)


def vote_with_early_stop(of: JudgedOutputs) -> Candidate:
    """Vote, but stop at the model after which the winner can't change: the same answers from fewer outputs."""
    used = sum(_votes_needed([of.forms[model][at] for model in of.models]) for at in range(len(of.ids)))
    judged, valid = _winning_judgements(of, of.models)
    return _candidate(of, "vote, early stop", judged, valid, used=used / max(1, len(of.ids)))


def sweep(of: JudgedOutputs, figure: str, *, sizes: Sequence[int] = SIZES) -> Iterator[tuple[int, float]]:
    """Yield the mean of a figure over seeded sets of models, for each size of set."""
    random = Random(SEED)  # noqa: S311 - a statistic
    for size in (one for one in sizes if one <= len(of.models)):
        sets = [of.models] if size == len(of.models) else [random.sample(of.models, size) for _ in range(SUBSETS)]
        found = [_percent(of, _winning_judgements(of, sorted(subset))[0], figure) for subset in sets]
        yield size, sum(found) / len(found)


def best_single(of: JudgedOutputs, figure: str) -> BestModel:
    """Return the model that is best in a figure, and the figure of the best model in each resample of tasks."""
    scores = {model: _percent(of, of.judged[model], figure) for model in of.models}
    best = max(scores, key=scores.__getitem__)
    random, ids = Random(SEED), range(len(of.ids))  # noqa: S311 - a statistic
    draws = [random.choices(ids, k=len(ids)) for _ in range(RESAMPLES)]
    found = [
        max(_percent(of, [judged[at] for at in drawn], figure) for judged in of.judged.values()) for drawn in draws
    ]
    return BestModel(figure, best, scores[best], draws, found)


def compare_with_best(of: JudgedOutputs, line: Candidate, best: BestModel) -> Comparison:
    """Compare with the best single model, over the same resamples of tasks."""
    ours = [_percent(of, [line.judged[at] for at in drawn], best.figure) for drawn in best.draws]
    gaps = sorted(mine - theirs for mine, theirs in zip(ours, best.resampled, strict=True))
    low, high = gaps[round(0.025 * (RESAMPLES - 1))], gaps[round(0.975 * (RESAMPLES - 1))]
    voted_for = _percent(of, line.judged, best.figure)
    return Comparison(line.name, best.figure, voted_for, best.percent, best.model, low, high)


def _winning_judgements(of: JudgedOutputs, models: Sequence[str]) -> tuple[list[Judgement], int]:
    winners = [_winner(of, models, at) for at in range(len(of.ids))]
    return [_judgement(of, winner, at) for at, winner in enumerate(winners)], sum(one is not None for one in winners)


def _winner(of: JudgedOutputs, models: Sequence[str], at: int) -> str | None:
    found = vote_on_forms([of.forms[model][at] for model in models]).winner
    return None if found is None else models[found]


def _judgement(of: JudgedOutputs, winner: str | None, at: int) -> Judgement:
    """Return the winner's judgement; if no output was valid, that of a missing one, which is a counted failure."""
    return of.scorer.score(of.ids[at], None) if winner is None else of.judged[winner][at]


def _judgement_of_text(of: JudgedOutputs, made: str | None, at: int) -> Judgement | None:
    """Return an existing judgement of the same text, if any."""
    return next((of.judged[model][at] for model in of.models if made and of.outputs[model][at] == made), None)


def _votes_needed(forms: Sequence[Form | None]) -> int:
    return next((count for count in range(1, len(forms)) if is_decided(forms[:count], len(forms))), len(forms))


def _valid(of: JudgedOutputs, model: str) -> int:
    return sum(form is not None for form in of.forms[model])


def _candidate(
    of: JudgedOutputs, name: str, judged: Sequence[Judgement], valid: int, *, used: float | None = None
) -> Candidate:
    outputs_used = used if used is not None else 1.0 if name in of.models else len(of.models)
    return Candidate(name, valid, len(of.ids), outputs_used, judged)


def _percent(of: JudgedOutputs, judged: Sequence[Judgement], figure: str) -> float:
    return value_of(of.scorer.figures(judged)[figure])
