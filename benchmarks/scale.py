"""Large imports: EAI's homes by the hundred, and a scene of a million nodes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from time import perf_counter
from typing import Any, Final
from uuid import uuid4

from benchmarks.commits import import_by_hand, temporary_scene
from benchmarks.comparison import Measurement, median_ms
from benchmarks.crowd import make_crowd
from benchmarks.reading import lookup_ms
from scenecypher.db.store import publish
from scenecypher.db.store.connection import Address, Database
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.publish import Header
from scenecypher.db.store.replicas import Replicas
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.importers.eai import graph_files
from scenecypher.importers.virtualhome import packaged_scene
from tests.sampling import sample
from tests.server import environment_of

MILLION: Final = 1_000_000
THOUSAND: Final = 1_000
MEMORY_MIB: Final = 1_024.0
CHILD_TIMEOUT_S: Final = 3_600
WARM_UP: Final = 5
HOMES: Final = 40


def home_imports(database: Database) -> Iterator[Measurement]:
    """Compare the import of each of EAI's homes with two bare UNWIND statements, in turn, as time per node or relation.

    A sample of the 518, evenly spread; all of them if SCENECYPHER_TEST_FULL is 1.
    """
    ours_s = by_hand_s = 0.0
    facts = 0
    chosen = sample(list(graph_files()), HOMES)
    for number, task_id in enumerate([*chosen[:WARM_UP], *chosen]):
        graph = packaged_scene(task_id).graph
        began = perf_counter()
        key = publish.publish(database, graph, Header(f"bench/{uuid4().hex}", "virtualhome")).key
        between = perf_counter()
        other = import_by_hand(database, graph)
        if number >= WARM_UP:
            ours_s += between - began
            by_hand_s += perf_counter() - between
            facts += len(graph.nodes) + len(graph.relations)
        publish.delete_generation(database, key)
        publish.delete_generation(database, other)
    rate = f"{facts / ours_s:,.0f} nodes and relations a second"
    what = f"import of {len(chosen)} of EAI's homes: {rate} (two bare UNWINDs)"
    yield Measurement(what, 1e6 * ours_s / facts, 1e6 * by_hand_s / facts, 2.0, "µs")


def million(database: Database) -> Iterator[Measurement]:
    """Measure a scene of a million nodes: the importer's memory, and a lookup by name against a thousand nodes."""
    store = SceneStore(database)
    name = f"bench/{uuid4().hex}"
    with temporary_scene(store, make_crowd(THOUSAND)) as small:
        took = import_in_subprocess(database.address, name)
        print(f"imported in {took['seconds']:,.0f} s", file=sys.stderr)
        info = store.find(name)
        few, many = lookup_ms(database, small), lookup_ms(database, info)
        listed = median_ms(lambda: Enumerator(Replicas(database)).of(info), rounds=3, warm_up=1)
    yield Measurement(
        "import of 1,000,000 nodes: peak of the importer's memory (1 GiB)",
        took["peak_mib"],
        MEMORY_MIB,
        1.0,
        "MiB",
    )
    yield Measurement("lookup by name in 1,000,000 nodes (in 1,000)", many, few, 1.5)
    yield Measurement("what occurs in 1,000,000 nodes, read anew (10 s)", listed, 10_000.0, 1.0)
    publish.delete_generation(database, info.key)


def import_in_subprocess(address: Address, name: str, *, nodes: int = MILLION) -> Mapping[str, Any]:
    """Import a crowd in a subprocess and return what `benchmarks.crowd` prints."""
    command = [sys.executable, "-m", "benchmarks.crowd", name, str(nodes)]
    done = subprocess.run(  # noqa: S603 - our own module
        command, env=environment_of(address), check=True, stdout=subprocess.PIPE, text=True, timeout=CHILD_TIMEOUT_S
    )
    took: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return took
