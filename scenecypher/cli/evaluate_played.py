"""`scenecypher eval grasif`, `dynamic`, `realworld`, `babyai`, `babyai-slm`, `household`: their own options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from scenecypher.cli.evaluate_episodes import experiment_command
from scenecypher.cli.evaluate_run import absolute_path

Wording = Annotated[
    Literal["source", "goal"],
    typer.Option("--wording", help="Instructions of the data set, or goals in words, where these tell all."),
]


@experiment_command
def grasif(
    *,
    data: Annotated[
        str, typer.Option("--data", help="all, or some of sayplan-office,behavior-1k,robothow,ablations.")
    ] = "all",
    wording: Wording = "source",
) -> dict[str, Any]:
    """Play GraSIF's tasks by the methods that LookPlanGraph compares, and by its ablations."""
    return {"data": data, "wording": wording}


@experiment_command
def dynamic(
    *,
    data: Annotated[str, typer.Option("--data", help="all, or some of virtualhome,behavior.")] = "all",
    simulated: Annotated[
        bool, typer.Option("--simulated", help="Also LookPlanGraph and ReAct with an observer that errs, by a seed.")
    ] = False,
    wording: Wording = "source",
) -> dict[str, Any]:
    """Play tasks in worlds where things were moved since they were seen."""
    return {"data": data, "wording": wording, "simulated": simulated}


@experiment_command
def realworld(
    *,
    hands: Annotated[
        Literal["scripted", "person"],
        typer.Option(
            "--hands", help="Who acts and looks: the simulator, or a person at this terminal, one task at a time."
        ),
    ] = "scripted",
    wording: Wording = "source",
) -> dict[str, Any]:
    """Play our office's tasks, by a person's hands and eyes or scripted."""
    return {"hands": hands, "wording": wording}


@experiment_command
def babyai(
    *,
    data: Annotated[str, typer.Option("--data", help="all, or some of numqa,trv1,trv2.")] = "all",
    tables: Annotated[str, typer.Option("--tables", help="all, or some of sg2-1,sg2-3,sg-rwr-1,sg-rwr-3.")] = "all",
) -> dict[str, Any]:
    """Play BabyAI's questions and traversals by the methods of SG2 and SG-RwR."""
    return {"data": data, "tables": tables}


@experiment_command
def babyai_slm() -> dict[str, Any]:
    """Play 20 of BabyAI's questions with a small model, as SG2 does."""
    return {}


@experiment_command
def household(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[FOLDER]", help="A home, or a folder of homes; none is our two.")
    ] = None,
    *,
    wording: Annotated[
        Literal["states", "source"],
        typer.Option("--wording", help="Tasks as desired states, as in the papers, or in words."),
    ] = "states",
) -> dict[str, Any]:
    """Play household tasks in our homes, or in those of a folder in VirtualHome's form."""
    return {"folder": absolute_path(folder), "wording": wording}
