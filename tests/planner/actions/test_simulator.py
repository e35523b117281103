"""Acting on a real server: agreement with memory, references, corrections, several agents, round trips."""

from __future__ import annotations

import logging
import random

import pytest

from scenecypher.db.graph.delta import AddNode, AddRelation, Delta, apply
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Address, Database
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import ActionRefused, InputError, UnknownReference
from scenecypher.importers.virtualhome import graph_files, packaged_scene
from scenecypher.planner.actions.execution import Infeasible, simulate
from scenecypher.planner.actions.operator import AGENT
from scenecypher.planner.actions.simulator import CommittedAction, Simulator
from scenecypher.planner.vocabularies.virtualhome.operators import OPERATORS
from tests.db.store.test_store import fresh
from tests.planner.actions.differential import agent_of, proposal
from tests.planner.actions.test_operators import put
from tests.planner.actions.worlds import BOTH_HANDS, FAR, HOME, ROBOT, edited, mutual
from tests.sampling import FULL

STEPS = 150 if FULL else 25


def summary(steps: list[CommittedAction]) -> list[tuple[str, str | None]]:
    return [(step.action, step.because) for step in steps]


@pytest.mark.parametrize("seed", range(8 if FULL else 2))
def test_database_and_memory_agree_on_a_recorded_home(store: SceneStore, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    graph = packaged_scene(rng.choice(sorted(graph_files()))).graph
    scene = put(store, graph)
    simulator = Simulator(store, scene)
    snapshots = {0: graph}
    for _ in range(STEPS):
        action, arguments = proposal(rng, graph)
        expected = in_memory_result(graph, action, arguments)
        text = f"{action}({', '.join(arguments)})"
        if isinstance(expected, Delta):
            (step,) = simulator.act(text)
            assert step.delta == expected, text
            graph = apply(graph, expected)
            snapshots[step.version] = graph
        else:
            with pytest.raises(Infeasible) as refused:
                list(simulator.act(text))
            assert refused.value.reasons == expected, text
    assert store.load(scene.name).graph == graph
    assert len(snapshots) > STEPS / 10
    middle = max(version for version in snapshots if version <= len(snapshots) // 2)
    assert store.as_of(scene.name, middle) == snapshots[middle]
    store.undo(scene, to=middle)
    assert store.load(scene.name).graph == snapshots[middle]
    store.undo(scene, to=0)
    assert store.load(scene.name).graph == snapshots[0]


def in_memory_result(graph: SceneGraph, action: str, arguments: tuple[str, ...]) -> Delta | tuple[str, ...]:
    operator = OPERATORS[action]
    names = (parameter.name for parameter in operator.parameters)
    bindings = {AGENT: agent_of(graph), **dict(zip(names, arguments, strict=True))}
    try:
        return simulate(operator, graph, bindings, action=action)
    except Infeasible as refused:
        return refused.reasons


def test_a_reference_is_an_id_a_unique_name_or_a_unique_class(store: SceneStore) -> None:
    nodes = dict(HOME.nodes) | {"x1": Node("x1", "Object", "Tom's mug, blue", "mug", affordances=("grabbable",))}
    relations = {*HOME.relations, *mutual(ROBOT, "x1"), Relation("x1", "INSIDE", "kitchen_10")}
    scene = put(store, SceneGraph.of(nodes.values(), relations))
    simulator = Simulator(store, scene)
    assert [step.action for step in simulator.act("""grab("Tom's mug, blue")""")] == ["grab(x1)"]
    assert [step.action for step in simulator.act("put on (mug, table)")] == ["put_on(x1, table_20)"]
    assert [step.action for step in simulator.act("Grab(' x1');")] == ["grab(x1)"]
    assert [event.action for event in store.history(scene)] == ["grab(x1)", "put_on(x1, table_20)", "grab(x1)"]


def test_an_unknown_reference_is_refused_with_suggestions(store: SceneStore) -> None:
    twin = Node("cup_34", "Object", "cup_34", "cup")
    scene = put(store, SceneGraph.of([*HOME.nodes.values(), twin], HOME.relations))
    simulator = Simulator(store, scene)
    with pytest.raises(UnknownReference, match="can mean several things: cup_30, cup_34; use the id"):
        list(simulator.act("grab(cup)"))
    with pytest.raises(UnknownReference, match=r"no 'Fridge_12' .*did you mean 'fridge_21'.*\?"):
        list(simulator.act("open(Fridge_12)"))
    assert store.load(scene.name).info.version == 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("fly(cup_30)", r"there is no action 'fly'; choose one of walk\(x\), grab\(x\), put_on\(x, y\)"),
        ("grap(cup_30)", "did you mean 'grab'"),
        ("grab()", r"0 arguments are given; it takes 1, as in grab\(x\)"),
        ("put_on(cup_30)", "1 argument is given; it takes 2"),
        ("grab cup_30", "that is no action; write one like"),
        ("", "that is no action"),
        ("grab(" + "x" * 10_000 + ")", "that is no action"),
    ],
)
def test_an_invalid_action_is_refused_with_a_reason(store: SceneStore, text: str, says: str) -> None:
    with pytest.raises(ActionRefused, match=says):
        list(Simulator(store, SceneInfo("k", "n", "world", "virtualhome", "ready", 0)).act(text))


