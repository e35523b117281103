"""A simulated robot in a process of its own, over a bad connection: it drops, repeats and delays messages by a seed.

    python -m tests.scenecypher.robots.simulated SEED [PORT]

It prints its port, then each action that it carries out.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from random import Random
from socketserver import StreamRequestHandler
from threading import Event, Timer
from typing import Final

from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.errors import RejectedError
from scenecypher.planner.actions.memory_simulator import MemorySimulator
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.perception.truth import true_observation
from scenecypher.robots.messages import Act, Thing, View, decode_request, encode
from scenecypher.robots.sockets import RobotServer
from tests.planner.actions.grasif_worlds import home

VOCABULARY: Final = "grasif"
FAULT: Final = 0.25
"""The chance of each fault of a message."""
WORK_S: Final = 0.05


class SimulatedRobot:
    """A robot in the small home: an action takes a moment, and ``wait`` until it is told to stop."""

    def __init__(self) -> None:
        scene = SceneInfo("", "home", "world", VOCABULARY, "ready", 0)
        self._simulator = MemorySimulator(scene, home(), fix=True)

    def act(self, action: Act, stop: Event) -> str | None:
        call = ActionCall(action.name, action.arguments)
        print(call, flush=True)  # noqa: T201 - for the test
        if stop.wait(60 if action.name == "wait" else WORK_S):
            return "it was stopped"
        try:
            list(self._simulator.act(str(call)))
        except RejectedError as refused:
            return "; ".join(refused.reasons)
        return None

    def look(self, of: str) -> View:
        graph = SceneGraph.of(self._simulator.graph.nodes.values(), self._simulator.graph.in_order())
        if of not in graph:
            raise LookupError(f"there is no {of} here")
        seen = true_observation(graph, of, step=1, vocabulary=VOCABULARY)
        things = tuple(
            Thing(it.name, it.class_, it.support[0], it.support[1], it.states, it.id)
            for it in seen.sightings
            if it.support is not None
        )
        return View(things, seen.states, seen.covers)


class BadServer(RobotServer):
    """A server whose messages get lost, come twice or late."""

    def __init__(self, seed: int, port: int) -> None:
        self.chance = Random(seed)  # noqa: S311 - reproducible
        super().__init__(SimulatedRobot(), "127.0.0.1", port)
        self.RequestHandlerClass = _BadConnection


class _BadConnection(StreamRequestHandler):
    server: BadServer

    def handle(self) -> None:
        with suppress(OSError):
            while line := self.rfile.readline():
                for _ in range(self._times()):
                    answer = encode(self.server.desk.answer(decode_request(line)))
                    for _ in range(self._times()):
                        self._send(answer)

    def _times(self) -> int:
        """Return how often a message arrives."""
        drawn = self.server.chance.random()
        return 0 if drawn < FAULT else 2 if drawn < 2 * FAULT else 1

    def _send(self, answer: bytes) -> None:
        if self.server.chance.random() < FAULT:
            Timer(3 * WORK_S, self._write, (answer,)).start()
        else:
            self._write(answer)

    def _write(self, answer: bytes) -> None:
        with suppress(OSError, ValueError):  # the planner has gone
            self.wfile.write(answer)


if __name__ == "__main__":
    with BadServer(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0) as server:
        print(server.server_address[1], flush=True)  # noqa: T201
        server.serve_forever()
