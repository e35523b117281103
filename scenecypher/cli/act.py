"""`scenecypher act`: one action in a scene, checked and committed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scenecypher.cli.context import open_store, output, print_json
from scenecypher.cli.scenes import AsJson, Name, words
from scenecypher.db.store.enumerations import DENSE

if TYPE_CHECKING:
    from scenecypher.db.graph.delta import Change
    from scenecypher.db.store.catalog import SceneInfo
    from scenecypher.db.store.scene_store import SceneStore
    from scenecypher.planner.actions.simulator import Simulator, Step


def act(
    scene: Name,
    action: Annotated[str | None, typer.Argument(metavar="ACTION", help='Such as "grab(soap_1001)".')] = None,
    *,
    fix: Annotated[bool, typer.Option("--fix", help="First do what stands in the way, by rule.")] = False,
    agent: Annotated[str | None, typer.Option("--agent", metavar="ID", help="Who acts; else the first agent.")] = None,
    expect: Annotated[
        int | None,
        typer.Option("--expect-version", metavar="N", min=0, help="Only if nobody changed the scene since version N."),
    ] = None,
    list_actions: Annotated[bool, typer.Option("--list", help="List the actions that there are.")] = False,
    as_json: AsJson = False,
) -> None:
    """Carry out an action, as one transaction. Where its precondition does not hold nothing changes (exit code 1).

    In SCENE@belief it is checked there, carried out in SCENE, and what that shows is merged into the belief.
    """
    from scenecypher.planner.actions.vocabularies import action_list

    if (action is None) != list_actions:
        raise typer.BadParameter('give an action such as "grab(soap_1001)", or --list')
    with open_store() as store:
        simulator = _simulator(store, store.find(scene), agent=agent, fix=fix)
        if action is None:
            typer.echo(action_list(simulator.operators, simulator.macros))
            return
        _tell(simulator.act(action, expected_version=expect), as_json=as_json)


def _simulator(store: SceneStore, scene: SceneInfo, *, agent: str | None, fix: bool) -> Simulator:
    """What acts in the scene; in a belief, what acts by it in its world. Raises SceneNotFound where that is gone."""
    from scenecypher.planner.actions.simulator import Simulator
    from scenecypher.planner.belief import world_of
    from scenecypher.planner.believing import Believing
    from scenecypher.planner.environment import SceneEnvironment

    if scene.role != "belief":
        return Simulator(store, scene, agent=agent, fix=fix)
    world = SceneEnvironment(store, world_of(store, scene), actor="person", agent=agent)
    return Believing(store, scene, world=world, agent=agent, fix=fix)


def _tell(steps: Iterator[Step], *, as_json: bool) -> None:
    """Print what is done, each step as it happens or all as one list; what was done before a refusal is told, too."""
    done: list[Step] = []
    try:
        for step in steps:
            done.append(step)
            if not as_json:
                _print(step)
    finally:
        if as_json and done:
            print_json([_document(step) for step in done])


def _print(step: Step) -> None:
    """What was done, change by change; of CLOSE, which is between almost everything, only how many."""
    why = f" (inserted: {step.because})" if step.because else ""
    output().print(f"{step.action}: done, now at version {step.version}{why}", markup=False)
    dense = [change for change in step.delta.changes if _is_dense(change)]
    for change in step.delta.changes:
        if change not in dense:
            output().print(f"  {words(change)}", markup=False)
    if dense:
        output().print(f"  and {len(dense)} of {DENSE}", markup=False)
    for seen in step.seen:
        output().print(f"  {seen}", markup=False)


def _is_dense(change: Change) -> bool:
    from scenecypher.db.graph.delta import AddRelation, RemoveRelation

    return isinstance(change, AddRelation | RemoveRelation) and change.relation.type == DENSE


def _document(step: Step) -> dict[str, Any]:
    from scenecypher.db.graph.document import delta_json

    return {
        "action": step.action,
        "version": step.version,
        "inserted_because": step.because,
        "seen": list(step.seen),
        "delta": json.loads(delta_json(step.delta)),
    }
