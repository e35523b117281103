"""`scenecypher import grasif`: files of one's own and the subset that is rebuilt from public definitions."""

from __future__ import annotations

from typing import Final

import pytest

from scenecypher.db.store.scene_store import SceneStore
from scenecypher.importers.behavior import activities, activity_scene
from tests.scenecypher.cli.conftest import RunCommand

BEHAVIOR: Final = ("import", "grasif", "--subset", "behavior-1k")


def test_a_dry_run_counts_rooms_and_nodes(command: RunCommand) -> None:
    ran = command(*BEHAVIOR, "--dry-run")
    assert ran.code == 0
    *scenes, means, end = ran.out.splitlines()
    assert scenes[0] == (
        "grasif/behavior-1k/assembling_gift_baskets: 1 Agent, 3 Asset, 20 Object, 1 Place, 25 nodes, 24 relations"
    )
    assert means == "on average 1.23 places and 11.1 nodes a scene"
    assert end == "188 scenes checked, nothing written; 0 failed"


def test_one_activity_is_imported_and_then_unchanged(command: RunCommand, store: SceneStore) -> None:
    name = "grasif/behavior-1k/store_honey"
    assert command(*BEHAVIOR, "--only", "store_honey").code == 0
    (again,) = command(*BEHAVIOR, "--only", "store_honey", "--json").json["scenes"]
    assert (again["name"], again["outcome"], again["nodes"]) == (name, "unchanged", 6)
    (activity,) = activities("store_honey")
    assert store.load(name).graph == activity_scene(activity).graph
    store.delete(name)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give either the PATH of GraSIF files or a --subset: sayplan-office, behavior-1k"),
        (
            ("x.json", "--subset", "behavior-1k"),
            "give either the PATH of GraSIF files or a --subset: sayplan-office, behavior-1k",
        ),
        (
            ("--subset", "sayplan"),
            "no subset 'sayplan' is known (did you mean 'sayplan-office'?); give one of sayplan-office, ",
        ),
        (("--subset", "behavior-1k", "--only", "hoe_weed"), "did you mean 'hoe_weeds'"),
        (("--subset", "behavior-1k", "--only", "bottling_wine"), "needs more than inroom, inside, ontop"),
    ],
)
def test_what_can_not_be_imported_is_told(command: RunCommand, arguments: tuple[str, ...], message: str) -> None:
    ran = command("import", "grasif", *arguments, "--dry-run")
    assert ran.code == 2
    assert message in " ".join(ran.err.split())
