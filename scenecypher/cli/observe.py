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
    from scenecypher.db.graph.delta import Delta
    from scenecypher.db.store.catalog import SceneInfo
    from scenecypher.db.store.commit import Committed, LockedPart
    from scenecypher.db.store.scene_store import SceneStore
    from scenecypher.planner.perception.merge import MergeResult
    from scenecypher.planner.perception.vision import ImageReading

STYLES: Final = {"new": "green", "moved": "yellow", "changed": "yellow", "absent": "red", "unplaced": "dim"}


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
    explain: Annotated[bool, typer.Option("--explain", help="Show why, what was described, and each change.")] = False,
    model_timeout: ModelTimeout = None,
    as_json: AsJson = False,
) -> None:
    """Merge what a picture shows into SCENE@belief (made where absent), or into SCENE where that is a belief itself.

    `undo` on the belief takes it back.
    """
    from scenecypher.planner.perception.picture import read_picture

    picture = read_picture(image)
    with open_database(model_timeout_s=model_timeout) as db:
        of = _seen_node(db.store, scene, at)
        model = db.model()  # a missing one is told before a belief is made
        belief = _belief(db.store, scene)
        reading, found, done = _merged(db.store, belief, picture, of=of, model=model)
    if as_json:
        print_json(_document(belief.name, reading, found, version=done.version))
        return
    _print(found, reading, explain=explain)
    what = counted(len(found.delta), "change") if found.delta else "nothing changed"
    output().print(f"{belief.name}: {what}, version {done.version}", markup=False)


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
    store: SceneStore, belief: SceneInfo, picture: Any, *, of: str, model: Model
) -> tuple[ImageReading, MergeResult, Committed]:
    from dataclasses import replace
    from uuid import uuid4

    from scenecypher.db.store.commit import Intent
    from scenecypher.planner.perception.merge import merge
    from scenecypher.planner.perception.naming import known_node
    from scenecypher.planner.perception.vision import read_image

    graph = store.load(belief.name)
    known = known_node(graph.graph, of, vocabulary=belief.vocabulary)
    reading = read_image(model, picture, known, step=graph.info.version + 1)
    found: list[MergeResult] = []

    def decide(locked: LockedPart) -> Delta:
        """Merge into the belief as it is now: others may have changed it while the model read."""
        observation = replace(reading.observation, step=locked.version + 1)
        found.append(merge(locked.part, observation, vocabulary=belief.vocabulary))
        return found[-1].delta

    done = store.edit(belief, decide, intent=Intent("observe", f"see {of}", uuid4().hex))
    return reading, found[-1], done


def _print(found: MergeResult, reading: ImageReading, *, explain: bool) -> None:
    from scenecypher.cli.scenes import change_line

    if explain:
        output().print(reading.description, style="dim", markup=False)
    for finding in found.findings:
        why = f"  {finding.words}" if explain else ""
        output().print(f"{finding.kind:10}{finding.node}{why}", style=STYLES.get(finding.kind), markup=False)
    if not found.findings:
        output().print("nothing was seen, and nothing was believed to be there")
    for change in found.delta.changes if explain else ():
        output().print(f"  {change_line(change)}", markup=False)


def _document(belief: str, reading: ImageReading, found: MergeResult, *, version: int) -> dict[str, Any]:
    from scenecypher.db.graph.document import delta_json

    return {
        "belief": belief,
        "version": version,
        "of": reading.observation.of,
        "findings": [{"kind": it.kind, "node": it.node, "words": it.words} for it in found.findings],
        "description": reading.description,
        "delta": json.loads(delta_json(found.delta)),
        "tokens": reading.usage.total_tokens,
    }
