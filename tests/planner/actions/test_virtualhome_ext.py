"""VirtualHome's extended actions: appliances that heat and wash, and things that are carried into the next room."""

from __future__ import annotations

from typing import Final

import pytest

from scenecypher.db.graph.delta import apply
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.actions.execution import simulate
from scenecypher.planner.actions.operator import AGENT
from scenecypher.planner.actions.simulator import Simulator
from scenecypher.planner.actions.text import parse_action
from scenecypher.planner.vocabularies.virtualhome import operators as virtualhome
from scenecypher.planner.vocabularies.virtualhome.operators import EXTENDED as OPERATORS
from tests.db.store.test_store import fresh
from tests.planner.actions.worlds import HOME, ROBOT, edited, mutual, node


def kitchen(appliance: str, states: str, *, affordances: str = "can_open containers has_switch") -> SceneGraph:
    """Return an appliance with a bowl in it, soup in and a lid on the bowl, a plate on it, a spoon in the hand."""
    nodes = [
        node("kitchen_10", "Place"),
        node(ROBOT, "Agent"),
        node(f"{appliance}_20", "Asset", states=states, affordances=affordances),
        node("bowl_30", "Object", affordances="grabbable recipient"),
        node("soup_31", "Object"),
        node("lid_32", "Object"),
        node("plate_33", "Object"),
        node("spoon_34", "Object", affordances="grabbable"),
    ]
    relations = [Relation(n.id, "INSIDE", "kitchen_10") for n in nodes[1:]]
    relations += [Relation("bowl_30", "INSIDE", f"{appliance}_20"), Relation("soup_31", "INSIDE", "bowl_30")]
    relations += [Relation("plate_33", "ON", f"{appliance}_20")]
    relations += [Relation("lid_32", "ON", "bowl_30"), Relation(ROBOT, "HOLDS_RH", "spoon_34")]
    return SceneGraph.of(nodes, [*relations, *mutual(ROBOT, f"{appliance}_20")])


def after_action(graph: SceneGraph, text: str) -> SceneGraph:
    call = parse_action(text)
    operator = OPERATORS[call.name]
    names = (parameter.name for parameter in operator.parameters)
    arguments = {AGENT: ROBOT, **dict(zip(names, call.arguments, strict=True))}
    return apply(graph, simulate(operator, graph, arguments, action=text))


def treated_states(graph: SceneGraph) -> dict[str, str]:
    return {
        n.id: state
        for n in graph.nodes.values()
        for state in n.states
        if state in {"heated", "washed"} and n.id != ROBOT
    }


CONTENT: Final = ("bowl_30", "lid_32", "soup_31")
WITHOUT_DOOR: Final = "containers has_switch"
PUT_BACK: Final = edited(
    kitchen("toaster", "on", affordances=WITHOUT_DOOR), add=[Relation("spoon_34", "TAKEN_OUT_OF", "toaster_20")]
)
ROWS: Final[tuple[tuple[str, SceneGraph, dict[str, str]], ...]] = (
    ("switch_on(microwave_20)", kitchen("microwave", "closed off"), dict.fromkeys(CONTENT, "heated")),
    ("switch_on(microwave_20)", kitchen("microwave", "open off"), {}),
    ("close(microwave_20)", kitchen("microwave", "open on"), dict.fromkeys(CONTENT, "heated")),
    ("close(microwave_20)", kitchen("microwave", "open off"), {}),
    ("switch_on(dishwasher_20)", kitchen("dishwasher", "closed off"), dict.fromkeys(CONTENT, "washed")),
    ("close(washing_machine_20)", kitchen("washing_machine", "open on"), dict.fromkeys(CONTENT, "washed")),
    ("switch_on(fridge_20)", kitchen("fridge", "closed off"), {}),
    ("switch_on(toaster_20)", kitchen("toaster", "off", affordances=WITHOUT_DOOR), dict.fromkeys(CONTENT, "heated")),
    ("put_in(spoon_34, toaster_20)", kitchen("toaster", "on", affordances=WITHOUT_DOOR), {"spoon_34": "heated"}),
    ("put_in(spoon_34, toaster_20)", kitchen("toaster", "off", affordances=WITHOUT_DOOR), {}),
    ("put_in(spoon_34, microwave_20)", kitchen("microwave", "open on"), {}),
    ("put_back(spoon_34)", PUT_BACK, {"spoon_34": "heated"}),
)


@pytest.mark.parametrize(("action", "graph", "expected"), ROWS, ids=[f"{n} {row[0]}" for n, row in enumerate(ROWS)])
def test_contents_of_a_closed_running_appliance_are_treated(
    action: str, graph: SceneGraph, expected: dict[str, str]
) -> None:
    assert treated_states(after_action(graph, action)) == expected


@pytest.mark.parametrize(("action", "graph", "expected"), [ROWS[0], ROWS[2], ROWS[8], ROWS[11]])
def test_database_and_memory_agree(store: SceneStore, action: str, graph: SceneGraph, expected: dict[str, str]) -> None:
    name = fresh("ext")
    store.put(ImportedScene(name, graph, vocabulary="virtualhome_ext"))
    scene = store.find(name)
    (step,) = Simulator(store, scene).act(action)
    after = store.load(name).graph
    assert treated_states(after) == expected
    assert after == after_action(graph, action) == apply(graph, step.delta)
    store.undo(scene)
    assert store.load(name).graph == graph


@pytest.mark.parametrize("action", ["walk(book_33)", "run(hall_11)", "find(book_33)"])
def test_a_held_thing_is_in_the_room_that_it_was_carried_to(action: str) -> None:
    assert after_action(HOME, "grab(cup_30)").targets("cup_30", "INSIDE") == ("kitchen_10",)
    assert after_action(after_action(HOME, "grab(cup_30)"), action).targets("cup_30", "INSIDE") == ("hall_11",)


def test_the_database_carries_it_alike(store: SceneStore) -> None:
    name = fresh("carried")
    store.put(ImportedScene(name, HOME, vocabulary="virtualhome_ext"))
    simulator = Simulator(store, store.find(name))
    for action in ("grab(cup_30)", "walk(book_33)"):
        list(simulator.act(action))
    assert store.load(name).graph == after_action(after_action(HOME, "grab(cup_30)"), "walk(book_33)")


def test_only_appliances_and_carrying_differ_from_virtualhome() -> None:
    differing = {name for name, operator in OPERATORS.items() if operator != virtualhome.OPERATORS[name]}
    assert differing == {"close", "switch_on", "put_in", "put_back", "walk", "run", "find"}
    assert [*OPERATORS] == [*virtualhome.OPERATORS]
