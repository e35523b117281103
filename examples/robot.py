"""A robot's program, of Python's standard library alone, to be copied: docs/robots.md has its story.

    python robot.py HOME.json [SECONDS [PORT]]

It plays a robot in the home of a node-link file; an action takes SECONDS. Put your arm and camera in place of `Home`.
"""

import json
import sys
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Condition, Event, Thread
from urllib.parse import parse_qs, unquote, urlsplit
from uuid import uuid4

OPENAPI = Path(__file__).resolve().parents[1] / "scenecypher" / "robots" / "openapi.json"
FIELDS = {"id": "", "kind": "", "name": "", "arguments": [], "words": "", "boot": ""}
KEPT = 100  # ids that are remembered; a planner asks again for its last one
MOVES = {"pick_up": "HELD", "put_on": "ON", "put_in": "INSIDE"}


class Home:
    """What carries actions out, one at a time; here, by knowing where each thing is. An exception is a refusal."""

    def __init__(self, file: str, seconds: float) -> None:
        edges, self.seconds = json.loads(Path(file).read_text("utf-8"))["edges"], seconds
        self.place = {it["source"]: (it["relation"].upper(), it["target"]) for it in edges}

    def act(self, name: str, arguments: list, stop: Event) -> None:
        """Do it; once `stop` is set, end when that is safe."""
        print(f"{name}({', '.join(arguments)})", flush=True)
        if stop.wait(self.seconds):
            raise InterruptedError("it was stopped")
        if name in MOVES and arguments[0] not in self.place:
            raise LookupError(f"there is no {arguments[0]} here")
        if name in MOVES:
            self.place[arguments[0]] = (MOVES[name], arguments[-1])

    def look(self, of: str) -> dict:
        """Return what is seen at a node."""
        seen = [(it, how) for it, (how, target) in self.place.items() if target == of and how in ("ON", "INSIDE")]
        things = [
            {"id": it, "name": it, "of_class": it.split("-")[0], "relation": how, "target": of} for it, how in seen
        ]
        return {"view": {"things": things}}

    def approve(self, words: str) -> dict:
        """Ask the person beside the robot."""
        name = input(f"{words}. Your name, if it may: ")
        if not name:
            raise PermissionError("nobody at the robot allows it")
        return {"by": name}


class Desk:
    """The robot's memory, in which each id is carried out once. `boot` names it: it ends with the program."""

    def __init__(self, robot) -> None:
        self.robot, self.boot, self.stop, self.changed = robot, uuid4().hex, Event(), Condition()
        self.asked, self.states = {}, {}

    def state(self, key: str, state: str, **told) -> dict:
        return {"id": key, "boot": self.boot, "state": state, **told}

    def begin(self, action: dict) -> dict:
        key = action["id"]
        with self.changed:
            if action["kind"] == "hello":
                return self.state(key, "done")
            if action["boot"] != self.boot:
                return self.state(key, "forgotten")
            if self.asked.setdefault(key, action) not in (action, None):
                return self.state(key, "refused", reason="this id was used for another action")
            if key not in self.states and any(it["state"] == "working" for it in self.states.values()):
                return self.state(key, "refused", reason="the robot still carries out another action")
            if key not in self.states:
                self.states[key] = self.state(key, "working")
                for oldest in [*self.states][:-KEPT]:
                    del self.states[oldest], self.asked[oldest]
                self.stop.clear()
                Thread(target=self.carry_out, args=(action,), daemon=True).start()
            return self.states[key]

    def carry_out(self, action: dict) -> None:
        tasks = {
            "act": lambda: self.robot.act(action["name"], action["arguments"], self.stop) or {},
            "look": lambda: self.robot.look(action["name"]),
            "approve": lambda: self.robot.approve(action["words"]),
        }
        try:
            ended = self.state(action["id"], "done", **tasks[action["kind"]]())
        except Exception as error:  # noqa: BLE001 - the robot's own code: its failure is an answer
            ended = self.state(action["id"], "refused", reason=str(error) or type(error).__name__)
        with self.changed:
            self.states[action["id"]] = ended
            self.changed.notify_all()

    def wait(self, key: str, seconds: float) -> dict | None:
        with self.changed:
            self.changed.wait_for(lambda: self.states.get(key, {}).get("state") != "working", min(seconds, 60))
            return self.states.get(key)

    def cancel(self, key: str) -> dict:  # what never came is refused should it come later
        with self.changed:
            self.asked.setdefault(key, None)
            state = self.states.setdefault(key, self.state(key, "refused", reason="it was cancelled"))
            if state["state"] == "working":
                self.stop.set()
            return state


class Handler(BaseHTTPRequestHandler):
    desk: Desk
    timeout = 60

    def respond(self) -> None:
        try:
            status, body = self.found(urlsplit(self.path).path, parse_qs(urlsplit(self.path).query))
        except (ValueError, TypeError, AttributeError, OSError) as error:
            status, body = 400, {"error": f"this can't be read: {error}; openapi.json says what can"}
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        with suppress(OSError):  # the planner has gone
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

    do_GET = do_POST = do_DELETE = respond  # noqa: N815

    def found(self, path: str, query: dict) -> tuple:
        if self.headers["Origin"]:
            return 403, {"error": "a page in a browser may not command a robot"}
        if path == "/openapi.json":
            return 200, json.loads(OPENAPI.read_text("utf-8"))
        if (self.command, path) == ("POST", "/actions"):
            asked = json.loads(self.rfile.read(min(int(self.headers["Content-Length"]), 100_000)))
            action = {name: asked.get(name, empty) for name, empty in FIELDS.items()}
            if not action["id"] or any(type(action[name]) is not type(empty) for name, empty in FIELDS.items()):
                raise ValueError("a field is missing, or of another type")
            return 200, self.desk.begin(action)
        key = unquote(path.removeprefix("/actions/"))
        wait_s = float(query.get("wait", ["0"])[0])
        state = self.desk.cancel(key) if self.command == "DELETE" else self.desk.wait(key, wait_s)
        return (200, state) if state else (404, {"error": "no action has this id here; POST it to /actions"})

    def log_message(self, *_) -> None:
        pass


def server_of(robot, port: int = 7070, host: str = "127.0.0.1") -> ThreadingHTTPServer:
    return ThreadingHTTPServer((host, port), type("RobotHandler", (Handler,), {"desk": Desk(robot)}))


if __name__ == "__main__":
    home, seconds, port = [*sys.argv[1:], *("1", "7070")[len(sys.argv) - 2 :]][:3]
    with server_of(Home(home, float(seconds)), int(port)) as server:
        print(f"http://127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()
