"""Running an experiment's task through Inspect, from our own command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from os import environ
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scenecypher.errors import InputError

__all__ = [
    "EvalLog",
    "RunOptions",
    "Task",
    "check_inspect_installed",
    "experiment_name_of",
    "full_name",
    "resume_task",
    "run_task",
]

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.log import EvalLog
    from inspect_ai.model import Model


QUIET: Final[Mapping[str, Any]] = {
    "fail_on_error": False,
    "display": "none",
    "ctl_server": False,
    "acp_server": False,
}
"""Inspect prints and serves nothing, and a sample that fails stops no others."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a task is run: `model` as Inspect names it (none asks none), `limit` samples, `at_once` of them."""

    model: str | Model | None = None
    limit: int | None = None
    at_once: int | None = None
    log_dir: str | None = None


def check_inspect_installed() -> None:
    """Raises InputError where Inspect is missing."""
    if find_spec("inspect_ai") is None:
        raise InputError("Inspect is not installed: run `pip install 'scenecypher[evaluation]'`")


def run_task(task: Task, how: RunOptions) -> EvalLog:
    """The log of one run. Samples that fail are failures of their own and stop no others. Raises InputError."""
    from inspect_ai import eval as evaluate

    try:
        (log,) = evaluate(
            task,
            model=full_name(how.model),
            limit=how.limit,
            max_samples=how.at_once,
            log_dir=how.log_dir,
            score_display=False,
            log_realtime=False,  # a third of what Inspect takes: samples are in the log when they have ended
            log_buffer=1 if how.model else None,  # each at once, for what a model said has its price
            **QUIET,
        )
    except ValueError as error:  # a model or provider that Inspect does not know
        raise InputError(f"Inspect can't run this: {error}; name the model as PROVIDER/NAME") from error
    return log


def resume_task(file: Path, how: RunOptions) -> EvalLog:
    """The log of a run that goes on from the log `file`: what was played stays, the rest and what failed is played.

    The experiment's module has to be imported. Raises InputError.
    """
    from inspect_ai import eval_retry

    if not file.is_file():
        raise InputError(f"{file}: there is no such log; logs are in ./logs, or where --log-dir said")
    try:
        (log,) = eval_retry(
            str(file),
            max_samples=how.at_once,
            log_dir=how.log_dir,
            **QUIET,
        )
    except (ValueError, FileNotFoundError) as error:
        raise InputError(
            f"{file}: can't be resumed ({error}); resume it from the folder that it was run in, or run it anew"
        ) from error
    return log


def experiment_name_of(file: Path) -> str:
    """The name of the experiment that a log is of, as its task function has it. Raises InputError."""
    from inspect_ai.log import read_eval_log

    try:
        read = read_eval_log(str(file), header_only=True)
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: is no log that can be read ({error}); give a .eval file") from error
    return (read.eval.task_registry_name or read.eval.task).rpartition("/")[2]


def full_name(model: str | Model | None) -> str | Model | None:
    """The model as Inspect names it: without a provider it is OpenAI's, or any service behind OPENAI_BASE_URL.

    Such a service is asked as ``openai-api``: Inspect's ``openai`` takes names that it does not know for the newest
    models of OpenAI's, leaves the temperature out without a word, and speaks a protocol that few others do.
    """
    if not isinstance(model, str):
        return model
    name = model if "/" in model else f"openai/{model}"
    is_own = name.startswith("openai/") and bool(environ.get("OPENAI_BASE_URL"))
    return f"openai-api/{name}" if is_own else name
