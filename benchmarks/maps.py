"""A robot's map that grows: the time of one version, from file to commit, and ten versions a second for ten seconds."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter, sleep, time
from typing import Any, Final, TypeAlias
from uuid import uuid4

from benchmarks.comparison import Measurement
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.connection import Database
from scenecypher.db.store.map_update import MapUpdater
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.files import write_file
from scenecypher.importers.dsg import NodeMemory, read_scene, symbol_number
from scenecypher.importers.watching import Watch

Reader: TypeAlias = Callable[[Path], ImportedScene]
ROOMS, WAYPOINTS, OBJECTS = 10, 700, 289
MOVED: Final = 45
VERSIONS: Final = 100
PER_S: Final = 10
WARM_UP: Final = 30


def maps(database: Database) -> Iterator[Measurement]:
    """Compare a version of a map of 1,000 nodes with 50 changes with a tenth of a second, and its lag with one second.

    A program of its own writes 100 versions, ten a second; the lag is the time from the last one to its commit.
    """
    store, name = SceneStore(database), f"bench/{uuid4().hex}"
    read = partial(read_scene, name=name, memory=NodeMemory())
    updater = MapUpdater(store)
    with tempfile.TemporaryDirectory() as folder:
        times = [_seconds_of_a_version(updater, Path(folder) / "map.json", read, step) for step in range(2 * WARM_UP)]
    what = f"a map of 1,000 nodes with {MOVED + 5} changes, from file to commit (a tenth of a second)"
    yield Measurement(what, 1e3 * median(times[WARM_UP:]), 1e3 / PER_S, 1.0)
    with tempfile.TemporaryDirectory() as folder:
        writer = subprocess.Popen([sys.executable, "-m", "benchmarks.maps", folder])  # noqa: S603 - this very file
        skipped, last = 0, Path(folder) / f"{VERSIONS - 1:04}.json"
        for version in Watch(Path(folder)).versions(read):
            assert not isinstance(version.read, Exception)
            updater.update(version.read)
            skipped += version.skipped
            if version.path == last:
                break
        lag = time() - last.stat().st_mtime
        writer.wait(timeout=60)
    what = f"{VERSIONS} such maps, {PER_S} a second, {skipped} skipped: from the last one to its commit (one second)"
    yield Measurement(what, lag, 1.0, 1.0, "s")
    store.delete(name)


def a_map(step: int) -> dict[str, Any]:
    """Return version `step` of a map; 50 changes lead from one to the next."""
    nodes = [_node(f"R({number})", 4, "RoomNodeAttributes", number) for number in range(ROOMS)]
    nodes += [_node(f"p({number})", 3, "PlaceNodeAttributes", number) for number in range(WAYPOINTS)]
    for number in range(OBJECTS):
        moved = sum((number - MOVED * past) % OBJECTS < MOVED for past in range(step))
        nodes.append(_node(f"O({number})", 2, "ObjectNodeAttributes", number + moved / 100, semantic_label=number % 20))
    poses = [_node(f"a({pose})", 2, "AgentNodeAttributes", pose, timestamp=10**9 * pose) for pose in range(step + 1)]
    edges = [_edge(f"R({number % ROOMS})", f"p({number})") for number in range(WAYPOINTS)]
    edges += [_edge(f"p({number})", f"p({(number + 1) % WAYPOINTS})") for number in range(WAYPOINTS)]
    edges += [_edge(f"p({number})", f"p({(number + 26) % WAYPOINTS})") for number in range(WAYPOINTS)]
    edges += [_edge(f"p({2 * number + (step if number == 0 else 0)})", f"O({number})") for number in range(OBJECTS)]
    edges.append(_edge("p(0)", f"a({step})"))
    return {
        "directed": False,
        "layer_names": {"OBJECTS": 2, "PLACES": 3, "ROOMS": 4},
        "nodes": [*nodes, *poses],
        "edges": edges,
    }


def write_map(file: Path, step: int) -> None:
    """Write a version beside its place and move it there, as a careful mapper does."""
    write_file(file, json.dumps(a_map(step)))


def main() -> None:
    """`python -m benchmarks.maps FOLDER`: write 100 versions of a map, ten a second."""
    folder, began = Path(sys.argv[1]), perf_counter()
    for step in range(VERSIONS):
        sleep(max(0.0, began + step / PER_S - perf_counter()))
        write_map(folder / f"{step:04}.json", step + 2 * WARM_UP)


def _seconds_of_a_version(updater: MapUpdater, file: Path, read: Reader, step: int) -> float:
    write_map(file, step)
    began = perf_counter()
    done = updater.update(read(file))
    assert done.changes == (MOVED + 5 if step else 0), done
    return perf_counter() - began


def _node(symbol: str, layer: int, kind: str, at: float, **more: Any) -> dict[str, Any]:
    attributes = {"type": kind, "position": [float(at), float(at % 7), 1.0], "last_update_time_ns": 0, **more}
    partition = ord(symbol[0]) if kind == "AgentNodeAttributes" else 0
    return {"id": symbol_number(symbol), "layer": layer, "partition": partition, "attributes": attributes}


def _edge(source: str, target: str) -> dict[str, Any]:
    return {"source": symbol_number(source), "target": symbol_number(target), "info": {"type": "EdgeAttributes"}}


if __name__ == "__main__":
    main()
