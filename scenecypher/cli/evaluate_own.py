"""Options of single experiments' commands that are no arguments of their tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from scenecypher.cli.context import tell
from scenecypher.errors import InputError

if TYPE_CHECKING:
    from scenecypher.cli.evaluate_run import Choices

Arguments: TypeAlias = dict[str, Any]
SYMBOLIC: Final = "symbolic"


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
        raise InputError("name a model with --model, or recorded replies with --replies")
    return arguments


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
