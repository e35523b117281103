"""Robots: both ways to one, the reference robot's memory, what is no robot, and a process that is killed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from functools import partial, reduce
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from operator import getitem
from random import Random
from threading import Event, Thread
from typing import Any, Final, TypeVar

import jsonschema
import pytest
from pydantic import TypeAdapter
from websockets.sync.server import ServerConnection

from scenecypher.chat.model import Reply as ModelReply
from scenecypher.chat.model import Request as ModelRequest
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import ActionRefused, InputError, RuleBroken, UnknownReference
from scenecypher.planner.perception.naming import KnownNode, known_node_reader
from scenecypher.planner.rules.house import add_rule
from scenecypher.planner.worlds.belief import find_or_create_belief
from scenecypher.planner.worlds.belief_simulator import BeliefSimulator
from scenecypher.robots.doors import HttpDoor, RosDoor, door_to
from scenecypher.robots.environment import RobotEnvironment
from scenecypher.robots.link import Action, Door, RobotGone, RobotLink, State, Timing, Verb
from tests.db.store.test_store import fresh
from tests.planner.actions.grasif_worlds import home
from tests.planner.rules.homes import HOME
from tests.rooms import ROOT
from tests.scenecypher.robots.bridge import Bridge, bridge
from tests.scenecypher.robots.simulated import REFERENCE, bad_handler

OPENAPI: Final = json.loads((ROOT / "scenecypher/robots/openapi.json").read_text("utf-8"))
QUICK: Final = Timing(repeat_s=0.02, request_s=1.0, action_s=60.0, silence_s=20.0)
IMPATIENT: Final = Timing(repeat_s=0.05, request_s=0.3, action_s=60.0, silence_s=0.5)
WAYS: Final = ("http", "ros")
T = TypeVar("T")


class Arm:
    """A robot that counts what it does; `ready` lets an action end."""

    def __init__(self) -> None:
        self.done: list[tuple[str, ...]] = []
        self.ready, self.begun, self.stopped = Event(), Event(), False
        self.ready.set()
        self.shown: dict[str, Any] = {"view": {"things": [{"name": "cup", "of_class": "cup"}]}}

    def act(self, name: str, arguments: list[str], stop: Event) -> None:
        self.done.append((name, *arguments))
        self.begun.set()
        while not self.ready.wait(0.01):
            if stop.is_set():
                self.stopped = True
                raise InterruptedError("it was stopped")
        if name == "fail":
            raise RuntimeError
        if name == "lift":
            raise ValueError("it is too heavy")

    def look(self, of: str) -> dict[str, Any]:
        if of == "nowhere":
            raise LookupError("there is no such place")
        return self.shown

    def approve(self, words: str) -> dict[str, Any]:
        if "microwave" in words:
            raise PermissionError("nobody allows it")
        return {"by": "ann"} if "stove" in words else {}


@contextmanager
def http_robot(robot: object, handler: type | None = None) -> Iterator[str]:
    """Run the reference robot's server; yield its address."""
    with REFERENCE.server_of(robot, 0) as server:
        if handler is not None:
            server.RequestHandlerClass = type("Handler", (handler,), {"desk": server.RequestHandlerClass.desk})
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextmanager
def robot_behind(way: str, robot: object, *, seed: int | None = None) -> Iterator[str]:
    """Run a robot behind HTTP or the bridge, over a bad connection if there is a seed; yield its address."""
    if way == "http":
        with http_robot(robot, None if seed is None else bad_handler(seed)) as url:
            yield url
        return
    chance = Random(seed)  # noqa: S311 - reproducible
    cut = (lambda: False) if seed is None else (lambda: chance.random() < 0.3)
    with bridge(Bridge(REFERENCE.Desk(robot), cut)) as url:
        yield url


@pytest.mark.parametrize("way", WAYS)
def test_each_action_is_done_once_however_messages_travel(way: str) -> None:
    """Requests and answers get lost or late, and connections break: a repeated id is asked for, not done again."""
    assert at_once(partial(thing_seen, way), range(4)) == ["cup"] * 4


