"""What commands share: settings, one store, one model, and how they print."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column, Table

from scenecypher.errors import InputError
from scenecypher.settings import Settings

if TYPE_CHECKING:
    from scenecypher.chat.model import Model
    from scenecypher.db.gate import Gate
    from scenecypher.db.store.scene_store import SceneStore

UNFOLDED: Final = 100_000
"""Columns of a line that goes into a file or a pipe."""


def output() -> Console:
    """Where results go: in a file or a pipe no line is folded, unless COLUMNS says how wide one is."""
    if sys.stdout.isatty():
        return Console(highlight=False)
    return Console(highlight=False, soft_wrap=True, width=None if "COLUMNS" in os.environ else UNFOLDED)


def table_of(*headings: str) -> Table:
    """An empty table, in which nothing is cut off: names are there to be typed again."""
    return Table(*(Column(heading, overflow="fold") for heading in headings), box=None, pad_edge=False)


def errors() -> Console:
    """Where progress and errors go."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def tell(line: str) -> None:
    """Say on standard error what is going on."""
    errors().print(line, style="dim", markup=False)


def readable(text: str) -> str:
    """What was typed, as it is. Raises InputError for bytes that are no UTF-8, which no service could be sent."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        msg = f"{text!a} is not UTF-8 at character {error.start + 1}; type it again, on a terminal that is UTF-8"
        raise InputError(msg) from error
    return text


def counted(number: int, what: str) -> str:
    """``1 row``, ``2,000 rows``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def print_json(document: Any) -> None:
    """One JSON document on standard output."""
    sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")


@contextmanager
def open_store(settings: Settings | None = None) -> Iterator[SceneStore]:
    """The store of the configured server, its constraints and indexes in place; started if it is the local one."""
    from scenecypher.db.connect import connect
    from scenecypher.db.store.scene_store import SceneStore

    chosen = settings or Settings()
    with connect(chosen, tell=tell) as database:
        store = SceneStore(database, commit_timeout_s=chosen.commit_timeout_s)
        store.prepare()
        yield store


def open_gate(store: SceneStore, settings: Settings | None = None) -> Gate:
    """The gate to the same server, with the configured limits."""
    from scenecypher.db.gate import Gate, Limits

    return Gate(store.database, limits=Limits.of(settings or Settings()), tell=tell)


def open_model(settings: Settings | None = None) -> Model:
    """The configured model service. Raises ModelUnavailable, saying how to set one up, where there is none."""
    from scenecypher.chat import OpenAIModel

    return OpenAIModel.from_settings(settings or Settings())


@contextmanager
def opened_model(settings: Settings | None = None) -> Iterator[Model]:
    """The same, closed at the end of the block."""
    from scenecypher.chat import OpenAIModel

    with OpenAIModel.from_settings(settings or Settings()) as model:
        yield model


@contextmanager
def counting(what: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error, where that is a terminal; call what it yields with (done, total)."""
    console = errors()
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=None)

        def show(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield show
