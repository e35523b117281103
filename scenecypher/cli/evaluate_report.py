"""`scenecypher eval report` and `leaderboard`: results as pages, beside the papers' numbers or beside each other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scenecypher.cli.context import errors, output
from scenecypher.cli.evaluate import result_of_log

Results = Annotated[
    list[Path] | None, typer.Argument(metavar="[RESULTS]...", help="Results, logs, or folders of them (./logs).")
]


def report(
    results: Results = None,
    *,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where page, CSV and figures go.")],
) -> None:
    """Write Markdown, CSV and figures of results. Unfinished runs are marked in all of them."""
    from scenecypher.evaluation.reporting.page import warnings, write_report
    from scenecypher.evaluation.reporting.result_files import find_results
    from scenecypher.evaluation.running import check_inspect_installed
    from scenecypher.wording import counted

    check_inspect_installed()
    found = find_results(results or [Path("logs")], result_of_log)
    files = write_report(found, out)
    for warning in warnings(found):
        errors().print(warning, style="bold red", markup=False)
    made, beside = counted(len(found.results), "result"), counted(len(files) - 1, "file")
    output().print(f"{files[0]}: {made}, {beside} beside it", markup=False)


def leaderboard(results: Results = None) -> None:
    """Print a page with a table for each experiment: models and methods of all finished runs."""
    from scenecypher.evaluation.reporting.leaderboard import leaderboard_markdown
    from scenecypher.evaluation.reporting.page import warnings
    from scenecypher.evaluation.reporting.result_files import find_results
    from scenecypher.evaluation.running import check_inspect_installed

    check_inspect_installed()
    found = find_results(results or [Path("logs")], result_of_log)
    for warning in warnings(found):
        errors().print(warning, style="bold red", markup=False)
    typer.echo(leaderboard_markdown(found), nl=False)
