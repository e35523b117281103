"""Generated scene of any size, made of rooms and things, and its import in a subprocess that measures itself."""

from __future__ import annotations

import json
import re
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Final

from scenecypher.db.connect import connect
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.settings import Settings

THINGS_A_ROOM: Final = 1_000
ROBOTS: Final = 10
STATES, AFFORDANCES = ("clean",), ("grabbable", "movable")


def make_crowd(nodes: int) -> SceneGraph:
    """Return a scene with one room for each thousand things, a `cup_1`, ten robots, and a relation for each thing."""
    rooms = -(-nodes // (THINGS_A_ROOM + 1))
    robots = [Node(f"robot_{number}", "Agent", f"robot_{number}", "robot") for number in range(ROBOTS)]
    homes = [Relation(robot.id, "INSIDE", "room_0") for robot in robots]
    return SceneGraph.of([*_members(nodes, rooms), *robots], [*_relations(nodes, rooms), *homes])


def main() -> None:
    """`python -m benchmarks.crowd NAME NODES`: import a scene into the configured server and print its cost as JSON."""
    name, nodes = sys.argv[1], int(sys.argv[2])
    graph = make_crowd(nodes)
    began = perf_counter()
    with connect(Settings(), tell=lambda _: None) as database:
        SceneStore(database).put(ImportedScene(name, graph, source="benchmark"))
    print(json.dumps({"seconds": perf_counter() - began, "peak_mib": _peak_mib()}))


def _peak_mib() -> float:
    """Return this process's peak memory in MiB; on Linux, ru_maxrss would include memory from before exec."""
    status = Path("/proc/self/status")
    found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text()) if status.exists() else None
    if found:
        return int(found[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)


def _members(nodes: int, rooms: int) -> Iterator[Node]:
    for number in range(rooms):
        yield Node(f"room_{number}", "Place", f"room_{number}", "room")
    for number in range(1, nodes - rooms + 1):
        name = _thing(number)
        yield Node(name, "Object", name, name.rpartition("_")[0], STATES, AFFORDANCES)


def _relations(nodes: int, rooms: int) -> Iterator[Relation]:
    for number in range(1, nodes - rooms + 1):
        yield Relation(_thing(number), "INSIDE", f"room_{number % rooms}")


def _thing(number: int) -> str:
    return "cup_1" if number == 1 else f"thing_{number % 500}_{number}"


if __name__ == "__main__":
    main()
