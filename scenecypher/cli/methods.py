"""`scenecypher methods`: the planning methods and their ablations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from scenecypher.cli.completion import method_names
from scenecypher.cli.context import output, print_json
from scenecypher.cli.options import AsJson

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scenecypher.planner.sessions.recipe import Recipe


def methods(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="One method; else all.", autocompletion=method_names)
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """List the methods that `plan --method` takes, or show one: its paper, its ablations, its data sets."""
    from scenecypher.planner.methods import METHODS, recipe_named

    chosen = METHODS if name is None else {name: recipe_named(name)}
    if as_json:
        print_json([_document(each, recipe) for each, recipe in chosen.items()])
    elif name is None:
        _list(METHODS)
    else:
        _show(name, chosen[name])


def list_methods(wanted: bool) -> None:  # noqa: FBT001 - the form of Typer's callbacks
    """Print the methods and end the command, if that is wanted."""
    from scenecypher.planner.methods import METHODS

    if wanted:
        _list(METHODS)
        raise typer.Exit


def _list(recipes: Mapping[str, Recipe]) -> None:
    width = max(map(len, recipes)) + 2
    for each, recipe in recipes.items():
        output().print(f"{each:<{width}}{recipe.words}", markup=False, highlight=False)


def _show(name: str, recipe: Recipe) -> None:
    from scenecypher.importers.datasets import DATASETS
    from scenecypher.planner.methods.matrix import matrix_cell

    out = output()
    out.print(f"{name}: {recipe.words}", markup=False)
    out.print(f"  from: {recipe.paper or 'ours'}", markup=False)
    for ablation in recipe.ablations:
        out.print(f"  --ablation {ablation.name}: {ablation.words}", markup=False)
    for data_set in DATASETS:
        out.print(f"  {data_set}: {matrix_cell(name, data_set)}", markup=False, style="dim")


def _document(name: str, recipe: Recipe) -> dict[str, object]:
    from scenecypher.importers.datasets import DATASETS
    from scenecypher.planner.methods.matrix import matrix_cell

    return {
        "method": name,
        "words": recipe.words,
        "paper": recipe.paper or None,
        "ablations": {ablation.name: ablation.words for ablation in recipe.ablations},
        "data_sets": {data_set: matrix_cell(name, data_set) for data_set in DATASETS},
    }
