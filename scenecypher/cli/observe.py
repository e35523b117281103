"""`scenecypher observe`: a picture of one thing, read by a model and merged into a belief as one commit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from scenecypher.cli.completion import node_ids
from scenecypher.cli.context import ModelTimeout, counted, open_database, output, print_json
from scenecypher.cli.scenes import AsJson, Name

if TYPE_CHECKING:
    from scenecypher.chat.model import Model
    from scenecypher.db.store.catalog import SceneInfo
    from scenecypher.db.store.scene_store import SceneStore
    from scenecypher.planner.perception.commit_look import CommittedLook
    from scenecypher.planner.perception.findings import MergeResult
    from scenecypher.planner.perception.vision import ImageReading

EXPLAINED: Final = frozenset({"unseen", "partial", "unplaced"})
"""Findings whose reason is always shown: what was not merged."""
STYLES: Final = {
    **dict.fromkeys(("moved", "changed"), "yellow"),
    **dict.fromkeys(("absent", "unseen"), "red"),
    **dict.fromkeys(("unplaced", "missed", "partial"), "dim"),
    "new": "green",
}


def observe(
    scene: Name,
    image: Annotated[Path, typer.Argument(metavar="IMAGE", help="A PNG, JPEG, GIF or WebP file.")],
    *,
    at: Annotated[
        str,
        typer.Option(
            "--at", metavar="NODE", help="What the picture shows: an asset's id or name.", autocompletion=node_ids
        ),
    ],
    accept: Annotated[
        bool, typer.Option("--accept", help="Merge it even if most of what is believed there is not seen.")
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show why, what was described, and each change.")] = False,
    model_timeout: ModelTimeout = None,
    as_json: AsJson = False,
) -> None:
    """Merge what a picture shows into SCENE@belief (made where absent), or into SCENE where that is a belief itself.

    `undo` on the belief takes it back. Nothing is merged, and the exit status is 1, if the picture does not show NODE.
    """
    from scenecypher.planner.perception.picture import read_picture

    picture = read_picture(image)
    with open_database(model_timeout_s=model_timeout) as db:
        of = _seen_node(db.store, scene, at)
        model = db.model()  # a missing one is told before a belief is made
        belief = _belief(db.store, scene)
        accept = accept or db.settings.accept_looks
        reading, look = _merged(db.store, belief, picture, of=of, model=model, accept=accept)
    if as_json:
        print_json(_document(belief.name, reading, look.found, version=look.version))
    else:
        _print(look.found, reading, explain=explain)
        what = counted(len(look.found.delta), "change") if look.found.delta else "nothing changed"
        output().print(f"{belief.name}: {what}, version {look.version}", markup=False)
    if not look.is_merged:
        raise typer.Exit(1)


def _seen_node(store: SceneStore, scene: str, text: str) -> str:
    """Return the id of the node that `text` means in the belief, or in the scene while it has none."""
    from scenecypher.db.store.catalog import lookup_scene
    from scenecypher.db.store.reference import resolve_reference
    from scenecypher.planner.belief import belief_name

    known = lookup_scene(store.database, belief_name(scene)) or store.find(scene)
    return resolve_reference(store.database, known, text)


def _belief(store: SceneStore, scene: str) -> SceneInfo:
    from scenecypher.planner.belief import find_or_create_belief

    info = store.find(scene)
    return info if info.role == "belief" else find_or_create_belief(store, info)


def _merged(
    store: SceneStore, belief: SceneInfo, picture: Any, *, of: str, model: Model, accept: bool
) -> tuple[ImageReading, CommittedLook]:
    from uuid import uuid4

    from scenecypher.db.store.commit import Intent
    from scenecypher.planner.perception.commit_look import commit_look
    from scenecypher.planner.perception.naming import known_node
    from scenecypher.planner.perception.vision import read_image

    graph = store.load(belief.name)
    known = known_node(graph.graph, of, vocabulary=belief.vocabulary)
    reading = read_image(model, picture, known, step=graph.info.version + 1, accept=accept)
    intent = Intent("observe", f"see {of}", uuid4().hex)
    return reading, commit_look(store, belief, reading.observation, intent=intent, accept=accept)


def _print(found: MergeResult, reading: ImageReading, *, explain: bool) -> None:
    from scenecypher.cli.scenes import change_line

    if explain:
        output().print(reading.description, style="dim", markup=False)
    for finding in found.findings:
        why = f"  {finding.words}" if explain or finding.kind in EXPLAINED else ""
        output().print(f"{finding.kind:10}{finding.node}{why}", style=STYLES.get(finding.kind), markup=False)
    if not found.findings:
        output().print("nothing was seen, and nothing was believed to be there")
    for change in found.delta.changes if explain else ():
        output().print(f"  {change_line(change)}", markup=False)


def _document(belief: str, reading: ImageReading, found: MergeResult, *, version: int) -> dict[str, Any]:
    from scenecypher.db.graph.document import delta_json

    extent = reading.observation.extent
    return {
        "belief": belief,
        "version": version,
        "of": reading.observation.of,
        "extent": {"kind": extent.kind, "part": extent.part, "why": extent.why},
        "findings": [{"kind": it.kind, "node": it.node, "words": it.words} for it in found.findings],
        "description": reading.description,
        "delta": json.loads(delta_json(found.delta)),
        "tokens": reading.usage.total_tokens,
    }
