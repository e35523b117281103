"""Measurement of steady reads: processes commit to two scenes whose content follows from the version, others read.

    python -m tests.db.store.torn --reads 100000 --seconds 450
    python -m tests.db.store.torn --unmarked

Each commit changes states and a name, moves relations, deletes nodes and creates others with their ids. The scenes are
made of records that a deleted generation left. In one of them the Scene node comes after its members, as reused ids may
bring about: the server then applies its version last, and first in the other. Counted are reads between two equal
versions, and those whose content is of another version: newer, older, or of a number of nodes that no version has.
"Without a look" are reads at whose end nothing had been committed since the last look at the version.
`--unmarked` reads without bookmarks, as a proof that the measurement finds what it looks for.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import Any, Final, LiteralString
from uuid import uuid4

from neo4j import Record

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.store.connection import NOTHING, Address, Database
from scenecypher.db.store.consistent_read import LOOK, SceneChanging, read_consistently
from scenecypher.db.store.publish import delete_generation
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.store.sharing import ReadBookmarks

FIXED, MOVED, TARGETS = 200, 40, 50
READERS: Final = 3
WRITERS_PER_SCENE: Final = 2
PAUSE_S: Final = 0.1
"""Longest pause of a writer between two commits."""
TIMEOUT_S: Final = 60.0
CHUNK: Final = 50
"""Reads between two looks at the clock and at what the others have read."""

COMMIT: Final[LiteralString] = """
MATCH (s:Scene {key: $key}) SET s:Scene, s.version = s.version + 1
WITH s, s.version AS version
CALL (version) { MATCH (n:Entity {scene: $key, class: 'fixed'}) SET n.states = [toString(version)] }
CALL (version) { MATCH (n:Entity {scene: $key, class: 'named'}) SET n.name = 'now ' + toString(version) }
CALL (version) { MATCH (n:Entity {scene: $key, class: 'moved'})-[r:ON]->() DELETE r
  WITH DISTINCT n, version MATCH (t:Entity {scene: $key, id: 'target ' + toString(version % $targets)})
  CREATE (n)-[:ON]->(t) }
CALL (version) { MATCH (n:Entity {scene: $key, class: 'made'}) WITH n, version, n.id AS id, n.name AS name DELETE n
  CREATE (:Entity:Object {scene: $key, id: id, name: name, class: 'made', states: [toString(version)]}) }
CREATE (:Event {scene: $key, version: version, action_id: randomUUID()})
"""
FILL: Final[LiteralString] = """
MATCH (s:Scene {key: $key}) UNWIND range(1, 3000) AS i CREATE (n:Filling) SET n = properties(s)
"""
RENEW: Final[LiteralString] = """
MATCH (s:Scene {key: $key}) WITH s, properties(s) AS facts DELETE s WITH facts CREATE (n:Scene) SET n = facts
"""


@dataclass(frozen=True, slots=True)
class Look:
    """A read of a scene: at every version it finds so many `rows`, all with that version as `value`.

    With a `modulus` the value is the version's remainder.
    """

    match: LiteralString
    value: LiteralString
    rows: int
    modulus: int = 0

    @property
    def text(self) -> LiteralString:
        """The statement, which returns the different values and the number of rows."""
        return self.match + " RETURN collect(DISTINCT toInteger(" + self.value + ")) AS found, count(*) AS rows"

    def kind_of(self, found: Sequence[int], rows: int, version: int) -> str | None:
        """Return how a result differs from that version's, None if it does not."""
        if self.modulus:
            half = self.modulus // 2
            off = [(value - version + half) % self.modulus - half for value in found]
        else:
            off = [value - version for value in found]
        if off == [0]:
            return None if rows == self.rows else "missing"
        return "newer" if max(off, default=0) > 0 else "older" if off else "missing"


LOOKS: Final = (
    Look("MATCH (n:Entity {scene: $key, class: 'fixed'})", "n.states[0]", FIXED),
    Look("MATCH (n:Entity {scene: $key, class: 'made'})", "n.states[0]", MOVED),
    Look("MATCH (n:Entity {scene: $key, id: 'made 7'})", "n.states[0]", 1),
    Look("MATCH (n:Entity {scene: $key}) WHERE n.name STARTS WITH 'now '", "substring(n.name, 4)", 1),
    Look("MATCH (n:Entity {scene: $key, class: 'moved'})-[:ON]->(t)", "substring(t.id, 7)", MOVED, TARGETS),
)


@dataclass(frozen=True, slots=True)
class Ref:
    """A measured scene."""

    key: str
    name: str


def graph() -> SceneGraph:
    """Return the content of a measured scene before its first commit."""
    made = [Node(f"made {i}", "Object", f"made {i}", "made", ("0",)) for i in range(MOVED)]
    moved = [Node(f"moved {i}", "Object", f"moved {i}", "moved") for i in range(MOVED)]
    targets = [Node(f"target {i}", "Asset", f"target {i}", "target") for i in range(TARGETS)]
    fixed = [Node(f"fixed {i}", "Object", f"fixed {i}", "fixed", ("0",)) for i in range(FIXED)]
    nodes = [*fixed, *made, *moved, *targets, Node("named", "Object", "now 0", "named")]
    return SceneGraph.of(nodes, [Relation(node.id, "ON", "target 0") for node in moved])


