"""Undo and redo read the latest events, not the whole history."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, LiteralString

import pytest
from neo4j import ManagedTransaction

from scenecypher.db.graph.delta import ChangeList, Delta
from scenecypher.db.graph.graph_json import delta_json
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.history import EVENT_PAGE_NEWEST, FIRST_PAGE, LARGEST, Event, plan_redo, plan_undo
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError, NothingToRedo, NothingToUndo
from tests.db.store.test_store import fresh, small

SOIL = Delta.of([ChangeList("cup", "states", ("dirty",), ())])
PAST: LiteralString = """
MATCH (s:Scene {key: $key}) SET s.version = $many
WITH s UNWIND range(1, $many) AS version
CREATE (:Event {scene: $key, version: version, at: datetime(), actor: 't', action: 'a ' + version, kind: 'act',
                action_id: 'a' + version, delta: $delta, hash: '', undoes: []})
"""


def with_past(store: SceneStore, many: int) -> str:
    """A scene of which `many` events are written, the last of which is in the graph."""
    name = fresh("past")
    store.put(ImportedScene(name, small()))
    info = store.find(name)
    given = {"key": info.key, "many": many, "delta": delta_json(Delta())}
    store.database.execute(PAST, given, timeout_s=60)
    assert store.commit(info, SOIL, actor="t", action="soil").version == many + 1
    return name


def hits(plan: Any) -> int:
    return plan["dbHits"] + sum(map(hits, plan.get("children", ())))  # type: ignore[no-any-return]


def test_a_page_of_events_costs_the_same_after_ten_thousand(store: SceneStore) -> None:
    found: dict[int, int] = {}
    for many in (10, 10_000):
        key = store.find(with_past(store, many)).key

        def profiled(tx: ManagedTransaction, key: str = key) -> int:
            given = {"key": key, "after": 0, "until": LARGEST, "limit": FIRST_PAGE}
            return hits(tx.run("PROFILE " + EVENT_PAGE_NEWEST, given).consume().profile)

        found[many] = store.database.transaction(profiled, timeout_s=60)
    assert found[10_000] <= found[10]


def test_undo_redo_and_a_repeated_action_take_one_page(store: SceneStore) -> None:
    info = store.find(with_past(store, 1_000))
    taken: list[int] = []

    def watched(events: Iterator[Event]) -> Iterator[Event]:
        for event in events:
            taken.append(event.version)
            yield event

    assert plan_undo(watched(store.latest(info))).undoes == (1_001,)
    assert taken == [1_001]
    assert store.undo(info).version == 1_002
    assert plan_redo(watched(store.latest(info))).action == "redo 1001"
    assert store.redo(info).version == 1_003
    assert plan_undo(watched(store.latest(info)), version=999).undoes == (999,)
    assert len(taken) < FIRST_PAGE
    event = store.event(info, "a700")
    assert event is not None
    assert (event.version, event.action) == (700, "a 700")
    assert store.event(info, "a70000") is None


def past(*events: tuple[str, tuple[int, ...]]) -> list[Event]:
    return [
        Event(version, datetime.now(UTC), "t", "a", f"{version}", kind, undoes, Delta())
        for version, (kind, undoes) in enumerate(events, start=1)
    ][::-1]


def test_a_redo_of_many_names_the_first_and_the_last() -> None:
    acts = [("act", ())] * 27
    assert plan_redo(past(*acts, ("undo", tuple(range(1, 28))))).action == "redo 1 to 27"
    assert plan_redo(past(*acts, ("undo", (27,)))).action == "redo 27"


def test_what_is_not_there_to_undo_or_redo_is_refused_alike() -> None:
    for plan, refusal in ((plan_undo, NothingToUndo), (plan_redo, NothingToRedo)):
        with pytest.raises(refusal) as raised:
            plan([])
        assert raised.value.exit_code == 1
    with pytest.raises(NothingToUndo, match="version 1 is no action that still holds"):
        plan_undo(past(("act", ()), ("undo", (1,))), version=1)
    with pytest.raises(InputError, match="either the version to undo or the one to go back to"):
        plan_undo(past(("act", ())), version=1, to=0)
