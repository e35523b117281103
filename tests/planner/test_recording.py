"""Runs kept in the database: resumed wherever they were cut off, with the versions of world and belief apart."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from scenecypher.db.condition import HasState, Id
from scenecypher.db.graph.delta import Delta
from scenecypher.db.store.connection import Database
from scenecypher.db.store.history import declare_time
from scenecypher.db.store.runs import (
    Process,
    RunFacts,
    RunInfo,
    begin_run,
    delete_expired,
    delete_run,
    find_run,
    is_gone,
    latest_runs,
    read_lines,
    this_process,
)
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError
from scenecypher.planner.sessions.events import (
    Acted,
    Corrected,
    Event,
    Finished,
    Proposed,
    event_document,
    event_from_document,
)
from scenecypher.planner.sessions.method import Act, Decision, Done
from scenecypher.planner.sessions.recording import EPISODE, RunRecorder
from scenecypher.planner.sessions.resuming import read_run, resume_session
from scenecypher.planner.sessions.setup import prepare_session
from tests.db.past.test_build import ReadOnly
from tests.db.store.test_store import fresh
from tests.planner.test_resuming import ACTIONS, STEPS, WHOLE, FixedMethod, Run
from tests.sampling import sample


class KilledRecorder(RunRecorder):
    """A listener whose process is killed: it never comes to store an end."""

    def end(self, outcome: str, reason: str = "") -> None:
        pass


def take(events: Iterator[Event], number: int) -> list[Event]:
    return [event for event, _ in zip(events, range(number), strict=False)]


def cut_off(database: Database, number: int) -> None:
    """Let a run's process be one that is gone."""
    text = "MATCH (r:Run {number: $number}) SET r.started = 1.0"
    database.execute(text, {"number": number}, timeout_s=10)


def steps_of(database: Database, number: int, *, kind: str) -> list[dict[str, Any]]:
    text = "MATCH (:Run {number: $number})-[:HAS_STEP]->(s:Step {kind: $kind}) RETURN s ORDER BY s.number"
    return [dict(record["s"]) for record in database.rows(text, {"number": number, "kind": kind}, timeout_s=10)]


def begin(run: Run, cut: int) -> int:
    """Begin a run and cut it off after some events; return its number."""
    recorder = KilledRecorder(run.store.database, run.world, "plan")
    assert len(take(recorder.kept(prepare_session(run.setting(), run.recipe).run()), cut)) == cut
    assert recorder.number is not None
    cut_off(run.store.database, recorder.number)
    return recorder.number


def resume(run: Run, number: int) -> list[Event]:
    recorder = RunRecorder(run.store.database, run.world, "plan")
    events = resume_session(run.setting(), run.recipe, number)
    recorder.resume(find_run(run.store.database, number), by_belief=True)
    return [*recorder.kept(events)]


@pytest.mark.parametrize(
    ("decisions", "cuts"), [(STEPS, sample((9, 5, 7, 10), 1)), (WHOLE, sample((6, 4), 1))], ids=["steps", "whole"]
)
def test_a_stored_run_goes_on_wherever_it_was_cut_off(
    store: SceneStore, tmp_path: Path, decisions: tuple[Decision, ...], cuts: list[int]
) -> None:
    straight = Run(store, tmp_path / "straight", decisions)
    straight.begin()
    for cut in cuts:
        run = Run(store, tmp_path / "unused", decisions)
        number = begin(run, cut)
        assert find_run(store.database, number).state == "cut off"
        last = resume(run, number)[-1]
        assert isinstance(last, Finished)
        assert last.outcome == "done"
        assert run.done() == ACTIONS, f"nothing is done twice after event {cut}"
        assert [graph.relations for graph in run.graphs()] == [graph.relations for graph in straight.graphs()]
        past = read_run(store.database, number)
        assert past.ended
        assert [type(turn.decision) for turn in past.turns] == [type(it) for it in decisions], cut
        info = find_run(store.database, number)
        assert (info.state, info.version, info.last_version) == ("done", 0, store.find(run.world.name).version)
        assert info.ended is not None
        with pytest.raises(InputError, match=f"run {number}: this session came to its end"):
            resume(run, number)


