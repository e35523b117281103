"""Vectors beside the graph: stored with a scene, shared by its copies, never seen, compared with a text by the gate."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from uuid import uuid4

import pytest

from scenecypher.db.gate import Gate
from scenecypher.db.gate.graph import SceneRef
from scenecypher.db.gate.run import Answer
from scenecypher.db.graph.delta import Delta, diff
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.graph.vectors import NodeVectors, checked_vectors, single
from scenecypher.db.schema import VectorSpace, vector_label
from scenecypher.db.store.connection import Database
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.store.vectors import read_vectors
from scenecypher.errors import InputError, QueryRefused
from scenecypher.meaning import Embed

MODEL = "toy"
VECTORS = {"couch_1": (1.0, 0.1, 0.0), "lamp_1": (0.0, 1.0, 0.0), "mug_1": (0.0, 0.2, 1.0)}
TEXTS = {"soft": (1.0, 0.0, 0.0), "bright": (0.1, 1.0, 0.0), "to drink from": (0.0, 0.0, 1.0)}
NEAREST = "MATCH (n) RETURN n.name ORDER BY similarity(n, '{}') DESC LIMIT 1"


def graph(*more: str) -> SceneGraph:
    nodes = [Node(it, "Object", it, it.partition("_")[0]) for it in (*VECTORS, "rug_1", *more)]
    room = Node("room", "Place", "room", "room")
    return SceneGraph.of([room, *nodes], [Relation(it.id, "INSIDE", "room") for it in nodes])


def source(vectors: dict[str, Sequence[float]], *, model: str = MODEL, nodes: SceneGraph | None = None) -> NodeVectors:
    return checked_vectors("clip", model, vectors.items(), (nodes or graph()).nodes)


def imported(name: str = "", *, model: str = MODEL, **changed: Sequence[float]) -> ImportedScene:
    vectors: dict[str, Sequence[float]] = {**VECTORS, **changed}
    return ImportedScene(name or f"looks/{uuid4().hex}", graph(), vectors=(source(vectors, model=model),))


def encoder(model: str) -> Embed | None:
    return (lambda texts: [TEXTS.get(text, (0.0, 0.0, 0.0)) for text in texts]) if model == MODEL else None


@pytest.fixture(scope="module")
def ask(database: Database, store: SceneStore) -> Callable[[str, str], Answer]:
    gate = Gate(database, encoders=encoder)
    return lambda name, cypher: gate.run(cypher, SceneRef.of(store.materialise(name)))


def nearest(ask: Callable[[str, str], Answer], name: str, text: str) -> object:
    return ask(name, NEAREST.format(text)).rows


def test_a_query_compares_nodes_with_a_text(store: SceneStore, ask: Callable[[str, str], Answer]) -> None:
    name = store.put(imported()).name
    assert [nearest(ask, name, text) for text in TEXTS] == [[["couch_1"]], [["lamp_1"]], [["mug_1"]]]


@pytest.mark.parametrize(
    ("cypher", "rows"),
    [
        ("MATCH (n:Object) WHERE similarity(n, 'soft') > 0.9 RETURN n.name", [["couch_1"]]),
        ("MATCH (n:Object) RETURN n.name ORDER BY similarity(n, 'bright') DESC LIMIT 2", [["lamp_1"], ["couch_1"]]),
        ("MATCH (n:Place) RETURN similarity(n, 'soft') AS near", [[0.0]]),
        ("MATCH (n:Object)-[:INSIDE]->(p:Place) WITH p, n WHERE similarity(n, 'bright') > 0.9 RETURN p.name, n.name",
         [["room", "lamp_1"]]),
        ("MATCH (p:Place) WHERE EXISTS { (n)-[:INSIDE]->(p) WHERE similarity(n, 'soft') > 0.9 } RETURN p.name",
         [["room"]]),
        ("MATCH (n:Object) RETURN max(similarity(n, 'soft')) > 0.99 AS yes", [[True]]),
        ("MATCH (n:Object) WITH collect(n) AS them RETURN size([x IN them WHERE similarity(x, 'soft') > 0.9]) AS n",
         [[1]]),
        ("MATCH (n:Object {name: 'couch_1'}) RETURN similarity(n, 'soft') > similarity(n, 'bright') AS yes", [[True]]),
        ("CALL () { MATCH (n:Object) WHERE Similarity(n, 'soft') > 0.9 RETURN n } RETURN n.name", [["couch_1"]]),
    ],
)  # fmt: skip
def test_the_function_stands_wherever_a_value_may(
    store: SceneStore, ask: Callable[[str, str], Answer], cypher: str, rows: object
) -> None:
    assert ask(store.put(imported("looks/wherever")).name, cypher).rows == rows
    with indexing():
        name = store.put(imported("looks/wherever-indexed")).name
    wait_for_indexes(store.database)
    assert ask(name, cypher).rows == rows


def test_of_several_sets_that_of_the_known_model_counts(database: Database, ask: Callable[[str, str], Answer]) -> None:
    """An index of another set says nothing of how this one is compared."""
    many, few = source({**VECTORS, "rug_1": (1.0, 1.0, 1.0)}, model="another"), source(dict(VECTORS))
    scene = replace(imported(), vectors=(many, replace(few, space=replace(few.space, name="toy"))))
    with indexing(most=3):
        name = SceneStore(database).put(scene).name
    assert [nearest(ask, name, text) for text in TEXTS] == [[["couch_1"]], [["lamp_1"]], [["mug_1"]]]


def test_a_look_up_costs_less_than_a_comparison(store: SceneStore) -> None:
    cypher, gate = NEAREST.format("soft"), Gate(store.database, encoders=encoder)
    compared = gate.check(cypher, SceneRef.of(store.find(store.put(imported()).name)))
    with indexing():
        looked_up = gate.check(cypher, SceneRef.of(store.find(store.put(imported()).name)))
    assert compared.cost is not None
    assert looked_up.cost is not None
    assert 1 < looked_up.cost.steps < compared.cost.steps


@pytest.mark.parametrize(
    "cypher",
    [
        "MATCH (n:Object) RETURN similarity(n.name, 'soft')",
        "MATCH (n:Object) RETURN similarity(n, n.name)",
        "MATCH (n:Object) RETURN similarity(n, 'so' + 'ft')",
        "MATCH (n:Object) RETURN similarity(n)",
        "MATCH (n:Object) RETURN similarity(DISTINCT n, 'soft')",
        "MATCH (n:Object) RETURN similarity(n, ' ')",
        "MATCH (n:Object) RETURN similarity(n, 'soft', 'clip')",
        "WITH {id: 'couch_1'} AS n RETURN similarity(n, 'soft')",
        "MATCH (n:Object)-[r]->() RETURN similarity('n', 'soft')",
        "MATCH (n:Vector) RETURN n",
        "MATCH (n {set: 'x'}) RETURN n",
        "MATCH (n:Object) RETURN vector.similarity.cosine([1.0], [1.0])",
    ],
)
def test_what_is_no_node_and_text_is_refused(store: SceneStore, ask: Callable[[str, str], Answer], cypher: str) -> None:
    with pytest.raises(QueryRefused):
        ask(store.put(imported("looks/refused")).name, cypher)


def test_a_scene_without_vectors_and_one_of_another_model_say_so(
    store: SceneStore, ask: Callable[[str, str], Answer]
) -> None:
    plain = store.put(replace(imported(), vectors=())).name
    with pytest.raises(QueryRefused, match=r"no function `similarity`.*nodes have no vectors here"):
        nearest(ask, plain, "soft")
    other = store.put(imported(model="another")).name
    with pytest.raises(QueryRefused, match=r"no encoder is set .* by another.*SCENECYPHER_EMBEDDING_MODEL"):
        nearest(ask, other, "soft")
    short: dict[str, Sequence[float]] = {node_id: vector[:2] for node_id, vector in VECTORS.items()}
    named = store.put(ImportedScene(f"looks/{uuid4().hex}", graph(), vectors=(source(short),))).name
    with pytest.raises(QueryRefused, match=r"it has 3 numbers, others 2.*; name the model of clip at its import"):
        nearest(ask, named, "soft")
    with pytest.raises(QueryRefused, match=r"by toy can't be compared with clip: it is all zeros.*; give other words"):
        nearest(ask, store.put(imported()).name, "a word of which the model knows nothing")


def test_vectors_are_in_no_node_row_delta_or_memory(store: SceneStore, ask: Callable[[str, str], Answer]) -> None:
    name = store.put(imported()).name
    told = [ask(name, f"MATCH (n:Object) RETURN {it}").rows for it in ("n", "properties(n)", "keys(n)", "n {.*}")]
    loaded = store.load(name)
    assert "0.1" not in json.dumps(told) + repr(loaded)
    assert loaded.graph == graph()
    assert loaded.info.declared.vectors[0].dimension == 3


def test_a_copy_and_an_earlier_state_share_the_vectors(
    store: SceneStore, database: Database, ask: Callable[[str, str], Answer]
) -> None:
    name = store.put(imported()).name
    store.commit(store.find(name), _without(store, name), actor="person", action="take the lamp away")
    copy = store.copy(name, f"{name}-copy")
    assert copy.declared.vectors == store.find(name).declared.vectors
    assert nearest(ask, copy.name, "bright") != [["lamp_1"]]
    assert nearest(ask, f"{name}@0", "bright") == [["lamp_1"]]
    store.undo(store.find(name))
    assert nearest(ask, name, "bright") == [["lamp_1"]]
    with store.lease(name) as leased:
        assert leased.declared.vectors == copy.declared.vectors


def _without(store: SceneStore, name: str) -> Delta:
    now = store.load(name).graph
    left = [it for it in now.nodes.values() if it.id != "lamp_1"]
    return diff(now, SceneGraph.of(left, [it for it in now.relations if it.source != "lamp_1"]))


def test_equal_vectors_are_written_once_and_others_replace_them(
    store: SceneStore, ask: Callable[[str, str], Answer]
) -> None:
    scene = imported()
    first = store.put(scene)
    stored = store.find(scene.name).declared.vectors
    assert (store.put(scene).outcome, store.find(scene.name).declared.vectors) == ("unchanged", stored)
    changed = store.put(imported(scene.name, lamp_1=(1.0, 0.0, 0.0)))
    assert (changed.outcome, changed.version) == ("updated", first.version + 1)
    assert nearest(ask, scene.name, "soft") == [["lamp_1"]]
    assert store.put(replace(scene, vectors=())).outcome == "unchanged"


@contextmanager
def indexing(most: int = 2) -> Iterator[None]:
    """Have sets of more vectors get an index."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scenecypher.db.store.vectors.MOST_COMPARED", most)
        yield


