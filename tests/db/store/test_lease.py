"""Holders of leases: only a process that is known to have ended loses its copy early."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from scenecypher.db.store import lease
from scenecypher.db.store.processes import process_space

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
