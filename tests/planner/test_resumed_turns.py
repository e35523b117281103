"""Resumed sessions know the turns before the interruption and do nothing twice; on a real server."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from scenecypher.chat.model import Reply, Request, Usage
from scenecypher.db.gate import Gate
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import DatabaseUnavailable
from scenecypher.planner.actions.simulator import Simulator
from scenecypher.planner.methods import recipe_named
from scenecypher.planner.sessions.events import (
    Acted,
    Event,
    Finished,
    Proposed,
    Refused,
    Remembered,
    Solved,
    event_document,
)
from scenecypher.planner.sessions.method import Act, Decision, Done, Solve
from scenecypher.planner.sessions.resuming import read_log, resume_session
from scenecypher.planner.sessions.setup import SessionSetting, prepare_session
from scenecypher.planner.worlds.belief import find_or_create_belief
from tests.planner.actions.grasif_worlds import home
from tests.planner.actions.test_operators import put
from tests.planner.methods.playing import INSTRUCTION, ROOMS
from tests.planner.test_resuming import ACTIONS, FixedMethod, Run

MACRO: tuple[Decision, ...] = (Act("rearrange(cup-1, on, desk-1)"), Done("it is there"))
PLAIN: tuple[Decision, ...] = (*(Act(action) for action in ACTIONS), Done("it is there"))
FAULTY = ("go_to(kitchen)", "open(table-1)", "pick_up(cup-1)", "go_to(office)", "put_on(desk-1)")


class ScriptedLines:
    """A model with scripted replies that records its requests."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines, self.asked = [*lines], list[Request]()

    def reply(self, request: Request) -> Reply:
        self.asked.append(request)
        return Reply(self.lines[len(self.asked) - 1], Usage(11, 7), "lines", source="scripted")


def cut_log_after(run: Run, what: type[Event]) -> None:
    """Truncate the log after its last event of a type, as if the program had ended there."""
    lines = run.file.read_text().splitlines(keepends=True)
    last = max(n for n, line in enumerate(lines) if json.loads(line)["event"] == what.__name__.lower())
    run.file.write_text("".join(lines[: last + 1]))


def test_a_macro_whose_last_half_is_missing_is_not_done_twice(store: SceneStore, tmp_path: Path) -> None:
    run = Run(store, tmp_path / "log", MACRO)
    with pytest.raises(DatabaseUnavailable):
        run.begin(breaks_at="put_on(desk-1)")
    events = run.resume()
    assert not [event for event in events if isinstance(event, Proposed)]
    assert isinstance(events[-1], Finished)
    assert (events[-1].outcome, events[-1].actions) == ("done", 4)
    assert run.done() == ACTIONS


@pytest.mark.parametrize("decisions", [MACRO, PLAIN, (Solve(tuple(ACTIONS)),)], ids=["macro", "plain", "solution"])
@pytest.mark.parametrize("before", [False, True])
def test_what_was_committed_but_not_logged_is_not_done_twice(
    store: SceneStore, tmp_path: Path, decisions: tuple[Decision, ...], *, before: bool
) -> None:
    run = Run(store, tmp_path / "log", decisions)
    if before:  # the same was done by the same method in an earlier session
        run.begin()
        run.file.unlink()
        store.undo(run.world, to=0)
        store.undo(find_or_create_belief(store, run.world), to=0)
        run.world = store.find(run.world.name)
    done = len(run.done())
    run.begin()
    cut_log_after(run, Proposed)
    end = run.resume()[-1]
    assert isinstance(end, Finished)
    assert (end.outcome, end.actions) == ("done", 4)
    assert run.done()[done:] == ACTIONS
    if not isinstance(decisions[0], Solve):
        assert {action for turn in read_log(run.file).turns for action in turn.done} >= {"put_on(desk-1)"}


def test_what_was_proposed_only_is_done_by_its_id(store: SceneStore, tmp_path: Path) -> None:
    run = Run(store, tmp_path / "log", PLAIN)
    *_, proposed = run.begin(stop_after=2)
    first, *_ = run.resume()
    assert isinstance(proposed, Proposed)
    assert isinstance(first, Acted)
    assert first.action_id == proposed.action_id
    assert run.done() == ACTIONS


def test_a_resumed_solution_knows_what_was_refused_before(store: SceneStore, tmp_path: Path) -> None:
    run = Run(store, tmp_path / "log", (Solve(FAULTY),))
    kinds = [type(event) for event in run.begin(stop_after=7)]
    assert kinds[-2:] == [Refused, Proposed]
    run.log(resume_session(run.setting(), run.recipe, run.file), stop_after=3)
    end = run.resume()[-1]
    assert isinstance(end, Finished)
    assert (end.outcome, end.reason) == ("infeasible", "1 of 5 actions could not be carried out")
    assert run.done() == ACTIONS


