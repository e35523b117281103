"""`scenecypher session`: ask, query, act, undo, plan and step in one scene, line by line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer

from scenecypher.cli.completion import method_names
from scenecypher.cli.context import errors, open_store, opened_model, output
from scenecypher.cli.scenes import Name
from scenecypher.cli.session_commands import COMMANDS, Quit, run_line
from scenecypher.cli.session_state import SessionState
from scenecypher.cli.worlds import (
    OBSERVER_HELP,
    SCENE,
    TRUTH,
    WORLD_HELP,
    WORLDS,
    next_line,
    world_behind,
    world_options,
)
from scenecypher.errors import InputError, SceneCypherError
from scenecypher.settings import Settings

PROMPT: Final = "> "
REMEMBERED: Final = 1_000
"""Number of input lines kept for the next session."""

Read = Callable[[], str]
"""A function that returns the next line; raises EOFError after the last."""


def session(
    scene: Name,
    *,
    method: Annotated[
        str, typer.Option("--method", "-m", help="How `plan` decides.", autocompletion=method_names)
    ] = "stepwise",
    belief: Annotated[
        bool, typer.Option("--belief", help="Act by SCENE@belief, made where absent: what was seen, and what may be.")
    ] = False,
    human: Annotated[bool, typer.Option("--human", help="The same as --world human.")] = False,
    world: Annotated[str, typer.Option("--world", metavar="|".join(WORLDS), help=WORLD_HELP)] = SCENE,
    observer: Annotated[str, typer.Option("--observer", metavar="truth|noisy:SEED", help=OBSERVER_HELP)] = TRUTH,
) -> None:
    """Work with a scene line by line: questions, Cypher, actions, plans. `help` lists the commands."""
    from scenecypher.planner.belief import find_or_create_belief
    from scenecypher.planner.methods import recipe_named

    recipe_named(method)
    of = world_options("human" if human else world, observer)
    with open_store() as store, opened_model() as model:
        info = store.find(scene)
        behind = world_behind(store, info, of=of, actor="person", model=model)
        believed = find_or_create_belief(store, info) if belief or not of.is_plain else None
        state = SessionState(store, info, method, model, believed, behind, is_elsewhere=of.world != SCENE)
        output().print(f"{state.known.name}, version {state.known.version}; `help` lists the commands", markup=False)
        with _lines(state) as read:
            run_session(state, read)


def run_session(state: SessionState, read: Read) -> None:
    """Run line after line until the end of input or Quit. Errors are printed, and the session continues."""
    while True:
        try:
            run_line(state, read())
        except (EOFError, Quit):
            return
        except KeyboardInterrupt:
            state.plan = None
            errors().print("stopped; what was done is in the history, and nothing is half done")
        except SceneCypherError as error:
            title = "refused:" if error.exit_code == 1 else "error:"
            errors().print(f"[bold red]{title}[/]", end=" ")
            errors().print(str(error), markup=False, highlight=False)


@contextmanager
def _lines(state: SessionState) -> Iterator[Read]:
    """Read lines from a terminal, with completion and history, or from a file."""
    if not sys.stdin.isatty():
        yield next_line
        return
    with _editing([*COMMANDS, *state.completions()], Settings().home / "session_history"):
        yield lambda: input(PROMPT)


@contextmanager
def _editing(words: Sequence[str], file: Path) -> Iterator[None]:
    """Use the standard library's line editor if Python has it (not on Windows)."""
    try:
        import readline
    except ImportError:
        yield
        return
    readline.set_completer_delims(" (),")
    readline.set_completer(completer(words))
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


def completer(words: Sequence[str]) -> Callable[[str, int], str | None]:
    """Return readline's completion function: the n-th word that begins with a text."""

    def complete(text: str, number: int) -> str | None:
        fitting = [word for word in words if word.startswith(text)]
        return fitting[number] if number < len(fitting) else None

    return complete
