"""`scenecypher eval`: experiments as Inspect tasks, and their tables."""

from __future__ import annotations

import typer

from scenecypher.cli.evaluate_augmentation import augmentation
from scenecypher.cli.evaluate_eai import eai
from scenecypher.cli.evaluate_played import babyai, babyai_slm, dynamic, grasif, household, realworld
from scenecypher.cli.evaluate_questions import memory, questions
from scenecypher.cli.evaluate_report import report
from scenecypher.cli.evaluate_ssc import ssc

eval_app = typer.Typer(help="Measure a model: each experiment is an Inspect task, its log beside its table.")
eval_app.command("questions")(questions)
eval_app.command("memory")(memory)
eval_app.command("augmentation")(augmentation)
eval_app.command("grasif")(grasif)
eval_app.command("babyai")(babyai)
eval_app.command("babyai-slm")(babyai_slm)
eval_app.command("dynamic")(dynamic)
eval_app.command("household")(household)
eval_app.command("realworld")(realworld)
eval_app.command("eai")(eai)
eval_app.command("ssc")(ssc)
eval_app.command("report")(report)


@eval_app.callback()
def _group() -> None:
    """Experiments by name."""
