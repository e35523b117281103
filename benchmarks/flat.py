"""Lookups of ten rows among a thousand and among a million nodes, in the database and in one scene."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final
from uuid import uuid4

from benchmarks.commits import temporary_scene
from benchmarks.comparison import Measurement, median_ms
from benchmarks.crowd import ROBOTS, make_crowd
from benchmarks.scale import MILLION, THOUSAND, import_in_subprocess
from scenecypher.db.gate import Gate, SceneRef
from scenecypher.db.store import publish
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.scene_store import SceneStore

NAMES: Final = ", ".join(f"'robot_{number}'" for number in range(ROBOTS))
LOOKUPS: Final[Mapping[str, str]] = {
    "name": f"MATCH (n:Entity) WHERE n.name IN [{NAMES}] RETURN n.id, n.states",
    "class": "MATCH (n:Entity {class: 'robot'}) RETURN n.id, n.states",
    "kind": "MATCH (n:Agent) RETURN n.id, n.states",
}


def flat(database: Database) -> Iterator[Measurement]:
    """Compare gated lookups by name, class and kind: in a thousand nodes, beside a million more, and in the million."""
    store, name = SceneStore(database), f"bench/{uuid4().hex}"
    with temporary_scene(store, make_crowd(THOUSAND)) as small:
        alone = {what: ten_rows_ms(database, small, cypher) for what, cypher in LOOKUPS.items()}
        import_in_subprocess(database.address, name)
        big = store.find(name)
        for what, cypher in LOOKUPS.items():
            beside, within = ten_rows_ms(database, small, cypher), ten_rows_ms(database, big, cypher)
            yield Measurement(
                f"ten rows by {what}: {MILLION:,} nodes beside them ({THOUSAND:,})", beside, alone[what], 1.5
            )
            yield Measurement(f"ten rows by {what}: among {MILLION:,} nodes ({THOUSAND:,})", within, alone[what], 1.5)
    publish.delete_generation(database, big.key)


def ten_rows_ms(database: Database, info: SceneInfo, cypher: str) -> float:
    """Return the median time in ms of a gated lookup that finds the ten robots."""
    gate, ref = Gate(database), SceneRef.of(info)
    assert len(gate.run(cypher, ref).rows) == ROBOTS
    return median_ms(lambda: gate.run(cypher, ref))
