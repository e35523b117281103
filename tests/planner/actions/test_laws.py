"""Laws of acting: any sequence can be undone exactly, and memory and database agree."""

from __future__ import annotations

from typing import Final

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scenecypher.db.graph.delta import Delta, apply, compose, invert
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.actions.execution import Infeasible, simulate
from scenecypher.planner.actions.operator import AGENT
from scenecypher.planner.actions.simulator import Simulator
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.vocabularies.vocabulary import operators_of
from tests.db.store.test_store import fresh
from tests.planner.actions.flat import FLAT
from tests.planner.actions.worlds import HOME, ROBOT, edited
from tests.sampling import FULL

VOCABULARIES: Final = ("virtualhome", "virtualhome_ext")
STATES: Final = ("open", "closed", "on", "off", "plugged_in", "plugged_out", "dirty", "sitting", "lying")
TYPES: Final = ("INSIDE", "ON", "CLOSE", "FACING", "HOLDS_RH", "HOLDS_LH", "TAKEN_OFF", "TAKEN_OUT_OF", "TAKEN_FROM")
FEW_EXAMPLES: Final = settings(
    max_examples=150 if FULL else 6, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@st.composite
def homes(draw: st.DrawFn) -> SceneGraph:
    """Draw one of the tiny homes with a few unusual states and relations."""
    graph = draw(st.sampled_from((FLAT, HOME)))
    all_ids = st.sampled_from(sorted(graph.nodes))
    relation = st.builds(Relation, all_ids, st.sampled_from(TYPES), all_ids)
    states = st.lists(st.sampled_from(STATES), max_size=2, unique=True).map(" ".join)
    return edited(
        graph,
        states=draw(st.dictionaries(all_ids, states, max_size=3)),
        add=draw(st.lists(relation, max_size=6)),
    )


@st.composite
def episodes(draw: st.DrawFn, *, longest: int) -> tuple[str, SceneGraph, list[ActionCall]]:
    """Draw a vocabulary, a home and actions in it, some of them feasible; repetitions are likely."""
    vocabulary, graph = draw(st.sampled_from(VOCABULARIES)), draw(homes())
    operators = list(operators_of(vocabulary).values())
    ids = draw(st.lists(st.sampled_from(sorted(graph.nodes)), min_size=2, max_size=4, unique=True))
    chosen = draw(st.lists(st.sampled_from(operators), min_size=longest // 2, max_size=longest))
    calls = [ActionCall(each.name, tuple(draw(st.sampled_from(ids)) for _ in each.parameters)) for each in chosen]
    return vocabulary, graph, calls


def outcome(vocabulary: str, graph: SceneGraph, call: ActionCall) -> Delta | tuple[str, ...]:
    """Return what an action changes in memory, or why it is refused."""
    operator = operators_of(vocabulary)[call.name]
    names = (parameter.name for parameter in operator.parameters)
    arguments = {AGENT: ROBOT, **dict(zip(names, call.arguments, strict=True))}
    try:
        return simulate(operator, graph, arguments, action=str(call))
    except Infeasible as refused:
        return refused.reasons


@given(episodes(longest=24))
def test_actions_can_be_undone_exactly(episode: tuple[str, SceneGraph, list[ActionCall]]) -> None:
    vocabulary, before, calls = episode
    graph, deltas = before, []
    for call in calls:
        delta = outcome(vocabulary, graph, call)
        if isinstance(delta, Delta):
            assert Delta.of(delta.changes) == delta, "an action says each fact once"
            graph = apply(graph, delta)
            deltas.append(delta)
    assert apply(graph, invert(compose(deltas))) == before
    assert apply(before, compose(deltas)) == graph
    for delta in reversed(deltas):
        graph = apply(graph, invert(delta))
    assert graph == before


@FEW_EXAMPLES
@given(episode=episodes(longest=8))
def test_database_and_memory_agree(store: SceneStore, episode: tuple[str, SceneGraph, list[ActionCall]]) -> None:
    vocabulary, before, calls = episode
    name = fresh("law")
    store.put(ImportedScene(name, before, vocabulary=vocabulary))
    scene = store.find(name)
    simulator, graph = Simulator(store, scene, agent=ROBOT), before
    for call in calls:
        expected = outcome(vocabulary, graph, call)
        assert in_database(simulator, call) == expected, call
        if isinstance(expected, Delta):
            graph = apply(graph, expected)
    assert store.load(name).graph == graph
    if graph != before:
        store.undo(scene, to=0)
        assert store.load(name).graph == before
    store.delete(name)


def in_database(simulator: Simulator, call: ActionCall) -> Delta | tuple[str, ...]:
    try:
        (step,) = simulator.act(str(call))
    except Infeasible as refused:
        return refused.reasons
    return step.delta


def test_enough_generated_actions_are_feasible() -> None:
    """Without feasible actions the laws would hold vacuously."""
    feasible: list[bool] = []

    @settings(max_examples=60, database=None, derandomize=True)
    @given(episodes(longest=24))
    def collect(episode: tuple[str, SceneGraph, list[ActionCall]]) -> None:
        vocabulary, graph, calls = episode
        for call in calls:
            delta = outcome(vocabulary, graph, call)
            graph = apply(graph, delta) if isinstance(delta, Delta) else graph
            feasible.append(bool(delta) and isinstance(delta, Delta))

    collect()
    assert sum(feasible) > len(feasible) / 20
