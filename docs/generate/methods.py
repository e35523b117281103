"""Page of the planning methods, their ablations, and their differences from the papers' prompts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from docs.generate.differences import DIFFERENCES
from scenecypher.importers.datasets import DATASETS
from scenecypher.planner.methods import METHODS, matrix_cell
from scenecypher.planner.sessions.method import Recipe

REST: Final = "\n## What the prompts carry\n"
"""Heading of the part that is written by hand."""

HEAD: Final = """\
# Methods

A planning method is a small object that yields decisions; one session loop runs them all, on the same scenes, actions,
budgets and models. `scenecypher plan SCENE --task ID --method NAME` takes each by its name, and `--ablation NAME`
leaves a part of it out. The tables are made from the code by `python -m docs.generate methods`; a test compares the
two. How a session goes is in [acting](acting.md).

| method | what it does | is shown | tools | from |
|---|---|---|---|---|"""

SHOWN: Final = {
    "nothing": "what its calls tell",
    "words": "the scene's words",
    "schema": "the schema",
    "memory": "the memory graph",
    "full": "the whole graph",
    "collapsed": "the rooms that it expanded",
}
FORMS: Final = {"text": "as sentences", "json": "as JSON", "lines": "as lines", "glance": "in ALFWorld's words"}

AFTER: Final = """
A method is shown the scene's schema and finds out the rest by asking or calling, or it is shown the graph, as its paper
has it; what it is not shown stands in none of its prompts. A method that gives one whole solution has it carried out
action by action, what is refused being skipped, and is not asked again: the papers' static setting.

The schema of SG2's and SG-RwR's methods is that of the environment, equal for all of its scenes; that of ours counts
what is in the scene. `--schema environment|scene` chooses.

One budget holds for all: steps, tokens and seconds. Three refusals in a row end `lookplangraph` and our methods. A
reply that does not have the asked form, or has over 40,000 characters, is asked again with what is wrong with it, at
most twice. Requests have the temperature and the seed 0; one that a decision of the same run has sent before gets, in
methods of ours, the next seed and a temperature of 0.8, since a model would answer it as before.

## Ablations

`--ablation` takes those that a method has:
"""

DIFFERING: Final = """
## What differs from the papers' prompts

All prompts are in our words. Each prompt tells the state of now, and in a line each what others did since the last
decision. `tests/prompts/rendered` has them as they are sent.

| method | difference | reason |
|---|---|---|"""

MATRIX: Final = """
## Methods and data sets

**paper**: a paper has figures of this method on these tasks, or on tasks that ours stand for (`homes` for VH-1 and
VH-2, the offices for SayPlan's and LookPlanGraph's). **ours**: an addition of ours. A number: that would have no
meaning, for the reason below.
"""


def page() -> str:
    """Return the generated part of the page."""
    parts = [HEAD, *map(_row, METHODS), AFTER, *_ablations(), DIFFERING, *_differences(), MATRIX, *_matrix()]
    return "\n".join(parts) + "\n"


def whole_page(text: str) -> str:
    """Return the page with its generated part made anew."""
    return page() + REST + text.partition(REST)[2]


def _row(name: str) -> str:
    recipe = METHODS[name]
    tools = ", ".join(f"`{tool}`" for tool in _tools(recipe)) or ""
    return f"| `{name}` | {recipe.words} | {_shown(recipe)} | {tools} | {recipe.paper or 'ours'} |"


def _shown(recipe: Recipe) -> str:
    if not recipe.model:
        return ""
    form = f", {FORMS[recipe.form]}" if recipe.extent in {"memory", "full"} else ""
    return f"{SHOWN[recipe.extent]}{form}"


def _tools(recipe: Recipe) -> tuple[str, ...]:
    own = ("expand_node", "contract_node") if recipe.extent == "collapsed" else ()
    return (*own, *recipe.tools)


def _ablations() -> Iterator[str]:
    """Yield a table of the methods and their ablations, and what each ablation changes."""
    having = {name: recipe.ablations for name, recipe in METHODS.items() if recipe.ablations}
    columns = [*dict.fromkeys(ablation for ablations in having.values() for ablation in ablations)]
    yield f"| method | {' | '.join(f'`{ablation.name}`' for ablation in columns)} |"
    yield f"|---|{'---|' * len(columns)}"
    for name, ablations in having.items():
        yield f"| `{name}` | {' | '.join('yes' if each in ablations else '' for each in columns)} |"
    yield ""
    yield from (f"- `{ablation.name}`: {ablation.words}" for ablation in columns)


def _differences() -> Iterator[str]:
    """Yield a row for each difference and the methods that have it."""
    rows: dict[tuple[str, str], list[str]] = {}
    for name, differences in DIFFERENCES.items():
        for difference in differences:
            rows.setdefault(difference, []).append(f"`{name}`")
    for (what, why), names in rows.items():
        yield f"| {', '.join(names)} | {what} | {why} |"


def _matrix() -> Iterator[str]:
    reasons: list[str] = []
    yield f"| method | {' | '.join(DATASETS)} |"
    yield f"|---|{'---|' * len(DATASETS)}"
    for name in METHODS:
        yield f"| `{name}` | {' | '.join(_cell_text(matrix_cell(name, data_set), reasons) for data_set in DATASETS)} |"
    yield ""
    yield from (f"{number}. {reason}" for number, reason in enumerate(reasons, 1))


def _cell_text(cell: str, reasons: list[str]) -> str:
    if not cell.startswith("no meaning"):
        return f"**{cell}**" if cell == "paper" else cell
    reason = cell.partition(": ")[2]
    if reason not in reasons:
        reasons.append(reason)
    return str(reasons.index(reason) + 1)
