"""`scenecypher session`: plan in one scene step by step, and act and undo in between."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer

from scenecypher.cli.context import open_database, print_error, say, warn
from scenecypher.cli.options import Name, PlanTimeouts, method_names, option, with_options
from scenecypher.cli.session_commands import COMMANDS, Quit, SessionState, run_line
from scenecypher.cli.worlds import (
    OBSERVER_HELP,
    ROBOT_HELP,
    SCENE,
    TRUTH,
    WORLD_HELP,
    WORLDS,
    next_line,
    world_behind,
    world_options,
)
from scenecypher.errors import InputError, SceneCypherError

PROMPT: Final = "> "
CALL_BEGUN: Final = re.compile(r"(\w+)\(([^()]*)$")
REMEMBERED: Final = 1_000
"""Number of input lines kept for the next session."""

Read = Callable[[], str]
"""A function that returns the next line; raises EOFError after the last."""


@with_options
def session(
    scene: Name,
    *,
    method: Annotated[str, option("--method", "-m", "How `plan` decides.", autocompletion=method_names)] = "stepwise",
    belief: Annotated[
        bool, option("--belief", "Act by SCENE@belief, made where absent: what was seen, and what may be.")
    ] = False,
    world: Annotated[str, option("--world", "|".join(WORLDS), WORLD_HELP)] = SCENE,
    robot: Annotated[str | None, option("--robot", "URL", ROBOT_HELP)] = None,
    observer: Annotated[str, option("--observer", "truth|noisy:SEED", OBSERVER_HELP)] = TRUTH,
    timeouts: PlanTimeouts,
) -> None:
    """Plan in a scene step by step, and act and undo in between, line by line. `help` lists the commands.

    Lines from a file or a pipe are all run; if one was refused or failed, the exit code is 1.
    """
    from scenecypher.planner.methods import recipe_named
    from scenecypher.planner.sessions.budget import UsageMeter
    from scenecypher.planner.worlds.belief import find_or_create_belief

    recipe_named(method)
    of = world_options(world, observer, robot)
    with open_database(timeouts) as db:
        info = db.store.find(scene)
        behind = world_behind(db, info, of, actor="person", meter=UsageMeter())
        believed = find_or_create_belief(db.store, info) if belief or not of.is_plain else None
        state = SessionState(db, info, method, believed, behind, is_elsewhere=of.world != SCENE)
        say(f"{state.known.name}, version {state.known.version}; `help` lists the commands")
        with closing(state), _lines(state) as read:
            failed = run_session(state, read)
    if failed and not sys.stdin.isatty():
        raise typer.Exit(1)


def run_session(state: SessionState, read: Read) -> int:
    """Run line after line until the end of input or Quit; return how many failed. Their errors are printed."""
    failed = 0
    while True:
        try:
            run_line(state, read())
        except (EOFError, Quit):
            return failed
        except KeyboardInterrupt:
            state.drop_plan()
            warn("stopped; what was done is in the history, and nothing is half done")
        except SceneCypherError as error:
            failed += 1
            print_error(error)


@contextmanager
def _lines(state: SessionState) -> Iterator[Read]:
    """Read lines from a terminal, with completion and history, or from a file."""
    if not sys.stdin.isatty():
        yield next_line
        return
    with _editing(state.signatures(), state.node_ids(), state.db.settings.home / "session_history"):
        yield lambda: input(PROMPT)


@contextmanager
def _editing(signatures: Mapping[str, str], node_ids: Sequence[str], file: Path) -> Iterator[None]:
    """Use the standard library's line editor if Python has it (not on Windows)."""
    try:
        import readline
    except ImportError:
        yield
        return
    readline.set_completer_delims(" (),")

    def before() -> str:
        """Return the line up to the word that is completed."""
        return readline.get_line_buffer()[: readline.get_begidx()]

    readline.set_completer(completer(signatures, node_ids, before))
    readline.parse_and_bind("bind ^I rl_complete" if "libedit" in (readline.__doc__ or "") else "tab: complete")
    with _history_errors(file):
        if file.exists():
            readline.read_history_file(file)
    try:
        yield
    finally:
        readline.set_history_length(REMEMBERED)
        with _history_errors(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            readline.write_history_file(file)


@contextmanager
def _history_errors(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        msg = f"{file}: the session's history can't be kept ({error.strerror}); make it a writable file"
        raise InputError(msg) from error


def completer(
    signatures: Mapping[str, str], node_ids: Sequence[str], before: Callable[[], str]
) -> Callable[[str, int], str | None]:
    """Return readline's completion function: the n-th word that begins with a text.

    `before` returns the line up to that text. In an action's brackets words are node ids, with what follows them.
    """
    calls = [f"{name}()" if text.endswith("()") else f"{name}(" for name, text in signatures.items()]

    def complete(text: str, number: int) -> str | None:
        call = CALL_BEGUN.search(before())
        if call is None or call[1] not in signatures:
            words = [*COMMANDS, *calls, *node_ids]
        else:
            is_last = call[2].count(",") == signatures[call[1]].count(",")
            words = [node_id + (")" if is_last else ", ") for node_id in node_ids]
        fitting = [word for word in words if word.startswith(text)]
        return fitting[number] if number < len(fitting) else None

    return complete