@contextmanager
def measured_scenes(database: Database) -> Iterator[tuple[Ref, Ref]]:
    """Yield a scene whose Scene node comes first, and one whose Scene node comes after its members."""
    store = SceneStore(database)
    store.prepare()
    made: list[Ref] = []
    for is_last in (False, True):
        junk, name = f"junk-{uuid4().hex}", f"torn-{uuid4().hex}"
        store.put(ImportedScene(junk, graph()))
        delete_generation(database, store.find(junk).key)
        store.put(ImportedScene(name, graph()))
        key = store.find(name).key
        if is_last:
            _make_last(database, key)
        made.append(Ref(key, name))
    first, last = made
    try:
        yield first, last
    finally:
        for ref in made:
            delete_generation(database, ref.key)
            database.execute("MATCH (n:Filling {key: $key}) DELETE n", {"key": ref.key}, timeout_s=TIMEOUT_S)


def measure(address: Address, *, reads: int, seconds: float, marked: bool = True) -> Counter[str]:
    """Return the number of reads, of those between equal versions, and of torn ones by kind.

    Ends after `reads` reads between equal versions, or `seconds` after the first.
    """
    context = get_context("forkserver")
    context.set_forkserver_preload([__name__])
    with Database(address) as database, measured_scenes(database) as refs:
        stop, results, progress = context.Event(), context.Queue(), context.Value("q", 0)
        common = (address, stop, results)
        writers = [context.Process(target=_write, args=(*common, ref)) for ref in refs * WRITERS_PER_SCENE]
        readings = [(*common, progress, (refs, marked))] * READERS
        readers = [context.Process(target=_read, args=reading) for reading in readings]
        for process in (*writers, *readers):
            process.start()
        until = math.inf
        while progress.value < reads and time.monotonic() < until and all(p.is_alive() for p in (*writers, *readers)):
            time.sleep(0.1)
            until = min(until, time.monotonic() + seconds) if progress.value else until
        stop.set()
        if not all(process.is_alive() or process.exitcode == 0 for process in (*writers, *readers)):
            msg = "a process of the measurement failed"
            raise RuntimeError(msg)
        found = sum((results.get(timeout=TIMEOUT_S) for _ in (*writers, *readers)), Counter[str]())
        for process in (*writers, *readers):
            process.join()
        return found


def _make_last(database: Database, key: str) -> None:
    """Make the Scene node anew, after nodes that take up all records that were free."""
    for text in (FILL, RENEW):
        database.execute(text, {"key": key}, timeout_s=TIMEOUT_S)


def _write(address: Address, stop: Any, results: Any, ref: Ref) -> None:
    made, chance = 0, random.Random()  # noqa: S311 - no secret
    with Database(address) as database:
        while not stop.is_set():
            given = {"key": ref.key, "targets": TARGETS}
            database.execute(COMMIT, given, timeout_s=TIMEOUT_S, auto_commit=True)
            made += 1
            time.sleep(chance.uniform(0, PAUSE_S))
    results.put(Counter({"commits": made}))


def _read(address: Address, stop: Any, results: Any, progress: Any, given: tuple[tuple[Ref, Ref], bool]) -> None:
    (first, last), is_marked = given
    places, found, chance = {"first": first, "last": last}, Counter[str](), random.Random()  # noqa: S311 - no secret
    with _CountingDatabase(address) as database:
        if not is_marked:
            database.bookmarks = _NoBookmarks()
        while not stop.is_set():
            equal = found["equal"]
            for _ in range(CHUNK):
                place, look = chance.choice([*places]), chance.choice(LOOKS)
                found["reads"] += 1
                looks = database.looks
                with suppress(SceneChanging):
                    kind = _kind_of_read(database, places[place], look)
                    found["equal"] += 1
                    found["without a look"] += database.looks == looks
                    if kind is not None:
                        found[f"torn ({place}): {kind}"] += 1
            with progress.get_lock():
                progress.value += found["equal"] - equal
    results.put(found)


class _NoBookmarks(ReadBookmarks):
    """Bookmarks that are forgotten."""

    def update_bookmarks(self, previous_bookmarks: Collection[str], new_bookmarks: Collection[str]) -> None:
        """Do nothing."""


class _CountingDatabase(Database):
    """Database that counts the looks at a version."""

    looks = 0

    def row(self, text: LiteralString, parameters: Mapping[str, Any] = NOTHING, **options: Any) -> Record | None:
        """Read the row, and count it if it is a version."""
        self.looks += text == LOOK
        return super().row(text, parameters, **options)


def _kind_of_read(database: Database, ref: Ref, look: Look) -> str | None:
    """Return how a read differs from what its version has, None if it does not. Raises SceneChanging."""
    read = partial(database.row, look.text, {"key": ref.key})
    record, version = read_consistently(database, ref, read, tries=1)
    return look.kind_of(record["found"], record["rows"], version) if record else "missing"


if __name__ == "__main__":
    from tests.server import throwaway_server

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reads", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=450)
    parser.add_argument("--unmarked", action="store_true")
    chosen = parser.parse_args()
    with throwaway_server() as where:
        counted = measure(where, reads=chosen.reads, seconds=chosen.seconds, marked=not chosen.unmarked)
        print(dict(sorted(counted.items())))  # noqa: T201 - the result