def test_a_run_holds_what_its_log_holds(store: SceneStore, tmp_path: Path) -> None:
    run = Run(store, tmp_path / "log", STEPS)
    store.commit(run.world, Delta(), actor="clock", action="tick")
    recorder = RunRecorder(store.database, run.world, "plan")
    events = [*recorder.kept(prepare_session(run.setting(), run.recipe).run())]
    assert recorder.number is not None
    info = find_run(store.database, recorder.number)
    lines = [json.loads(line) for line in (info.line, *read_lines(store.database, recorder.number))]
    assert lines == [json.loads(json.dumps(event_document(event))) for event in events]
    assert [event_from_document(line) for line in lines] == events
    assert (info.steps, info.tokens_in, info.tokens_out) == (len(events) - 1, 15, 10)
    (acted,) = (it for it in steps_of(store.database, info.number, kind="acted") if it["action"] == "put_on(desk-1)")
    world, belief = (store.history(store.find(run.world.name + end)) for end in ("", "@belief"))
    assert acted["version"] == next(it.version for it in world if it.action == "put_on(desk-1)")
    assert acted["belief_version"] == next(it.version for it in belief if it.action == "put_on(desk-1)")
    assert acted["version"] != acted["belief_version"]
    assert (acted["scene"], acted["reason"], "action_id" in acted) == (run.world.key, "as asked", False)
    assert [it.number for it in latest_runs(store.database, run.world.name)] == [info.number]
    delete_run(store.database, info.number)
    assert steps_of(store.database, info.number, kind="acted") == []
    with pytest.raises(InputError, match=f"there is no run {info.number}"):
        find_run(store.database, info.number)


def test_a_run_that_is_under_way_is_not_resumed(store: SceneStore, tmp_path: Path) -> None:
    run = Run(store, tmp_path / "log", STEPS)
    recorder = RunRecorder(store.database, run.world, "plan")
    events = recorder.kept(prepare_session(run.setting(), run.recipe).run())
    take(events, 3)
    assert recorder.number is not None
    info = find_run(store.database, recorder.number)
    assert info.state == "running"
    with pytest.raises(InputError, match=rf"run {info.number} is carried out by process \d+ on .*; end that one first"):
        RunRecorder(store.database, run.world, "plan").resume(info, by_belief=True)
    del events  # what closes it stops the run
    assert find_run(store.database, info.number).state == "stopped"
    assert resume(run, info.number)[-1] == next(it for it in read_events(store, info) if isinstance(it, Finished))


def read_events(store: SceneStore, info: RunInfo) -> list[Event]:
    return [event_from_document(json.loads(line)) for line in read_lines(store.database, info.number)]


def test_of_two_processes_one_resumes_a_run(store: SceneStore, tmp_path: Path) -> None:
    run = Run(store, tmp_path / "log", STEPS)
    info = find_run(store.database, begin(run, 3))
    RunRecorder(store.database, run.world, "plan").resume(info, by_belief=True)
    with pytest.raises(InputError, match="end that one first"):
        RunRecorder(store.database, run.world, "plan").resume(info, by_belief=True)


