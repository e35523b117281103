"""Sessions interrupted anywhere and resumed from their logs end like uninterrupted ones, on a real server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from scenecypher.chat import Usage
from scenecypher.db.gate import Gate
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import DatabaseUnavailable, InputError
from scenecypher.planner.perception.observation import Observation
from scenecypher.planner.perception.truth import Body
from scenecypher.planner.sessions.budget import Budget
from scenecypher.planner.sessions.events import Event, Finished, Remembered, event_document
from scenecypher.planner.sessions.method import Act, Decision, Done, Memory, Recipe, Solve, Think
from scenecypher.planner.sessions.resuming import read_log, resume_session
from scenecypher.planner.sessions.setup import SessionSetting, prepare_session
from scenecypher.planner.worlds.belief import belief_name, find_or_create_belief
from scenecypher.planner.worlds.environment import SceneEnvironment
from tests.planner.actions.grasif_worlds import home
from tests.sampling import sample

STEPS: tuple[Decision, ...] = (
    Think("where may the cup be?"),
    Act("discover_objects(table-1)"),
    Act("pick_up(cup-1)"),
    Act("put_on(desk-1)", "as asked"),
    Done("it is there"),
)
WHOLE: tuple[Decision, ...] = (Solve(("go_to(kitchen)", "pick_up(cup-1)", "go_to(office)", "put_on(desk-1)")),)
ACTIONS = ["go_to(kitchen)", "pick_up(cup-1)", "go_to(office)", "put_on(desk-1)"]


class FixedMethod:
    """A method with a fixed sequence of decisions."""

    def __init__(self, decisions: tuple[Decision, ...]) -> None:
        self.decisions = decisions

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        return self.decisions[len(memory.turns)], Usage(3, 2)


class CrashingWorld:
    """A world whose program ends right after the commit of a certain action."""

    def __init__(self, world: SceneEnvironment, action: str) -> None:
        self.world, self.action = world, action

    def execute(self, action: str, *, action_id: str, because: str | None = None) -> None:
        self.world.execute(action, action_id=action_id, because=because)
        if action == self.action:
            raise DatabaseUnavailable("the program ends here; start it again")

    def observe(self, of: str, *, step: int) -> Observation:
        return self.world.observe(of, step=step)

    def body(self, agent: str) -> Body | None:
        return self.world.body(agent)

    def reset(self) -> None:
        self.world.reset()


class Run:
    """A world with its belief, a method, and a log."""

    def __init__(self, store: SceneStore, file: Path, decisions: tuple[Decision, ...]) -> None:
        self.store, self.file, name = store, file, f"test/{uuid4().hex}"
        store.put(ImportedScene(name, home(), "grasif"))
        self.world = store.find(name)
        find_or_create_belief(store, self.world)
        self.recipe = Recipe(build=lambda _given: FixedMethod(decisions), words="always the same", model=False)

    def setting(self, *, breaks_at: str = "") -> SessionSetting:
        world = SceneEnvironment(self.store, self.world, actor="fixed")
        breaking = CrashingWorld(world, breaks_at) if breaks_at else None
        gate = Gate(self.store.database)
        budget = Budget(10)
        return SessionSetting(self.store, gate, self.world, "", "fixed", budget=budget, belief=True, world=breaking)

    def log(self, events: Iterator[Event], stop_after: int = 1_000) -> list[Event]:
        seen: list[Event] = []
        with self.file.open("a") as log:
            for event in events:
                log.write(json.dumps(event_document(event)) + "\n")
                seen.append(event)
                if len(seen) == stop_after:
                    break
        return seen

    def begin(self, *, stop_after: int = 1_000, breaks_at: str = "") -> list[Event]:
        return self.log(prepare_session(self.setting(breaks_at=breaks_at), self.recipe).run(), stop_after)

    def resume(self, *, stop_after: int = 1_000) -> list[Event]:
        return self.log(resume_session(self.setting(), self.recipe, self.file), stop_after)

    def graphs(self) -> tuple[SceneGraph, SceneGraph]:
        return tuple(self.store.load(it).graph for it in (self.world.name, belief_name(self.world.name)))  # type: ignore[return-value]

    def done(self) -> list[str]:
        actions = [event.action.split("  [")[0] for event in self.store.history(self.world)]
        return [action for action in actions if not action.startswith("discover")]


@pytest.mark.parametrize(
    ("decisions", "cuts"), [(STEPS, sample((9, 2, 5), 1)), (WHOLE, sample((6, 2), 1))], ids=["steps", "whole"]
)
def test_a_session_goes_on_wherever_it_was_cut_off(
    store: SceneStore, tmp_path: Path, decisions: tuple[Decision, ...], cuts: list[int]
) -> None:
    straight = Run(store, tmp_path / "straight", decisions)
    straight.begin()
    assert straight.done() == ACTIONS
    for cut in cuts:
        run = Run(store, tmp_path / f"cut {cut}", decisions)
        assert len(run.begin(stop_after=cut)) == cut
        with run.file.open("a") as log:
            log.write('{"event": "act", "action": "öffne')
        run.file.write_bytes(run.file.read_bytes()[:-5])  # in the middle of a character
        last = run.resume()[-1]
        assert isinstance(last, Finished)
        assert last.outcome == "done"
        assert run.done() == ACTIONS, f"nothing is done twice after event {cut}"
        assert [graph.relations for graph in run.graphs()] == [graph.relations for graph in straight.graphs()]
        past = read_log(run.file)
        assert past.ended
        assert len(past.turns) == len(decisions)


def test_a_solution_that_was_cut_off_twice_is_remembered_whole(store: SceneStore, tmp_path: Path) -> None:
    run = Run(store, tmp_path / "log", WHOLE)
    run.begin(stop_after=4)  # began, solved, proposed, acted
    between = read_log(run.file)
    assert between.turns == ()
    run.resume(stop_after=3)
    last = run.resume()[-1]
    assert isinstance(last, Finished)
    assert (last.outcome, last.actions) == ("done", len(ACTIONS))
    assert run.done() == ACTIONS
    (turn,) = read_log(run.file).turns
    assert isinstance(turn.decision, Solve)
    assert turn.decision.actions == tuple(ACTIONS)
    assert list(turn.done) == ACTIONS
    assert turn.feedback == "; ".join(f"{action} was carried out" for action in ACTIONS)
    assert read_log(run.file).spent.actions == len(ACTIONS)


def test_the_seconds_before_count_on(store: SceneStore, tmp_path: Path) -> None:
    run = Run(store, tmp_path / "log", STEPS)
    run.begin(stop_after=5)
    lines = [json.loads(line) for line in run.file.read_text().splitlines()]
    late = [line | {"seconds": 100.0} if line["event"] == "remembered" else line for line in lines]
    run.file.write_text("".join(json.dumps(line) + "\n" for line in late))
    assert read_log(run.file).spent.seconds == 100
    setting = replace(run.setting(), budget=Budget(10, seconds=99.0))
    *_, last = run.log(resume_session(setting, run.recipe, run.file))
    assert isinstance(last, Finished)
    assert (last.outcome, last.seconds >= 100) == ("seconds", True)


@pytest.mark.parametrize("breaks_at", sample(("go_to(office)", "put_on(desk-1)", "discover_objects(table-1)"), 2))
def test_a_half_done_pair_is_completed(store: SceneStore, tmp_path: Path, breaks_at: str) -> None:
    run = Run(store, tmp_path / "log", STEPS)
    with pytest.raises(DatabaseUnavailable):
        run.begin(breaks_at=breaks_at)
    world, belief = (store.history(store.find(name)) for name in (run.world.name, belief_name(run.world.name)))
    assert len(world) == len(belief) + 1, "the belief lacks what the world has"
    assert run.resume()[-1].outcome == "done"  # type: ignore[union-attr]
    assert run.done() == ACTIONS
    world, belief = (store.history(store.find(name)) for name in (run.world.name, belief_name(run.world.name)))
    assert [event.action_id for event in belief] == [f"{event.action_id}:belief" for event in world]


def remembered(decision: dict[str, object]) -> bytes:
    event = Remembered(1, decision, "", (), refused=False, infeasible=0, usage=Usage())
    return json.dumps(event_document(event)).encode() + b"\n"


def test_a_line_ends_at_its_newline_alone(tmp_path: Path) -> None:
    words = "one\u2028two\x85three"
    event = Remembered(1, None, words, (), refused=True, infeasible=1, usage=Usage())
    log = tmp_path / "log"
    log.write_text(json.dumps(event_document(event), ensure_ascii=False) + "\n", encoding="utf-8")
    assert [turn.feedback for turn in read_log(log).turns] == [words]


def test_what_is_no_log_is_refused(store: SceneStore, tmp_path: Path) -> None:
    run = Run(store, tmp_path / "log", STEPS)
    for content, words in (
        (b"no log\nat all\n", "log:1: this is no event"),
        (b'{"event": "remembered", "step": 1}\n', "the turn 1 can't be read"),
        (b'{"event": "finished"}\n', "came to its end"),
        (b'{"event": "finished"}', "came to its end"),
        (b'{"event": "proposed", "step": 1}\n', "log:1: this is no event"),
        (remembered({"decision": "sing"}), "the decision of turn 1 can't be read"),
        (remembered({"decision": "act", "song": "la"}), "the decision of turn 1 can't be read"),
        (remembered({"decision": "act", "action": 5}), "the decision of turn 1 can't be read"),
        (remembered({"decision": "call", "tool": "python", "arguments": []}), "the decision of turn 1 can't be read"),
        (b"\xff", "give a log that `plan --log` wrote"),
        (b"\xff\n\n", "log:1: this is no event"),
    ):
        run.file.write_bytes(content)
        with pytest.raises(InputError, match=words):
            run.resume()
        assert run.file.read_bytes() == content
    run.file.unlink()
    with pytest.raises(InputError, match="No such file"):
        resume_session(run.setting(), run.recipe, run.file)
    run.file.write_bytes(b"")
    assert read_log(run.file).turns == ()
