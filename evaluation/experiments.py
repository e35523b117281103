"""Experiments, a row each (`data/experiments.toml`): the command, Inspect's task and the page come from it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from scenecypher.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.log import EvalLog

    from scenecypher.evaluation.result import ExperimentResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """Option of a command, and the task's argument of the same name; `flag` is its name if that differs.

    `kind` is text, int, flag, path, or a list of words. A `positional` one has no flag. `least` is the smallest number.
    """

    name: str
    help: str
    kind: str | list[str] = "text"
    default: Any = None
    flag: str = ""
    metavar: str | None = None
    positional: bool = False
    least: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """Line of the page: its section, the published table, the options for it, and what runs without a model."""

    section: str
    table: str
    without_model: str
    options: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentRow:
    """Experiment.

    `task` is ``module:function`` of its Inspect task, and `result` that of its result from a log. If it `asks`, the
    command has the options of models; without `--model` and `--replies` the task gets the row's `replies`, and an empty
    value is an error. In one that `plays`, methods play episodes. Arguments `limit` and `seed` of each task choose a
    part of it.
    """

    name: str
    help: str
    task: str
    result: str
    options: tuple[Option, ...] = ()
    asks: bool = True
    replies: str = "live"
    plays: bool = False
    needs_database: bool = False
    published: tuple[Published, ...] = ()

    def make_task(self, **arguments: Any) -> Task:
        """Return the Inspect task. Raises InputError."""
        made: Task = load(self.task)(**arguments)
        return made

    def make_result(self, log: EvalLog) -> ExperimentResult:
        """Return the result of a log. Raises InputError."""
        made: ExperimentResult = load(self.result)(log)
        return made


def load(name: str) -> Callable[..., Any]:
    """Import the function ``module:function``."""
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found


def experiment_named(name: str) -> ExperimentRow:
    """Return the experiment of a command, or of a task in a log. Raises InputError."""
    own = name.rpartition("/")[2].replace("_", "-")
    if own not in EXPERIMENTS:
        raise InputError(f"there is no experiment {own[:60]!r}{did_you_mean(own[:60], tuple(EXPERIMENTS))}")
    return EXPERIMENTS[own]


def experiment_row(name: str, fields: Mapping[str, Any]) -> ExperimentRow:
    """Return the row that the `fields` of a TOML table say."""
    parts: dict[str, tuple[Any, ...]] = {
        "options": tuple(Option(**one) for one in fields.get("options", ())),
        "published": tuple(Published(**one) for one in fields.get("published", ())),
    }
    return ExperimentRow(name=name, **{**fields, **parts})


def _rows() -> Iterator[ExperimentRow]:
    text = (files("scenecypher.evaluation") / "data" / "experiments.toml").read_text(encoding="utf-8")
    return (experiment_row(name, fields) for name, fields in tomllib.loads(text).items())


EXPERIMENTS: Final[dict[str, ExperimentRow]] = {row.name: row for row in _rows()}
"""Experiments by name, in the order of the help."""