def thing_seen(way: str, seed: int) -> str:
    """Return what a robot over a bad connection sees after each of five actions was asked for twice, and done once."""
    arm, ids = Arm(), [f"action {number}/é" for number in range(5)]
    with robot_behind(way, arm, seed=seed) as url:
        for number, action_id in enumerate(ids):
            for _ in range(2):
                assert (
                    RobotLink(door_to(url), QUICK).ask("act", "grab", (str(number),), action_id=action_id).state
                    == "done"
                )
        assert arm.done == [("grab", str(number)) for number in range(len(ids))]
        shown = RobotLink(door_to(url), QUICK).ask("look", "table")
    assert shown.view is not None
    return shown.view.things[0].name


@pytest.mark.parametrize("way", WAYS)
def test_what_a_robot_can_not_do_is_told_in_its_words(way: str) -> None:
    with robot_behind(way, Arm()) as url:
        link = RobotLink(door_to(url), QUICK)
        found = [link.ask("act", "lift"), link.ask("act", "fail"), link.ask("look", "nowhere")]
    assert [(it.state, it.reason) for it in found] == [
        ("refused", "it is too heavy"),
        ("refused", "RuntimeError"),
        ("refused", "there is no such place"),
    ]


@pytest.mark.parametrize("way", WAYS)
def test_an_action_that_takes_too_long_is_cancelled_and_its_end_is_told(way: str) -> None:
    arm = Arm()
    arm.ready.clear()
    with robot_behind(way, arm) as url:
        ended = RobotLink(door_to(url), Timing(0.05, 0.3, action_s=0.5)).ask("act", "grab", ("cup",))
    assert (ended.state, ended.reason, arm.stopped, len(arm.done)) == ("refused", "it was stopped", True, 1)


class Scripted:
    """A door that answers as `answer` says, after a moment."""

    def __init__(self, answer: Callable[[Verb, Action], State | None]) -> None:
        self.answer, self.trouble, self.asked = answer, "", list[Verb]()

    def exchange(self, verb: Verb, action: Action, timeout_s: float) -> State | None:
        del timeout_s
        self.asked.append(verb)
        return self.answer(verb, action)


def test_a_robot_that_works_for_ever_counts_as_gone() -> None:
    door = Scripted(lambda _, action: State(action.id, "b", "done" if action.kind == "hello" else "working"))
    link = RobotLink(door, Timing(repeat_s=0.02, action_s=0.2, silence_s=0.3))
    with pytest.raises(RobotGone, match=r"did not end 'act' 0\.3 s after its time was over; see to it"):
        link.ask("act", "grab")
    assert list(dict.fromkeys(door.asked)) == ["begin", "wait", "cancel"]
    with pytest.raises(RobotGone, match="did not end 'look'"):
        link.ask("look", "table")


def test_a_robot_that_is_never_ready_counts_as_gone() -> None:
    door = Scripted(lambda _, action: State(action.id, "b", "working"))
    with pytest.raises(RobotGone, match="did not end 'hello'"):
        RobotLink(door, Timing(repeat_s=0.02, action_s=60, silence_s=0.3)).ask("act", "grab")


def test_a_look_is_asked_again_of_a_restarted_robot_and_an_action_is_not() -> None:
    def answer(verb: Verb, action: Action) -> State:
        return State(action.id, "new", "done" if action.kind == "hello" or action.boot == "new" else "forgotten")

    door = Scripted(
        lambda verb, action: State(action.id, "old", "done") if action.kind == "hello" else answer(verb, action)
    )
    assert RobotLink(door, IMPATIENT).ask("act", "grab").state == "forgotten"
    assert RobotLink(door, IMPATIENT).ask("look", "table").state == "done"


# --- what is no robot, or speaks badly


def why_gone(url: str) -> str:
    """Return why a robot counts as gone, with time for its last answer where many are asked at once."""
    with pytest.raises(RobotGone) as gone:
        RobotLink(door_to(url), Timing(repeat_s=0.1, request_s=0.3, action_s=60.0, silence_s=1.0)).ask("act", "grab")
    return str(gone.value)


def at_once(heard: Callable[[T], str], of: Sequence[T]) -> list[str]:
    """Return what is heard of each, all waited for at the same time."""
    with ThreadPoolExecutor(len(of)) as pool:
        return list(pool.map(heard, of))


