"""A scripted bridge of ROS: rosbridge's published protocol over a websocket, with the reference robot's memory behind.

No ROS: what a node of ROS would carry out, the reference robot's `Desk` does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Any, Final

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

SUCCEEDED, UNKNOWN = 4, 0
"""Statuses of a goal in action_msgs."""
ACTION_TYPE: Final = "scenecypher_msgs/action/CarryOut"


class Bridge:
    """One node's bridge; `cut` says whether the connection breaks now in place of a message to the planner."""

    def __init__(self, desk: Any, cut: Callable[[], bool] = lambda: False) -> None:
        self.desk, self.cut = desk, cut
        self.heard: list[dict[str, Any]] = []

    def __call__(self, socket: ServerConnection) -> None:
        with suppress(ConnectionClosed):
            for text in socket:
                message = json.loads(text)
                self.heard.append(message)
                match message:
                    case {"op": "send_action_goal", "action_type": str(type_)} if type_ != ACTION_TYPE:
                        answer = {
                            "op": "action_result",
                            "values": f"no type {type_}",
                            "status": UNKNOWN,
                            "result": False,
                        }
                        socket.send(json.dumps({**answer, "id": message["id"], "action": message["action"]}))
                    case {"op": "send_action_goal"}:
                        Thread(target=self.carry_out, args=(socket, message), daemon=True).start()
                    case {"op": "cancel_action_goal"}:
                        self.desk.cancel(message["id"])
                    case _:
                        told = f"Unknown operation: {message.get('op')}"
                        socket.send(json.dumps({"op": "status", "level": "error", "msg": told}))

    def carry_out(self, socket: ServerConnection, goal: dict[str, Any]) -> None:
        """Send feedback until the action has ended, then its result."""
        named = {"id": goal["id"], "action": goal["action"]}
        state = self.desk.begin(goal["args"])
        with suppress(ConnectionClosed):
            while state["state"] == "working":
                self.send(socket, {"op": "action_feedback", **named, "values": values_of(state)})
                state = self.desk.wait(goal["id"], 0.1)
            result = {"op": "action_result", **named, "values": values_of(state), "status": SUCCEEDED, "result": True}
            self.send(socket, result)

    def send(self, socket: ServerConnection, message: dict[str, Any]) -> None:
        if self.cut():
            socket.close()
        else:
            socket.send(json.dumps(message))


def values_of(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state as the fields of the action's file, all of which ROS sends: the view is a text."""
    blank = {"boot": "", "state": "", "reason": "", "picture": "", "by": ""}
    view = json.dumps(state["view"]) if state.get("view") else ""
    return {**blank, **{name: state[name] for name in blank if name in state}, "view": view}


@contextmanager
def bridge(handler: Callable[[ServerConnection], None]) -> Iterator[str]:
    """Run a bridge; yield its address."""
    with serve(handler, "127.0.0.1", 0) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
        server.shutdown()
