"""Robots: the exchange over bad lines and a clock of its own, then with a process of its own over a socket."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from threading import Event, Thread

import pytest

from scenecypher.chat.model import Reply as ModelReply
from scenecypher.chat.model import Request as ModelRequest
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.errors import ActionRefused, InputError, UnknownReference
from scenecypher.planner.perception.naming import KnownNode, known_node_reader
from scenecypher.robots.desk import RobotDesk
from scenecypher.robots.environment import RobotEnvironment
from scenecypher.robots.link import RobotGone, RobotLink, Timing
from scenecypher.robots.messages import (
    Act,
    Cancel,
    Done,
    Forgotten,
    Hello,
    Pictured,
    Ready,
    Refused,
    Reply,
    Seen,
    Thing,
    View,
    Working,
    decode_reply,
    decode_request,
    encode,
)
from scenecypher.robots.sockets import RobotServer, SocketTransport, address_of
from tests.planner.actions.grasif_worlds import home

ROOT = Path(__file__).parents[3]
QUICK = Timing(repeat_s=0.05, action_s=30, silence_s=10)


class Arm:
    """A robot that counts what it does; `ready` lets an action end."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.ready, self.begun, self.stopped = Event(), Event(), False
        self.ready.set()

    def act(self, action: Act, stop: Event) -> str | None:
        self.done.append(action.id)
        self.begun.set()
        while not self.ready.wait(0.01):
            if stop.is_set():
                self.stopped = True
                return "it was stopped"
        if action.name == "fail":
            raise RuntimeError("the gripper is stuck")
        return "it is too heavy" if action.name == "lift" else None

    def look(self, of: str) -> View | bytes:
        if of == "nowhere":
            raise LookupError("there is no such place")
        return b"no picture" if of == "camera" else View((Thing("cup", "cup", "ON", of),))


@dataclass
class Lossy:
    """A transport with a clock of its own, to a desk in this process: lines get lost, come twice, and late."""

    desk: RobotDesk
    chance: Random
    now: float = 0.0
    waiting: list[tuple[float, bytes]] = field(default_factory=list)

    def send(self, line: bytes) -> None:
        for _ in range(self.chance.choice((0, 1, 1, 2))):
            answer = encode(self.desk.answer(decode_request(line)))
            for _ in range(self.chance.choice((0, 1, 1, 2))):
                self.waiting.append((self.now + self.chance.choice((0.0, 0.4, 2.5)), answer))
        self.waiting.sort()

    def receive(self, timeout_s: float) -> bytes | None:
        Event().wait(0.001)  # the desk's own thread
        if self.waiting and self.waiting[0][0] <= self.now + timeout_s:
            at, line = self.waiting.pop(0)
            self.now = max(self.now, at)
            return line
        self.now += timeout_s
        return None


def link_to(desk: RobotDesk, *, seed: int = 0, timing: Timing | None = None) -> RobotLink:
    transport = Lossy(desk, Random(seed))  # noqa: S311 - reproducible
    return RobotLink(transport, timing or Timing(), clock=lambda: transport.now)


@pytest.mark.parametrize("seed", range(10))
def test_each_action_is_done_once_however_messages_travel(seed: int) -> None:
    arm = Arm()
    link = link_to(RobotDesk(arm), seed=seed)
    ids = [f"action {number}" for number in range(8)]
    for action_id in ids:
        assert isinstance(link.act("grab", ("cup",), action_id=action_id), Done)
        assert isinstance(link.act("grab", ("cup",), action_id=action_id), Done), "asked again"
    assert arm.done == ids
    shown = link.look("table")
    assert isinstance(shown, Seen)
    assert shown.view.things[0].name == "cup"


def test_what_a_robot_can_not_do_is_told_in_its_words() -> None:
    link = link_to(RobotDesk(Arm()))
    found = [link.act(name, (), action_id=name) for name in ("lift", "fail")] + [link.look("nowhere")]
    assert [it.reason for it in found if isinstance(it, Refused)] == [
        "it is too heavy",
        "the gripper is stuck",
        "there is no such place",
    ]


