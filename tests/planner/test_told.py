"""What models are told of a scene: that it is as they left it, what may be used, and no long list of walls."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final, cast

import pytest

from scenecypher.db.gate import Gate
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.enumerate import count_graph
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.importers.homes import our_home
from scenecypher.importers.virtualhome import packaged_scene
from scenecypher.planner.actions.text import parse_action
from scenecypher.planner.methods import recipe_named
from scenecypher.planner.prompts.graph_words import graph_words
from scenecypher.planner.prompts.layout import surroundings
from scenecypher.planner.sessions.setup import SessionSetting, prepare_session
from scenecypher.planner.sessions.views import brief, scenery
from scenecypher.planner.symbolic.ground_calls import afforded
from scenecypher.planner.symbolic.plan import planning_state
from scenecypher.planner.vocabularies.registry import operators_of
from scenecypher.retriever.collapsed import collapse
from scenecypher.retriever.graph_api import GraphApi
from scenecypher.retriever.schema_text import schema_text
from tests.planner.actions.test_operators import put

HOME: Final = packaged_scene("963_2").graph
WALLS: Final = ("wall", "ceiling")


@dataclass
class Whole:
    """A graph as GraphApi reads it."""

    graph_: SceneGraph
    vocabulary: str

    @property
    def reader(self) -> Any:
        return self

    scene = reader

    def graph(self) -> SceneGraph:
        return self.graph_


def expanded(graph: SceneGraph, vocabulary: str) -> dict[str, Any]:
    view = collapse(cast("GraphApi", Whole(graph, vocabulary)))
    for place in sorted(graph.by_kind["Place"]):
        view = view.expand(place)
    return view.document()


def test_a_thing_is_told_to_be_where_it_was_put() -> None:
    """Kind: VirtualHome's engine leaves a carried thing inside the room that it came from, and that was told."""
    graph = our_home("apartment")[0].graph
    state = planning_state(graph, "virtualhome")
    assert state is not None
    apple, bed = graph.by_class["apple"][0], graph.by_class["bed"][0]
    for action in (f"walk({apple})", f"grab({apple})", f"walk({bed})", f"put_on({apple}, {bed})"):
        state = state.after(parse_action(action))
    told = graph_words(surroundings(state.graph, touched=[apple]), "virtualhome")
    seen = told.partition("Objects that you see in this room:")[2].partition("What you know of other rooms:")
    assert f"{apple} ontop {bed}" in seen[0]
    assert apple not in seen[2]


def test_sayplan_is_told_of_a_whole_home_in_a_third() -> None:
    """Kind: walls, what faces what and thirty like hangers are most of a prompt."""
    document = expanded(HOME, "virtualhome")
    told = brief(document, HOME, "virtualhome")
    text = json.dumps(told)
    assert len(text) < len(json.dumps(document)) / 3
    ids = {it for node in told["nodes"] for it in (node.get("id"), *node.get("ids", ())) if it}
    assert {*HOME.by_kind["Object"], *HOME.by_kind["Place"]} <= ids, "nothing that can be taken is left out"
    walls = {it for class_ in WALLS for it in HOME.by_class[class_]} & ids
    assert all(HOME.sources(it, "ON", "INSIDE") for it in walls), "a wall is told where something is on it"
    assert "FACING" not in text
    hangers = [node for node in told["nodes"] if node["class"] == "hanger" and "ids" in node]
    assert hangers
    assert all(len(node["ids"]) >= 4 and node["links"] for node in hangers)


def test_what_no_action_can_touch_is_scenery() -> None:
    """Kind: lamps and frames that nothing can be done with are told at every step."""
    hidden = {HOME.nodes[it].class_ for it in scenery(HOME, "virtualhome")}
    assert {*WALLS, "ceilinglamp", "photoframe"} <= hidden
    assert not hidden & {"bed", "desk", "floor", "hanger", "light"}


def test_examples_of_names_are_things() -> None:
    """Kind: the names that a model is shown as examples are those of walls."""
    names = schema_text(count_graph(HOME), vocabulary="virtualhome", budget_tokens=4_000)
    shown = names.partition("NAMES, some examples\n")[2].partition("\n")[0]
    assert shown
    assert not [class_ for class_ in (*WALLS, "floor") if f"{class_}_" in shown]


def test_only_actions_that_the_scene_affords_are_listed(store: SceneStore) -> None:
    """Kind: a home without food is told of eating, in all words that may stand for food."""
    operators = operators_of("virtualhome")
    food = [node.id for node in HOME.nodes.values() if {"eatable", "cuttable"} & {*node.affordances}]
    graph = SceneGraph.of(
        (it for it in HOME.nodes.values() if it.id not in food),
        (it for it in HOME.relations if not {it.source, it.target} & {*food}),
    )
    assert "cut" in operators
    assert "cut" not in afforded(operators, graph)
    assert {"walk", "grab", "put_on"} <= {*afforded(operators, graph)}
    scene = put(store, graph, vocabulary="virtualhome")
    setting = SessionSetting(store, Gate(store.database), scene, "tidy up", "stepwise")
    listed = prepare_session(setting, recipe_named("stepwise")).memory.actions
    assert "cut(" not in listed
    assert "\ngrab(x): take" in listed
    assert "walk(x), run(x): go to" in listed
    assert "squeeze(x)" in listed.rpartition("\n")[2], "what changes nothing by name alone"


@pytest.mark.parametrize("vocabulary", ["household", "grasif", "babyai"])
def test_where_a_file_is_silent_furniture_may_be_used(vocabulary: str) -> None:
    graph = our_home("apartment")[0].graph
    assert len(scenery(graph, "household")) < 3, "all furniture bears things there"
    assert {*operators_of(vocabulary)} >= {*afforded(operators_of(vocabulary), graph)}