@contextmanager
def http_speaker(speak: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    """Run a server of HTTP that answers any request as `speak` does; yield its address."""

    class Speaker(BaseHTTPRequestHandler):
        def respond(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"] or 0))
            speak(self)

        do_GET = do_POST = do_DELETE = respond  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Speaker) as server:
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def says(body: bytes, status: int = 200, **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
    def speak(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(body)

    return speak


def drips(request: BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.end_headers()
    for _ in range(100):
        time.sleep(0.1)
        request.wfile.write(b" ")
        request.wfile.flush()


SPEAKERS: Final[Mapping[str, tuple[Callable[[BaseHTTPRequestHandler], None], str]]] = {
    "garbage": (says(b"<html>hello?"), r"with 200 and b'<html>hello\?': the answer: Invalid JSON"),
    "list": (says(b"[1]"), "the answer: Input should be an object"),
    "word": (says(b'{"id": "x", "boot": "b", "state": "ready"}'), "state: Input should be 'working', 'done'"),
    "boot": (says(b'{"id": "x", "state": "done"}'), "boot: Field required"),
    "id": (says(b'{"id": "x", "boot": "b", "state": "done"}'), "it is of another id"),
    "500": (says(b"{}", status=500), "with 500 and 2 bytes"),
    "empty": (says(b"", status=204), "with 204"),
    "spaces": (says(b" " * 40_000), "Invalid JSON"),
    "drips": (drips, "POST http://127.0.0.1"),
    "never": (lambda _: time.sleep(3), "POST http://127.0.0.1:.*timed out"),
    "closed": (lambda _: None, "closed connection without response"),
}


def test_robots_that_speak_badly_count_as_gone_and_what_they_said_is_told() -> None:
    """An answer from outside that is none does not keep the wait for one alive, nor does it end in a traceback."""

    def heard(speak: Callable[[BaseHTTPRequestHandler], None]) -> str:
        with http_speaker(speak) as url:
            return why_gone(url)

    began = time.monotonic()
    found = at_once(heard, [speak for speak, _ in SPEAKERS.values()])
    assert time.monotonic() - began < 4
    for (name, (_, told)), why in zip(SPEAKERS.items(), found, strict=True):
        assert re.search(rf"^nothing was heard of the robot for 1 s \(.*{told}.*; see to it", why), (name, why)


def test_a_body_without_an_end_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scenecypher.robots.doors.MAX_BYTES", 1_000)
    with http_speaker(says(b" " * 5_000)) as url, pytest.raises(RobotGone, match="with 200 and 1,001 bytes"):
        RobotLink(door_to(url), IMPATIENT).ask("act", "grab")


@pytest.mark.parametrize("status", [301, 302, 307, 401, 404, 405])
def test_what_is_no_robot_is_told_at_once(status: int) -> None:
    """Redirects are not followed: a robot's address is the user's to give."""
    heard: list[str] = []

    def elsewhere(request: BaseHTTPRequestHandler) -> None:
        heard.append(request.path)
        says(b"{}", status, Location="/elsewhere")(request)

    with (
        http_speaker(elsewhere) as url,
        pytest.raises(InputError, match=rf"POST .* with {status}, as no robot does; give"),
    ):
        RobotLink(door_to(url), IMPATIENT).ask("act", "grab")
    assert heard == ["/actions"]


def test_a_robot_whose_server_fails_for_a_while_does_the_action_once() -> None:
    arm, failures = Arm(), iter([503, 500, 429, 200, 500] + 100 * [200])

    class Failing(REFERENCE.Handler):  # type: ignore[misc]
        def respond(self) -> None:
            status = next(failures)
            says(b"<html>", status)(self) if status != 200 else super().respond()

        do_GET = do_POST = do_DELETE = respond  # noqa: N815

    with http_robot(arm, Failing) as url:
        assert RobotLink(door_to(url), QUICK).ask("act", "grab", ("cup",)).state == "done"
    assert arm.done == [("grab", "cup")]


BRIDGES: Final[Mapping[str, tuple[list[Any], str]]] = {
    "garbage": (["no JSON"], "Expecting value"),
    "others": (["[]", "7"], "nothing was heard of the robot"),
    "status": (
        [{"op": "status", "level": "error", "msg": "Unable to load scenecypher_msgs"}],
        "bridge says Unable to load",
    ),
    "failed": (
        [{"op": "action_result", "values": "no server", "status": 0, "result": False}],
        "bridge says no server",
    ),
    "word": ([{"op": "action_result", "values": {"state": "ready", "boot": "b"}}], "it sent .*state: Input should be"),
    "aborted": ([{"op": "action_result", "values": {"state": "", "boot": ""}}], "it sent .*boot"),
    "view": (
        [{"op": "action_result", "values": {"state": "done", "boot": "b", "view": "{"}}],
        "it sent .*Expecting",
    ),
    "late": (
        [{"op": "action_result", "id": "other", "values": {"state": "done", "boot": "b"}}],
        "nothing was heard",
    ),
    "never": ([], r"nothing was heard of the robot for 1 s .*timed out"),
}


def test_bridges_that_speak_badly_count_as_gone_and_what_they_said_is_told() -> None:
    def heard(answers: list[Any]) -> str:
        def speak(socket: ServerConnection) -> None:
            for text in socket:
                for answer in answers:
                    named = answer if isinstance(answer, str) else json.dumps({"id": json.loads(text)["id"], **answer})
                    socket.send(named)

        with bridge(speak) as url:
            return why_gone(url)

    found = at_once(heard, [answers for answers, _ in BRIDGES.values()])
    for (name, (_, told)), why in zip(BRIDGES.items(), found, strict=True):
        assert re.search(f"{told}.*see to it", why), (name, why)


@pytest.mark.parametrize("first", [{"values": {"state": "ready"}}, {"values": "no server yet", "result": False}])
def test_a_goal_whose_result_was_none_is_sent_again(first: dict[str, Any]) -> None:
    goals: list[str] = []

    def speak(socket: ServerConnection) -> None:
        for text in socket:
            goals.append(json.loads(text)["id"])
            values = first if len(goals) == 1 else {"values": {"state": "done", "boot": "b"}}
            socket.send(json.dumps({"op": "action_result", "id": goals[-1], **values}))

    with bridge(speak) as url:
        assert RobotLink(door_to(url), IMPATIENT).ask("act", "grab").state == "done"
    assert [goals.count(it) for it in dict.fromkeys(goals)] == [2, 1]


def test_a_result_that_comes_twice_or_late_counts_for_its_own_goal_alone() -> None:
    """Believed done: the second answer to one action must not be taken for the first to the next."""
    heard: list[dict[str, Any]] = []

    def speak(socket: ServerConnection) -> None:
        for text in socket:
            heard.append(json.loads(text))
            refused = {"state": "refused", "boot": "b", "reason": heard[-1]["args"]["name"]}
            done = {"state": "done", "boot": "b"}
            answers = [(it["id"], done) for it in heard[:-1]] + [(heard[-1]["id"], refused), (heard[-1]["id"], done)]
            for of, values in answers:
                socket.send(json.dumps({"op": "action_result", "id": of, "values": values}))

    with bridge(speak) as url:
        link = RobotLink(door_to(url), IMPATIENT)
        assert [link.ask("act", name).reason for name in ("grab", "lift", "put")] == ["grab", "lift", "put"]


def test_robots_that_are_not_there_count_as_gone() -> None:
    urls = ("http://127.0.0.1:9", "ws://127.0.0.1:9", "http://a..b:7070", "ws://no.such.host.invalid")
    for url, why in zip(urls, at_once(why_gone, urls), strict=True):
        assert re.search(rf"^nothing was heard of the robot for 1 s \(.*{re.escape(url)}", why), why


@pytest.mark.parametrize(
    "url",
    ["robot:7070", "tcp://robot:7070", "http://", "http://robot:port", "ws://[", "http://a:0", "http://b?x=1", ""],
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="give one such as http://localhost:7070"):
        door_to(url)


def test_the_bridge_is_told_goal_and_cancellation_by_its_own_protocol() -> None:
    """The fields are those of rosbridge's published protocol, version 2, for actions of ROS 2."""
    arm = Arm()
    arm.ready.clear()
    node = Bridge(REFERENCE.Desk(arm))
    with bridge(node) as url:
        RobotLink(door_to(url), Timing(0.05, 0.3, action_s=0.5)).ask("act", "grab", ("cup",), action_id="a")
    goal = next(it for it in node.heard if it["op"] == "send_action_goal" and it["id"] == "a")
    assert {name: type(value) for name, value in goal.items()} == {
        "op": str,
        "id": str,
        "action": str,
        "action_type": str,
        "args": dict,
        "feedback": bool,
    }
    assert goal["args"] == {
        **asdict(Action("a", "act", "grab", ("cup",))),
        "arguments": ["cup"],
        "boot": node.desk.boot,
    }
    cancelled = next(it for it in node.heard if it["op"] == "cancel_action_goal")
    assert cancelled == {"op": "cancel_action_goal", "id": "a", "action": goal["action"]}
    assert [it["id"] for it in node.heard if it["op"] == "send_action_goal"].count("a") == 1


# --- the reference robot, and the document of what it speaks


def ask(url: str, method: str, path: str, body: object = None, **headers: str) -> tuple[int, Any]:
    connection = HTTPConnection(url.removeprefix("http://"), timeout=30)
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def resolved(schema: Any, document: Mapping[str, Any] = OPENAPI) -> Any:
    """Return a schema without references, and without words for people."""
    if isinstance(schema, list):
        return [resolved(it, document) for it in schema]
    if not isinstance(schema, Mapping):
        return schema
    if "$ref" in schema:
        return resolved(reduce(getitem, schema["$ref"].split("/")[1:], document), document)
    return {
        name: resolved(it, document) for name, it in schema.items() if name not in {"description", "title", "$defs"}
    }


@pytest.mark.parametrize("message", [Action, State])
def test_the_document_and_the_code_have_the_same_fields(message: type) -> None:
    fields = TypeAdapter(message).json_schema()
    ours, documented = resolved(fields, fields), resolved(OPENAPI["components"]["schemas"][message.__name__])
    if message is Action:
        assert documented["properties"]["id"].pop("minLength") == 1
    assert documented == ours
    jsonschema.Draft202012Validator.check_schema(documented)


def test_what_is_spoken_is_as_the_document_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each request and answer between planner and reference robot, and each status, stands in the document."""
    arm, spoken = Arm(), list[tuple[str, str]]()
    answered = REFERENCE.Handler.found

    def listening(self: Any, path: str, query: dict[str, list[str]]) -> Any:
        of = OPENAPI["paths"]["/actions" if path == "/actions" else "/actions/{id}"][self.command.lower()]
        if self.command == "POST":
            body = self.rfile.read(int(self.headers["Content-Length"]))
            jsonschema.validate(json.loads(body), schema_of(of["requestBody"]))
            self.rfile = BytesIO(body)
        status, answer = answered(self, path, query)
        jsonschema.validate(json.loads(json.dumps(answer)), schema_of(of["responses"][str(status)]))
        assert {*query} <= {it["name"] for it in of.get("parameters", ())}
        spoken.append((self.command, answer.get("state", "error")))
        return status, answer

    def schema_of(part: Any) -> Any:
        return resolved(part)["content"]["application/json"]["schema"]

    monkeypatch.setattr(REFERENCE.Handler, "found", listening)
    arm.ready.clear()
    with http_robot(arm) as url:
        link = RobotLink(door_to(url), Timing(0.05, 0.3, action_s=0.5))
        link.ask("act", "grab", ("cup",), action_id="grabbed / é")
        arm.ready.set()
        for kind, name in (("act", "lift"), ("look", "table"), ("look", "nowhere"), ("approve", "open")):
            link.ask(kind, name)  # type: ignore[arg-type]
        for known in ("unknown", "grabbed / é"):
            door_to(url).exchange("wait", Action(known, "act"), 5)
        door_to(url).exchange("begin", Action("a", "act", boot="another"), 5)
    posted = {("POST", it) for it in ("working", "done", "forgotten")}
    assert {*spoken} >= posted | {("GET", it) for it in ("working", "refused", "error")} | {("DELETE", "working")}


def test_the_robot_answers_each_request_by_its_memory() -> None:
    arm = Arm()
    arm.ready.clear()
    with http_robot(arm) as url:
        blank = asdict(Action("a", "act", "grab"))
        boot = ask(url, "POST", "/actions", blank | {"id": "h", "kind": "hello"})[1]["boot"]

        def begin(**fields: object) -> tuple[str, str]:
            state = ask(url, "POST", "/actions", {**blank, "boot": boot, **fields})[1]
            return state["state"], state.get("reason", "")

        assert begin(boot="another") == ("forgotten", "")
        assert begin() == ("working", "")
        assert begin(id="b") == ("refused", "the robot still carries out another action")
        assert begin(name="put") == ("refused", "this id was used for another action")
        assert ask(url, "DELETE", "/actions/late")[1]["reason"] == "it was cancelled"
        assert begin(id="late") == ("refused", "it was cancelled"), "it comes after its own cancellation"
        arm.ready.set()
        assert ask(url, "GET", "/actions/a?wait=30")[1]["state"] == "done"
        assert begin() == ("done", ""), "told again"
        assert arm.done == [("grab",)], "not done again"
        assert begin(id="b") == ("working", "")


def test_the_robot_s_memory_does_not_grow_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look's picture may be 20 MB: only what may be asked for again is kept."""
    monkeypatch.setattr(REFERENCE, "KEPT", 3)
    desk = REFERENCE.Desk(Arm())
    desk.cancel("never came")
    for number in range(10):
        desk.begin({**asdict(Action(f"{number}", "look", "table")), "boot": desk.boot})
        assert desk.wait(f"{number}", 30)["state"] == "done"
    assert [*desk.states] == [*desk.asked] == ["7", "8", "9"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/actions", [], 400),
        ("POST", "/actions", {"kind": "act"}, 400),
        ("POST", "/actions", {"id": 7}, 400),
        ("POST", "/actions", {"id": "a", "arguments": "cup"}, 400),
        ("POST", "/actions", None, 400),
        ("GET", "/actions/a?wait=soon", None, 400),
        ("GET", "/actions/a?wait=nan", None, 404),
        ("GET", "/elsewhere", None, 404),
    ],
)
def test_the_robot_refuses_what_it_can_not_read(method: str, path: str, body: object, status: int) -> None:
    with http_robot(Arm()) as url:
        found, told = ask(url, method, path, body)
        assert (found, [*told]) == (status, ["error"])
        assert ask(url, "POST", "/actions", asdict(Action("h", "hello")))[0] == 200


def test_a_page_in_a_browser_can_not_command_the_robot() -> None:
    """A page of any site may send a simple POST to the loopback; browsers name its origin."""
    arm = Arm()
    with http_robot(arm) as url:
        boot = ask(url, "POST", "/actions", asdict(Action("h", "hello")))[1]["boot"]
        assert (
            ask(url, "POST", "/actions", asdict(Action("a", "act", boot=boot)), Origin="http://evil.example")[0] == 403
        )
        assert arm.done == []


# --- as the environment of a session


class NoEyes:
    def reply(self, request: ModelRequest) -> ModelReply:
        raise AssertionError(request)


def environment_of(door: Door, graph: SceneGraph, timing: Timing = QUICK) -> RobotEnvironment:
    known: Callable[[str], KnownNode] = known_node_reader(lambda: graph, vocabulary="grasif")
    return RobotEnvironment(RobotLink(door, timing), model=NoEyes(), known=known)


def test_reasons_reach_the_planner_on_one_line_and_cut() -> None:
    refused = "no\n\x1b[31m" + "so " * 10_000
    door = Scripted(lambda _, it: State(it.id, "b", "done" if it.kind == "hello" else "refused", refused))
    with pytest.raises(ActionRefused) as told:
        environment_of(door, home()).execute("go_to(kitchen)", action_id="1")
    (reason,) = told.value.reasons
    assert (len(reason), reason[:9], reason.isprintable()) == (500, "no [31mso", True)


def test_a_view_is_an_observation_and_what_is_wrong_in_it_is_named() -> None:
    robot, cup = Arm(), {"name": "cup", "of_class": "cup", "relation": "ON", "target": "table-1", "id": "cup-1"}
    robot.shown = {"view": {"things": [cup], "whole": False}}
    with http_robot(robot) as url:
        world = environment_of(door_to(url), home())
        seen = world.observe("table-1", step=3)
        assert (seen.of, seen.step, seen.sightings[0].id, seen.extent.is_whole) == ("table-1", 3, "cup-1", False)
        with pytest.raises(UnknownReference, match="teapot"):
            world.observe("teapot", step=4)
        robot.shown = {"view": {"things": [{**cup, "relation": "BEHIND"}]}}
        with pytest.raises(InputError, match="the relation 'BEHIND'"):
            world.observe("table-1", step=5)
        robot.shown = {"picture": "bm8gcGljdHVyZQ=="}
        with pytest.raises(InputError, match="the robot's picture: this is no picture"):
            world.observe("table-1", step=6)
        robot.shown = {"picture": "bm8!"}
        with pytest.raises(InputError, match="not in base64"):
            world.observe("table-1", step=7)


def test_a_look_without_anything_to_see_is_no_answer() -> None:
    robot = Arm()
    robot.shown = {}
    with http_robot(robot) as url, pytest.raises(RobotGone, match="a look that is done has a `view` or a `picture`"):
        environment_of(door_to(url), home(), IMPATIENT).observe("table-1", step=1)


def test_a_person_at_the_robot_approves_what_a_rule_reserves(store: SceneStore) -> None:
    """Unasked: the rule's question goes the way of actions; who answers stands in the history."""
    name = fresh("approved")
    store.put(ImportedScene(name, HOME, "household"))
    belief = find_or_create_belief(store, store.find(name))
    add_rule(store, name, "ask before switch_on(stove)")
    add_rule(store, name, "ask before switch_on(microwave)")
    add_rule(store, name, "ask before pick_up(fork)")
    arm = Arm()
    with robot_behind("http", arm) as url:
        world = environment_of(door_to(url), home())
        simulator = BeliefSimulator(store, store.find(belief.name), world=world, ask=world.ask)
        list(simulator.act("switch_on(stove-1)"))
        assert store.history(store.find(belief.name))[-1].approved_by == "ann"
        for unapproved in ("switch_on(microwave-1)", "pick_up(fork-1)"):
            with pytest.raises(RuleBroken, match="it was not approved"):
                list(simulator.act(unapproved))
    assert arm.done == [("switch_on", "stove-1")]


# --- a robot that is a process of its own


@contextmanager
def robot_process(seed: int, port: int = 0) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Run the simulated robot; yield its process and port."""
    command = [sys.executable, "-m", "tests.scenecypher.robots.simulated", str(seed), str(port)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, int(process.stdout.readline())
        finally:
            process.kill()


def test_a_robot_over_a_bad_connection_does_each_action_once() -> None:
    actions = ["go_to(kitchen)", "pick_up(cup-1)", "go_to(office)", "put_on(desk-1)"]
    with robot_process(seed=3) as (process, port):
        world = environment_of(door_to(f"http://127.0.0.1:{port}"), home())
        for number, action in enumerate(actions):
            world.execute(action, action_id=f"{number}")
        with pytest.raises(ActionRefused, match="cup-1"):
            world.execute("open(cup-1)", action_id="cup")
        world.execute("discover_objects(desk-1)", action_id="look")
        assert {it.id for it in world.observe("desk-1", step=9).sightings} == {"cup-1", "pen-1"}
        process.kill()
        assert process.stdout is not None
        assert process.stdout.read().splitlines() == [*actions, "open(cup-1)"]


def test_a_robot_that_is_killed_during_an_action_and_comes_back_is_not_believed_to_have_done_it() -> None:
    with ExitStack() as stack:
        process, port = stack.enter_context(robot_process(seed=1))
        world = environment_of(door_to(f"http://127.0.0.1:{port}"), home(), Timing(repeat_s=0.05, silence_s=2))
        world.execute("go_to(kitchen)", action_id="go")

        def kill_in_the_middle() -> None:
            assert process.stdout is not None
            while process.stdout.readline() != "wait(kitchen)\n":
                pass
            process.kill()

        killer = Thread(target=kill_in_the_middle)
        killer.start()
        with pytest.raises(RobotGone):
            world.execute("wait(kitchen)", action_id="wait")
        killer.join()
        stack.enter_context(robot_process(seed=1, port=port))
        with pytest.raises(ActionRefused, match="the robot was restarted meanwhile: it is done or not"):
            world.execute("wait(kitchen)", action_id="wait")
        world.execute("go_to(kitchen)", action_id="go again")


def test_a_door_is_chosen_by_its_scheme() -> None:
    assert isinstance(door_to("https://robot.local/arm/"), HttpDoor)
    assert isinstance(door_to("wss://robot.local:9090"), RosDoor)
