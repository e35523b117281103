"""`scenecypher observe`: one look at a thing, by pictures or by a detector, merged into a belief as one commit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from scenecypher.cli.completion import node_ids
from scenecypher.cli.context import counted, open_database, output, print_json
from scenecypher.cli.options import AsJson, Timeouts, with_options
from scenecypher.cli.scenes import Name
from scenecypher.errors import InputError

if TYPE_CHECKING:
    from scenecypher.meaning import Meaning
    from scenecypher.planner.perception.look import BeliefBefore, CommittedLook
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
def observe(
    scene: Name,
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="Pictures of one look, a folder of them, a video, or a detector's *.json."
        ),
    ],
    *,
    at: Annotated[
        str | None,
        typer.Option(
            "--at", metavar="NODE", help="What was looked at: an asset's id or name.", autocompletion=node_ids
        ),
    ] = None,
    pictures: Annotated[
        int, typer.Option("--pictures", min=1, max=50, help="The most pictures that a model is sent.")
    ] = MAX_SENT,
    accept: Annotated[
        bool, typer.Option("--accept", help="Merge it even if most of what is believed there is not seen.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be merged, and why; change nothing.")
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show why, what was described, and each change.")] = False,
    timeouts: Annotated[Timeouts, {"model_timeout_s"}],
    as_json: AsJson = False,
) -> None:
    """Merge what one look shows into SCENE@belief (made where absent), or into SCENE where that is a belief itself.

    `undo` on the belief takes it back. Nothing is merged, and the exit status is 1, if NODE was not seen.
    """
    from scenecypher.planner.perception.detections import Detections
    from scenecypher.planner.perception.look import belief_before, merge_look, read_at, read_look_files

    look_files = read_look_files(files, at_most=pictures)
    named = at or (look_files.content.of if isinstance(look_files, Detections) else None)
    if named is None:
        raise InputError("nothing says what was looked at; name it, say --at table-1")
    with open_database(timeouts) as db:
        belief, accept = belief_before(db.store, scene), accept or db.settings.accept_looks
        reading = read_at(look_files, belief, named, model=db.vision_model, accept=accept)
        if dry_run:
            look = _previewed(belief, reading, accept=accept, meaning=db.meaning)
        else:
            look = merge_look(db.store, scene, belief, reading.observation, accept=accept, meaning=db.meaning)
    if as_json:
        print_json(_document(belief.name, reading, look) | ({"dry_run": True} if dry_run else {}))
    else:
        _print(look, reading, explain=explain or dry_run)
        what = counted(len(look.found.delta), "change") if look.found.delta else "nothing changed"
        end = "with --dry-run nothing is merged" if dry_run else f"version {look.version}"
        output().print(f"{belief.name}: {what}, {end}", markup=False)
    if not look.is_merged:
        raise typer.Exit(1)


def _previewed(belief: BeliefBefore, reading: ImageReading, *, accept: bool, meaning: Meaning) -> CommittedLook:
    """Return what a merge into the belief as it is now would give."""
    from scenecypher.planner.perception.look import CommittedLook
    from scenecypher.planner.perception.merge import merge_checked

    vocabulary = belief.vocabulary
    found = merge_checked(belief.graph, reading.observation, vocabulary=vocabulary, accept=accept, meaning=meaning)
    return CommittedLook(found, belief.version)


def _print(look: CommittedLook, reading: ImageReading, *, explain: bool) -> None:
    from scenecypher.wording import change_line

    found = look.found
    if explain and reading.description:
        output().print(reading.description, style="dim", markup=False)
    for finding in found.findings:
        why = f"  {finding.words}" if explain or finding.kind in EXPLAINED else ""
        output().print(f"{finding.kind:10}{finding.node}{why}", style=STYLES.get(finding.kind), markup=False)
    if not found.findings:
        output().print("nothing was seen, and nothing was believed to be there")
    for change in found.delta.changes if explain else ():
        output().print(f"  {change_line(change)}", markup=False)


def _document(belief: str, reading: ImageReading, look: CommittedLook) -> dict[str, Any]:
    from scenecypher.db.graph.graph_json import delta_json

    found, extent = look.found, reading.observation.extent
    return {
        "belief": belief,
        "version": look.version,
        "of": reading.observation.of,
        "extent": {"kind": extent.kind, "part": extent.part, "why": extent.why},
        "findings": [{"kind": it.kind, "node": it.node, "words": it.words} for it in found.findings],
        "description": reading.description,
        "delta": json.loads(delta_json(found.delta)),
        "tokens": reading.usage.total_tokens,
    }
