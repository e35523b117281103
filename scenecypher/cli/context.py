"""Shared parts of all commands: settings, the store, the model, consoles, and the line that says what is waited for."""

from __future__ import annotations

import itertools
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from threading import Event, RLock, Thread
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console

from scenecypher.errors import InputError, QueryRefused, RejectedError, ReplyRejected, SceneCypherError, ServiceError
from scenecypher.waiting import listen

if TYPE_CHECKING:
    from scenecypher.chat.model import Model
    from scenecypher.cli.options import Timeouts
    from scenecypher.db.graph.delta import Delta
    from scenecypher.db.store.scene_store import SceneStore
    from scenecypher.scenes import SceneDatabase

SHOWN_AFTER_S: Final = 2.0
TICK_S: Final = 0.5
USUAL_COLUMNS: Final = 80
ERASED: Final = "\r\x1b[K"
WAS_INTERRUPTED: Final = "interrupted; nothing was left half-written"
PIPE_WIDTH: Final = 120
"""Columns of a file or a pipe, unless COLUMNS says how many."""
SPEED_OVER_S: Final = 3_600.0
"""The time over which a bar's speed is taken: samples of an experiment may last minutes."""


class WaitLine:
    """A line about the oldest wait, from two seconds on; safe to share between threads.

    `write` puts text on the terminal. Before anything else is printed there, `erase` clears the line.
    """

    def __init__(self, write: Callable[[str], object], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._write, self._clock = write, clock
        self._numbers = itertools.count()
        self._waits: dict[int, tuple[float, str]] = {}
        self._lock, self._is_shown, self._hiding = RLock(), False, 0

    @contextmanager
    def waiting(self, what: str) -> Iterator[None]:
        """Wait for `what` in the block."""
        number = next(self._numbers)
        with self._lock:
            self._waits[number] = self._clock(), what
        try:
            yield
        finally:
            with self._lock:
                del self._waits[number]
                if not self._waits:
                    self.erase()

    def tick(self) -> None:
        """Bring the line up to date."""
        with self._lock:
            began, what = min(self._waits.values(), default=(self._clock(), ""))
            seconds = self._clock() - began
            if seconds < SHOWN_AFTER_S or self._hiding:
                self.erase()
                return
            self._write(f"{ERASED}waiting for {what} ({seconds:.0f} s)"[: _terminal_columns() + len(ERASED)])
            self._is_shown = True

    def erase(self) -> None:
        """Clear the line; the next tick shows it again."""
        with self._lock:
            if self._is_shown:
                self._write(ERASED)
                self._is_shown = False

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Show no line in the block, which shows a progress of its own."""
        with self._lock:
            self.erase()
            self._hiding += 1
        try:
            yield
        finally:
            with self._lock:
                self._hiding -= 1


def _write_error(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


LINE: Final = WaitLine(_write_error)
"""The line of this process's terminal."""


@contextmanager
def shown_waits() -> Iterator[None]:
    """Show the waits of the block if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    ended = Event()

    def run() -> None:
        while not ended.wait(TICK_S):
            LINE.tick()

    Thread(target=run, name="scenecypher-waits", daemon=True).start()
    listen(LINE.waiting)
    try:
        yield
    finally:
        listen(None)
        ended.set()
        LINE.erase()


def _terminal_columns() -> int:
    """Return the most columns that a line may have without being folded; some terminals say that they have none."""
    try:
        columns = os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    return (columns or USUAL_COLUMNS) - 1


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
    warn(str(error))
    if isinstance(error, QueryRefused) and error.code == "timeout":
        warn("or give it more time: --query-timeout, or SCENECYPHER_QUERY_TIMEOUT_S")


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


def say(text: str, style: str | None = None, *, end: str = "\n", is_whole: bool = False) -> None:
    """Print a text as it is on standard output; one that `is_whole` is not folded at a terminal either."""
    output().print(text, style=style, markup=False, end=end, soft_wrap=is_whole or None)


def warn(text: str, style: str | None = None) -> None:
    """Print a text as it is on standard error."""
    errors().print(text, style=style, markup=False)


def delta_document(delta: Delta) -> Any:
    """Return a Delta as a JSON document."""
    from scenecypher.db.graph.graph_json import delta_json

    return json.loads(delta_json(delta))


def tell(line: str) -> None:
    """Print a line of progress on standard error."""
    warn(line, style="dim")


def show(document: Any, *lines: str, as_json: bool) -> None:
    """Print a document as JSON, or else the lines that tell it to people."""
    if as_json:
        print_json(document)
    else:
        say("\n".join(lines))


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
    from rich import progress

    console = errors()
    columns = (
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("left:"),
        progress.TimeRemainingColumn(),
    )
    is_hidden = not console.is_terminal
    bar = progress.Progress(
        *columns, console=console, transient=True, disable=is_hidden, speed_estimate_period=SPEED_OVER_S
    )
    with LINE.hidden(), bar:
        task = bar.add_task(what, total=None)

        def show(done: int, total: int | None, words: str = "") -> None:
            bar.update(task, completed=done, total=total, description=words or what)

        yield show
