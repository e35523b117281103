"""Run an experiment's task with Inspect, from our own command line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from os import environ
from pathlib import Path
from signal import SIG_IGN, SIGINT, signal
from tempfile import TemporaryDirectory
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any, Final

from scenecypher.errors import InputError, RunStopped, did_you_mean
from scenecypher.evaluation.experiments import experiment_name
from scenecypher.files import write_file
from scenecypher.settings import Settings

if TYPE_CHECKING:
    from inspect_ai import Task as Task  # noqa: PLC0414 - also for the command line, which imports no Inspect
    from inspect_ai.log import EvalLog as EvalLog  # noqa: PLC0414
    from inspect_ai.model import Model

    from scenecypher.evaluation.progress import Progress


QUIET: Final[Mapping[str, Any]] = {
    "fail_on_error": False,
    "display": "none",
    "ctl_server": False,
    "acp_server": False,
}
"""Options that stop Inspect's display and servers, and that let other samples continue after a failure."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of a run: `model` in Inspect's notation (None asks none), `at_once` samples in parallel.

    Only the samples in `sample_ids` are played, all if it is empty. `progress` is counted while it plays.
    """

    model: str | Model | None = None
    sample_ids: Sequence[str] = ()
    at_once: int | None = None
    log_dir: str | None = None
    progress: Progress | None = None


def check_inspect_installed() -> None:
    """Check that Inspect is installed. Raises InputError."""
    if find_spec("inspect_ai") is None:
        raise InputError("Inspect is not installed: run `pip install 'scenecypher[papers]'`")


def run_task(task: Task, options: RunOptions) -> EvalLog:
    """Run a task and return its log; failed samples do not stop the others. Raises InputError."""
    from inspect_ai import eval as evaluate

    def run() -> Sequence[EvalLog]:
        return evaluate(
            task,
            model=full_name(options.model),
            sample_id=_chosen_ids(task, options.sample_ids),
            max_samples=options.at_once,
            log_dir=options.log_dir,
            score_display=False,
            log_realtime=False,  # costs a third of Inspect's time; samples are logged when they end anyway
            log_buffer=1 if options.model else None,  # write each sample at once, since model replies cost money
            max_retries=Settings().model_retries,
            **QUIET,
        )

    with _model_checked(options.model):
        return _run(run, options)


@contextmanager
def _model_checked(model: str | Model | None) -> Iterator[None]:
    """Raise InputError for what Inspect says of a model that can't be asked."""
    from inspect_ai._util.error import PrerequisiteError

    try:
        yield
    except ValueError as error:  # a model or provider that Inspect does not know
        raise InputError(f"Inspect can't run this: {error}; name the model as PROVIDER/NAME") from error
    except PrerequisiteError as error:  # a key or a package that the provider needs
        words = " ".join(re.sub(r"\[/?\w+\]", "", str(error.message)).split())
        raise InputError(f"{model or 'Inspect'} can't be asked: {words}") from error


def vision_model(*, is_asked: bool) -> str:
    """Return SCENECYPHER_VISION_MODEL in Inspect's notation; empty if none is named, so that who plans reads pictures.

    At a service at OPENAI_BASE_URL it has the service's name, as elsewhere. Raises InputError if it `is_asked` and
    can't be.
    """
    from inspect_ai.model import get_model

    name = Settings().vision_model or ""
    if name and environ.get("OPENAI_BASE_URL"):
        name = f"openai/{name.removeprefix('openai/')}"
    name = str(full_name(name)) if name else ""
    if name and is_asked:
        with _model_checked(name):
            get_model(name)
    return name


def resume_task(file: Path, options: RunOptions) -> EvalLog:
    """Resume the run of the log `file` and return the new log; only missing and failed samples are played.

    The new log is beside `file`, if `options` name no folder. The experiment's module must have been imported. Raises
    InputError.
    """
    from inspect_ai import eval_retry

    if not file.is_file():
        raise InputError(f"{file}: there is no such log; logs are in ./logs, or in the folder given as --log-dir")
    options = replace(options, log_dir=options.log_dir or str(file.parent))

    def run() -> Sequence[EvalLog]:
        return eval_retry(
            str(file),
            max_samples=options.at_once,
            log_dir=options.log_dir,
            max_retries=Settings().model_retries,
            **QUIET,
        )

    try:
        return _run(run, options)
    except (ValueError, FileNotFoundError) as error:
        raise InputError(
            f"{file}: can't be resumed ({error}); resume it in the folder that it was run in, or start a new run"
        ) from error


