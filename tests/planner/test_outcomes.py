"""A session's outcome is what the scene says of its goal, not what the method says; so it is stored and shown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from scenecypher.chat import Usage
from scenecypher.db.condition import Condition, HasState, Id, Related, condition_document
from scenecypher.db.gate import Gate
from scenecypher.db.store.runs import find_run, read_lines
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.home import PlanOutcome
from scenecypher.planner.sessions.budget import Budget
from scenecypher.planner.sessions.events import Event, Finished
from scenecypher.planner.sessions.method import Act, Decision, Done, GiveUp, Memory, Recipe, Think
from scenecypher.planner.sessions.recording import RunRecorder
from scenecypher.planner.sessions.setup import SessionSetting, prepare_session
from scenecypher.planner.worlds.environment import SceneEnvironment
from scenecypher.ui.plans import PagePlan
from scenecypher.ui.views import frames_of
from scenecypher.wording import event_line
from tests.planner.actions.test_operators import put
from tests.planner.actions.worlds import HOME
from tests.planner.test_resuming import CrashingWorld

OPEN: Condition = HasState(Id("fridge_21"), "open")
CUP_IN: Condition = Related(Id("cup_30"), "INSIDE", Id("fridge_21"))
OPENED = Act("open(fridge_21)")
SAYS_DONE = Done("all is well")


@dataclass
class Fixed:
    """A method with a fixed sequence of decisions, the last one again and again."""

    decisions: Sequence[Decision]

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        return self.decisions[min(len(memory.turns), len(self.decisions) - 1)], Usage()


def setting_of(store: SceneStore, **options: object) -> SessionSetting:
    scene = put(store, HOME)
    setting = SessionSetting(store, Gate(store.database), scene, "do it", "fixed", budget=Budget(5))
    return replace(setting, **options)  # type: ignore[arg-type]


def carry_out(setting: SessionSetting, *decisions: Decision) -> tuple[list[Event], int]:
    """Return the events of a session and the number of its run."""
    recipe = Recipe(build=lambda _given: Fixed(decisions), words="always the same", model=False)
    recorder = RunRecorder(setting.store.database, setting.scene, "plan")
    events = [*recorder.kept(prepare_session(setting, recipe).run())]
    assert recorder.number is not None
    return events, recorder.number


def end_of(setting: SessionSetting, *decisions: Decision) -> Finished:
    end = carry_out(setting, *decisions)[0][-1]
    assert isinstance(end, Finished)
    return end


def test_a_method_that_says_done_of_a_goal_that_does_not_hold_is_not_done(store: SceneStore) -> None:
    """Kind: an outcome taken from a word of the model. Run, page, line and front door tell the scene's fact."""
    setting = setting_of(store, goal=CUP_IN)
    events, number = carry_out(setting, SAYS_DONE)
    end = events[-1]
    assert isinstance(end, Finished)
    assert (end.outcome, end.goal, end.is_done) == ("not_met", "not met", False)
    assert end.unmet == ("cup_30 is not inside fridge_21",)
    assert not PlanOutcome(tuple(events), end).is_done
    told = "all is well; the goal does not hold: cup_30 is not inside fridge_21"
    run = find_run(store.database, number)
    assert (run.outcome, run.reason) == ("not_met", told)
    *_, last = frames_of(read_lines(store.database, number))
    assert last.text == f"not_met: {told}"
    assert event_line(end)[1].startswith(f"not_met: {told} (")


@pytest.mark.parametrize("last", [SAYS_DONE, GiveUp("I can't"), Think("hm")], ids=["done", "given up", "steps"])
def test_a_goal_that_holds_is_met_however_the_session_ended(store: SceneStore, last: Decision) -> None:
    """Kind: an outcome taken from a word of the model: one that gives up, or that never ends, has reached the goal."""
    events, number = carry_out(setting_of(store, goal=OPEN), OPENED, last)
    end = events[-1]
    assert isinstance(end, Finished)
    assert (end.goal, end.is_done) == ("met", True)
    assert find_run(store.database, number).outcome == "done"


def test_without_a_goal_the_method_is_believed(store: SceneStore) -> None:
    """Kind: an outcome that nobody can check is said to be unknown."""
    done, given_up = (end_of(setting_of(store), it) for it in (SAYS_DONE, GiveUp()))
    assert (done.goal, done.outcome, done.is_done) == ("unknown", "done", True)
    assert (given_up.goal, given_up.is_done) == ("unknown", False)


def test_the_goal_that_a_method_stated_is_checked(store: SceneStore) -> None:
    """Kind: an outcome taken from a word of the model, where the model itself has stated the goal."""
    stated = Think("the goal: it is inside", condition_document(CUP_IN))
    assert end_of(setting_of(store), stated, SAYS_DONE).goal == "not met"
    stated = Think("the goal: it is open", condition_document(OPEN))
    assert end_of(setting_of(store), stated, OPENED, SAYS_DONE).goal == "met"


def test_an_action_that_the_task_requires_must_have_been_done(store: SceneStore) -> None:
    """Kind: an outcome taken from a word of the model, of a task about actions that the session shall do."""
    setting = setting_of(store, required_actions=(("close", "open"), ("grab",)))
    end = end_of(setting, OPENED, SAYS_DONE)
    assert (end.goal, end.unmet) == ("not met", ("nobody did grab",))
    later = replace(setting, scene=store.find(setting.scene.name), required_actions=(("open",),))
    assert end_of(later, SAYS_DONE).unmet == ("nobody did open",)


def test_the_scene_itself_is_asked_not_the_belief(store: SceneStore) -> None:
    """Kind: one part believes what another said: a belief may hold what the world does not."""
    setting = setting_of(store, goal=OPEN, belief=True)
    carry_out(setting, OPENED, SAYS_DONE)
    world = store.find(setting.scene.name)
    store.undo(world)
    assert end_of(replace(setting, scene=store.find(world.name)), SAYS_DONE).goal == "not met"
    elsewhere = CrashingWorld(SceneEnvironment(store, world, actor="fixed"), "")
    assert end_of(replace(setting, world=elsewhere), SAYS_DONE).goal == "unknown", "a world that is no scene"


def test_the_end_is_written_and_read_as_json(store: SceneStore) -> None:
    """Kind: what a log holds is what was told."""
    events, number = carry_out(setting_of(store, goal=CUP_IN), SAYS_DONE)
    line = [json.loads(it) for it in read_lines(store.database, number)][-1]
    assert (line["event"], line["goal"], line["unmet"]) == ("finished", "not met", ["cup_30 is not inside fridge_21"])
    assert events


class Broken:
    """A method with a fault that is no error of ours."""

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        raise ZeroDivisionError(f"by {len(memory.turns)}")


@pytest.mark.parametrize("with_page", [False, True])
def test_any_error_ends_the_run(store: SceneStore, *, with_page: bool) -> None:
    """Kind: errors of foreign types: a run stayed `running` while its process lived, and its page asked for ever."""
    setting = setting_of(store)
    recipe = Recipe(build=lambda _given: Broken(), words="broken", model=False)
    recorder = RunRecorder(setting.store.database, setting.scene, "plan")
    events = recorder.kept(prepare_session(setting, recipe).run())
    if with_page:
        plan = PagePlan(setting.scene.name, events, paused=False)
        plan.start()
        plan.end()
        assert plan.is_over
    else:
        with pytest.raises(ZeroDivisionError):
            list(events)
    assert recorder.number is not None
    run = find_run(store.database, recorder.number)
    assert (run.state, run.reason) == ("failed", "ZeroDivisionError: by 0")