@pytest.fixture
def indexed(store: SceneStore) -> Iterator[SceneStore]:
    """A store whose sets of over two vectors get an index."""
    with indexing():
        yield store


def wait_for_indexes(database: Database) -> None:
    database.rows("CALL db.awaitIndexes(60)")


def index_names(database: Database, space: VectorSpace) -> list[str]:
    found = database.rows(
        "SHOW VECTOR INDEXES YIELD name WHERE name = $name RETURN name", {"name": f"Vectors_{space.set}"}
    )
    return [record["name"] for record in found]


def test_of_many_vectors_the_nearest_are_read_from_an_index_of_the_set_alone(
    indexed: SceneStore, database: Database, ask: Callable[[str, str], Answer]
) -> None:
    name = indexed.put(imported()).name
    others = indexed.put(imported(couch_1=(0.0, 1.0, 0.0), lamp_1=(1.0, 0.0, 0.0))).name
    (space,) = indexed.find(name).declared.vectors
    wait_for_indexes(database)
    assert (space.indexed, index_names(database, space)) == (True, [f"Vectors_{space.set}"])
    assert [nearest(ask, name, text) for text in TEXTS] == [[["couch_1"]], [["lamp_1"]], [["mug_1"]]]
    assert nearest(ask, others, "soft") == [["lamp_1"]]
    cypher = "MATCH (n) WITH n.name AS name, similarity(n, 'soft') AS near RETURN name, near ORDER BY name"
    with indexing(most=3):
        compared = indexed.put(imported()).name
    assert ask(name, cypher).rows == ask(compared, cypher).rows


