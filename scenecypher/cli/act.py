"""`scenecypher act`: one action in a scene, checked and committed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scenecypher.cli.context import open_store, output, print_json
from scenecypher.cli.scenes import AsJson, Name

if TYPE_CHECKING:
    from planner.actions.simulator import Step


def act(
    scene: Name,
    action: Annotated[str | None, typer.Argument(metavar="[ACTION]", help='Such as "grab(soap_1001)".')] = None,
    *,
    fix: Annotated[bool, typer.Option("--fix", help="First do what stands in the way, by rule.")] = False,
    agent: Annotated[str | None, typer.Option("--agent", metavar="ID", help="Who acts; else the first agent.")] = None,
    list_actions: Annotated[bool, typer.Option("--list", help="List the actions that there are.")] = False,
    as_json: AsJson = False,
) -> None:
    """Carry out an action, as one transaction. Where its precondition does not hold nothing changes (exit code 1)."""
    from planner.actions.simulator import Simulator  # noqa: PLC0415
    from planner.actions.vocabularies import action_list  # noqa: PLC0415

    if (action is None) != list_actions:
        raise typer.BadParameter('give an action such as "grab(soap_1001)", or --list')
    with open_store() as store:
        simulator = Simulator(store, store.find(scene), agent=agent, fix=fix)
        if action is None:
            typer.echo(action_list(simulator.operators))
            return
        steps: list[Step] = []
        for step in simulator.act(action):
            steps.append(step)
            if not as_json:
                output().print(_line(step), markup=False)
    if as_json:
        print_json([_document(step) for step in steps])


def _line(step: Step) -> str:
    changes = f"{len(step.delta)} change{'' if len(step.delta) == 1 else 's'}"
    why = f" (inserted: {step.because})" if step.because else ""
    return f"{step.action}: done, {changes}, now at version {step.version}{why}"


def _document(step: Step) -> dict[str, Any]:
    from db.document import delta_json  # noqa: PLC0415

    return {
        "action": step.action,
        "version": step.version,
        "inserted_because": step.because,
        "delta": json.loads(delta_json(step.delta)),
    }
