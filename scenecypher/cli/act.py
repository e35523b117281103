"""`scenecypher act`, `observe` and `scenes perturb`: one action, one look, or things moved by a seed, as commits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final
from uuid import uuid4

import typer

from scenecypher.cli.context import (
    delta_document,
    error_document,
    open_database,
    open_store,
    print_error,
    print_json,
    say,
    show,
)
from scenecypher.cli.options import AsJson, Name, Timeouts, agent_ids, argument, calls, node_ids, option, with_options
from scenecypher.cli.worlds import person_there
from scenecypher.db.store.enumerations import DENSE
from scenecypher.errors import InputError, SceneCypherError
from scenecypher.wording import change_line, counted, is_dense

if TYPE_CHECKING:
    from scenecypher.planner.actions.simulator import CommittedAction
    from scenecypher.planner.perception.look import CommittedLook
    from scenecypher.planner.perception.vision import ImageReading

MAX_SENT: Final = 8
EXPLAINED: Final = frozenset({"unseen", "partial", "unplaced", "doubted"})
"""Findings whose reason is always shown: what was not merged."""
STYLES: Final = {
    **dict.fromkeys(("moved", "changed"), "yellow"),
    **dict.fromkeys(("absent", "unseen"), "red"),
    **dict.fromkeys(("unplaced", "missed", "doubted", "partial"), "dim"),
    "new": "green",
}


@with_options
def act(
    scene: Name,
    action: Annotated[str | None, argument("ACTION", 'Such as "grab(soap_1001)".', autocompletion=calls)] = None,
    *,
    fix: Annotated[bool, option("--fix", "First do what stands in the way, by rule.")] = False,
    agent: Annotated[
        str | None, option("--agent", "ID", "The agent that acts; else the first.", autocompletion=agent_ids)
    ] = None,
    actor: Annotated[str, option("--actor", "NAME", "Whose action it is, as the history names it.")] = "person",
    expect: Annotated[
        int | None, option("--expect-version", "N", "Only if nobody changed the scene since version N.", min=0)
    ] = None,
    action_id: Annotated[
        str | None, option("--action-id", "ID", "Carry it out once, however often this command is repeated.")
    ] = None,
    timeouts: Annotated[Timeouts, {"read_timeout_s", "commit_timeout_s", "connect_timeout_s"}],
    list_actions: Annotated[bool, option("--list", "List the actions that there are.")] = False,
    as_json: AsJson = False,
) -> None:
    """Carry out an action, as one transaction. Where its precondition does not hold nothing changes (exit code 1).

    At a terminal a person is asked where a rule of the house demands it; without one such an action is refused.

    In SCENE@belief it is checked there, carried out in SCENE, and what that shows is merged into the belief.
    """
    from scenecypher.db.rules import rules_of
    from scenecypher.planner.actions.ruled import actions_and_rules
    from scenecypher.planner.vocabularies.vocabulary import action_list
    from scenecypher.planner.worlds.belief_simulator import simulator_of

    if (action is None) != list_actions:
        raise typer.BadParameter('give an action such as "grab(soap_1001)", or --list')
    with open_database(timeouts) as db:
        found = db.store.find(scene)
        simulator = simulator_of(
            db.store, found, actor=actor, agent=agent, fix=fix, meaning=db.meaning, ask=person_there(actor)
        )
        if action is None:
            actions, rules = action_list(simulator.operators, simulator.macros), rules_of(found.declared).in_force
            document = {"actions": actions.splitlines(), "rules": [rule.words for rule in rules]}
            print_json(document) if as_json else typer.echo(actions_and_rules(simulator))
            return
        _print_steps(simulator.act(action, expected_version=expect, action_id=action_id), as_json=as_json)


def _print_steps(steps: Iterator[CommittedAction], *, as_json: bool) -> None:
    """Print each step as it happens, or all as one JSON list; those before an error are in its document, as `done`."""
    done: list[dict[str, Any]] = []
    try:
        for step in steps:
            if as_json:
                done.append(_step_document(step))
            else:
                _print_step(step)
    except SceneCypherError as error:
        if not done:
            raise
        print_json({**error_document(error), "done": done})
        print_error(error)
        raise typer.Exit(error.exit_code) from error
    if as_json:
        print_json(done)


def _print_step(step: CommittedAction) -> None:
    """Print the changes of a step. Changes of CLOSE, which relates almost everything, are only counted."""
    why = f" (inserted: {step.because})" if step.because else ""
    shown = [change_line(change) for change in step.delta.changes if not is_dense(change)]
    dense = len(step.delta) - len(shown)
    more = [f"and {dense} of {DENSE}"] if dense else []
    say("\n  ".join([f"{step.action}: done, now at version {step.version}{why}", *shown, *more, *step.seen]))


def _step_document(step: CommittedAction) -> dict[str, Any]:
    return {
        "action": step.action,
        "version": step.version,
        "inserted_because": step.because,
        "seen": list(step.seen),
        "delta": delta_document(step.delta),
    }


@with_options
def observe(
    scene: Name,
    files: Annotated[
        list[Path], argument("FILE...", "Pictures of one look, a folder of them, a video, or a detector's *.json.")
    ],
    *,
    at: Annotated[
        str | None, option("--at", "NODE", "What was looked at: an asset's id or name.", autocompletion=node_ids)
    ] = None,
    pictures: Annotated[int, option("--pictures", "The most pictures that a model is sent.", min=1, max=50)] = MAX_SENT,
    accept: Annotated[bool, option("--accept", "Merge it even if most of what is believed there is not seen.")] = False,
    dry_run: Annotated[bool, option("--dry-run", "Show what would be merged, and why; change nothing.")] = False,
    explain: Annotated[bool, option("--explain", "Show why, what was described, and each change.")] = False,
    timeouts: Annotated[Timeouts, {"model_timeout_s"}],
    as_json: AsJson = False,
) -> None:
    """Merge what one look shows into SCENE@belief (made where absent), or into SCENE where that is a belief itself.

    `undo` on the belief takes it back. Nothing is merged, and the exit status is 1, if NODE was not seen.
    """
    from scenecypher.planner.perception.detections import Detections
    from scenecypher.planner.perception.look import CommittedLook, belief_before, merge_look, read_at, read_look_files
    from scenecypher.planner.perception.merge import merge_checked

    look_files = read_look_files(files, at_most=pictures)
    named = at or (look_files.content.of if isinstance(look_files, Detections) else None)
    if named is None:
        raise InputError("nothing says what was looked at; name it, say --at table-1")
    with open_database(timeouts) as db:
        belief, accept = belief_before(db.store, scene), accept or db.settings.accept_looks
        reading = read_at(look_files, belief, named, model=db.vision_model, accept=accept)
        seen, meaning = reading.observation, db.meaning
        if dry_run:
            words = belief.vocabulary
            merged = merge_checked(belief.graph, seen, vocabulary=words, accept=accept, meaning=meaning)
            look = CommittedLook(merged, belief.version)
        else:
            look = merge_look(db.store, scene, belief, seen, accept=accept, meaning=meaning)
    if as_json:
        print_json(_look_document(belief.name, reading, look) | ({"dry_run": True} if dry_run else {}))
    else:
        _print_look(look, reading, explain=explain or dry_run)
        what = counted(len(look.found.delta), "change") if look.found.delta else "nothing changed"
        end = "with --dry-run nothing is merged" if dry_run else f"version {look.version}"
        say(f"{belief.name}: {what}, {end}")
    if not look.is_merged:
        raise typer.Exit(1)


def _print_look(look: CommittedLook, reading: ImageReading, *, explain: bool) -> None:
    found = look.found
    if explain and reading.description:
        say(reading.description, style="dim")
    for finding in found.findings:
        why = f"  {finding.words}" if explain or finding.kind in EXPLAINED else ""
        say(f"{finding.kind:10}{finding.node}{why}", style=STYLES.get(finding.kind))
    if not found.findings:
        say("nothing was seen, and nothing was believed to be there")
    for change in found.delta.changes if explain else ():
        say(f"  {change_line(change)}")


def _look_document(belief: str, reading: ImageReading, look: CommittedLook) -> dict[str, Any]:
    found, extent = look.found, reading.observation.extent
    return {
        "belief": belief,
        "version": look.version,
        "of": reading.observation.of,
        "extent": {"kind": extent.kind, "part": extent.part, "why": extent.why},
        "findings": [{"kind": it.kind, "node": it.node, "words": it.words} for it in found.findings],
        "description": reading.description,
        "delta": delta_document(found.delta),
        "tokens": reading.usage.total_tokens,
    }


def perturb(
    scene: Name,
    *,
    seed: Annotated[int, option("--seed", "The same seed moves the same things.")],
    objects: Annotated[int, option("--objects", "How many things are moved.", min=1)] = 3,
    as_json: AsJson = False,
) -> None:
    """Move things to plausible places, as one commit that `undo` takes back; SCENE@belief is not changed."""
    from scenecypher.planner.worlds.perturbation import perturb

    with open_store() as store:
        now = store.load(scene)
        found = perturb(now.graph, vocabulary=now.info.vocabulary, seed=seed, objects=objects)
        moved = f"{counted(len(found.moves), 'thing')} moved"
        what, version = f"perturb by seed {seed}: {moved}", now.info.version
        done = store.commit(
            now.info,
            found.delta,
            actor="perturb",
            action=what,
            action_id=uuid4().hex,
            expected_version=version,
            enforced=False,
        )
    moves = [{"thing": it.thing, "relation": it.type, "target": it.target} for it in found.moves]
    document = {"scene": scene, "version": done.version, "seed": seed, "moves": moves}
    show(document, *map(str, found.moves), f"{scene}: {moved}, version {done.version}", as_json=as_json)