def test_an_unknown_vocabulary_is_an_input_error(store: SceneStore) -> None:
    with pytest.raises(InputError, match=r"'kitchen'.*Install the package .*`scenecypher scenes set NAME --vocabulary"):
        Simulator(store, SceneInfo("k", "n", "world", "kitchen", "ready", 0))


def test_a_correction_goes_there_opens_and_then_grabs(store: SceneStore) -> None:
    scene = put(store, edited(HOME, remove=[*FAR], add=[*mutual("egg_32", "fridge_21")]))
    steps = list(Simulator(store, scene, fix=True, actor="stepwise").act("grab(egg_32)"))
    far, shut = f"{ROBOT} is not close to egg_32", "egg_32 is inside fridge_21, which is closed"
    assert summary(steps) == [("walk(egg_32)", far), ("open(fridge_21)", shut), ("grab(egg_32)", None)]
    history = [(event.action, event.actor) for event in store.history(scene)]
    inserted = (f"walk(egg_32)  [inserted: {far}]", f"open(fridge_21)  [inserted: {shut}]")
    assert history == [(action, "stepwise") for action in (*inserted, "grab(egg_32)")]


def test_a_correction_frees_a_hand_on_a_surface_within_reach(store: SceneStore) -> None:
    scene = put(store, edited(HOME, add=BOTH_HANDS))
    steps = list(Simulator(store, scene, fix=True).act("open(fridge_21)"))
    full = f"{ROBOT} has no free hand, since it holds plate_31 and egg_32: put one of them down first"
    assert summary(steps) == [("put_on(plate_31, table_20)", full), ("open(fridge_21)", None)]


def test_corrections_are_chained_to_fetch_an_object(store: SceneStore) -> None:
    scene = put(store, HOME)
    steps = list(Simulator(store, scene, fix=True).act("put_in(book_33, fridge_21)"))
    assert [step.action for step in steps] == [
        "walk(book_33)",
        "grab(book_33)",
        "walk(fridge_21)",
        "open(fridge_21)",
        "put_in(book_33, fridge_21)",
    ]
    graph = store.load(scene.name).graph
    assert Relation("book_33", "INSIDE", "fridge_21") in graph.relations


@pytest.mark.parametrize("action", ["grab(table_20)", "open(fridge_21)"])
def test_without_a_repair_rule_nothing_is_inserted(store: SceneStore, action: str) -> None:
    scene = put(store, edited(HOME, remove=FAR, states={"fridge_21": "open off"}))
    with pytest.raises(Infeasible):
        list(Simulator(store, scene, fix=True).act(action))
    assert store.history(scene) == []


def test_without_a_surface_in_reach_no_hand_is_freed(store: SceneStore) -> None:
    scene = put(store, edited(HOME, add=BOTH_HANDS, affordances={"table_20": ""}))
    with pytest.raises(Infeasible, match="put one of them down first"):
        list(Simulator(store, scene, fix=True).act("open(fridge_21)"))
    assert store.history(scene) == []


def test_each_simulator_acts_for_its_own_agent(store: SceneStore) -> None:
    other = Node("robot_2", "Agent", "robot_2", "robot")
    graph = SceneGraph.of([*HOME.nodes.values(), other], {*HOME.relations, Relation("robot_2", "INSIDE", "hall_11")})
    scene = put(store, graph)
    list(Simulator(store, scene, agent="robot_2").act("walk(book_33)"))
    list(Simulator(store, scene).act("grab(cup_30)"))
    relations = store.load(scene.name).graph.relations
    assert {Relation("robot_2", "CLOSE", "book_33"), Relation(ROBOT, "HOLDS_RH", "cup_30")} <= relations
    with pytest.raises(ActionRefused, match="there is no agent 'robot_9' here"):
        list(Simulator(store, scene, agent="robot_9").act("grab(cup_30)"))


def test_the_agent_of_the_first_action_stays_the_agent(store: SceneStore) -> None:
    scene = put(store, HOME)
    simulator = Simulator(store, scene)
    list(simulator.act("walk(book_33)"))
    newcomer = Node("a_robot", "Agent", "a_robot", "robot")
    arrival = Delta.of([AddNode(newcomer), AddRelation(Relation(newcomer.id, "INSIDE", "hall_11"))])
    store.commit(scene, arrival, actor="t", action="arrive")
    list(simulator.act("grab(book_33)"))
    assert Relation(ROBOT, "HOLDS_RH", "book_33") in store.load(scene.name).graph.relations


