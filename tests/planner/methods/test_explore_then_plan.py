"""Explore-then-plan in a world that changed since the robot saw it: what the goal needs is looked for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import pytest

from scenecypher.chat import OpenAIModel
from scenecypher.db.condition import And, Condition, Exists, HasClass, Id, Related, evaluate
from scenecypher.db.gate import Gate
from scenecypher.db.graph.delta import diff
from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.meaning import NO_MEANING, Meaning
from scenecypher.planner.methods import recipe_named
from scenecypher.planner.sessions.budget import Budget
from scenecypher.planner.sessions.events import Proposed, Refused
from scenecypher.planner.sessions.setup import SessionSetting, prepare_session
from scenecypher.planner.worlds.belief import find_or_create_belief
from scenecypher.planner.worlds.usual_places import plain_class, usual_places
from tests.planner.actions.grasif_worlds import home, node
from tests.planner.actions.test_operators import put
from tests.planner.methods.playing import Played
from tests.planner.methods.test_goal_matches import HOME as TWO_CUPS
from tests.planner.methods.test_goal_matches import reply
from tests.scripted_model import MODEL_NAME, ScriptedModel

pytest.importorskip("up_fast_downward", reason="needs `pip install 'scenecypher[pddl]'`")

HOME: Final = home()
PEN_AWAY: Final = reply("pen-1 ON table-1")
PLACES: Final = json.dumps({"places": ["nowhere", "fridge-1", "table-1"]})


def moved(graph: SceneGraph, thing: str, *to: Relation) -> SceneGraph:
    """Return the graph with a thing elsewhere."""
    kept = {it for it in graph.relations if it.source != thing}
    return SceneGraph.of(graph.nodes.values(), kept | {*to})


def explore(
    store: SceneStore,
    script: Iterable[str],
    now: SceneGraph,
    *,
    before: SceneGraph = HOME,
    method: str = "explore-then-plan",
    ablations: tuple[str, ...] = (),
    meaning: Meaning = NO_MEANING,
) -> Played:
    """Play in a world that was `before` when the belief was made, and is `now`."""
    scene = put(store, before, vocabulary="grasif")
    find_or_create_belief(store, scene)
    store.commit(scene, diff(before, now), actor="somebody", action="move", action_id="move")
    with (
        ScriptedModel([*script]) as server,
        OpenAIModel(model=MODEL_NAME, base_url=server.base_url, api_key="none", retries=0) as model,
    ):
        setting = SessionSetting(
            store,
            Gate(store.database),
            store.find(scene.name),
            "tidy up",
            method,
            model=model,
            ablations=ablations,
            budget=Budget(40),
            belief=True,
            meaning=meaning,
        )
        events = [*prepare_session(setting, recipe_named(method)).run()]
    actions = [event.action for event in store.history(scene) if event.actor == method]
    return Played(events, server.requests, actions, scene.key, scene.name)


def holds(store: SceneStore, played: Played, goal: Condition) -> bool:
    return evaluate(goal, store.load(played.scene).graph, {})


def looks(played: Played) -> list[str]:
    return [action for action in played.actions if action.startswith("discover_objects")]


def test_a_look_makes_sure_and_the_plan_stays(store: SceneStore) -> None:
    played = explore(store, [PEN_AWAY], HOME)
    assert played.end.outcome == "done"
    assert len(played.requests) == 1
    assert looks(played) == ["discover_objects(desk-1)"]
    assert played.actions[-1] == "put_on(table-1)"
    reasons = [event.reason for event in played.of(Proposed) if isinstance(event, Proposed)]
    assert all(reason.startswith("plan 1,") for reason in reasons if "make sure" not in reason), "planned once"


@pytest.mark.parametrize("ablation", [(), ("usual-places",)])
def test_what_is_gone_is_looked_for_where_it_may_be(store: SceneStore, ablation: tuple[str, ...]) -> None:
    now = moved(HOME, "pen-1", Relation("pen-1", "INSIDE", "fridge-1"))
    played = explore(store, [PEN_AWAY] if ablation else [PEN_AWAY, PLACES], now, ablations=ablation)
    assert played.end.outcome == "done"
    assert not played.of(Refused)
    assert holds(store, played, Related(Id("pen-1"), "ON", Id("table-1")))
    assert looks(played)[0] == "discover_objects(desk-1)"
    assert "discover_objects(fridge-1)" in looks(played)
    if not ablation:
        assert looks(played) == ["discover_objects(desk-1)", "discover_objects(fridge-1)"], "as the model ranks"
        assert "kitchen: fridge-1, lamp-1, table-1" in played.last(1)


def test_a_room_is_searched_before_it_is_left_but_not_what_holds_nothing(store: SceneStore) -> None:
    more = (node("shelf-1", "Asset", affordances="put_on"), node("painting-1", "Asset"))
    inside = {Relation(it.id, "INSIDE", "office") for it in more}
    before = SceneGraph.of((*HOME.nodes.values(), *more), HOME.relations | inside)
    at_shelf, in_fridge = (
        looks(explore(store, [PEN_AWAY], now, before=before, ablations=("usual-places",)))
        for now in (
            moved(before, "pen-1", Relation("pen-1", "ON", "shelf-1")),
            moved(before, "pen-1", Relation("pen-1", "INSIDE", "fridge-1")),
        )
    )
    assert at_shelf == ["discover_objects(desk-1)", "discover_objects(shelf-1)"]
    assert in_fridge[:2] == at_shelf
    assert in_fridge[-1] == "discover_objects(fridge-1)"
    assert "discover_objects(painting-1)" not in in_fridge


def test_of_several_another_is_taken_where_one_is_gone(store: SceneStore) -> None:
    now = moved(TWO_CUPS, "cup-2", Relation("cup-2", "ON", "fridge-1"))
    goal = reply("cup: one cup", "cup INSIDE fridge-1")
    played = explore(store, [goal, goal], now, before=TWO_CUPS)
    assert played.end.outcome == "done"
    assert holds(store, played, Exists("x", And((HasClass("x", "cup"), Related("x", "INSIDE", Id("fridge-1"))))))


def test_what_is_nowhere_is_given_up(store: SceneStore) -> None:
    nodes = [node for node in HOME.nodes.values() if node.id != "pen-1"]
    now = SceneGraph.of(nodes, (it for it in HOME.relations if it.source != "pen-1"))
    played = explore(store, [PEN_AWAY, "hm", "hm", "hm"], now)
    assert played.end.outcome == "given_up"
    assert "pen was not found: it is at none of the" in played.end.reason
    assert len({*looks(played)}) == len(looks(played)), "nowhere twice"


def test_goal_then_plan_says_what_has_to_be_looked_for(store: SceneStore) -> None:
    now = moved(HOME, "pen-1", Relation("pen-1", "INSIDE", "fridge-1"))
    played = explore(store, [PEN_AWAY], now, method="goal-then-plan")
    assert played.end.outcome == "given_up"
    assert "nobody knows where to find pen: the method explore-then-plan looks for it" in played.end.reason


def test_a_class_of_which_nothing_is_known_is_looked_for(store: SceneStore) -> None:
    """The belief has no book, but books are known to the data sets."""
    book = replace(HOME.nodes["pen-1"], id="book-1", name="book-1", class_="book")
    now = SceneGraph.of((*HOME.nodes.values(), book), HOME.relations | {Relation("book-1", "INSIDE", "fridge-1")})
    goal = reply("book: one book", "book ON desk-1")
    played = explore(store, [goal, goal, PLACES], now)
    assert "book: none is known." in played.last(1)
    assert played.end.outcome == "done"
    assert holds(store, played, Related(Id("book-1"), "ON", Id("desk-1")))


def test_a_class_that_the_scene_calls_otherwise_is_told(store: SceneStore) -> None:
    """Mugs are known to the data sets, bureaus are not; the home has a cup and a desk."""
    replies = [
        reply("x: one mug", "y: one bureau", "x ON y"),
        reply("mug: one mug", "y: one desk", "mug ON y"),
        reply("cup-1 ON desk-1"),
    ]
    played = explore(store, replies, HOME, meaning=Meaning(lambda: alike))
    assert "no class 'bureau' occurs in this scene; use one that does; in this scene 'bureau' may be 'desk'" in (
        played.last(1)
    )
    assert "mug: none is known.\n" in played.last(2)
    assert "\nIn this scene 'mug' may be 'cup'.\n" in played.last(2)
    assert played.end.outcome == "done"


def alike(words: Sequence[str]) -> list[list[float]]:
    """Return vectors by which a mug is a cup and a bureau is a desk."""
    sorts = {"mug": 0, "cup": 0, "bureau": 1, "desk": 1}
    return [[float(sorts.get(word, 2) == axis) for axis in range(3)] for word in words]


def test_a_goal_that_is_only_remembered_to_hold_is_looked_at(store: SceneStore) -> None:
    now = moved(HOME, "pen-1", Relation("pen-1", "ON", "table-1"))
    played = explore(store, [reply("pen-1 ON desk-1"), reply("pen-1 ON desk-1"), PLACES], now)
    assert "holds already" in played.last(1)
    assert played.end.outcome == "done"
    assert holds(store, played, Related(Id("pen-1"), "ON", Id("desk-1")))


def test_the_usual_places_are_data() -> None:
    assert plain_class("Coffee_Table-1") == "coffeetable"
    assert max(usual_places()["aftershave"].items(), key=lambda it: it[1])[0] == "bathroomcabinet"
