"""What models are told of a scene: that it is as they left it, what may be used, and no long list of walls."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
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
from scenecypher.planner.prompts.graph_texts import graph_words
from scenecypher.planner.prompts.layout import surroundings
from scenecypher.planner.sessions.setup import SessionSetting, prepare_session
from scenecypher.planner.sessions.views import brief, scenery
from scenecypher.planner.symbolic.parts import afforded
from scenecypher.planner.symbolic.plan import planning_state
from scenecypher.planner.vocabularies.vocabulary import operators_of
from scenecypher.retriever.collapsed import collapse
from scenecypher.retriever.graph_api import GraphApi
from scenecypher.retriever.schema_text import schema_text
from tests.planner.actions.test_operators import put
from tests.planner.methods.coffee import COFFEE

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


def links_told(told: dict[str, Any]) -> set[tuple[str, str, str]]:
    """Return the links of a brief document, each with one source."""
    return {(x, type_, y) for xs, type_, y in told["links"] for x in ([xs] if isinstance(xs, str) else xs)}


def test_sayplan_is_told_of_a_whole_home_in_a_sixth() -> None:
    """Kind: walls, what faces what, thirty like hangers, and class and place beside each id are most of a prompt."""
    document = expanded(HOME, "virtualhome")
    told = brief(document, HOME, "virtualhome")
    text = json.dumps(told)
    assert len(text) < len(json.dumps(document)) / 6
    groups = [group for groups in told["nodes"].values() for group in groups]
    ids = [it for group in groups for it in group["ids"]]
    assert len(ids) == len({*ids}), "each thing once"
    assert {*HOME.by_kind["Object"], *HOME.by_kind["Place"]} <= {*ids}, "nothing that can be taken is left out"
    walls = {it for class_ in WALLS for it in HOME.by_class[class_]} & {*ids}
    assert all(HOME.sources(it, "ON", "INSIDE") for it in walls), "a wall is told where something is on it"
    assert "FACING" not in text
    hangers = {*HOME.by_class["hanger"]}
    assert sum(bool(hangers & {*group["ids"]}) for group in groups) < len(hangers) / 4, "like things are one node"


def test_sayplan_is_told_all_of_each_thing_once() -> None:
    """Kind: a thing that is like another in its states is told to be where that one is, or to be of its class."""
    graph = our_home("apartment")[0].graph
    changed = replace(graph.nodes["mug_80"], class_="cup", name="Ann's cup")
    graph = SceneGraph.of((changed if it.id == changed.id else it for it in graph.nodes.values()), graph.relations)
    told = brief(expanded(graph, "virtualhome"), graph, "virtualhome")
    groups = {id_: (kind, it) for kind, its in told["nodes"].items() for it in its for id_ in it["ids"]}
    for id_ in graph.by_kind["Object"]:
        kind, group = groups[id_]
        thing = graph.nodes[id_]
        said = (kind, *(tuple(group.get(key, ())) for key in ("states", "affordances")))
        assert said == ("Object", thing.states, thing.affordances)
        assert group.get("class", id_.rpartition("_")[0]) == thing.class_
        containing = {(id_, it.type, it.target) for it in graph.outgoing[id_] if it.type in {"ON", "HOLDS"}}
        assert containing <= links_told(told)
        assert {x for x, _, _ in links_told(told)} >= {id_}, "it is told where it is"
    assert groups["mug_80"][1]["name"] == "Ann's cup"


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


@pytest.mark.parametrize("method", ["stepwise", "sayplan"])
def test_what_can_be_used_now_is_listed(store: SceneStore, *, method: str) -> None:
    """Kind: stepwise is told of an end that is no decision, of looks that find nothing, and of what nothing affords."""
    scene = put(store, COFFEE, vocabulary="grasif")
    setting = SessionSetting(store, Gate(store.database), scene, "tidy up", method)
    listed = prepare_session(setting, recipe_named(method)).memory.actions
    assert "rearrange(x, relation, y): bring" in listed
    assert "(relation: ontop, inside)" in listed, "nothing affords to be put under or attached to"
    assert "done(" not in listed
    assert "discover_objects(" not in listed
    believing = prepare_session(replace(setting, belief=True), recipe_named(method)).memory.actions
    assert "discover_objects(" in believing, "in a belief a look finds something"


@pytest.mark.parametrize("vocabulary", ["household", "grasif", "babyai"])
def test_where_a_file_is_silent_furniture_may_be_used(vocabulary: str) -> None:
    graph = our_home("apartment")[0].graph
    assert len(scenery(graph, "household")) < 3, "all furniture bears things there"
    assert {*operators_of(vocabulary)} >= {*afforded(operators_of(vocabulary), graph)}
