"""A thousand homes in one database: eight robots act and ask in homes of their own, compared with the same in ten."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import cycle
from statistics import quantiles
from time import perf_counter
from typing import Final, LiteralString, TypeAlias

import psutil

from benchmarks.comparison import Measurement
from scenecypher.chat.scripted import Scripted, ScriptedReply
from scenecypher.db.connect import connect
from scenecypher.db.gate import Gate
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store import publish
from scenecypher.db.store.connection import Address, Database
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.publish import Header
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.importers.virtualhome import graph_files, read_graph
from scenecypher.planner.actions.simulator import Simulator
from scenecypher.retriever.retriever import Retriever
from scenecypher.settings import Settings
from tests.server import environment_of

HOMES: Final = int(os.environ.get("SCENECYPHER_FLEET_HOMES", "1000"))
SECONDS: Final = float(os.environ.get("SCENECYPHER_FLEET_SECONDS", "300"))
"""The time of each of three measurements, after a warm-up."""
WARM_UP_S: Final = min(60.0, SECONDS)
FEW, ROBOTS, WRITERS = 10, 8, 2
TURNS: Final = 12
"""Actions and questions of one visit, as many as a short task takes."""
READY: Final = "ready"
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
PROCESS: Final[LiteralString] = (
    "CALL dbms.queryJmx('java.lang:type=Runtime') YIELD attributes RETURN attributes.Pid.value AS pid"
)
Errand: TypeAlias = tuple[str, str, str]
"""A scene's name and two things in it that open and close."""
Times: TypeAlias = dict[str, list[float]]
"""The ms of each action and each question by the names in PARTS."""


def fleet(database: Database) -> Iterator[Measurement]:
    """Compare actions and questions of eight robots in a thousand homes with those in ten, on the same server.

    The ten are measured before the others are imported and once more after the thousand, when the server has compiled
    more; the lower figure is the reference. `SCENECYPHER_FLEET_HOMES` and `SCENECYPHER_FLEET_SECONDS` change the number
    of homes and the time. The homes stay on the throw-away server: to delete them takes longer than to import them.
    """
    few = _import(database, 0, FEW)
    early = _work(database.address, few)
    memory_before = _memory(database)
    large = _work(database.address, [*few, *_import(database, FEW, HOMES)])
    memory = _memory(database)
    late = _work(database.address, few)
    for what, (name, limits) in PARTS.items():
        cuts = [quantiles(times[what], n=100) for times, _ in (large, early, late)]
        for part, limit in limits.items():
            ours, *references = (one[int(part[1:]) - 1] for one in cuts)
            yield Measurement(f"{name}, {part}: {HOMES:,} homes ({FEW})", ours, min(references), limit)
    rate, *others = ((len(it["acts"]) + len(it["first_acts"])) / seconds for it, seconds in (large, early, late))
    other = max(others)
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
    print(f"imported {last - first:,} homes in {perf_counter() - began:.0f} s", file=sys.stderr)
    return errands


def _things(graph: SceneGraph) -> tuple[str, str]:
    """Return the first and last closed thing of a home that opens."""
    assets = (graph.nodes[it] for it in graph.nodes if graph.nodes[it].kind == "Asset")
    closed = [node.id for node in assets if "can_open" in node.affordances and "closed" in node.states]
    return closed[0], closed[-1]


def _work(address: Address, errands: Sequence[Errand]) -> tuple[Times, float]:
    """Let eight robots, each a process, work in their shares of homes at once; return all times, and the seconds."""
    with ExitStack() as stack:
        robots = [stack.enter_context(_robot(address)) for _ in range(ROBOTS)]
        for number, robot in enumerate(robots):
            print(json.dumps(errands[number::ROBOTS]), file=robot.stdin, flush=True)
        for robot in robots:
            assert robot.stdout
            assert robot.stdout.readline().strip() == READY
        for robot in robots:
            print("go", file=robot.stdin, flush=True)
        found = [json.loads(robot.communicate()[0]) for robot in robots]
    times = {name: [taken for one in found for taken in one["times"][name]] for name in PARTS}
    counts = ", ".join(f"{len(taken):,} {name}" for name, taken in times.items())
    print(f"{len(errands):,} homes: {counts}", file=sys.stderr)
    return times, sum(one["seconds"] for one in found) / len(found)


def _robot(address: Address) -> subprocess.Popen[str]:
    command, pipe = [sys.executable, "-m", "benchmarks.fleet"], subprocess.PIPE
    return subprocess.Popen(command, env=environment_of(address), stdin=pipe, stdout=pipe, text=True)  # noqa: S603 - ours


def _memory(database: Database) -> float:
    """Return the memory of the server's process in MiB: heap, page cache and the rest."""
    (row,) = database.rows(PROCESS)
    return float(psutil.Process(row["pid"]).memory_info().rss / 2**20)


class Robot:
    """A store and a retriever, kept from home to home as a server process keeps them."""

    def __init__(self, database: Database) -> None:
        self._store, self._gate = SceneStore(database), Gate(database)
        self._enumerator = Enumerator(self._store.replicas)

    def work(self, errands: Iterator[Errand], seconds: float) -> Times:
        """Visit homes until the time is over."""
        times: Times = {name: [] for name in PARTS}
        end = perf_counter() + seconds
        while perf_counter() < end:
            self._visit(next(errands), times)
        return times

    def _visit(self, errand: Errand, times: Times) -> None:
        """Walk between two things of a home, open and close them, and ask for one of them after each action."""
        name, *things = errand
        simulator = Simulator(self._store, self._store.find(name), actor="robot", fix=True)
        where = "OPTIONAL MATCH (n)-[:INSIDE]->(p:Place) RETURN n.states, p.name"
        query = f"MATCH (n:Asset {{name: '{things[0]}'}}) {where}"
        asking = Retriever(Scripted([ScriptedReply((), query)]), self._gate, self._enumerator)
        actions = cycle(f"{action}({thing})" for thing in things for action in ("walk", "open", "close"))
        for turn, action in zip(range(TURNS), actions, strict=False):
            began = perf_counter()
            list(simulator.act(action))
            acted = perf_counter()
            asking.ask(f"Is {things[0]} open, and which room is it in?", simulator.scene)
            first = "" if turn else "first_"
            times[f"{first}acts"].append(1e3 * (acted - began))
            times[f"{first}asks"].append(1e3 * (perf_counter() - acted))


def main() -> None:
    """Be one robot, in a process of its own: read errands as JSON, say that it is ready, and print the times.

    It starts with the next line of standard input; times of the warm-up do not count.
    """
    homes: Sequence[Errand] = json.loads(sys.stdin.readline())
    with connect(Settings(), tell=lambda _: None) as database:
        robot, errands = Robot(database), cycle(homes)
        print(READY, flush=True)
        sys.stdin.readline()
        robot.work(errands, WARM_UP_S)
        began = perf_counter()
        times = robot.work(errands, SECONDS)
        print(json.dumps({"seconds": perf_counter() - began, "times": times}))


if __name__ == "__main__":
    main()