def test_a_scene_without_agent_is_refused(store: SceneStore) -> None:
    scene = put(store, SceneGraph.of([HOME.nodes["kitchen_10"], HOME.nodes["cup_30"]]))
    with pytest.raises(ActionRefused, match="this scene has no agent"):
        list(Simulator(store, scene).act("grab(cup_30)"))


@pytest.mark.parametrize("action", ["walk(book_33)", "grab(cup_30)", "open(fridge_21)", "walk(kitchen_10)"])
def test_an_action_in_a_scene_that_is_kept_is_one_statement(
    store: SceneStore, action: str, caplog: pytest.LogCaptureFixture
) -> None:
    simulator = kept_simulator(store)
    with caplog.at_level(logging.DEBUG, logger="neo4j.io"):
        list(simulator.act(action))
    assert sent(caplog) == {"RUN": 1, "BEGIN": 0, "COMMIT": 0}


def test_a_first_action_loads_the_scene_and_is_one_statement(
    store: SceneStore, caplog: pytest.LogCaptureFixture
) -> None:
    scene = put(store, HOME)
    with caplog.at_level(logging.DEBUG, logger="neo4j.io"):
        list(Simulator(store, scene).act("open(fridge_21)"))
    assert sent(caplog) == {"RUN": 4, "BEGIN": 1, "COMMIT": 1}


def test_a_first_action_after_another_s_is_decided_at_the_version_that_is_there(
    store: SceneStore, address: Address, caplog: pytest.LogCaptureFixture
) -> None:
    scene = put(store, HOME)
    with Database(address) as other:
        list(Simulator(SceneStore(other), scene).act("open(fridge_21)"))
    with caplog.at_level(logging.DEBUG, logger="neo4j.io"):
        (step,) = Simulator(store, scene).act("close(fridge_21)")
    assert sent(caplog) == {"RUN": 6, "BEGIN": 2, "COMMIT": 2}, "it is loaded again, since it has moved"
    assert step.version == 2


def test_commits_of_this_process_are_followed_without_reading(
    store: SceneStore, caplog: pytest.LogCaptureFixture
) -> None:
    simulator = kept_simulator(store)
    store.undo(simulator.scene)
    with caplog.at_level(logging.DEBUG, logger="neo4j.io"):
        (step,) = simulator.act("close(fridge_21)")
    assert sent(caplog) == {"RUN": 1, "BEGIN": 0, "COMMIT": 0}
    assert step.version == 6


def test_what_other_processes_commit_is_caught_up_with(store: SceneStore, database: Database) -> None:
    simulator = kept_simulator(store)
    other = Simulator(SceneStore(database), simulator.scene)
    list(other.act("open(fridge_21)"))
    with pytest.raises(Infeasible, match="open"):
        list(simulator.act("open(fridge_21)"))
    (step,) = simulator.act("close(fridge_21)")
    list(other.act("open(fridge_21)"))
    (again,) = simulator.act("close(fridge_21)")
    assert (step.version, again.version) == (6, 8)


def test_a_node_that_came_after_the_scene_was_loaded_is_reached(store: SceneStore, database: Database) -> None:
    simulator = kept_simulator(store)
    new = Node("vase_99", "Object", "vase_99", "vase", affordances=("grabbable",))
    arrival = Delta.of([AddNode(new), AddRelation(Relation(new.id, "INSIDE", "hall_11"))])
    SceneStore(database).commit(simulator.scene, arrival, actor="t", action="arrive")
    (step,) = simulator.act("walk(vase_99)")
    assert step.version == 6


def kept_simulator(store: SceneStore) -> Simulator:
    """A simulator in a new home that the store keeps in memory, after four actions that leave it as it was."""
    simulator = Simulator(store, put(store, HOME))
    for action in ("open(fridge_21)", "close(fridge_21)") * 2:
        list(simulator.act(action))
    assert simulator.scene.key in store.replicas._kept
    return simulator


def sent(caplog: pytest.LogCaptureFixture) -> dict[str, int]:
    """How many messages of each sort went to the server."""
    lines = [record.getMessage() for record in caplog.records]
    words = ("RUN", "BEGIN", "COMMIT")
    return {word: sum(f"C: {word} " in line or line.endswith(f"C: {word}") for line in lines) for word in words}


def test_nodes_whose_names_differ_from_ids_are_reported_with_both(store: SceneStore) -> None:
    graph = SceneGraph.of(
        [
            Node("p1", "Place", "kitchen", "kitchen"),
            Node("a1", "Agent", "robot", "robot"),
            Node("o1", "Object", "cup", "cup", affordances=("grabbable",)),
        ],
        [Relation("a1", "INSIDE", "p1"), Relation("o1", "INSIDE", "p1")],
    )
    name = fresh("names")
    store.put(ImportedScene(name, graph, vocabulary="virtualhome"))
    with pytest.raises(Infeasible, match=r"robot \(a1\) is not close to cup \(o1\): walk\(o1\) first"):
        list(Simulator(store, store.find(name)).act("grab(cup)"))
