"""`scenecypher act`: one action in a scene, checked and committed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scenecypher.cli.approval import person_there
from scenecypher.cli.completion import agent_ids, calls
from scenecypher.cli.context import error_document, open_database, output, print_error, print_json
from scenecypher.cli.options import AsJson, Timeouts, with_options
from scenecypher.cli.scenes import Name
from scenecypher.db.store.enumerations import DENSE
from scenecypher.errors import SceneCypherError
from scenecypher.wording import change_line, is_dense

if TYPE_CHECKING:
    from scenecypher.planner.actions.simulator import CommittedAction


@with_options
def act(
    scene: Name,
    action: Annotated[
        str | None, typer.Argument(metavar="ACTION", help='Such as "grab(soap_1001)".', autocompletion=calls)
    ] = None,
    *,
    fix: Annotated[bool, typer.Option("--fix", help="First do what stands in the way, by rule.")] = False,
    agent: Annotated[
        str | None,
        typer.Option("--agent", metavar="ID", help="The agent that acts; else the first.", autocompletion=agent_ids),
    ] = None,
    actor: Annotated[
        str, typer.Option("--actor", metavar="NAME", help="Whose action it is, as the history names it.")
    ] = "person",
    expect: Annotated[
        int | None,
        typer.Option("--expect-version", metavar="N", min=0, help="Only if nobody changed the scene since version N."),
    ] = None,
    action_id: Annotated[
        str | None,
        typer.Option("--action-id", metavar="ID", help="Carry it out once, however often this command is repeated."),
    ] = None,
    timeouts: Annotated[Timeouts, {"read_timeout_s", "commit_timeout_s", "connect_timeout_s"}],
    list_actions: Annotated[bool, typer.Option("--list", help="List the actions that there are.")] = False,
    as_json: AsJson = False,
) -> None:
    """Carry out an action, as one transaction. Where its precondition does not hold nothing changes (exit code 1).

    At a terminal a person is asked where a rule of the house demands it; without one such an action is refused.

    In SCENE@belief it is checked there, carried out in SCENE, and what that shows is merged into the belief.
    """
    from scenecypher.planner.prompts.house_rules import actions_and_rules
    from scenecypher.planner.worlds.belief_simulator import simulator_of

    if (action is None) != list_actions:
        raise typer.BadParameter('give an action such as "grab(soap_1001)", or --list')
    with open_database(timeouts) as db:
        found = db.store.find(scene)
        simulator = simulator_of(
            db.store, found, actor=actor, agent=agent, fix=fix, meaning=db.meaning, ask=person_there(actor)
        )
        if action is None:
            typer.echo(actions_and_rules(simulator))
            return
        _print_steps(simulator.act(action, expected_version=expect, action_id=action_id), as_json=as_json)


def _print_steps(steps: Iterator[CommittedAction], *, as_json: bool) -> None:
    """Print each step as it happens, or all as one JSON list; those before an error are in its document, as `done`."""
    done: list[dict[str, Any]] = []
    try:
        for step in steps:
            if as_json:
                done.append(_document(step))
            else:
                _print(step)
    except SceneCypherError as error:
        if not done:
            raise
        print_json({**error_document(error), "done": done})
        print_error(error)
        raise typer.Exit(error.exit_code) from error
    if as_json:
        print_json(done)


def _print(step: CommittedAction) -> None:
    """Print the changes of a step. Changes of CLOSE, which relates almost everything, are only counted."""
    why = f" (inserted: {step.because})" if step.because else ""
    output().print(f"{step.action}: done, now at version {step.version}{why}", markup=False)
    dense = [change for change in step.delta.changes if is_dense(change)]
    for change in step.delta.changes:
        if change not in dense:
            output().print(f"  {change_line(change)}", markup=False)
    if dense:
        output().print(f"  and {len(dense)} of {DENSE}", markup=False)
    for seen in step.seen:
        output().print(f"  {seen}", markup=False)


def _document(step: CommittedAction) -> dict[str, Any]:
    from scenecypher.db.graph.graph_json import delta_json

    return {
        "action": step.action,
        "version": step.version,
        "inserted_because": step.because,
        "seen": list(step.seen),
        "delta": json.loads(delta_json(step.delta)),
    }
