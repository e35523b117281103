"""Shared parts of all commands: settings, the store, the model, consoles."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console

from scenecypher.cli.waits import LINE
from scenecypher.errors import InputError, QueryRefused, RejectedError, ReplyRejected, SceneCypherError, ServiceError
from scenecypher.wording import counted as counted  # noqa: PLC0414 - commands import it from here

if TYPE_CHECKING:
    from scenecypher.chat.model import Model
    from scenecypher.cli.options import Timeouts
    from scenecypher.db.store.scene_store import SceneStore
    from scenecypher.scenes import SceneDatabase

WAS_INTERRUPTED: Final = "interrupted; nothing was left half-written"
PIPE_WIDTH: Final = 120
"""Columns of a file or a pipe, unless COLUMNS says how many."""
SPEED_OVER_S: Final = 3_600.0
"""The time over which a bar's speed is taken: samples of an experiment may last minutes."""


def output() -> Console:
    """Return the console of standard output, which obeys COLUMNS and NO_COLOR; a pipe's prose is not folded."""
    LINE.erase()
    if sys.stdout.isatty():
        return Console(highlight=False)
    return Console(highlight=False, soft_wrap=True, width=columns_set() or PIPE_WIDTH)


def columns_set() -> int:
    """Return the width that COLUMNS asks for, 0 if it names none."""
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() else 0


def errors() -> Console:
    """Return the console of standard error, for progress and errors."""
    LINE.erase()
    return Console(stderr=True, highlight=False, soft_wrap=True)


def print_error(error: SceneCypherError) -> None:
    """Print an error for people: its branch, its message, and the option that helps a query that was too slow."""
    errors().print(f"[bold red]{'refused' if error.exit_code == 1 else 'error'}:[/]", end=" ")
    errors().print(str(error), markup=False, highlight=False)
    if isinstance(error, QueryRefused) and error.code == "timeout":
        errors().print("or give it more time: --query-timeout, or SCENECYPHER_QUERY_TIMEOUT_S", markup=False)


def error_document(error: SceneCypherError) -> dict[str, Any]:
    """Return an error as a JSON document; its `code` is the gate's, or names the branch of the tree of errors.

    A model's rejected reply has the tokens that it took.
    """
    match error:
        case QueryRefused():
            code = error.code
        case RejectedError():
            code = "refused"
        case ServiceError():
            code = "service"
        case _:
            code = "input"
    document = {"ok": False, "code": code, "message": str(error)}
    if isinstance(error, ReplyRejected):
        document["tokens"] = error.prompt_tokens + error.completion_tokens
    return document


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


def print_json(document: Any) -> None:
    """Print one JSON document on standard output."""
    print_line(json.dumps(document, ensure_ascii=False, indent=2))


def print_line(text: str) -> None:
    """Print a line unchanged and flush it, so that it stays in order with standard error."""
    LINE.erase()
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


@contextmanager
def open_database(timeouts: Timeouts | None = None, *, model: Model | None = None) -> Iterator[SceneDatabase]:
    """Open the configured server, the local one started if needed; `model` stands in for the configured one."""
    from scenecypher.scenes import connect
    from scenecypher.settings import Settings

    given = {} if timeouts is None else asdict(timeouts)
    settings = Settings(**{name: value for name, value in given.items() if value is not None})
    with connect(settings, model=model, tell=tell) as database:
        yield database


@contextmanager
def open_store() -> Iterator[SceneStore]:
    """Open the store of the configured server."""
    with open_database() as database:
        yield database.store


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[..., None]]:
    """Show a progress bar if standard error is a terminal; yield a function that takes (done, total, words)."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = errors()
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    bar = Progress(
        *columns,
        console=console,
        transient=True,
        disable=not console.is_terminal,
        speed_estimate_period=SPEED_OVER_S,
    )
    with LINE.hidden(), bar:
        task = bar.add_task(what, total=None)

        def show(done: int, total: int, words: str = "") -> None:
            bar.update(task, completed=done, total=total, description=words or what)

        yield show