def _chosen_ids(task: Task, sample_ids: Sequence[str]) -> list[str] | None:
    """Return the ids of the chosen samples, None for all. Raises InputError for unknown ones."""
    known = [str(sample.id) for sample in task.dataset]
    if unknown := [one for one in sample_ids if one not in known]:
        raise InputError(f"there is no sample {unknown[0][:80]!r}{did_you_mean(unknown[0][:80], known)}")
    return [*sample_ids] or None


def _run(run: Callable[[], Sequence[EvalLog]], options: RunOptions) -> EvalLog:
    """Return the log of a run. Raises RunStopped if a person stopped it, as often as Ctrl-C was pressed."""
    from scenecypher.evaluation.progress import Progress, watching

    progress = options.progress or Progress()
    folder = Path(options.log_dir or environ.get("INSPECT_LOG_DIR", "logs"))
    with watching(progress):
        try:
            logs = run()
        except KeyboardInterrupt:
            logs = ()
        except IndexError:  # Inspect looks for the log of a resumed run that was stopped
            if not _is_stopped(_newest_log(folder, progress.run)):
                raise
            logs = ()
    if logs and logs[0].status != "cancelled":
        return logs[0]
    with uninterrupted():
        log = _newest_log(folder, progress.run)
        _mark_stopped(log)
        raise RunStopped(_how_to_go_on(log))


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ignore Ctrl-C in the block, if this is the main thread: a run that was stopped has nothing more to stop."""
    if current_thread() is not main_thread():
        yield
        return
    handler = signal(SIGINT, SIG_IGN)
    try:
        yield
    finally:
        signal(SIGINT, handler)


def _newest_log(folder: Path, run: str) -> Path | None:
    written = folder.glob(f"*_{run}*.eval") if run else ()
    return max(written, key=lambda file: file.stat().st_mtime, default=None)


def _is_stopped(log: Path | None) -> bool:
    from inspect_ai.log import read_eval_log

    return log is not None and read_eval_log(str(log), header_only=True).status in {"started", "cancelled"}


def _mark_stopped(file: Path | None) -> None:
    """Set the status of a log to that of a stopped run, if a second Ctrl-C left Inspect no time for it."""
    from inspect_ai.log import read_eval_log, write_eval_log

    if file is not None and (log := read_eval_log(str(file))).status == "started":
        log.status = "cancelled"
        with TemporaryDirectory() as folder:
            draft = Path(folder) / file.name
            write_eval_log(log, str(draft))
            write_file(file, draft.read_bytes())


def _how_to_go_on(log: Path | None) -> str:
    if log is None:
        return "stopped before any sample was played; run it again"
    name = experiment_name_of(log)
    return f"stopped; the log has what was played: go on with `scenecypher eval {name} --resume {log}`"


def experiment_name_of(file: Path) -> str:
    """Return the name of a log's experiment, which is its task function's. Raises InputError."""
    from inspect_ai.log import read_eval_log

    try:
        read = read_eval_log(str(file), header_only=True)
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: is not a readable log ({error}); give a .eval file") from error
    return experiment_name(read.eval.task_registry_name or read.eval.task)


def full_name(model: str | Model | None) -> str | Model | None:
    """Return the model in Inspect's notation; without a provider it is OpenAI's, or a service at OPENAI_BASE_URL.

    Such a service is asked through ``openai-api``: Inspect's ``openai`` takes unknown names for OpenAI's newest models,
    drops the temperature silently, and uses a protocol that few other services support.
    """
    if not isinstance(model, str):
        return model
    name = model if "/" in model else f"openai/{model}"
    is_own = name.startswith("openai/") and bool(environ.get("OPENAI_BASE_URL"))
    return f"openai-api/{name}" if is_own else name
