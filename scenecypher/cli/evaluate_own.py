"""Options of single experiments' commands that are no arguments of their tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from scenecypher.cli.context import tell
from scenecypher.errors import InputError

if TYPE_CHECKING:
    from scenecypher.cli.evaluate_run import Choices
    from scenecypher.evaluation.result import ExperimentResult

Arguments: TypeAlias = dict[str, Any]
SYMBOLIC: Final = "symbolic"
ONE_GO: Final = "--recorded asks no model and can't be resumed; leave --model, --replies, --record and --resume out"


def play(arguments: Arguments, choices: Choices) -> Arguments:
    """Add the chosen methods; by default the paper's, with a model also ours, and without replies the symbolic one."""
    from scenecypher.evaluation.experiment import OURS, PAPER, asks_model

    has_replies = choices.model is not None or choices.replies is not None
    default = [PAPER, OURS] if choices.model is not None else [PAPER if has_replies else SYMBOLIC]
    words = choices.methods or default
    if not has_replies and (asking := next(filter(asks_model, words), None)):
        raise InputError(f"{asking} needs a model: name one with --model, or give recorded --replies")
    return arguments | {"methods": ",".join(words), "steps": choices.steps}


def augmentation(arguments: Arguments, choices: Choices) -> Arguments:
    """Choose the simulated observer as the source of replies, if it is given."""
    seed = arguments.get("simulated")
    given = {"--model": choices.model, "--replies": choices.replies, "--simulated": seed}
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise InputError(f"{' and '.join(named)} exclude each other; give one of them")
    return arguments if seed is None else arguments | {"replies": "simulated"}


def eai(arguments: Arguments, choices: Choices) -> Arguments:
    """Return the arguments with the file of recorded outputs. Raises InputError without `--recorded`."""
    del choices
    if not arguments.pop("recorded"):
        raise InputError("this scores recorded outputs; say so with --recorded (live models: `scenecypher eval ssc`)")
    from scenecypher.evaluation.eai.task_table import tasks_named

    tasks_named(arguments["task"])
    return arguments | {"wheel": str(recorded_wheel(arguments.pop("recordings", None)))}


def ssc(arguments: Arguments, choices: Choices) -> Arguments:
    """Check that replies come from one source."""
    if (choices.model is None) == (choices.replies is None):
        raise InputError("name a model with --model, or recorded replies with --replies, or vote with --recorded")
    return {name: value for name, value in arguments.items() if name not in {"recorded", "log"}}


def recorded_votes(own: Mapping[str, Any], choices: Choices) -> tuple[ExperimentResult, str] | None:
    """Vote across recorded models if `--recorded` is given; return the result and the path of a log beside it."""
    if not own["recorded"]:
        return None
    if {choices.model, choices.replies, choices.record, choices.resume} != {None}:
        raise InputError(ONE_GO)
    from scenecypher.evaluation.eai.task_table import tasks_named
    from scenecypher.evaluation.options import split_names
    from scenecypher.evaluation.ssc.cross_report import cross_result

    tasks, wheel = tasks_named(own["task_name"]), recorded_wheel(own["recordings"])
    part: Any = {"limit": choices.limit, "seed": choices.seed, "ids": split_names(choices.sample_ids)}
    found = cross_result(tasks, wheel, **part, log=own["log"], tell=tell)
    folder = Path(choices.logs or "logs")
    folder.mkdir(parents=True, exist_ok=True)
    return found, str(folder / f"{found.provenance.date.replace(':', '-')}_ssc-recorded")


def recorded_wheel(given: Path | str | None) -> Path:
    """Return the absolute path of the recorded outputs, downloaded if not given. Raises InputError, ServiceError."""
    from scenecypher.evaluation.eai.recordings import fetch_recordings
    from scenecypher.settings import Settings

    return Path(given or fetch_recordings(Settings().home.expanduser(), tell=tell)).resolve()


OWN: Final[Mapping[str, Callable[[Arguments, Choices], Arguments]]] = {
    "augmentation": augmentation,
    "eai": eai,
    "ssc": ssc,
}
"""Changes of arguments by experiment."""
