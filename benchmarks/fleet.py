"""A thousand homes in one database: eight robots act and ask in homes of their own, compared with the same in ten."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from time import perf_counter
from typing import Any, Final, LiteralString

import psutil

from benchmarks.comparison import Measurement
from benchmarks.robot import READY, Errand
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store import publish
from scenecypher.db.store.connection import Address, Database
from scenecypher.db.store.publish import Header
from scenecypher.importers.eai import graph_files
from scenecypher.importers.virtualhome import read_graph
from tests.server import environment_of

HOMES: Final = int(os.environ.get("SCENECYPHER_FLEET_HOMES", "1000"))
SECONDS: Final = float(os.environ.get("SCENECYPHER_FLEET_SECONDS", "300"))
"""The time of each of three measurements, after a warm-up."""
FEW: Final = 10
ROBOTS: Final = 8
WRITERS: Final = 2
WARM_UP_S: Final = min(60.0, SECONDS)
TIMEOUT_S: Final = 60.0
MIB: Final = 2**20

SLOWER, MUCH_SLOWER = 1.3, 4.0
"""How much slower a median and a 99th percentile may be among all homes than among few."""
PARTS: Final[Mapping[str, tuple[str, Mapping[str, float]]]] = {
    "acts": ("action", {"p50": SLOWER, "p99": MUCH_SLOWER}),
    "asks": ("question", {"p50": SLOWER, "p99": MUCH_SLOWER}),
    "first_acts": ("first action of a visit", {"p50": MUCH_SLOWER}),
    "first_asks": ("first question of a visit", {"p50": MUCH_SLOWER}),
}
"""Times of a robot: their name, and the limits of their percentiles."""
MORE_MEMORY: Final = 1.5

SETTINGS: Final[LiteralString] = """
SHOW SETTINGS 'server.memory.pagecache.size', 'db.memory.transaction.max', 'dbms.memory.transaction.total.max'
YIELD name, value RETURN name, value
"""
DATA_FOLDER: Final[LiteralString] = "SHOW SETTINGS 'server.directories.data' YIELD value RETURN value"
PROCESS: Final[LiteralString] = (
    "CALL dbms.queryJmx('java.lang:type=Runtime') YIELD attributes RETURN attributes.Pid.value"
)
HEAP: Final[LiteralString] = """
CALL dbms.queryJmx('java.lang:type=Memory') YIELD attributes RETURN attributes.HeapMemoryUsage.value.properties.max
"""


@dataclass(frozen=True, slots=True)
class Worked:
    """The ms of each action and question of a fleet, those that begin a visit apart, and its seconds of work."""

    times: Mapping[str, Sequence[float]]
    seconds: float

    def percentiles(self, what: str) -> dict[str, float]:
        """Return the 50th and 99th percentile of these times."""
        cuts = quantiles(self.times[what], n=100)
        return {"p50": cuts[49], "p99": cuts[98]}

    def turns_a_second(self) -> float:
        """Return how many actions, each with a question after it, all robots did in a second."""
        return (len(self.times["acts"]) + len(self.times["first_acts"])) / self.seconds


def fleet(database: Database) -> Iterator[Measurement]:
    """Compare actions and questions of eight robots in a thousand homes with those in ten, on the same server.

    The ten are measured before the others are imported and once more after the thousand, when the server has compiled
    more; the lower figure is the reference. `SCENECYPHER_FLEET_HOMES` and `SCENECYPHER_FLEET_SECONDS` change the number
    of homes and the time. The homes stay on the throw-away server: to delete them takes longer than to import them.
    """
    heap = _one(database, HEAP) / MIB
    _tell(f"Java's heap {heap:.0f} MiB, " + ", ".join(map(" ".join, _rows(database, SETTINGS))))
    few = _import(database, 0, FEW)
    early = _work(database.address, few)
    memory_before = _memory(database)
    large = _work(database.address, [*few, *_import(database, FEW, HOMES)])
    memory = _memory(database)
    late = _work(database.address, few)
    _tell(f"the homes and their history take {_disk_mib(database):,.0f} MiB on disk")
    for what, (name, limits) in PARTS.items():
        ours, *references = (fleet.percentiles(what) for fleet in (large, early, late))
        for part, limit in limits.items():
            reference = min(one[part] for one in references)
            yield Measurement(f"{name}, {part}: {HOMES:,} homes ({FEW})", ours[part], reference, limit)
    rate, other = large.turns_a_second(), max(early.turns_a_second(), late.turns_a_second())
    what = f"ms in which one robot of all acts and asks: {rate:.0f} a second ({other:.0f})"
    yield Measurement(what, 1e3 / rate, 1e3 / other, SLOWER)
    yield Measurement(f"memory of the server: {HOMES:,} homes ({FEW})", memory, memory_before, MORE_MEMORY, "MiB")


def _import(database: Database, first: int, last: int) -> list[Errand]:
    """Import the homes with these numbers, VirtualHome's and then copies; return the robots' errands in them."""
    files = [*graph_files().items()]
    began = perf_counter()

    def bring(number: int) -> Errand:
        turn, place = divmod(number, len(files))
        task, path = files[place]
        graph, name = read_graph(path).graph, f"fleet/{task}/{turn}"
        publish.publish(database, graph, Header(name, "virtualhome"))
        return (name, *_things(graph))

    with ThreadPoolExecutor(WRITERS) as pool:
        errands = [*pool.map(bring, range(first, last))]
    spent = perf_counter() - began
    _tell(f"imported {last - first:,} homes in {spent:.0f} s; {last:,} take {_disk_mib(database):,.0f} MiB on disk")
    return errands


def _things(graph: SceneGraph) -> tuple[str, str]:
    """Return the first and last closed thing of a home that opens."""
    closed = [
        node.id
        for node in graph.nodes.values()
        if node.kind == "Asset" and "can_open" in node.affordances and "closed" in node.states
    ]
    return closed[0], closed[-1]


def _work(address: Address, errands: Sequence[Errand]) -> Worked:
    """Let eight robots, each a process, work in their shares of these homes at once."""
    with ExitStack() as stack:
        robots = [stack.enter_context(_robot(address)) for _ in range(ROBOTS)]
        for number, robot in enumerate(robots):
            _send(robot, json.dumps(errands[number::ROBOTS]))
        for robot in robots:
            assert robot.stdout
            assert robot.stdout.readline().strip() == READY
        for robot in robots:
            _send(robot, "go")
        found = [json.loads(robot.communicate()[0]) for robot in robots]
    names = [name for name in found[0] if name != "seconds"]
    times = {name: [1e3 * taken for one in found for taken in one[name]] for name in names}
    _tell(f"{len(errands):,} homes: " + ", ".join(f"{len(taken):,} {name}" for name, taken in times.items()))
    return Worked(times, sum(one["seconds"] for one in found) / len(found))


def _robot(address: Address) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.robot", str(WARM_UP_S), str(SECONDS)]
    environment = environment_of(address)
    return subprocess.Popen(  # noqa: S603 - our own module
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def _send(robot: subprocess.Popen[str], line: str) -> None:
    assert robot.stdin
    robot.stdin.write(f"{line}\n")
    robot.stdin.flush()


def _memory(database: Database) -> float:
    """Return the memory of the server's process in MiB: heap, page cache and the rest."""
    return float(psutil.Process(_one(database, PROCESS)).memory_info().rss / MIB)


def _disk_mib(database: Database) -> float:
    """Return the size of the server's databases and their logs in MiB, 0 if they are not on this machine."""
    files = Path(_one(database, DATA_FOLDER)).rglob("*")
    return sum(file.stat().st_size for file in files if file.is_file()) / MIB


def _rows(database: Database, statement: LiteralString) -> list[list[Any]]:
    return [row.values() for row in database.rows(statement, timeout_s=TIMEOUT_S)]


def _one(database: Database, statement: LiteralString) -> Any:
    return _rows(database, statement)[0][0]


def _tell(line: str) -> None:
    print(line, file=sys.stderr)
