"""Every operator: its effects, and each requirement broken alone, in memory and in the database."""

from __future__ import annotations

import pytest

from scenecypher.db.graph.delta import apply
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.actions.execution import Infeasible, simulate
from scenecypher.planner.actions.operator import AGENT
from scenecypher.planner.actions.simulator import Simulator
from scenecypher.planner.actions.text import parse_action
from scenecypher.planner.vocabularies.virtualhome.operators import OPERATORS
from tests.db.store.test_store import fresh
from tests.planner.actions.flat import FLAT_ROWS
from tests.planner.actions.worlds import ROBOT, ROWS, Broken, Row
from tests.sampling import sample

ALL = (*ROWS, *FLAT_ROWS)
BREAKS = sample([(row, broken) for row in ALL for broken in row.broken], 40)
BREAK_NAMES = [f"{row.action} {broken.name}" for row, broken in BREAKS]


def put(store: SceneStore, graph: SceneGraph, *, vocabulary: str = "virtualhome") -> SceneInfo:
    name = fresh("act")
    store.put(ImportedScene(name, graph, vocabulary))
    return store.find(name)


def in_memory(graph: SceneGraph, action: str) -> SceneGraph:
    call = parse_action(action)
    operator = OPERATORS[call.name]
    names = (parameter.name for parameter in operator.parameters)
    bindings = {AGENT: ROBOT, **dict(zip(names, call.arguments, strict=True))}
    return apply(graph, simulate(operator, graph, bindings, action=action))


def test_every_requirement_of_every_operator_is_broken_once() -> None:
    assert {parse_action(row.action).name for row in ALL} == {*OPERATORS}
    for row in ALL:
        operator = OPERATORS[parse_action(row.action).name]
        broken = {_broken(row, each) for each in row.broken}
        assert broken == set(range(len(operator.requires))), row.action


def _broken(row: Row, broken: Broken) -> int:
    with pytest.raises(Infeasible) as refused:
        in_memory(broken.graph, row.action)
    (unmet,) = refused.value.unmet
    assert broken.says in str(refused.value), row.action
    return OPERATORS[parse_action(row.action).name].requires.index(unmet.requirement)


@pytest.mark.parametrize("row", ALL, ids=[row.action for row in ALL])
def test_an_action_has_its_effects_and_can_be_undone(store: SceneStore, row: Row) -> None:
    scene = put(store, row.graph)
    (step,) = Simulator(store, scene).act(row.action)
    after = store.load(scene.name).graph
    assert after == in_memory(row.graph, row.action)
    assert (after != row.graph) == bool(OPERATORS[parse_action(row.action).name].effects)
    assert after.relations >= set(row.gained)
    for id_, states in row.states:
        assert after.nodes[id_].states == tuple(states.split())
    (event,) = store.history(scene)
    assert (event.action, event.actor, event.delta, event.version) == (row.action, "person", step.delta, step.version)
    store.undo(scene)
    assert store.load(scene.name).graph == row.graph


@pytest.mark.parametrize(("row", "broken"), BREAKS, ids=BREAK_NAMES)
def test_a_broken_requirement_is_named_and_nothing_changes(store: SceneStore, row: Row, broken: Broken) -> None:
    scene = put(store, broken.graph)
    with pytest.raises(Infeasible) as in_database:
        list(Simulator(store, scene).act(row.action))
    with pytest.raises(Infeasible) as in_memory_result:
        in_memory(broken.graph, row.action)
    assert in_database.value.reasons == in_memory_result.value.reasons
    (reason,) = in_database.value.reasons
    assert broken.says in reason
    snapshot = store.load(scene.name)
    assert (snapshot.graph, snapshot.info.version) == (broken.graph, 0)
    assert store.history(scene) == []
