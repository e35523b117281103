"""`scenecypher eval report`: results as a page, CSV and figures, beside the papers' numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scenecypher.cli.context import errors, output


def report(
    results: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RESULTS]...", help="Results, logs, or folders of them (./logs)."),
    ] = None,
    *,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where page, CSV and figures go.")],
) -> None:
    """Write Markdown, CSV and figures of results. Unfinished runs are marked in all of them."""
    from scenecypher.evaluation.reporting.page import warnings
    from scenecypher.evaluation.reporting.report_files import write_report
    from scenecypher.evaluation.reporting.result_files import find_results
    from scenecypher.evaluation.running import check_inspect_installed

    check_inspect_installed()
    found = find_results(results or [Path("logs")])
    files = write_report(found, out)
    for warning in warnings(found):
        errors().print(warning, style="bold red", markup=False)
    output().print(f"{files[0]}: {len(found.results)} results, {len(files) - 1} files beside it", markup=False)