def test_a_stepwise_solution_stays_so(store: SceneStore, tmp_path: Path) -> None:
    run = Run(store, tmp_path / "log", (Solve(FAULTY, final=False), Solve(tuple(ACTIONS[1:]), final=False)))
    run.begin(stop_after=4)
    events = run.resume()
    assert [event.final for event in events if isinstance(event, Solved)] == [False], "the first one is in the log"
    assert events[-1].outcome == "done"  # type: ignore[union-attr]
    cut = Run(store, tmp_path / "cut", (Solve(FAULTY, final=False), Solve(tuple(ACTIONS[1:]), final=False)))
    cut.begin(stop_after=6)
    again, first, *rest = cut.resume()
    assert isinstance(again, Refused), "the action under way is tried again"
    assert isinstance(first, Remembered), "the refusal ended it: nothing is left but to remember it"
    assert first.refused
    assert "open(table-1) was refused" in first.feedback
    assert rest[-1].outcome == "done"  # type: ignore[union-attr]
    assert cut.done() == ACTIONS


def test_a_resumed_session_without_looks_leaves_an_old_belief_alone(store: SceneStore, tmp_path: Path) -> None:
    scene = put(store, ROOMS, vocabulary="babyai")
    belief = find_or_create_belief(store, scene)
    assert [*Simulator(store, scene, actor="lookplangraph").act("pickup(key_1)")]
    log = tmp_path / "log"
    log.write_text("")
    recipe = replace(recipe_named("lookplangraph"), build=lambda _given: FixedMethod((Done("it is done"),)))
    setting = SessionSetting(store, Gate(store.database), store.find(scene.name), INSTRUCTION, "lookplangraph")
    assert [type(event) for event in resume_session(setting, recipe, log)] == [Remembered, Finished]
    assert store.history(belief) == []


class ResumedSession:
    """A session of `method` in a home with scripted replies, interrupted after `turns` and resumed from its log.

    Unless it `keeps_last`, the log lacks the end of the last turn.
    """

    def __init__(
        self, store: SceneStore, log: Path, method: str, lines: Sequence[str], *, turns: int, keeps_last: bool = True
    ) -> None:
        self.model = ScriptedLines(lines)
        scene, recipe = put(store, home(), vocabulary="grasif"), recipe_named(method)
        setting = SessionSetting(store, Gate(store.database), scene, "take the cup", method, model=self.model)
        with log.open("w") as file:
            for event in prepare_session(setting, recipe).run():
                turns -= isinstance(event, Remembered)
                if turns or keeps_last:
                    file.write(json.dumps(event_document(event)) + "\n")
                if not turns:
                    break
        self.events = [*resume_session(replace(setting, scene=store.find(scene.name)), recipe, log)]

    def said(self, number: int) -> str:
        """Return the first message of a request after the system's."""
        return self.model.asked[number].messages[1].text


def command(name: str, node: str | None) -> str:
    return json.dumps({"chain_of_thought": [], "reasoning": "so", "command": {"command_name": name, "node_name": node}})


def test_expanded_rooms_stay_so_when_a_session_goes_on(store: SceneStore, tmp_path: Path) -> None:
    lines = [
        *(command("expand_node", "kitchen"), command("expand_node", "office"), command("contract_node", "office")),
        command("contract_node", "kitchen"),
        *(command("verify_plan", None), json.dumps({"chain_of_thought": [], "plan": ["go_to(kitchen)"]})),
    ]
    talk = ResumedSession(store, tmp_path / "log", "sayplan-lite", lines, turns=3)
    shown = [(thing in talk.said(number)) for number in range(5) for thing in ("cup-1", "pen-1")]
    assert shown == [False, False, True, False, True, True, True, False, False, False]
    assert not [event for event in talk.events if isinstance(event, Refused)]


def test_what_was_seen_in_a_turn_that_was_cut_off_is_told(store: SceneStore, tmp_path: Path) -> None:
    lines = [f"> {action}" for action in ("go_to(kitchen)", "go_to(table-1)", "done()")]
    talk = ResumedSession(store, tmp_path / "log", "react-alfworld", lines, turns=2, keeps_last=False)
    assert talk.model.asked[-1].messages[-1].text == "You are at table-1. On table-1 you see cup-1."
    assert isinstance(talk.events[0], Remembered)


def test_what_was_seen_at_first_stays_the_first_message(store: SceneStore, tmp_path: Path) -> None:
    lines = [f"> {action}" for action in ("go_to(kitchen)", "go_to(table-1)", "done()")]
    talk = ResumedSession(store, tmp_path / "log", "react-alfworld", lines, turns=2)
    assert len({talk.said(number) for number in range(3)}) == 1
    assert "You are in an environment with these places: kitchen, office." in talk.said(2)