def test_an_index_that_is_not_there_is_told_in_words(
    indexed: SceneStore, database: Database, ask: Callable[[str, str], Answer]
) -> None:
    name = indexed.put(imported()).name
    (space,) = indexed.find(name).declared.vectors
    database.execute(f"DROP INDEX Vectors_{space.set}")
    with pytest.raises(QueryRefused, match=r"the index of the vectors clip is lost; .* import the scene again"):
        nearest(ask, name, "soft")


def test_an_index_goes_with_its_set(indexed: SceneStore, database: Database) -> None:
    name = indexed.put(imported()).name
    (space,) = indexed.find(name).declared.vectors
    indexed.delete_leftovers(grace_s=0.0)
    assert index_names(database, space) == [f"Vectors_{space.set}"]
    indexed.delete(name)
    indexed.delete_leftovers(grace_s=0.0)
    assert (index_names(database, space), read_vectors(database, space, VECTORS).rows) == ([], {})


@pytest.mark.parametrize("key", ["", "x", "a" * 31, "a" * 33, "A" * 32, "a" * 31 + "`", "a" * 32 + "\n"])
def test_no_label_is_made_of_what_is_no_key(key: str) -> None:
    with pytest.raises(InputError, match="is no key of vectors"):
        vector_label(key)


def test_sets_that_no_scene_names_are_deleted(store: SceneStore, database: Database) -> None:
    scene = imported()
    store.put(scene)
    store.copy(scene.name, f"{scene.name}-copy")
    (space,) = store.find(scene.name).declared.vectors
    store.delete(scene.name)
    store.delete_leftovers(grace_s=0.0)
    kept = read_vectors(database, space, VECTORS).rows
    assert {it: row.tolist() for it, row in kept.items()} == {it: single(row).tolist() for it, row in VECTORS.items()}
    store.delete(f"{scene.name}-copy")
    store.delete_leftovers(grace_s=0.0)
    assert read_vectors(database, space, VECTORS).rows == {}


@pytest.mark.parametrize(
    ("changed", "cause"),
    [
        ({"mug_1": (1.0, 0.0)}, r"'mug_1' has 2 numbers, others 3: two models may be mixed"),
        ({"mug_1": (1.0, 0.0, float("nan"))}, r"'mug_1' has NaN"),
        ({"mug_1": (0.0, 0.0, 0.0)}, r"'mug_1' is all zeros"),
        ({"cup_1": (1.0, 0.0, 0.0)}, r"'cup_1' is no node of the scene"),
        ({"mug_1": (1.0,) * 5_000, "couch_1": (1.0,) * 5_000, "lamp_1": (1.0,) * 5_000}, r"1 to 4,096"),
    ],
)
def test_bad_vectors_are_refused_before_anything_is_written(changed: dict[str, Sequence[float]], cause: str) -> None:
    with pytest.raises(InputError, match=cause):
        source({**VECTORS, **changed})