def test_a_run_that_cannot_be_kept_is_carried_out_all_the_same(
    store: SceneStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Database(store.database.address, connect_timeout_s=1) as other:
        run = Run(store, tmp_path / "log", STEPS)
        recorder = RunRecorder(other, run.world, "plan")
        events = recorder.kept(prepare_session(run.setting(), run.recipe).run())
        before = take(events, 3)
        other.close()
        with caplog.at_level(logging.WARNING, "scenecypher.runs"):
            after = [*events]
    assert run.done() == ACTIONS
    assert isinstance(after[-1], Finished)
    assert "what this run does is not kept now" in caplog.text
    assert len(before) == 3


def test_an_account_that_may_only_read_carries_out_what_it_may_and_keeps_nothing(
    store: SceneStore, database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run = Run(store, tmp_path / "log", STEPS)
    recorder = RunRecorder(ReadOnly(database), run.world, "ask")
    with caplog.at_level(logging.WARNING, "scenecypher.runs"):
        events = [*recorder.kept(prepare_session(run.setting(), run.recipe).run())]
    assert isinstance(events[-1], Finished)
    assert (recorder.number, [*latest_runs(database, run.world.name)], caplog.text) == (None, [], "")


@pytest.mark.parametrize("cut", [6, 8])
def test_undo_and_redo_by_another_during_a_run_and_after_it_was_killed(
    store: SceneStore, tmp_path: Path, cut: int
) -> None:
    run = Run(store, tmp_path / "unused", STEPS)
    recorder = KilledRecorder(store.database, run.world, "plan")
    events = recorder.kept(prepare_session(run.setting(), run.recipe).run())
    take(events, cut)
    store.undo(run.world)
    store.redo(run.world)
    take(events, 1)
    assert recorder.number is not None
    cut_off(store.database, recorder.number)
    store.undo(run.world)
    store.redo(run.world)
    assert isinstance(resume(run, recorder.number)[-1], Finished)
    history = {event.version: event for event in store.history(run.world)}
    done = [event.action.split("  [")[0] for event in history.values() if event.kind == "act"]
    assert [action for action in done if not action.startswith("discover")] == ACTIONS
    assert [it.kind for it in history.values()].count("undo") == 2
    steps = steps_of(store.database, recorder.number, kind="acted")
    assert [history[it["version"]].action.split("  [")[0] for it in steps] == [it["action"] for it in steps]


def test_the_times_of_a_run_are_by_the_clock_of_its_scene(store: SceneStore, tmp_path: Path) -> None:
    """A model that asks about the past meets no time of the server."""
    time = datetime(2031, 5, 6, 8, tzinfo=UTC)
    run = Run(store, tmp_path / "log", STEPS)
    declare_time(store.database, run.world, time)
    recorder = RunRecorder(store.database, run.world, "plan")
    assert [*recorder.kept(prepare_session(run.setting(), run.recipe).run())]
    assert recorder.number is not None
    info = find_run(store.database, recorder.number)
    steps = steps_of(store.database, recorder.number, kind="acted")
    assert {info.began, info.ended, *(step["at"].to_native() for step in steps)} == {time}
    assert delete_expired(store.database, keep_days=365, keep_runs=1_000_000) == 0


def test_a_switched_off_listener_keeps_nothing(store: SceneStore, tmp_path: Path) -> None:
    run = Run(store, tmp_path / "log", STEPS)
    recorder = RunRecorder(store.database, run.world, "plan", is_on=False)
    assert isinstance([*recorder.kept(prepare_session(run.setting(), run.recipe).run())][-1], Finished)
    assert (recorder.number, [*latest_runs(store.database, run.world.name)]) == (None, [])


def test_the_next_episode_in_a_copy_has_no_access_to_the_runs_before_it(store: SceneStore, tmp_path: Path) -> None:
    run = Run(store, tmp_path / "log", STEPS)
    recorder = RunRecorder(store.database, run.world, "eval")
    take(recorder.kept(prepare_session(run.setting(), run.recipe).run()), 4)
    assert recorder.number is not None
    assert find_run(store.database, recorder.number).scene == EPISODE + run.world.key


def test_a_process_is_known_by_its_start_too() -> None:
    here = this_process()
    assert not is_gone(here)
    assert is_gone(Process(here.host, here.pid, here.started - 60, here.space))
    assert is_gone(Process(here.host, 2**22 + 1, 1.0, here.space))
    assert not is_gone(Process("another host", 2**22 + 1, 1.0, here.space))


def test_a_run_in_another_container_of_the_same_host_name_is_not_cut_off(store: SceneStore) -> None:
    """Two rules for one question: leases told containers apart, runs went by the name of the host alone."""
    here = this_process()
    elsewhere = Process(here.host, 2**22 + 1, 1.0, "pid:[4026532000] another")
    states = []
    for process in (replace(elsewhere, space=here.space), elsewhere):
        facts = RunFacts(uuid4().hex, fresh("run"), "plan", "tidy", "m", "", "robot", 0, None, "{}")
        number = begin_run(store.database, facts, process)
        found = find_run(store.database, number)
        states.append((found.process, found.state))
    assert states == [(replace(elsewhere, space=here.space), "cut off"), (elsewhere, "running")]


def kill_after(run: Run, commits: int, *, belief: bool) -> int:
    """Carry a run out until so many actions are committed, and lose what was not stored by then; return its number."""
    recorder = KilledRecorder(run.store.database, run.world, "plan")
    setting = replace(run.setting(), belief=belief, fix=True)
    for event in recorder.kept(prepare_session(setting, run.recipe).run()):
        if isinstance(event, Acted | Corrected):
            commits -= 1
        if commits == 0:
            break
    assert recorder.number is not None
    cut_off(run.store.database, recorder.number)
    return recorder.number


@pytest.mark.parametrize("belief", [False, True])
@pytest.mark.parametrize("commits", [1, 2, 3, 4])
def test_a_resumed_run_has_every_action_once(store: SceneStore, tmp_path: Path, *, commits: int, belief: bool) -> None:
    """Kind: one thing with two identities. What was done when a run was killed is in its steps, by the commits' ids."""
    run = Run(store, tmp_path / "log", (Act("put_on(desk-1)"), Act("rearrange(cup-1, on, desk-1)"), Done()))
    number = kill_after(run, commits, belief=belief)
    setting = replace(run.setting(), scene=store.find(run.world.name), belief=belief, fix=True)
    recorder = RunRecorder(store.database, run.world, "plan")
    events = resume_session(setting, run.recipe, number)
    recorder.resume(find_run(store.database, number), by_belief=belief)
    assert [*recorder.kept(events)]
    lines = [json.loads(line) for line in read_lines(store.database, number)]
    kept = [line for line in lines if line["event"] in {"acted", "corrected"}]
    committed = [(it.version, it.action_id.removesuffix(":world")) for it in store.history(run.world)]
    assert [(it["world_version"] if belief else it["version"], it["action_id"]) for it in kept] == committed
    assert run.done() == ACTIONS
    proposed = {line["action_id"] for line in lines if line["event"] == "proposed"}
    assert {it["action_id"] for it in kept if it["event"] == "acted"} <= proposed, "one id from proposal to commit"


def test_a_resumed_run_takes_no_other_runs_action_for_its_own(store: SceneStore, tmp_path: Path) -> None:
    """Kind: one thing with two identities. Another run of the method did the same operator with another thing."""
    mine = Run(store, tmp_path / "mine", (Act("go_to(kitchen)"), Act("pick_up(cup-1)"), Done()))
    recorder = KilledRecorder(store.database, mine.world, "plan")
    setting = replace(mine.setting(), belief=False)
    for event in recorder.kept(prepare_session(setting, mine.recipe).run()):
        if isinstance(event, Proposed) and event.action == "pick_up(cup-1)":
            break
    assert recorder.number is not None
    cut_off(store.database, recorder.number)
    others = (Act("pick_up(pen-1)"), Act("put_on(desk-1)"), Done())
    other = replace(mine.recipe, build=lambda _given: FixedMethod(others))
    setting = replace(setting, scene=store.find(mine.world.name))
    assert [*prepare_session(setting, other).run()]
    setting = replace(setting, scene=store.find(mine.world.name))
    *_, end = resume_session(setting, mine.recipe, recorder.number)
    assert isinstance(end, Finished)
    assert mine.done()[-1] == "pick_up(cup-1)"


@pytest.mark.parametrize("changed", ["belief", "fix", "reprompt", "goal", "place", "instruction", "required_actions"])
def test_a_run_is_resumed_with_all_the_settings_that_it_began_with(
    store: SceneStore, tmp_path: Path, changed: str
) -> None:
    """Kind: one part believes what another said: a run begun by a belief went on without it."""
    run = Run(store, tmp_path / "log", STEPS)
    number = begin(run, 4)
    others = {
        "belief": False,
        "fix": False,
        "reprompt": False,
        "goal": HasState(Id("cup-1"), "clean"),
        "place": {"world": "robot"},
        "instruction": "another",
        "required_actions": (("open",),),
    }
    with pytest.raises(InputError, match=f"that session's {changed} is .*; give the same as then"):
        resume_session(replace(run.setting(), **{changed: others[changed]}), run.recipe, number)  # type: ignore[arg-type]
