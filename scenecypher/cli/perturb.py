"""`scenecypher scenes perturb`: move things by a seed, so that beliefs about the scene become stale."""

from __future__ import annotations

from typing import Annotated
from uuid import uuid4

import typer

from scenecypher.cli.context import counted, open_store, output, print_json
from scenecypher.cli.options import AsJson
from scenecypher.cli.scenes import Name


def perturb(
    scene: Name,
    *,
    seed: Annotated[int, typer.Option("--seed", help="The same seed moves the same things.")],
    objects: Annotated[int, typer.Option("--objects", min=1, help="How many things are moved.")] = 3,
    as_json: AsJson = False,
) -> None:
    """Move things to plausible places, as one commit that `undo` takes back; SCENE@belief is not changed."""
    from scenecypher.planner.worlds.perturbation import perturb

    with open_store() as store:
        now = store.load(scene)
        found = perturb(now.graph, vocabulary=now.info.vocabulary, seed=seed, objects=objects)
        action = f"perturb by seed {seed}: {counted(len(found.moves), 'thing')} moved"
        done = store.commit(
            now.info,
            found.delta,
            actor="perturb",
            action=action,
            action_id=uuid4().hex,
            expected_version=now.info.version,
            enforced=False,
        )
    if as_json:
        moves = [{"thing": it.thing, "relation": it.type, "target": it.target} for it in found.moves]
        print_json({"scene": scene, "version": done.version, "seed": seed, "moves": moves})
        return
    for move in found.moves:
        output().print(str(move), markup=False)
    output().print(f"{scene}: {counted(len(found.moves), 'thing')} moved, version {done.version}", markup=False)
