"""Queries that were made to cost: each is refused, or ends at its time limit and leaves the server as it was."""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator
from time import perf_counter
from typing import Final

from benchmarks.comparison import Measurement
from benchmarks.home import temporary_scene
from scenecypher.db.gate import Gate, Limits, SceneRef
from scenecypher.db.store.connection import Database
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import QueryRefused
from tests.db.gate.corpus import cases
from tests.db.gate.natural import grown_scene

NODES: Final = (60, 300)
SECONDS: Final = 5.0
"""Seconds that a query may run here."""
MORE_S: Final = 2.0
NEXT_S: Final = 1.0
"""Seconds within which the next query is answered."""
CLIENT_MIB: Final = 1_024.0
HEAP: Final = (
    "CALL dbms.queryJmx('java.lang:type=Memory') YIELD attributes RETURN attributes.HeapMemoryUsage.value AS heap"
)


def hostile(database: Database) -> Iterator[Measurement]:
    """Each attack of the corpus on the cost, in scenes of 60 and of 300 nodes, against its limit.

    The references are limits: the time limit and 2 s, 1 s for the next `RETURN 1`, memory of client and server.
    """
    attacks = [case.cypher for case in cases() if case.category == "resource"]
    store = SceneStore(database)
    for nodes in NODES:
        with temporary_scene(store, grown_scene(nodes), "household") as info:
            yield from _against_the_clock(database, SceneRef.of(info), attacks, nodes)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)
    yield Measurement("client's memory after all attacks", peak, CLIENT_MIB, 1.0, unit="MiB")
    properties = database.rows(HEAP, timeout_s=SECONDS)[0]["heap"]["properties"]
    used, most = properties["used"], properties["max"]
    yield Measurement("server's heap after all attacks", used / 2**20, most / 2**20, 1.0, unit="MiB")


def _against_the_clock(database: Database, scene: SceneRef, attacks: list[str], nodes: int) -> Iterator[Measurement]:
    gate = Gate(database, limits=Limits(seconds=SECONDS))
    gate.run("RETURN 1", scene)
    ran: list[float] = []
    after: list[float] = []
    refused = 0
    for text in attacks:
        begun = perf_counter()
        try:
            gate.run(text, scene)
        except QueryRefused:
            refused += 1
        ran.append(perf_counter() - begun)
        begun = perf_counter()
        gate.run("RETURN 1", scene)
        after.append(perf_counter() - begun)
    what = f"{len(attacks)} attacks on {nodes} nodes ({refused} refused)"
    yield Measurement(f"{what}: the slowest", max(ran), SECONDS + MORE_S, 1.0, unit="s")
    yield Measurement(f"{what}: the slowest RETURN 1 after", max(after), NEXT_S, 1.0, unit="s")
