"""A scene as it was, after a long history: first and repeated reads, compared with loading the scene as it is."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Final, LiteralString
from uuid import uuid4

from benchmarks.comparison import Measurement, compare, median_ms
from benchmarks.home import make_home
from scenecypher.db.gate import Gate, SceneRef
from scenecypher.db.graph.delta import AddRelation, ChangeList, Delta, RemoveRelation
from scenecypher.db.graph.graph_json import delta_json
from scenecypher.db.graph.live import LiveGraph
from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.db.store import publish, snapshots
from scenecypher.db.store.at import SceneAt
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.past_copies import past_copy
from scenecypher.db.store.publish import Header
from scenecypher.db.store.rewind import load_version
from scenecypher.db.store.scene_store import SceneStore

EVENTS: Final = 10_000
EVENTS_PER_WRITE: Final = 1_000
QUERY: Final = "MATCH (c:Object {name: 'cup_1'})-[:INSIDE]->(room:Place) RETURN c.name, room.name"
SET_VERSION: Final[LiteralString] = "MATCH (s:Scene {key: $key}) SET s.version = $version, s.base = null"
WRITE_EVENTS: Final[LiteralString] = """
UNWIND $rows AS row
CREATE (:Event {scene: $key, version: row[0], at: datetime(), actor: 'bench', action: 'move', kind: 'act',
                action_id: toString(row[0]), delta: row[1], hash: '', undoes: []})
"""


def past(database: Database) -> Iterator[Measurement]:
    """Compare version 1 of a home after 10,000 events with the home as it is: loaded, and queried."""
    store = SceneStore(database)
    info, first = home_with_history(store)
    then = SceneAt(info, 1)
    uncached = [median_ms(lambda: _first_read(database, then, first), rounds=5, warm_up=1)]
    load = median_ms(lambda: store.load(info.name), rounds=5, warm_up=5)
    yield Measurement(f"version 1 of {EVENTS:,} events, read the first time (load)", uncached[0], load, 40)
    what = f"version 1 of {EVENTS:,} events, read again (load)"
    again, now = f"{info.name}@1", info.name
    yield compare(what, lambda: store.load_at(again), reference=lambda: store.load(now), limit=2, pairs=50, warm_up=20)

    gate = Gate(database)

    def query(name: str) -> object:
        found = store.materialise(name)
        return gate.run(QUERY, SceneRef.of(found))

    made = median_ms(lambda: _first_query(database, then), rounds=5, warm_up=1)
    yield Measurement("query at version 1, the first time: its copy is written (load)", made, load, 40)
    what = "query at version 1, again (the same query now)"
    yield compare(what, lambda: query(again), reference=lambda: query(now), limit=3)
    publish.delete_generation(database, past_copy(database, then).key)
    publish.delete_generation(database, info.key)


def home_with_history(store: SceneStore, events: int = EVENTS) -> tuple[SceneInfo, SceneGraph]:
    """Write a home that has had so many events; return it, and its graph at version 1."""
    live, random, rows = LiveGraph(make_home()), Random(7), list[tuple[int, str]]()  # noqa: S311 - no secret
    first: SceneGraph | None = None
    for version in range(1, events + 1):
        delta = _step(live, random)
        live.apply(delta)
        rows.append((version, delta_json(delta)))
        first = first or SceneGraph.of(live.nodes.values(), live.in_order())
    final = SceneGraph.of(live.nodes.values(), live.in_order())
    info = publish.publish(store.database, final, Header(f"bench/{uuid4().hex}", "generic"))
    for start in range(0, events, EVENTS_PER_WRITE):
        given = {"key": info.key, "rows": rows[start : start + EVENTS_PER_WRITE]}
        store.database.execute(WRITE_EVENTS, given)
    store.database.execute(SET_VERSION, {"key": info.key, "version": events})
    return store.find(info.name), first or final


def _step(live: LiveGraph, random: Random) -> Delta:
    """Return a change as an action makes it: a thing is soiled or cleaned, and moved; four relations change."""
    thing = random.choice([it for it in live.nodes if it.startswith("object")])
    room = next(it for it in live.outgoing[thing] if it.type == "INSIDE")
    target = random.choice([it for it in live.by_kind["Place"] if it != room.target])
    is_clean = "clean" in live.nodes[thing].states
    states = (("dirty",), ("clean",)) if is_clean else (("clean",), ("dirty",))
    close = [it for it in live.outgoing[thing] if it.type == "CLOSE"][:2]
    return Delta.of(
        [
            RemoveRelation(room),
            AddRelation(Relation(thing, "INSIDE", target)),
            ChangeList(thing, "states", *states),
            *map(RemoveRelation, close),
        ]
    )


def _first_read(database: Database, then: SceneAt, expected: SceneGraph) -> None:
    _forget(database, then)
    found = load_version(database, then).graph
    if found != expected:
        raise AssertionError(then.name)


def _first_query(database: Database, then: SceneAt) -> None:
    publish.delete_generation(database, past_copy(database, then).key)
    past_copy(database, then)


def _forget(database: Database, then: SceneAt) -> None:
    given = {"key": then.scene.key, "version": then.version}
    database.execute(snapshots.DROP, given)
