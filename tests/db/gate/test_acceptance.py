"""Acceptance: nearly all natural queries are accepted, whatever other scenes are stored."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import pytest

from scenecypher.db.gate import Gate, Limits, SceneRef
from scenecypher.db.gate.scope import scope
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.bounds import bounds_of
from scenecypher.db.store.connection import Database
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import QueryRefused
from tests.db.gate.conftest import HOME, TIMEOUT_S, accepted, sample_indexes
from tests.db.gate.corpus import HOME_BOUNDS, VOCABULARY, cases, text_of
from tests.db.gate.natural import OTHERS, grown_scene, natural_queries
from tests.sampling import FULL, sample

SHARES = ((60, 0.99), (300, 0.99), (20_000, 0.97))
"""Sizes of scenes, and the least share of natural queries that the gate accepts there."""
UNRELATED_NODES = 3_000
"""Nodes of the unrelated scene."""


def refusals(queries: list[str], nodes: int) -> dict[str, str]:
    bounds = bounds_of(grown_scene(nodes)) if nodes else HOME_BOUNDS
    found = {}
    for text in queries:
        try:
            scope(text, VOCABULARY, Limits(), bounds=bounds)
        except QueryRefused as refused:
            found[text] = str(refused)
    return found


@pytest.mark.parametrize(("nodes", "share"), [(0, 0.99), *SHARES])
def test_natural_queries_are_accepted(nodes: int, share: float) -> None:
    queries = list(natural_queries())
    assert len(set(queries)) == len(queries) == 500
    refused = refusals(queries, nodes)
    assert len(refused) <= (1 - share) * len(queries), refused


@contextmanager
def stored(database: Database, nodes: int) -> Iterator[SceneRef]:
    """Store a scene of this size while the block runs."""
    store, name = SceneStore(database), f"test/grown-{uuid4().hex}"
    store.put(ImportedScene(name, grown_scene(nodes)))
    database.transaction(sample_indexes, access="write", timeout_s=TIMEOUT_S)
    yield SceneRef(store.find(name).key, name)
    store.delete(name)
    store.delete_leftovers(grace_s=0)
    database.transaction(sample_indexes, access="write", timeout_s=TIMEOUT_S)


@pytest.mark.parametrize(("first", "nodes", "share"), [(at, *size) for at, size in enumerate(SHARES)])
def test_natural_queries_are_accepted_with_the_servers_plans(
    scenes: Database, first: int, nodes: int, share: float
) -> None:
    """Have the server plan each query, without running it, and the judge look at the plan: others for each size."""
    queries, refused = list(natural_queries()), {}
    queries = queries if FULL else sample(queries[first :: len(SHARES)], 20)
    with stored(scenes, nodes) as scene:
        gate = Gate(scenes)
        for text in queries:
            try:
                accepted(gate, text, scene)
            except QueryRefused as refusal:
                refused[text] = str(refusal)
    assert len(refused) <= (1 - share) * len(queries), refused


def test_benign_queries_of_the_corpus_are_accepted() -> None:
    assert refusals([case.cypher for case in cases() if case.expect == "rows"], 0) == {}


@pytest.fixture
def asked(scenes: Database) -> list[str]:
    refused = [case.cypher for case in cases() if case.expect != "rows" and case.category != "resource"]
    benign = [case.cypher for case in cases() if case.expect == "rows"]
    return [*sample(benign, 15), *sample(refused, 8), *sample(OTHERS, 5)]


@pytest.fixture
def unrelated_scene(scenes: Database, asked: list[str]) -> Iterator[list[str]]:
    """Yield the outcome of each query without other scenes, then store a large unrelated scene for the test."""
    alone = [outcome(scenes, text) for text in asked]
    with stored(scenes, UNRELATED_NODES):
        yield alone


def outcome(database: Database, text: str, scene: SceneRef = HOME) -> str:
    """Return the plan's text and bound of an accepted query, or the refusal; the server plans it anew."""
    gate = Gate(database)
    try:
        found = accepted(gate, text, scene)
    except QueryRefused as refused:
        return str(refused)
    return text_of([str(found.text).partition(" USING INDEX")[0][:40], str(found.cost)])


def test_other_scenes_do_not_affect_acceptance(scenes: Database, asked: list[str], unrelated_scene: list[str]) -> None:
    beside = [outcome(scenes, text) for text in asked]
    assert [(text, one, two) for text, one, two in zip(asked, unrelated_scene, beside, strict=True) if one != two] == []
    pairs = "MATCH (a:Object),(b:Object) RETURN count(*)"
    assert Gate(scenes).run(pairs, HOME).rows == [[28 * 28]]
