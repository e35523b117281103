"""`scenecypher eval`: experiments as Inspect tasks, and their tables."""

from __future__ import annotations

import typer

from scenecypher.cli.evaluate_report import leaderboard, report
from scenecypher.cli.evaluate_run import experiment_command
from scenecypher.evaluation.experiments import EXPERIMENTS

eval_app = typer.Typer(help="Measure a model: each experiment is an Inspect task, its log beside its table.")
for _row in EXPERIMENTS.values():
    eval_app.command(_row.name, help=_row.help)(experiment_command(_row))
eval_app.command("report")(report)
eval_app.command("leaderboard")(leaderboard)


@eval_app.callback()
def _group() -> None:
    """Experiments by name."""
