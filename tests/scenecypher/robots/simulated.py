"""A simulated robot in a process of its own, over a bad connection: it loses and delays requests and answers by a seed.

    python -m tests.scenecypher.robots.simulated SEED [PORT]

It prints its port, then each action that it carries out. What it speaks is the reference robot's own code.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from random import Random
from threading import Event
from types import ModuleType
from typing import Any, Final

from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.errors import RejectedError
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.perception.truth import true_observation
from scenecypher.planner.worlds.episode_worlds import MemorySimulator
from tests.planner.actions.grasif_worlds import home
from tests.rooms import ROOT

VOCABULARY: Final = "grasif"
FAULT: Final = 0.2
"""The chance of each fault of an exchange."""
WORK_S: Final = 0.05


def _reference() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference_robot", ROOT / "examples" / "robot.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


REFERENCE: Final[Any] = _reference()
"""The reference robot's module, which stands in no package."""


class SimulatedRobot:
    """A robot in the small home: an action takes a moment, and ``wait`` until it is told to stop."""

    def __init__(self) -> None:
        scene = SceneInfo("", "home", "world", VOCABULARY, "ready", 0)
        self._simulator = MemorySimulator(scene, home(), fix=True)

    def act(self, name: str, arguments: list[str], stop: Event) -> None:
        call = ActionCall(name, tuple(arguments))
        print(call, flush=True)  # noqa: T201 - for the test
        if stop.wait(60 if name == "wait" else WORK_S):
            raise InterruptedError("it was stopped")
        try:
            list(self._simulator.act(str(call)))
        except RejectedError as refused:
            raise ValueError("; ".join(refused.reasons)) from refused

    def look(self, of: str) -> dict[str, Any]:
        graph = SceneGraph.of(self._simulator.graph.nodes.values(), self._simulator.graph.in_order())
        if of not in graph:
            raise LookupError(f"there is no {of} here")
        seen = true_observation(graph, of, step=1, vocabulary=VOCABULARY)
        things = [
            {"name": it.name, "of_class": it.class_, "id": it.id, "states": it.states}
            | {"relation": it.support[0], "target": it.support[1]}
            for it in seen.sightings
            if it.support is not None
        ]
        return {"view": {"things": things, "states": seen.states, "covers": seen.covers}}

    def approve(self, words: str) -> dict[str, Any]:
        return {"by": "ann"} if "pick_up" in words else {}


def bad_handler(seed: int) -> type:
    """Return a handler whose requests and answers get lost or come late, by a seed."""
    chance = Random(seed)  # noqa: S311 - reproducible

    class BadHandler(REFERENCE.Handler):  # type: ignore[misc]
        def respond(self) -> None:
            drawn = chance.random()
            if drawn < FAULT:
                return
            if drawn < 2 * FAULT:
                self.wfile = _Nowhere()
            elif drawn < 3 * FAULT:
                time.sleep(3 * WORK_S)
            super().respond()

        do_GET = do_POST = do_DELETE = respond  # noqa: N815

    return BadHandler


class _Nowhere:
    """A connection on which an answer gets lost."""

    closed = False

    def write(self, data: bytes) -> int:
        return len(data)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True


if __name__ == "__main__":
    with REFERENCE.server_of(SimulatedRobot(), int(sys.argv[2]) if len(sys.argv) > 2 else 0) as server:
        bad = bad_handler(int(sys.argv[1]))
        server.RequestHandlerClass = type("Handler", (bad,), {"desk": server.RequestHandlerClass.desk})
        print(server.server_port, flush=True)  # noqa: T201
        server.serve_forever()
