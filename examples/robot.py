"""A robot to be copied, with your arm and camera in place of `Home`: python robot.py HOME.json [SECONDS [PORT]]."""

import json
import sys
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Condition, Event, Thread
from urllib.parse import parse_qs, unquote, urlsplit
from uuid import uuid4

FIELDS = {"id": "", "kind": "", "name": "", "arguments": [], "words": "", "boot": ""}
KEPT = 100  # ids that are remembered; a planner asks again for its last one
MOVES = {"pick_up": "HELD", "put_on": "ON", "put_in": "INSIDE"}


class Home:  # carries out one action at a time; here, by knowing where each thing is. An exception is a refusal
    def __init__(self, file: str, seconds: str = "1") -> None:
        edges, self.seconds = json.loads(Path(file).read_text("utf-8"))["edges"], float(seconds)
        self.place = {it["source"]: (it["relation"].upper(), it["target"]) for it in edges}

    def act(self, name: str, arguments: list, stop: Event) -> None:  # once `stop` is set, ends when that is safe
        print(f"{name}({', '.join(arguments)})", flush=True)
        if stop.wait(self.seconds):
            raise InterruptedError("it was stopped")
        if name in MOVES and arguments[0] not in self.place:
            raise LookupError(f"there is no {arguments[0]} here")
        if name in MOVES:
            self.place[arguments[0]] = (MOVES[name], arguments[-1])

    def look(self, of: str) -> dict:  # what is seen at a node
        seen = {it: how for it, (how, target) in self.place.items() if target == of and how in ("ON", "INSIDE")}
        named = [{"id": it, "name": it, "of_class": it.split("-")[0], "relation": seen[it]} for it in seen]
        return {"view": {"things": [{**it, "target": of} for it in named]}}

    def approve(self, words: str) -> dict:  # asks the person beside the robot
        return {"by": input(f"{words}. Your name, if it may: ")}


class Desk:  # the robot's memory, named by `boot`, which ends with the program: each id is carried out once
    def __init__(self, robot) -> None:
        self.robot, self.boot, self.stop, self.changed = robot, uuid4().hex, Event(), Condition()
        self.asked, self.states = {}, {}

    def begin(self, action: dict) -> dict:
        key, is_hello = action["id"], action["kind"] == "hello"
        with self.changed:
            if is_hello or action["boot"] != self.boot:
                return self.state(key, "done" if is_hello else "forgotten")
            if self.asked.get(key, action) != action:
                return self.state(key, "refused", reason="this id was used for another action")
            if key not in self.states and any(it["state"] == "working" for it in self.states.values()):
                return self.state(key, "refused", reason="the robot still carries out another action")
            if key not in self.states:
                self.asked[key], self.states[key] = action, self.state(key, "working")
                for oldest in [*self.states][:-KEPT]:
                    del self.states[oldest]
                    self.asked.pop(oldest, None)
                self.stop.clear()
                Thread(target=self.carry_out, args=(action,), daemon=True).start()
            return self.states[key]

    def carry_out(self, action: dict) -> None:
        key, kind, name = action["id"], action["kind"], action["name"]
        given = {"act": (name, action["arguments"], self.stop), "look": (name,), "approve": (action["words"],)}
        try:
            ended = self.state(key, "done", **(getattr(self.robot, kind)(*given[kind]) or {}))
        except Exception as error:  # noqa: BLE001 - the robot's own code: its failure is an answer
            ended = self.state(key, "refused", reason=str(error) or type(error).__name__)
        with self.changed:
            self.states[key] = ended
            self.changed.notify_all()

    def wait(self, key: str, seconds: float) -> dict | None:
        with self.changed:
            self.changed.wait_for(lambda: self.states.get(key, {}).get("state") != "working", min(seconds, 60))
            return self.states.get(key)

    def cancel(self, key: str) -> dict:  # what never came is refused should it come later
        with self.changed:
            state = self.states.setdefault(key, self.state(key, "refused", reason="it was cancelled"))
            if state["state"] == "working":
                self.stop.set()
            return state

    def state(self, key: str, state: str, **told) -> dict:
        return {"id": key, "boot": self.boot, "state": state, **told}


class Handler(BaseHTTPRequestHandler):
    timeout = 60

    def respond(self) -> None:
        try:
            status, body = self.found(urlsplit(self.path).path, parse_qs(urlsplit(self.path).query))
        except (ValueError, TypeError, AttributeError, OSError) as error:
            status, body = 400, {"error": f"this can't be read: {error}; openapi.json says what can"}
        self.send_response_only(status)
        self.send_header("Content-Type", "application/json")
        with suppress(OSError):  # the planner has gone
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

    do_GET = do_POST = do_DELETE = respond  # noqa: N815

    def found(self, path: str, query: dict) -> tuple:
        if self.headers["Origin"]:
            return 403, {"error": "a page in a browser may not command a robot"}
        if (self.command, path) == ("POST", "/actions"):
            asked = json.loads(self.rfile.read(min(int(self.headers["Content-Length"]), 100_000)))
            action = {name: asked.get(name, empty) for name, empty in FIELDS.items()}
            if not action["id"] or any(type(action[name]) is not type(FIELDS[name]) for name in FIELDS):
                raise ValueError("a field is missing, or of another type")
            return 200, self.desk.begin(action)
        key, wait_s = unquote(path.removeprefix("/actions/")), float(query.get("wait", ["0"])[0])
        state = self.desk.cancel(key) if self.command == "DELETE" else self.desk.wait(key, wait_s)
        return (200, state) if state else (404, {"error": "no action has this id here; POST it to /actions"})


def server_of(robot, port: int = 7070) -> ThreadingHTTPServer:
    return ThreadingHTTPServer(("127.0.0.1", port), type("RobotHandler", (Handler,), {"desk": Desk(robot)}))


if __name__ == "__main__":
    with server_of(Home(*sys.argv[1:3]), *map(int, sys.argv[3:])) as server:
        print(f"http://127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()
