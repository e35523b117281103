"""`scenecypher session`: one scene, line by line: ask, query, act, undo, plan, step."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer

from scenecypher.cli.context import errors, open_store, opened_model, output
from scenecypher.cli.desk import Desk
from scenecypher.cli.scenes import Name
from scenecypher.cli.session_commands import COMMANDS, Quit, do
from scenecypher.cli.worlds import OBSERVER_HELP, SCENE, TRUTH, WORLD_HELP, WORLDS, environment, next_line, outside
from scenecypher.errors import InputError, SceneCypherError
from scenecypher.settings import Settings

PROMPT: Final = "> "
REMEMBERED: Final = 1_000
"""Lines that are kept for the next session."""

Read = Callable[[], str]
"""The next line; raises EOFError after the last."""


def session(
    scene: Name,
    *,
    method: Annotated[str, typer.Option("--method", "-m", help="How `plan` decides.")] = "stepwise",
    belief: Annotated[
        bool, typer.Option("--belief", help="Act by SCENE@belief, made where absent: what was seen, and what may be.")
    ] = False,
    human: Annotated[bool, typer.Option("--human", help="The same as --world human.")] = False,
    world: Annotated[str, typer.Option("--world", metavar="|".join(WORLDS), help=WORLD_HELP)] = SCENE,
    observer: Annotated[str, typer.Option("--observer", metavar="truth|noisy:SEED", help=OBSERVER_HELP)] = TRUTH,
) -> None:
    """Work with a scene line by line: questions, Cypher, actions, plans. `help` lists what there is."""
    from scenecypher.planner.belief import find_or_create_belief
    from scenecypher.planner.methods import recipe_named

    recipe_named(method)
    of = outside("human" if human else world, observer)
    with open_store() as store, opened_model() as model:
        info = store.find(scene)
        behind = environment(store, info, of=of, actor="person", model=model)
        believed = find_or_create_belief(store, info) if belief or not of.is_plain else None
        desk = Desk(store, info, method, model, believed, behind, is_elsewhere=of.world != SCENE)
        output().print(f"{desk.known.name}, version {desk.known.version}; `help` lists the commands", markup=False)
        with _lines(desk) as read:
            converse(desk, read)


def converse(desk: Desk, read: Read) -> None:
    """Do line after line, until the person is done; what is refused is said, and the session goes on."""
    while True:
        try:
            do(desk, read())
        except (EOFError, Quit):
            return
        except KeyboardInterrupt:
            desk.plan = None
            errors().print("stopped; what was done is in the history, and nothing is half done")
        except SceneCypherError as error:
            title = "refused:" if error.exit_code == 1 else "error:"
            errors().print(f"[bold red]{title}[/]", end=" ")
            errors().print(str(error), markup=False, highlight=False)


@contextmanager
def _lines(desk: Desk) -> Iterator[Read]:
    """Lines from a terminal, with completion and history, or from a file."""
    if not sys.stdin.isatty():
        yield next_line
        return
    with _editing([*COMMANDS, *desk.words()], Settings().home / "session_history"):
        yield lambda: input(PROMPT)


@contextmanager
def _editing(words: Sequence[str], file: Path) -> Iterator[None]:
    """The standard library's line editor, where Python has it (not on Windows)."""
    try:
        import readline
    except ImportError:
        yield
        return
    readline.set_completer_delims(" (),")
    readline.set_completer(completer(words))
    readline.parse_and_bind("bind ^I rl_complete" if "libedit" in (readline.__doc__ or "") else "tab: complete")
    with _keeping(file):
        if file.exists():
            readline.read_history_file(file)
    try:
        yield
    finally:
        readline.set_history_length(REMEMBERED)
        with _keeping(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            readline.write_history_file(file)


@contextmanager
def _keeping(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        msg = f"{file}: the session's history can't be kept ({error.strerror}); make it a file that can be written"
        raise InputError(msg) from error


def completer(words: Sequence[str]) -> Callable[[str, int], str | None]:
    """What readline asks: the n-th word that begins so."""

    def complete(text: str, number: int) -> str | None:
        fitting = [word for word in words if word.startswith(text)]
        return fitting[number] if number < len(fitting) else None

    return complete
