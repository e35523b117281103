"""Before it plans, goal-then-plan tells what its goal matches if that is nothing, several things, or true already."""

from __future__ import annotations

import json
from typing import Final

import pytest

from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.sessions.events import Thought
from tests.planner.actions.grasif_worlds import home
from tests.planner.methods.playing import Played, play, script_usage
from tests.planner.methods.test_goal_form import fact, variable

pytest.importorskip("up_fast_downward", reason="needs `pip install 'scenecypher[pddl]'`")


def with_cups() -> SceneGraph:
    """Return the two-room home with a cup on its kitchen's table and one on its office's desk."""
    graph, cup = home(), Node("cup-2", "Object", "cup-2", "cup", (), ("pick_up",))
    return SceneGraph.of((*graph.nodes.values(), cup), graph.relations | {Relation("cup-2", "ON", "desk-1")})


HOME: Final = with_cups()
CUP: Final = variable("cup", "cup")


def reply(*facts: dict[str, object], variables: tuple[dict[str, object], ...] = ()) -> str:
    return json.dumps({"reason": "as asked", "variables": variables, "goal": facts})


def made(store: SceneStore, *script: str) -> Played:
    return play(store, "goal-then-plan", script, graph=HOME, vocabulary="grasif", instruction="tidy up", steps=20)


def thought(played: Played) -> str:
    (event,) = played.of(Thought)
    assert isinstance(event, Thought)
    return event.thought


def test_a_goal_that_is_settled_takes_one_call(store: SceneStore) -> None:
    played = made(store, reply(fact("cup-1", "desk-1")))
    assert (played.end.outcome, len(played.requests)) == ("done", 1)
    assert played.actions[-1] == "put_on(desk-1)"


def test_a_goal_that_holds_already_is_told_and_never_silently_done(store: SceneStore) -> None:
    played = made(store, reply(fact("cup-2", "desk-1")), reply())
    assert "The goal holds already" in played.last(1)
    assert (played.end.outcome, played.end.usage, played.end.actions) == ("done", script_usage(2), 0)
    assert "nothing had to be done" in played.end.reason
    assert "The goal holds already" in played.end.reason


def test_candidates_are_shown_by_room_and_the_goal_is_said_better(store: SceneStore) -> None:
    loose = reply(fact("cup", "table-1"), variables=(variable("cup", "cup", "number", number=2),))
    played = made(store, reply(fact("cup", state="on", negated=True), variables=(CUP,)), loose)
    shown = played.last(1)
    assert "cup: 1 of 2" in shown
    assert "in kitchen: cup-1; in office: cup-2" in shown
    assert played.actions[-1] == "put_on(table-1)", "the second goal is the one that counts"


def test_of_several_worlds_one_is_taken_and_that_is_told(store: SceneStore) -> None:
    other = {"relation": "INSIDE", "to": "box-1"}
    goal = reply(fact("cup", **other), variables=(CUP,))
    played = made(store, goal, reply())
    assert "1 of 2, any of them" in played.last(1)
    assert "1 of 2, any of them" in thought(played)


def test_a_worse_second_goal_does_not_undo_the_first(store: SceneStore) -> None:
    first = reply(fact("cup", "table-1"), variables=(variable("cup", "cup", "all"),))
    assert made(store, first).actions[-1] == "put_on(table-1)"
    held = reply(fact("cup", "desk-1"), variables=(CUP,))
    played = made(store, held, reply(fact("mug", "desk-1")), "hm")
    assert "no class 'mug' occurs" in played.last(2)
    assert (played.end.outcome, len(played.requests)) == ("done", 3)
    assert "nothing had to be done" in played.end.reason
