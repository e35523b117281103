"""Searches for the shortest path on a real map: each form that is accepted ends, and the others name what is meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from scenecypher.db.gate import Gate, Limits, SceneRef
from scenecypher.db.gate.scope import scope
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import QueryRefused
from scenecypher.importers.dsg import read_scene
from tests.db.gate.corpus import VOCABULARY
from tests.db.store.test_store import fresh

APARTMENT: Final = Path(__file__).resolve().parents[2] / "data" / "dsg" / "apartment_dsg.json"
ENDS: Final = (
    "MATCH (:Object {name: 'O(0)'})-[:INSIDE]->(a:Waypoint), (:Object {name: 'O(84)'})-[:INSIDE]->(b:Waypoint) "
)
FORMS: Final = (
    (ENDS + "MATCH p = SHORTEST 1 (a)-[:CONNECTS]->+(b) RETURN length(p)", [[8]]),
    (ENDS + "MATCH p = SHORTEST 1 (a)-[:CONNECTS]->{1,15}(b) RETURN length(p)", [[8]]),
    (ENDS + "MATCH p = ANY SHORTEST (a)-[:CONNECTS]->+(b) RETURN length(p)", [[8]]),
    (ENDS + "MATCH p = ALL SHORTEST (a)-[:CONNECTS]->+(b) RETURN DISTINCT length(p)", [[8]]),
    (ENDS + "MATCH p = shortestPath((a)-[:CONNECTS*..200]->(b)) RETURN length(p)", [[8]]),
    (ENDS + "OPTIONAL MATCH p = SHORTEST 1 (a)-[:CONNECTS]->+(b) RETURN length(p)", [[8]]),
    ("MATCH p = SHORTEST 1 (a:Waypoint {name: 'p(657)'})-[:CONNECTS]->+(b:Waypoint) RETURN max(length(p))", [[10]]),
    ("MATCH (a:Waypoint {name: 'p(657)'}) MATCH p = SHORTEST 1 (a)-[:CONNECTS]-+(b:Waypoint) RETURN count(*)", [[181]]),
)


@pytest.fixture(scope="module")
def apartment(store: SceneStore) -> Iterator[SceneInfo]:
    name = fresh("map")
    store.put(replace(read_scene(APARTMENT), name=name))
    yield store.find(name)
    store.delete(name)


@pytest.mark.parametrize(("cypher", "rows"), FORMS)
def test_a_search_between_two_nodes_ends(store: SceneStore, apartment: SceneInfo, cypher: str, rows: object) -> None:
    """The kind: by its estimates the server searched from one node to all, along every path, and could not stop."""
    gate = Gate(store.database, limits=Limits(seconds=10))
    answer = gate.run(cypher, SceneRef.of(apartment))
    assert answer.rows == rows


@pytest.mark.parametrize(
    "path",
    [
        "SHORTEST 1 (a)-[:CONNECTS]-{30,60}(b)",
        "SHORTEST 1 (a)-[:CONNECTS]->{12,}(b)",
        "ANY (a)-[:CONNECTS]-{40}(b)",
        "ALL SHORTEST (a) ((x)-[:CONNECTS]-(y)){9,20} (b)",
        "SHORTEST 2 GROUPS (a)-[:CONNECTS*7..9]-(b)",
    ],
)
def test_a_search_with_a_least_length_is_refused(path: str) -> None:
    """A search that must be longer than the shortest path tries every path; the refusal says which form to write."""
    with pytest.raises(QueryRefused, match="least length") as refused:
        scope(f"MATCH (a:Waypoint {{id: 'a'}}), (b:Place) MATCH p = {path} RETURN p", VOCABULARY, Limits())
    assert "shortestPath((a)-[:CONNECTS*..100]->(b))" in refused.value.hint


def test_short_searches_with_a_least_length_are_accepted() -> None:
    scope("MATCH p = SHORTEST 1 (a:Place)-[:CONNECTS]-{2,4}(b:Place) RETURN length(p)", VOCABULARY, Limits())
