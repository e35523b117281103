"""Search for results in what a user names: result documents, Inspect's logs, and folders of both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias
from zipfile import BadZipFile

from scenecypher.errors import InputError
from scenecypher.evaluation.result import SUFFIX, ExperimentResult, read_result, result_path, results_folder

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

ResultOf: TypeAlias = "Callable[[EvalLog], ExperimentResult]"
"""Function that returns the result of a log; it raises InputError for a log of no known experiment."""
LOG: Final = ".eval"


@dataclass(frozen=True, slots=True)
class FoundResults:
    """Results, the oldest first, and messages about the logs that have none."""

    results: tuple[ExperimentResult, ...]
    without: tuple[str, ...] = ()


def find_results(named: Sequence[Path], result_of: ResultOf) -> FoundResults:
    """Return all results in `named` files and folders. Raises InputError if there are none."""
    files = list(dict.fromkeys(file for path in named for file in _files(path)))
    results, without = list[ExperimentResult](), list[str]()
    for file in files:
        found = read_result(file) if file.name.endswith(SUFFIX) else _from_log(file, result_of)
        if isinstance(found, str):
            without.append(found)
        else:
            results.append(found)
    if not results:
        why = "\n".join(without) or f"no *{SUFFIX} or *{LOG} in {', '.join(map(str, named))}"
        raise InputError(f"{why}; name the folder that `scenecypher eval` was given as --log-dir (./logs)")
    ordered = sorted(results, key=lambda one: (one.provenance.date, one.experiment))
    return FoundResults(tuple(_latest(ordered)), tuple(without))


def _latest(results: Sequence[ExperimentResult]) -> Iterator[ExperimentResult]:
    """Yield the results in order; of a run and those that resumed it the last one."""
    last = {one.provenance.run: one for one in results if one.provenance.run}
    yield from (one for one in results if one is last.get(one.provenance.run, one))


def _files(path: Path) -> Iterator[Path]:
    """Yield results, and logs without one; of a folder of logs also the results in the folder beside it."""
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder; give a result, a log, or a folder of them")
    folders = [each for each in (path, results_folder(path)) if each.is_dir()]
    for file in [it for each in folders for it in sorted(each.iterdir())] if path.is_dir() else (path,):
        if file.name.endswith(LOG) and result_path(str(file)).exists():
            yield result_path(str(file))
        elif file.name.endswith((SUFFIX, LOG)):
            yield file
        elif not path.is_dir():
            raise InputError(f"{path}: neither a result (*{SUFFIX}) nor a log (*{LOG}); give one of these, or a folder")


def _from_log(file: Path, result_of: ResultOf) -> ExperimentResult | str:
    """Return the result of a log, or why there is none."""
    from inspect_ai.log import read_eval_log

    try:
        log = read_eval_log(str(file))
    except (BadZipFile, OSError, ValueError, KeyError) as error:
        return f"{file}: can't be read as a log: {error}"
    try:
        return result_of(log)
    except InputError as error:
        return f"{file}: {log.eval.task} can't be recomputed: {error}"
