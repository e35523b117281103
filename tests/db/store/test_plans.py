"""Query plans of our own Cypher: every lookup uses an index."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from types import ModuleType
from typing import Any

import pytest
from neo4j import ManagedTransaction

from scenecypher.db.archive import backup, restore
from scenecypher.db.archive.records import RECORDS
from scenecypher.db.past import statements as past_statements
from scenecypher.db.store import (
    catalog,
    commit,
    history,
    lease,
    load,
    publish,
    replicas,
    rewind,
    runs,
    scene_store,
    stored_form,
    vectors,
)
from scenecypher.db.store.commit import WRITE_PARTS, WritePlan
from scenecypher.db.store.connection import Database
from scenecypher.db.store.scene_store import SceneStore

SCANS = ("AllNodesScan", "NodeByLabelScan", "RelationshipTypeScan", "AllRelationshipsScan")

_LISTS = ("names", "keys", "rows", "ids", "undoes", *WRITE_PARTS)
_TEXTS = (
    "asked",
    "start",
    "key",
    "name",
    "action_id",
    "agent",
    "actor",
    "action",
    "kind",
    "delta",
    "hash",
    "origin",
    "past",
    *("build", "stage", "status", "set"),
)
_NUMBERS = (
    "after",
    "seconds",
    "most",
    "limit",
    "nodes",
    "grace_s",
    "lease_s",
    "read_at",
    "last",
    "base",
    "until",
    "version",
    "part",
    "parts",
    "form",
    *("number", "before", "keep", "keep_s", "done"),
)
PARAMETERS: dict[str, Any] = {
    **{name: [] for name in _LISTS},
    **dict.fromkeys(_TEXTS, "x"),
    **dict.fromkeys((*_NUMBERS, "form"), 1),
    **dict.fromkeys(("leased", "ends"), False),
    "facts": {},
    "time": datetime(2026, 11, 23, tzinfo=UTC),
    "data": b"",
    **{name: {} for name in ("raised", "was", "now", "head", "bounds")},
}


MODULES = (
    *(catalog, commit, history, lease, load, publish, replicas, rewind, scene_store),
    *(runs, stored_form, vectors, backup, restore, past_statements),
)
LOCKS = {commit.VERSION_GUARD}


def statements() -> Iterator[tuple[str, str]]:
    for module in MODULES:
        yield from _constants(module)
    yield "stored form", stored_form.READ_FORM
    for label, kind in RECORDS.items():
        yield f"archive {label}", kind.read
        yield f"restore {label}", kind.add
    everything = WritePlan(tuple(WRITE_PARTS), {"more_nodes": 1, "more_relations": 1})
    yield "commit all", commit.conditional_write(everything)
    yield (
        "commit all and set bounds",
        commit.conditional_write(everything.with_bounds({"most_nodes_Object": 1})),
    )


def _constants(module: ModuleType) -> Iterator[tuple[str, str]]:
    for name, value in vars(module).items():
        if (
            name.isupper()
            and not name.startswith("_")
            and not name.startswith("WRITE_")
            and isinstance(value, str)
            and value.lstrip().startswith(("MATCH", "UNWIND", "CREATE"))
        ):
            tail = " RETURN 1 AS one" if value in LOCKS else ""
            yield f"{module.__name__}.{name}", value + tail


ALL = dict(statements())


def test_the_list_contains_all_our_statements() -> None:
    assert {
        "scenecypher.db.store.commit.VERSION_GUARD",
        "scenecypher.db.store.load.LOAD_NODES",
        "scenecypher.db.store.publish.PUBLISH",
        "scenecypher.db.store.catalog.FIND",
    } <= ALL.keys()


@pytest.mark.parametrize("text", ALL.values(), ids=ALL.keys())
def test_no_statement_scans(store: SceneStore, database: Database, text: Any) -> None:
    names = operators(database, text)
    assert not [name for name in names if name.startswith(SCANS)], names


@pytest.mark.parametrize("name", [name for name in ALL if name.startswith("scenecypher.db.past.")])
def test_a_growing_past_is_found_by_exact_lookups(store: SceneStore, database: Database, name: str) -> None:
    """Without hints the counts of an empty past made the server read the whole index for each row."""
    assert "NodeIndexScan" not in " ".join(operators(database, ALL[name]))


STREAMED = (
    "scenecypher.db.store.load.LOAD_NODES",
    "scenecypher.db.archive.backup.LOAD_NODES",
    "archive Event",
)


@pytest.mark.parametrize("name", STREAMED)
def test_a_whole_scene_is_streamed(store: SceneStore, database: Database, name: str) -> None:
    names = operators(database, ALL[name])
    assert not [name for name in names if "Aggregation" in name or name.startswith(("Eager", "Sort"))], names


def test_the_latest_events_are_read_in_the_order_of_their_index(store: SceneStore, database: Database) -> None:
    names = operators(database, history.EVENT_PAGE_NEWEST)
    assert not [name for name in names if name.startswith(("Sort", "Top", "PartialTop"))], names


def operators(database: Database, text: Any) -> list[str]:
    def explain(tx: ManagedTransaction) -> Any:
        return tx.run("EXPLAIN " + text, PARAMETERS).consume().plan

    return [name for name, _ in _operators(database.transaction(explain, timeout_s=30))]


def _operators(plan: Any) -> Iterator[tuple[str, str]]:
    yield plan["operatorType"], plan["args"].get("Details", "")
    for child in plan.get("children", ()):
        yield from _operators(child)
