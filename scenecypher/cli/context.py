"""Shared parts of all commands: settings, the store, the model, consoles."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from scenecypher.errors import InputError
from scenecypher.settings import Settings

if TYPE_CHECKING:
    from scenecypher.chat.model import Model
    from scenecypher.db.gate import Gate
    from scenecypher.db.store.scene_store import SceneStore

PIPE_WIDTH: Final = 120
"""Columns of a file or a pipe, unless COLUMNS says how many."""


def output() -> Console:
    """Return the console of standard output, which obeys COLUMNS and NO_COLOR; a pipe's prose is not folded."""
    if sys.stdout.isatty():
        return Console(highlight=False)
    return Console(highlight=False, soft_wrap=True, width=columns_set() or PIPE_WIDTH)


def columns_set() -> int:
    """Return the width that COLUMNS asks for, 0 if it names none."""
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() else 0


def errors() -> Console:
    """Return the console of standard error, for progress and errors."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def tell(line: str) -> None:
    """Print a line of progress on standard error."""
    errors().print(line, style="dim", markup=False)


def checked_utf8(text: str) -> str:
    """Return typed text unchanged. Raises InputError for bytes that are not UTF-8, which no service accepts."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        msg = f"{text!a} is not UTF-8 at character {error.start + 1}; type it again, on a terminal that is UTF-8"
        raise InputError(msg) from error
    return text


def counted(number: int, what: str) -> str:
    """Return a number with its noun: ``1 row``, ``2,000 rows``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def print_json(document: Any) -> None:
    """Print one JSON document on standard output."""
    print_line(json.dumps(document, ensure_ascii=False, indent=2))


def print_line(text: str) -> None:
    """Print a line unchanged and flush it, so that it stays in order with standard error."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


@contextmanager
def open_store(settings: Settings | None = None) -> Iterator[SceneStore]:
    """Open the store of the configured server, with constraints and indexes; start the local server if needed."""
    from scenecypher.db.connect import connect
    from scenecypher.db.store.scene_store import SceneStore

    chosen = settings or Settings()
    with connect(chosen, tell=tell) as database:
        store = SceneStore(database, commit_timeout_s=chosen.commit_timeout_s)
        store.prepare()
        yield store


def open_gate(store: SceneStore, settings: Settings | None = None) -> Gate:
    """Return the gate to the store's server, with the configured limits."""
    from scenecypher.db.gate import Gate, Limits

    return Gate(store.database, limits=Limits.of(settings or Settings()), tell=tell)


def open_model(settings: Settings | None = None) -> Model:
    """Return the configured model service. Raises ModelUnavailable if none is configured."""
    from scenecypher.chat import OpenAIModel

    return OpenAIModel.from_settings(settings or Settings())


@contextmanager
def opened_model(settings: Settings | None = None) -> Iterator[Model]:
    """Open the configured model service for the block. Raises ModelUnavailable if none is configured."""
    from scenecypher.chat import OpenAIModel

    with OpenAIModel.from_settings(settings or Settings()) as model:
        yield model


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar if standard error is a terminal; yield a function that takes (done, total)."""
    console = errors()
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=None)

        def show(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield show
