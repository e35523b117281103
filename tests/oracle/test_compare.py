"""The comparison of goals first with other methods: what its scripted models reach, and what it counts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from scenecypher.db.store.connection import Address
from scenecypher.evaluation.world_pool import WorldPool
from tests.oracle.compare import STATED, dynamic_group, played, row

pytest.importorskip("up_fast_downward", reason="needs `pip install 'scenecypher[pddl]'`")

SUCCEEDING = {"right", "by class", "wrong name first"}


@pytest.fixture
def pool(address: Address, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[WorldPool]:
    monkeypatch.chdir(tmp_path)
    settings = {"URI": address.uri, "USERNAME": address.username, "PASSWORD": address.password}
    for name, value in (settings | {"DATABASE": address.database}).items():
        monkeypatch.setenv(f"NEO4J_{name}", value)
    found = WorldPool()
    yield found
    found.close()


def test_right_goals_are_reached_and_others_are_not(pool: WorldPool) -> None:
    """The first moved task of BEHAVIOR has two facts, so that a part of it is not enough."""
    group = dynamic_group("behavior")
    (episode,) = group.some(1)
    assert episode.moved
    for stated, program in STATED.items():
        one = played(pool, group, episode, "explore-then-plan", program)
        assert one.success == (stated in SUCCEEDING | {"ambiguous, kept"}), (stated, one.trace)
        assert not one.trace.infeasible
        assert one.trace.prompt_tokens
        if stated == "wrong":
            assert "The goal holds already" in one.trace.reason, "never silently done"
        assert row("m", stated, [one]).count("|") == 9
