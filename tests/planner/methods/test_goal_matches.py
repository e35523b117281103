"""Before it plans, goal-then-plan tells what its goal matches if that is nothing, a real choice, or true already."""

from __future__ import annotations

import json
from typing import Final

import pytest

from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.sessions.events import Thought
from tests.planner.actions.grasif_worlds import home
from tests.planner.methods.playing import Played, play, script_usage

pytest.importorskip("up_fast_downward", reason="needs `pip install 'scenecypher[pddl]'`")


def with_cups() -> SceneGraph:
    """Return the two-room home with a cup on its kitchen's table and one on its office's desk."""
    graph, cup = home(), Node("cup-2", "Object", "cup-2", "cup", (), ("pick_up",))
    return SceneGraph.of((*graph.nodes.values(), cup), graph.relations | {Relation("cup-2", "ON", "desk-1")})


HOME: Final = with_cups()


def reply(*goal: str, impossible: bool = False, reason: str = "as asked") -> str:
    return json.dumps({"reason": reason, "impossible": impossible, "goal": goal})


def made(store: SceneStore, *script: str) -> Played:
    return play(store, "goal-then-plan", script, graph=HOME, vocabulary="grasif", instruction="tidy up", steps=20)


def thought(played: Played) -> str:
    (event,) = played.of(Thought)
    assert isinstance(event, Thought)
    return event.thought


def test_a_goal_that_is_settled_takes_one_call(store: SceneStore) -> None:
    played = made(store, reply("cup-1 ON desk-1"))
    assert (played.end.outcome, len(played.requests)) == ("done", 1)
    assert played.actions[-1] == "put_on(desk-1)"


def test_a_goal_that_holds_already_is_told_and_never_silently_done(store: SceneStore) -> None:
    goal = reply("cup-2 ON desk-1")
    played = made(store, goal, goal)
    assert "The goal holds already" in played.last(1)
    assert (played.end.outcome, played.end.usage, played.end.actions) == ("done", script_usage(2), 0)
    assert "nothing had to be done" in played.end.reason
    assert "The goal holds already" in played.end.reason


def test_candidates_are_shown_by_room_and_the_goal_is_said_better(store: SceneStore) -> None:
    loose = reply("cups: 2 cup", "cups ON table-1")
    played = made(store, reply("cup: one cup", "cup is not on"), loose)
    shown = played.last(1)
    assert "cup: 1 of 2" in shown
    assert "in kitchen, ontop table-1: cup-1; in office, ontop desk-1: cup-2" in shown
    assert played.actions[-1] == "put_on(table-1)", "the second goal is the one that counts"


def test_of_several_worlds_one_is_taken_and_that_is_told(store: SceneStore) -> None:
    goal = reply("cup: one cup", "cup INSIDE box-1")
    played = made(store, goal, goal)
    assert "1 of 2, any of them" in played.last(1)
    assert "1 of 2, any of them" in thought(played)


def test_a_worse_second_goal_does_not_undo_the_first(store: SceneStore) -> None:
    first = reply("all cup ON table-1")
    assert made(store, first).actions[-1] == "put_on(table-1)"
    held = reply("one cup ON desk-1")
    played = made(store, held, reply("one mug ON desk-1"), "hm")
    assert "no class 'mug' occurs" in played.last(2)
    assert (played.end.outcome, len(played.requests)) == ("done", 3)
    assert "nothing had to be done" in played.end.reason


def test_what_is_impossible_is_said_once_with_its_reason(store: SceneStore) -> None:
    """Kind: a model that sees that nothing leads there is pressed to invent a goal, call after call."""
    played = made(store, reply(impossible=True, reason="nobody can fly to the moon"))
    assert (played.end.outcome, len(played.requests), played.end.actions) == ("impossible", 1, 0)
    assert played.end.words == "impossible: nobody can fly to the moon"
    assert not played.end.is_done


def test_an_empty_goal_means_that_nothing_is_to_be_done(store: SceneStore) -> None:
    """Kind: an empty goal that is refused at first and keeps the goal later; at both times nothing is to be done."""
    at_once = made(store, reply(reason="it was a joke"))
    assert (at_once.end.outcome, len(at_once.requests), at_once.end.actions) == ("done", 1, 0)
    assert at_once.end.reason == "nothing is to be done: it was a joke"
    shown = made(store, reply("one cup ON desk-1"), reply(reason="it is there"))
    assert (shown.end.outcome, len(shown.requests)) == ("done", 2)
    assert shown.end.reason == "nothing is to be done: it is there"


@pytest.mark.parametrize(
    ("goal", "calls"),
    [
        (("x: one cup where x ON table-1", "x INSIDE box-1"), 1),
        (("all cup INSIDE box-1",), 1),
        (("a: one cup", "b: one cup other than a", "t: one desk", "a ON t", "b ON t"), 1),
        (("c: all cup", "t: one thing for each c where t is clean", "c ON t"), 1),
        (("one plate INSIDE box-1",), 1),
        (("t: one table", "t INSIDE kitchen", "pen-1 ON t"), 1),
        (("one cup INSIDE box-1",), 2),
    ],
)
def test_a_choice_is_asked_for_only_where_it_changes_what_is_done(
    store: SceneStore, goal: tuple[str, ...], calls: int
) -> None:
    """Kind: a check of a goal by class alone, blind to what else the goal says, and to candidates that are alike."""
    more = (
        *(Node(f"plate-{n}", "Object", f"plate-{n}", "plate", ("clean",), ("pick_up", "put_on")) for n in (1, 2)),
        Node("table-2", "Asset", "table-2", "table", (), ("put_on",)),
    )
    placed = {*(Relation(f"plate-{n}", "ON", "table-1") for n in (1, 2)), Relation("table-2", "INSIDE", "office")}
    graph = SceneGraph.of((*HOME.nodes.values(), *more), HOME.relations | placed)
    script = [reply(*goal)] * 2
    played = play(store, "goal-then-plan", script, graph=graph, vocabulary="grasif", instruction="tidy up", steps=1)
    assert len(played.requests) == calls, played.last(len(played.requests) - 1)


def test_what_is_taken_out_is_put_down(store: SceneStore) -> None:
    """Kind: a goal that only denies ends with the thing in the hand."""
    for goal in ("not cup-1 ON table-1", "no cup ON table-1", "x: all thing where x ON table-1; not x ON table-1"):
        played = made(store, reply(*goal.split("; ")), reply(*goal.split("; ")))
        assert played.end.outcome == "done", played.end.reason
        graph = store.load(played.scene).graph
        assert not graph.has("cup-1", "ON", "table-1")
        assert not graph.sources("cup-1", "HOLDS"), goal
        assert graph.targets("cup-1", "ON", "INSIDE"), goal