def test_an_action_that_takes_too_long_is_cancelled_and_its_end_is_told() -> None:
    arm = Arm()
    arm.ready.clear()
    ended = link_to(RobotDesk(arm), timing=Timing(action_s=5.0)).act("grab", ("cup",), action_id="a")
    assert isinstance(ended, Refused)
    assert (ended.reason, arm.stopped) == ("it was stopped", True)


def test_a_silent_robot_counts_as_gone_and_what_it_sent_is_told() -> None:
    class Deaf:
        now = 0.0

        def send(self, line: bytes) -> None:
            del line

        def receive(self, timeout_s: float) -> bytes | None:
            self.now += timeout_s
            return b"hello?" if self.now < 2 else None

    deaf = Deaf()
    with pytest.raises(RobotGone, match=r"nothing was heard of the robot for 30 s.*b'hello\?'"):
        RobotLink(deaf, clock=lambda: deaf.now).act("grab", (), action_id="a")


def test_a_robot_that_works_for_ever_counts_as_gone() -> None:
    class Tireless:
        now, last = 0.0, b""

        def send(self, line: bytes) -> None:
            self.last = line

        def receive(self, timeout_s: float) -> bytes | None:
            self.now += timeout_s
            asked = decode_request(self.last)
            return encode(Ready(asked.id, "b") if isinstance(asked, Hello) else Working(asked.id, "b"))

    tireless = Tireless()
    link = RobotLink(tireless, clock=lambda: tireless.now)
    with pytest.raises(RobotGone, match="did not end the action 30 s after it was cancelled"):
        link.act("grab", (), action_id="a")
    with pytest.raises(RobotGone, match="did not end"):
        link.look("table")


@pytest.mark.parametrize(
    "answer",
    [Working, Done, Forgotten, lambda request, boot: Working(f"not {request}", boot)],
    ids=["working", "done", "forgotten", "of another request"],
)
def test_a_wait_for_a_robot_that_never_answers_what_was_asked_has_an_end(answer: Callable[[str, str], Reply]) -> None:
    """A word from outside that is no answer to the question does not keep the wait for one alive."""

    class Confused:
        now, last, sent = 0.0, b"", 0

        def send(self, line: bytes) -> None:
            self.last = line

        def receive(self, timeout_s: float) -> bytes | None:
            self.now += timeout_s
            self.sent += 1
            assert self.sent < 10_000, "it waits for ever"
            return encode(answer(decode_request(self.last).id, "b"))

    confused = Confused()
    with pytest.raises(RobotGone, match=r"(nothing was heard|did not say within 30 s).*see to it"):
        RobotLink(confused, clock=lambda: confused.now).act("grab", (), action_id="a")
    assert confused.now < 31


def test_reasons_reach_the_planner_on_one_line_and_cut() -> None:
    class Talking(Arm):
        def act(self, action: Act, stop: Event) -> str | None:
            del action, stop
            return "no\n\x1b[31m" + "so " * 10_000

    world = environment_of(link_to(RobotDesk(Talking())), home())
    with pytest.raises(ActionRefused) as refused:
        world.execute("go_to(kitchen)", action_id="1")
    (reason,) = refused.value.reasons
    assert (len(reason), reason[:10], reason.isprintable()) == (500, "no [31mso ", True)


def test_a_desk_answers_each_request_by_its_memory() -> None:
    arm = Arm()
    arm.ready.clear()
    desk = RobotDesk(arm)
    ready = desk.answer(Hello("h"))
    assert isinstance(ready, Ready)
    boot = ready.boot
    assert isinstance(desk.answer(Act("a", "another", "grab")), Forgotten)
    assert isinstance(desk.answer(Act("a", boot, "grab")), Working)
    busy = desk.answer(Act("b", boot, "grab"))
    other = desk.answer(Act("a", boot, "put"))
    assert [it.reason for it in (busy, other) if isinstance(it, Refused)] == [
        "the robot still carries out another request",
        "this id was used for another request",
    ]
    assert isinstance(desk.answer(Cancel("late", boot)), Refused)
    assert isinstance(desk.answer(Act("late", boot, "grab")), Refused), "it comes after its own cancellation"
    arm.ready.set()
    assert arm.begun.wait(60)
    assert arm.done == ["a"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"not json", "the line"),
        (b'{"kind": "dance", "id": "1", "boot": "b"}', "'dance'"),
        (b'{"kind": "done", "id": "1"}', "done.boot"),
        (b'{"kind": "seen", "id": "1", "boot": "b", "view": {"things": [{"name": ""}]}}', "seen.view.things.0.name"),
    ],
)
def test_a_line_that_is_no_message_is_refused_with_its_place(line: bytes, told: str) -> None:
    with pytest.raises(InputError, match=told):
        decode_reply(line)


