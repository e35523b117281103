"""Search for results in what a user names: result documents, Inspect's logs, and folders of both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from zipfile import BadZipFile

from scenecypher.errors import InputError
from scenecypher.evaluation.result import SUFFIX, ExperimentResult, read_result, result_path

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

LOG: Final = ".eval"
NO_RESULT: Final = "run it to its end with `scenecypher eval {name}`, which writes a result beside its log"


@dataclass(frozen=True, slots=True)
class FoundResults:
    """Results, the oldest first, and messages about the logs that have none."""

    results: tuple[ExperimentResult, ...]
    without: tuple[str, ...] = ()


def find_results(named: Sequence[Path]) -> FoundResults:
    """Return all results in `named` files and folders. Raises InputError if there are none."""
    files = list(dict.fromkeys(file for path in named for file in _files(path)))
    results, without = list[ExperimentResult](), list[str]()
    for file in files:
        try:
            results.append(_result(file))
        except _NoResult as missing:
            without.append(str(missing))
    if not results:
        why = "\n".join(without) or f"no *{SUFFIX} or *{LOG} in {', '.join(map(str, named))}"
        raise InputError(f"{why}; name the folder that `scenecypher eval` was given as --log-dir (./logs)")
    return FoundResults(tuple(sorted(results, key=lambda one: (one.provenance.date, one.experiment))), tuple(without))


class _NoResult(Exception):
    """Error for a log that no result can be made from, with the reason."""


def _files(path: Path) -> Iterator[Path]:
    """Yield results, and logs without a result beside them."""
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder; give a result, a log, or a folder of them")
    for file in sorted(path.iterdir()) if path.is_dir() else (path,):
        if file.name.endswith(LOG) and result_path(str(file)).exists():
            yield result_path(str(file))
        elif file.name.endswith((SUFFIX, LOG)):
            yield file
        elif not path.is_dir():
            raise InputError(f"{path}: neither a result (*{SUFFIX}) nor a log (*{LOG}); give one of these, or a folder")


def _result(file: Path) -> ExperimentResult:
    return read_result(file) if file.name.endswith(SUFFIX) else _from_log(file)


def _from_log(file: Path) -> ExperimentResult:
    from inspect_ai.log import read_eval_log

    try:
        log = read_eval_log(str(file))
    except (BadZipFile, OSError, ValueError, KeyError) as error:
        raise _NoResult(f"{file}: can't be read as a log: {error}") from error
    name = log.eval.task.rpartition("/")[2]
    if name not in MADE_FROM_LOGS:
        raise _NoResult(f"{file}: {name} ({log.status}) has no result; {NO_RESULT.format(name=name)}")
    try:
        return MADE_FROM_LOGS[name](log)
    except InputError as error:
        raise _NoResult(f"{file}: {name} can't be recomputed: {error}") from error


def _questions(log: EvalLog) -> ExperimentResult:
    from scenecypher.evaluation.question_result import questions_result

    return questions_result(log)


def _augmentation(log: EvalLog) -> ExperimentResult:
    from scenecypher.evaluation.augmentation_result import augmentation_result

    return augmentation_result(log)


def _episodes(log: EvalLog) -> ExperimentResult:
    from scenecypher.evaluation.episodes_result import episodes_result, experiment_from_log

    return episodes_result(log, experiment_from_log(log))


def _recorded(log: EvalLog) -> ExperimentResult:
    from scenecypher.evaluation.eai.recorded_result import eai_result

    return eai_result(log)


def _self_consistency(log: EvalLog) -> ExperimentResult:
    from scenecypher.evaluation.eai.live_report import ssc_result

    return ssc_result(log)


MADE_FROM_LOGS: Final[Mapping[str, Callable[[EvalLog], ExperimentResult]]] = {
    "questions": _questions,
    "augmentation": _augmentation,
    **dict.fromkeys(("grasif", "dynamic", "realworld", "babyai", "babyai-slm", "household"), _episodes),
    "eai": _recorded,
    "ssc": _self_consistency,
}
"""Experiments whose results can be computed from their logs alone."""
