"""The stored data, as read by a client that is neither ours nor the official driver."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.connection import Address
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.importers.virtualhome import packaged_scene


@pytest.fixture(scope="module")
def py2neo(address: Address) -> Iterator[Any]:
    """A py2neo graph: end-of-life, hence the warnings, but it shares no code with ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from py2neo import Graph

        place = urlsplit(address.uri)
        graph = Graph(f"bolt://{place.hostname}:{place.port}", auth=(address.username, address.password))
        yield graph
        graph.service.connector.close()


@pytest.fixture(scope="module")
def imported(store: SceneStore) -> Iterator[tuple[str, SceneGraph]]:
    scene = packaged_scene("963_2")
    name = f"test/independent-{uuid4().hex[:10]}"
    store.put(ImportedScene(name, scene.graph, scene.vocabulary, declared=scene.declared))
    yield store.find(name).key, scene.graph
    store.delete(name)


def test_every_node_is_there_with_its_labels_and_values(py2neo: Any, imported: tuple[str, SceneGraph]) -> None:
    key, graph = imported
    rows = py2neo.run("MATCH (n {scene: $key}) RETURN labels(n) AS labels, properties(n) AS values", key=key).data()
    assert len(rows) == len(graph.nodes)
    for row in rows:
        node = graph.nodes[row["values"]["id"]]
        assert set(row["labels"]) == {"Entity", node.kind}
        values = dict(row["values"])
        assert values.pop("scene") == key
        expected = {"id": node.id, "name": node.name, "class": node.class_, **node.properties}
        assert (tuple(values.pop("states")), tuple(values.pop("affordances"))) == (node.states, node.affordances)
        assert values == expected


def test_every_relation_is_there_once_and_stays_in_the_scene(py2neo: Any, imported: tuple[str, SceneGraph]) -> None:
    key, graph = imported
    text = "MATCH (a {scene: $key})-[r]-(b) RETURN startNode(r).id AS s, type(r) AS t, endNode(r).id AS e, b.scene AS b"
    rows = py2neo.run(text, key=key).data()
    assert {row["b"] for row in rows} == {key}
    found = sorted((row["s"], row["t"], row["e"]) for row in rows)
    twice = sorted(
        (r.source, r.type, r.target) for r in graph.relations for _ in range(1 if r.source == r.target else 2)
    )
    assert found == twice


def test_the_scene_node_is_the_only_thing_that_holds_the_name(py2neo: Any, imported: tuple[str, SceneGraph]) -> None:
    key, graph = imported
    (row,) = py2neo.run("MATCH (s:Scene {key: $key}) RETURN properties(s) AS values", key=key).data()
    values = row["values"]
    assert (values["status"], values["version"], values["role"]) == ("ready", 0, "world")
    assert (values["nodes"], values["relations"]) == (len(graph.nodes), len(graph.relations))
