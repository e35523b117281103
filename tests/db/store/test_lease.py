"""Holders of leases: only a process that is known to have ended loses its copy early."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from scenecypher.db.graph.delta import ChangeList, Delta
from scenecypher.db.store import lease
from scenecypher.db.store.catalog import list_scenes
from scenecypher.db.store.connection import Database
from scenecypher.db.store.publish import Header, publish
from scenecypher.db.store.runs import process_space
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.worlds.belief import find_or_create_belief
from tests.db.store.test_store import fresh, small

ENDED = "import scenecypher.db.store.lease as lease; print(lease.holder())"


def ended_holder() -> str:
    return subprocess.run([sys.executable, "-c", ENDED], capture_output=True, text=True, check=True).stdout.strip()


def test_who_works_is_not_taken_for_ended() -> None:
    assert not lease._has_ended(lease.holder())


@pytest.mark.skipif(not process_space(), reason="processes of one machine are told apart on Linux only")
def test_who_ended_is_known_on_its_machine_alone() -> None:
    """Two machines may have one name, and the same namespace of processes."""
    held = ended_holder()
    assert lease._has_ended(held)
    space, host, pid = json.loads(held)
    assert not lease._has_ended(json.dumps([space.partition(" ")[0] + " another start", host, pid]))


@pytest.mark.parametrize("held", ["t", "", '["", "here", 1]'])
def test_who_names_no_process_is_not_known(held: str) -> None:
    assert not lease._has_ended(held)


def test_copies_of_many_versions_are_bounded_counted_and_collected(
    store: SceneStore, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Growth without bound: each version at which an environment opened left an invisible copy for good."""
    monkeypatch.setattr(lease, "FREE_COPIES", 3)
    name = fresh("leased")
    publish(database, small(), Header(name, "virtualhome"))
    keys: list[str] = []
    for number in range(lease.FREE_COPIES + 2):
        with store.lease(name) as copy:
            keys.append(copy.key)
            find_or_create_belief(store, copy)
        states = ("dirty", "clean") if number % 2 else ("clean", "dirty")
        change = ChangeList("cup", "states", states[:1], states[1:] if number else ())
        store.commit(store.find(name), Delta.of([change]), actor="t", action="turn")
    assert len({*keys}) == lease.FREE_COPIES + 2
    assert copies_of(store, name) == {*keys[2:]}, "those that were leased last are kept"
    assert sum(f"{name}#" in info.name and info.role == "belief" for info in store.scenes()) == lease.FREE_COPIES

    with store.lease(name) as used:
        counts = lease.count_copies(database)
        assert counts["leased_copies"] > counts["free_copies"] >= lease.FREE_COPIES
        store.delete_leftovers(grace_s=3_600)
        assert copies_of(store, name) == {*keys[2:], used.key}, "those of the last hour stay"
        store.delete_leftovers(grace_s=0)
        assert copies_of(store, name) == {used.key}, "what is in use stays"


def copies_of(store: SceneStore, name: str) -> set[str]:
    found = list_scenes(store.database, leased=True)
    return {info.key for info in found if info.name.startswith(f"{name}#") and info.role == "world"}
