"""`act --action-id`: an action is done once, though its command is killed and repeated."""

from __future__ import annotations

import subprocess
import time
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from scenecypher.db.store.scene_store import SceneStore
from scenecypher.importers.homes import small_home
from scenecypher.planner.worlds.belief import find_or_create_belief
from tests.scenecypher.cli.conftest import RunCommand

CUP = "cup_2004"


def test_a_command_is_repeated_by_its_id(command: RunCommand, home: str, store: SceneStore) -> None:
    first = command("act", home, f"walk({CUP})", "--action-id", "one", "--json")
    again = command("act", home, f"walk({CUP})", "--action-id", "one", "--json")
    assert (first.code, again.code, again.json) == (0, 0, first.json)
    other = command("act", home, f"grab({CUP})", "--action-id", "one")
    assert (other.code, f"'one' was used for walk({CUP})" in other.err) == (2, True)
    assert store.find(home).version == 1


@pytest.mark.parametrize("kind", ["", "@belief"])
def test_a_command_that_was_killed_is_repeated(
    store: SceneStore, user_env: dict[str, str], forks: Path, kind: str
) -> None:
    name = f"test/killed-{uuid4().hex[:10]}"
    store.put(replace(small_home(), name=name))
    world = store.find(name)
    acted = find_or_create_belief(store, world) if kind else world
    line = [str(forks / "scenecypher"), "act", name + kind, f"walk({CUP})", "--action-id", "one"]
    process = subprocess.Popen(line, env=user_env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not store.find(name).version and process.poll() is None:
        assert time.monotonic() < deadline
    process.kill()
    process.communicate()
    for _ in range(2):
        ran = subprocess.run(line, env=user_env, capture_output=True, text=True, timeout=120, check=False)
        assert ran.returncode == 0, ran.stderr
    for scene in {world.key: world, acted.key: acted}.values():
        assert [event.action for event in store.history(scene)] == [f"walk({CUP})"]
