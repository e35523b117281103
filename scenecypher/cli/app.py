"""The `scenecypher` command: its groups of commands, and how errors are printed."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import takewhile
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from scenecypher.cli import INTERRUPTED
from scenecypher.cli.act import act, observe, perturb
from scenecypher.cli.context import (
    WAS_INTERRUPTED,
    checked_utf8,
    error_document,
    print_error,
    print_line,
    shown_waits,
    warn,
)
from scenecypher.cli.db import db_app
from scenecypher.cli.demo import demo
from scenecypher.cli.evaluate import eval_app
from scenecypher.cli.history import history, redo, runs_app, undo
from scenecypher.cli.imports import domain_app, import_app
from scenecypher.cli.options import option
from scenecypher.cli.plan import methods, plan
from scenecypher.cli.query import ask, query, schema
from scenecypher.cli.rules import rules_app
from scenecypher.cli.scenes import scenes_app
from scenecypher.cli.serve import mcp, ui
from scenecypher.cli.session import session
from scenecypher.cli.tasks import tasks_app
from scenecypher.errors import InputError, RunStopped, SceneCypherError

EPILOG = (
    "A first look: [bold]scenecypher demo[/]. On your own: [bold]scenecypher import virtualhome --only 963_2[/], then "
    "[bold]scenecypher scenes list[/] and "
    "[bold]scenecypher ask virtualhome/963_2 'What is on the kitchen counter?'[/]. "
    "Exit codes: 0 done, 1 refused (the reason in words), 2 bad input or set-up. "
    "With [bold]--json[/] the reason is JSON, too."
)

PANELS: Final[Mapping[str, Sequence[str]]] = {
    "Start": ("demo", "import"),
    "Look": ("scenes", "query", "history", "ui"),
    "Ask and plan": ("ask", "plan", "session", "methods", "runs"),
    "Change": ("act", "observe", "undo", "redo", "rules", "domain"),
    "Data": ("tasks",),
    "Serve": ("mcp",),
    "Measure": ("eval",),
    "Server": ("db",),
}
"""The commands by what one wants to do, in the order of the help."""


class _InPanels(TyperGroup):
    """The commands in the order of their panels."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands; what is in no panel comes last."""
        order = [name for names in PANELS.values() for name in names]
        return sorted(super().list_commands(ctx), key=lambda it: order.index(it) if it in order else len(order))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, which knows its panel."""
        found: Any = super().get_command(ctx, cmd_name)
        if found is not None:
            found.rich_help_panel = next((panel for panel, names in PANELS.items() if cmd_name in names), None)
        return found


app = typer.Typer(
    name="scenecypher",
    cls=_InPanels,
    help="Household robots' scene graphs in Neo4j: ask them in words, change them by checked actions.",
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo)
app.add_typer(import_app, name="import")
app.add_typer(scenes_app, name="scenes")
app.add_typer(domain_app, name="domain")
app.add_typer(rules_app, name="rules")
scenes_app.command()(schema)
scenes_app.command()(perturb)
app.add_typer(tasks_app, name="tasks")
for _function in (query, ask, act, observe, plan, methods, session, history, undo, redo, ui, mcp):
    app.command()(_function)
app.add_typer(runs_app, name="runs")
app.add_typer(eval_app, name="eval")
app.add_typer(db_app, name="db")


@app.callback(invoke_without_command=True)
def _version(
    *, version: Annotated[bool, option("--version", "Print the version and exit.", is_eager=True)] = False
) -> None:
    if version:
        from importlib.metadata import version as installed

        typer.echo(installed("scenecypher"))
        raise typer.Exit


def run_command_line(arguments: Sequence[str]) -> int:
    """Run one command line. Return the exit code: 0 done, 1 refused, 2 bad input or set-up, 130 interrupted."""
    if os.environ.get("COLUMNS") == "0":  # as some shells without a terminal say; Rich would print nothing
        del os.environ["COLUMNS"]
    try:
        with shown_waits():
            _command()([*map(checked_utf8, arguments)])
    except SystemExit as ended:
        if told := getattr(ended.__context__, "format_message", None):  # of Click, which has printed it for people
            _print_json_error(InputError(told()), arguments)
        if ended.code == INTERRUPTED:
            warn(WAS_INTERRUPTED)
        return ended.code if isinstance(ended.code, int) else 0
    except RunStopped as stopped:
        from scenecypher.evaluation.running import uninterrupted

        with uninterrupted():
            warn(str(stopped))
        return stopped.exit_code
    except (SceneCypherError, OSError) as error:
        told = InputError(_os_words(error)) if isinstance(error, OSError) else error
        _print_json_error(told, arguments)
        print_error(told)
        return told.exit_code
    return 0


def _print_json_error(error: SceneCypherError, arguments: Sequence[str]) -> None:
    """Print the error as JSON if it is asked for, and standard output can be written."""
    if "--json" in [*takewhile(lambda it: it != "--", arguments)]:
        with suppress(OSError):
            print_line(json.dumps(error_document(error), ensure_ascii=False))


@cache
def _command() -> Any:
    """Return the command of Click; Typer takes 50 ms to make it, which a process that runs several saves."""
    return typer.main.get_command(app)


def _os_words(error: OSError) -> str:
    """Return what the operating system refused, and what to do."""
    why = error.strerror or str(error)
    what = f"{error.filename}: {why}" if error.filename else why
    full = error.errno in {errno.ENOSPC, errno.EDQUOT}
    return f"{what}; {'free some space' if full else 'correct the path'}, or choose another place to write to"
