"""Ours, beside the paper: a vote over the recorded outputs of several models, set beside the best single one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from random import Random
from types import MappingProxyType
from typing import Final, TypeAlias

from scenecypher.evaluation.eai.recordings import Recordings, TaskName
from scenecypher.evaluation.eai.scoring import Figure, Judgement, OutputScorer
from scenecypher.evaluation.ssc.forms import FORMS
from scenecypher.evaluation.ssc.merging import KINDS, merge_samples
from scenecypher.evaluation.ssc.voting import Form, is_decided, vote_on_forms

RESAMPLES: Final = 500
SUBSETS: Final = 10
"""Sets of models that a size of the sweep is averaged over."""
SIZES: Final = (1, 3, 5, 7, 9, 11, 13, 15)
SEED: Final = 0
WORKERS: Final = 4

Outputs: TypeAlias = Mapping[str, Mapping[str, str]]
"""By model, then by task."""


@dataclass(frozen=True, slots=True)
class JudgedOutputs:
    """All of one task: its ids, and per model the outputs, their forms and what was judged of them."""

    task: TaskName
    scorer: OutputScorer
    ids: Sequence[str]
    models: Sequence[str]
    outputs: Mapping[str, Sequence[str | None]]
    forms: Mapping[str, Sequence[Form | None]]
    judged: Mapping[str, Sequence[Judgement]]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to choose or make an output, and its figures in percent by name."""

    name: str
    figures: Mapping[str, Figure]
    valid: int
    of: int
    used: float
    """Outputs that a choice looked at, on average."""
    judged: Sequence[Judgement]


@dataclass(frozen=True, slots=True)
class BestModel:
    """The best single model in one figure; `draws` are resamples of tasks, each with the figure of its own best."""

    figure: str
    model: str
    percent: float
    draws: Sequence[Sequence[int]]
    resampled: Sequence[float]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A line against the best single model, in one figure: the difference and its interval, in percentage points."""

    line: str
    figure: str
    voted: float
    best: float
    model: str
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """In words, by whether the interval holds zero."""
        if self.low > 0:
            return "beats the best single model"
        return "is worse than the best single model" if self.high < 0 else "neither beats it nor loses, by the interval"


def judge_outputs(
    task: TaskName,
    scorer: OutputScorer,
    recorded: Recordings,
    *,
    limit: int | None = None,
    known: Mapping[tuple[str, str], Judgement] = MappingProxyType({}),
) -> JudgedOutputs:
    """Score every output once, but what is `known` by model and task: all that follows only chooses among them.

    Task by task, all models after each other, so that a task's scene is read once; several tasks side by side.
    """
    ids, canonical = scorer.task_ids()[:limit], FORMS[task]
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
    """Each model by itself."""
    return [_candidate(of, model, of.judged[model], valid=_valid(of, model)) for model in of.models]


def vote_across_models(of: JudgedOutputs, models: Sequence[str] | None = None, *, name: str = "vote") -> Candidate:
    """Algorithm 1 over the models' outputs, in the order of their names."""
    return _candidate(of, name, *_winning_judgements(of, models or of.models))


def vote_on_executable(of: JudgedOutputs, passes: Callable[[Judgement], bool], *, name: str) -> Candidate:
    """The vote over those outputs that a simulator carries out; over all valid ones where it carries out none."""
    found: list[Judgement] = []
    valid = 0
    for at in range(len(of.ids)):
        executable = [model for model in of.models if passes(of.judged[model][at])]
        winner = _winner(of, executable, at) or _winner(of, of.models, at)
        valid += winner is not None
        found.append(_judgement(of, winner, at))
    return _candidate(of, name, found, valid)


def merge_across_models(of: JudgedOutputs) -> Candidate:
    """What the models agree on part by part, scored anew."""
    found: list[Judgement] = []
    valid = 0
    for at, task_id in enumerate(of.ids):
        made = merge_samples(of.task, [one for model in of.models if (one := of.outputs[model][at]) is not None])
        valid += made is not None
        found.append(_judgement_of_text(of, made, at) or of.scorer.score(task_id, made))
    return _candidate(of, f"merged by {KINDS[of.task]}", found, valid)


def vote_with_early_stop(of: JudgedOutputs) -> Candidate:
    """The same vote, which asks no further model once the winner is sure: the same answers for fewer outputs."""
    used = sum(_votes_needed([of.forms[model][at] for model in of.models]) for at in range(len(of.ids)))
    judged, valid = _winning_judgements(of, of.models)
    return _candidate(of, "vote, early stop", judged, valid, used=used / max(1, len(of.ids)))


def sweep(of: JudgedOutputs, figure: str, *, sizes: Sequence[int] = SIZES) -> Iterator[tuple[int, float]]:
    """The mean of a figure over seeded sets of so many models."""
    random = Random(SEED)  # noqa: S311 - a statistic
    for size in (one for one in sizes if one <= len(of.models)):
        sets = [of.models] if size == len(of.models) else [random.sample(of.models, size) for _ in range(SUBSETS)]
        found = [_percent(of, _winning_judgements(of, sorted(subset))[0], figure) for subset in sets]
        yield size, sum(found) / len(found)


def best_single(of: JudgedOutputs, figure: str) -> BestModel:
    """The model that is best in a figure, and how good the best one is in each resample of tasks."""
    scores = {model: _percent(of, of.judged[model], figure) for model in of.models}
    best = max(scores, key=scores.__getitem__)
    random, ids = Random(SEED), range(len(of.ids))  # noqa: S311 - a statistic
    draws = [random.choices(ids, k=len(ids)) for _ in range(RESAMPLES)]
    found = [
        max(_percent(of, [judged[at] for at in drawn], figure) for judged in of.judged.values()) for drawn in draws
    ]
    return BestModel(figure, best, scores[best], draws, found)


def compare_with_best(of: JudgedOutputs, line: Candidate, best: BestModel) -> Comparison:
    """Against the best single model, resampled over tasks, the same for both."""
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
    """Where no output was valid, that of a missing one: a counted failure."""
    return of.scorer.score(of.ids[at], None) if winner is None else of.judged[winner][at]


def _judgement_of_text(of: JudgedOutputs, made: str | None, at: int) -> Judgement | None:
    """What was judged already of the same text."""
    return next((of.judged[model][at] for model in of.models if made and of.outputs[model][at] == made), None)


def _votes_needed(forms: Sequence[Form | None]) -> int:
    return next((count for count in range(1, len(forms)) if is_decided(forms[:count], len(forms))), len(forms))


def _valid(of: JudgedOutputs, model: str) -> int:
    return sum(form is not None for form in of.forms[model])


def _candidate(
    of: JudgedOutputs, name: str, judged: Sequence[Judgement], valid: int, *, used: float | None = None
) -> Candidate:
    figures = {one.name: one for one in of.scorer.figures(judged)}
    outputs_used = used if used is not None else 1.0 if name in of.models else len(of.models)
    return Candidate(name, figures, valid, len(of.ids), outputs_used, judged)


def _percent(of: JudgedOutputs, judged: Sequence[Judgement], figure: str) -> float:
    found = next(one.percent for one in of.scorer.figures(judged) if one.name == figure)
    return found if found is not None else 0.0