@pytest.mark.parametrize("url", ["robot:7070", "http://robot:7070", "tcp://robot", "tcp://robot:port", "tcp://[", ""])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="give one such as tcp://localhost:7070"):
        address_of(url)


# --- as the environment of a session


class NoEyes:
    def reply(self, request: ModelRequest) -> ModelReply:
        raise AssertionError(request)


def environment_of(link: RobotLink, graph: SceneGraph) -> RobotEnvironment:
    known: Callable[[str], KnownNode] = known_node_reader(lambda: graph, vocabulary="grasif")
    return RobotEnvironment(link, model=NoEyes(), known=known)


def test_a_view_is_an_observation_and_what_is_wrong_in_it_is_named() -> None:
    class Looking(Arm):
        shown: View | bytes = View((Thing("cup", "cup", "ON", "table-1", id="cup-1"),), whole=False)

        def look(self, of: str) -> View | bytes:
            assert of == "table-1"
            return self.shown

    robot = Looking()
    world = environment_of(link_to(RobotDesk(robot)), home())
    seen = world.observe("table-1", step=3)
    assert (seen.of, seen.step, seen.sightings[0].id, seen.extent.is_whole) == ("table-1", 3, "cup-1", False)
    with pytest.raises(UnknownReference, match="teapot"):
        world.observe("teapot", step=4)
    robot.shown = View((Thing("cup", "cup", "BEHIND", "table-1"),))
    with pytest.raises(InputError, match="the relation 'BEHIND'"):
        world.observe("table-1", step=5)
    robot.shown = b"no picture"
    with pytest.raises(InputError, match="the robot's picture: this is no picture"):
        world.observe("table-1", step=6)


def test_a_picture_that_is_not_in_base64_is_refused() -> None:
    class Odd:
        def look(self, of: str) -> Pictured:
            return Pictured(of, "b", b64encode(b"x").decode() + "!")

    with pytest.raises(InputError, match="not in base64"):
        environment_of(Odd(), home()).observe("table-1", step=1)  # type: ignore[arg-type]


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
    with robot_process(seed=3) as (process, port), closing(SocketTransport(f"tcp://127.0.0.1:{port}")) as transport:
        world = environment_of(RobotLink(transport, QUICK), home())
        for number, action in enumerate(actions):
            world.execute(action, action_id=f"{number}")
        with pytest.raises(ActionRefused, match="cup-1"):
            world.execute("open(cup-1)", action_id="cup")
        world.execute("discover_objects(desk-1)", action_id="look")
        assert {it.id for it in world.observe("desk-1", step=9).sightings} == {"cup-1", "pen-1"}
        process.kill()
        assert process.stdout is not None
        assert process.stdout.read().splitlines() == [*actions, "open(cup-1)"]


def test_a_robot_that_goes_away_in_the_middle_is_told_and_one_that_comes_back_has_forgotten() -> None:
    with ExitStack() as stack:
        process, port = stack.enter_context(robot_process(seed=1))
        transport = stack.enter_context(closing(SocketTransport(f"tcp://127.0.0.1:{port}")))
        link = RobotLink(transport, Timing(repeat_s=0.05, silence_s=10))
        world = environment_of(link, home())
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


def test_lines_that_are_too_long_or_no_messages_do_not_end_a_server() -> None:
    with RobotServer(Arm(), "127.0.0.1", 0) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        host, port = server.server_address[:2]
        with socket.create_connection((str(host), int(port)), timeout=10) as raw:
            raw.sendall(b"hello?\n\n" + json.dumps({"kind": "hello", "id": "h"}).encode() + b"\n")
            assert decode_reply(raw.makefile("rb").readline()).kind == "ready"
        server.shutdown()
