"""Written problems mean what the operators do, by a small interpreter of PDDL."""

from __future__ import annotations

import random
from collections.abc import Mapping
from itertools import product
from typing import Final

import pytest

from scenecypher.db.condition import (
    And,
    AtLeast,
    Condition,
    Exactly,
    Exists,
    ForAll,
    HasAffordance,
    HasClass,
    HasState,
    HeldBy,
    Id,
    Not,
    Or,
    PropertyEquals,
    Related,
    Same,
    Within,
    atoms_of,
)
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.schema import HOLDING
from scenecypher.planner.actions.execution import Infeasible
from scenecypher.planner.actions.operator import (
    AGENT,
    Assign,
    Become,
    Cease,
    Choose,
    Effect,
    ForEach,
    Forget,
    Operator,
    Parameter,
    Relate,
    Requirement,
    Unrelate,
    When,
    is_bound,
    simple_effects,
)
from scenecypher.planner.actions.text import ActionCall, parse_action
from scenecypher.planner.symbolic.states import PlanningState
from scenecypher.planner.symbolic.write import write_problem
from scenecypher.planner.vocabularies.virtualhome.operators import OPERATORS as VIRTUALHOME
from scenecypher.planner.vocabularies.vocabulary import operators_of
from tests.planner.actions.flat import FLAT_ROWS
from tests.planner.actions.grasif_worlds import ROBOT, home, random_home
from tests.planner.actions.worlds import HOME as WALKED
from tests.planner.actions.worlds import ROBOT as WALKER
from tests.planner.actions.worlds import ROWS, Row, edited
from tests.planner.symbolic.semantics import Fact, Semantics
from tests.sampling import sample

VOCABULARIES: Final = ("household", "grasif", "virtualhome", "virtualhome_ext", "babyai")
HOME: Final = home()


def everything(operators: Mapping[str, Operator], graph: SceneGraph) -> Condition:
    """Return a goal that every effect matters to."""
    effects = [effect for it in operators.values() for effect in simple_effects(it.effects)]
    states = {state for node in graph.nodes.values() for state in node.states}
    states |= {it.state for it in effects if isinstance(it, Become)}
    types = {it.type for it in graph.relations} | {it.type for it in effects if isinstance(it, Relate)}
    x = Id(min(graph.nodes))
    return Or((*(HasState(x, it) for it in sorted(states)), *(Related(x, it, x) for it in sorted(types))))


CONTAINMENT: Final = ("INSIDE", "ON", "UNDER", "ATTACHED_TO")


def check_call(state: PlanningState, call: ActionCall, goal: Condition, parents: frozenset[str] = frozenset()) -> bool:
    """Check that a call is possible in the written problem if it is, and does there what it does; return if it is."""
    written = write_problem(state.operators, state.graph, state.agent, goal, parents=parents)
    semantics = Semantics(written.domain, written.problem)
    names = {operator: name for name, operator in written.operators.items()}
    ids = {node: name for name, node in written.nodes.items()}
    step: Fact = (names[call.name], *(ids[it] for it in call.arguments))
    found = semantics.after(step, semantics.start) if step[0] in semantics.actions else semantics.start
    try:
        end = state.after(call)
    except Infeasible:
        assert found is None or step[0] not in semantics.actions, f"{call} is possible"
        return False
    again = write_problem(state.operators, end.graph, state.agent, goal, parents=parents)
    assert found == Semantics(again.domain, again.problem).start, call
    return True


FACED: Final = Row("turn_to(table_20)", edited(WALKED, add=[Relation("cup_30", "FACING", WALKER)]), (), ())
"""A row with a relation to the agent that must remain: only those from it are removed."""


@pytest.mark.parametrize("row", [*ROWS, *FLAT_ROWS, FACED], ids=lambda row: str(row.action))
def test_a_written_action_is_the_operator(row: Row) -> None:
    """Kind: operators of four forms could not be written, so that most vocabularies had a second way to plan."""
    call = parse_action(row.action)
    operators = {call.name: VIRTUALHOME[call.name]}
    goal = everything(operators, row.graph)
    assert check_call(PlanningState(row.graph, WALKER, operators), call, goal)
    for broken in row.broken:
        assert not check_call(PlanningState(broken.graph, WALKER, operators), call, goal)


@pytest.mark.parametrize("seed", sample(range(3), 2))
@pytest.mark.parametrize(("vocabulary", "one_parent"), [("grasif", True), ("grasif", False), ("household", True)])
def test_actions_in_random_homes_are_the_operators(seed: int, vocabulary: str, *, one_parent: bool) -> None:
    """Kind: a choice, the first by id of several nodes, is another node in the plan than in the scene."""
    rng = random.Random(seed)  # noqa: S311
    operators = operators_of(vocabulary)
    state = PlanningState(random_home(rng), ROBOT, operators)
    goal = everything(operators, state.graph)
    parents = frozenset((*CONTAINMENT, *HOLDING)) if one_parent else frozenset[str]()
    for _ in range(3):
        calls = [
            ActionCall(name, ends)
            for name, it in operators.items()
            for ends in product(sorted(state.graph.nodes), repeat=len(it.parameters))
        ]
        possible = [call for call in rng.sample(calls, 6) if check_call(state, call, goal, parents)]
        state = state.after(rng.choice(possible)) if possible else state


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_every_operator_is_written(vocabulary: str) -> None:
    """Kind: an operator of some form is left out, and what only it reaches has no plan."""
    operators = operators_of(vocabulary)
    needed = [atom for it in operators.values() for part in it.requires for atom in atoms_of(part.condition)]
    affordances = tuple(sorted({it.affordance for it in needed if isinstance(it, HasAffordance)}))
    kinds = ("Agent", "Agent", "Place", "Place", "Asset", "Object", "Object")
    nodes = [Node(f"{kind}-{n}", kind, f"{kind}-{n}", "key", (), affordances) for n, kind in enumerate(kinds)]
    graph = SceneGraph.of(nodes, ())
    found = write_problem(operators, graph, "Agent-0", everything(operators, graph))
    acting = {name for name, it in operators.items() if any(map(is_change, simple_effects(it.effects)))}
    assert {found.operators[name] for name in Semantics(found.domain, found.problem).actions} == acting


def is_change(effect: object) -> bool:
    return not isinstance(effect, Assign | Forget | ForEach | When)


# --- forms that no vocabulary has in each combination

X, Y = Parameter("x", "a thing"), Parameter("y", "a thing")
ON: Final = Related("v", "ON", "x")
FIRST_ON: Final = Choose("v", (ON, Related("v", "INSIDE", "x")))


def crowd() -> SceneGraph:
    """Return a table with three cups on it, of which two are open, and a shelf with none, one in it."""
    things = ("agent", "table", "shelf", "cup_1", "cup_2", "cup_3", "cup_4")
    nodes = [Node(it, "Agent" if it == "agent" else "Object", it, it.partition("_")[0]) for it in things]
    nodes = [Node(it.id, it.kind, it.name, it.class_, ("open",) if it.id in ("cup_2", "cup_3") else ()) for it in nodes]
    on = [Relation(it, "ON", "table") for it in ("cup_1", "cup_2", "cup_3")]
    return SceneGraph.of(nodes, [*on, Relation("cup_4", "INSIDE", "shelf"), Relation("shelf", "ON", "cup_1")])


CROWD: Final = crowd()
CONDITIONS: Final = (
    AtLeast(2, "v", ON),
    AtLeast(3, "v", And((ON, HasClass("v", "cup")))),
    AtLeast(4, "v", ON),
    AtLeast(0, "v", ON),
    Exactly(0, "v", ON),
    Exactly(2, "v", And((ON, HasState("v", "open")))),
    Not(AtLeast(2, "v", And((ON, Not(HasState("v", "open")))))),
    ForAll("v", ON, HasState("v", "open")),
    Exists("v", And((ON, ForAll("w", Related("w", "ON", "v"), HasClass("w", "shelf"))))),
    Within("x", "y", ("ON", "INSIDE")),
    Exists("v", And((Within("v", "x", ("ON", "INSIDE")), Not(Same("v", "y")), HasClass("v", "cup")))),
    Not(Within("y", "x", ("ON",))),
    Or((Same("x", "y"), HasState("y", "open"))),
    Exists("X", And((Related("X", "ON", "x"), Same("X", "y")))),
    HasState(Id("nowhere"), "open"),
    Not(HasState(Id("nowhere"), "open")),
    HeldBy("x", AGENT),
)


@pytest.mark.parametrize("condition", CONDITIONS, ids=str)
def test_a_condition_is_true_where_it_is(condition: Condition) -> None:
    """Kind: counting, paths and nested quantifiers are written otherwise than they are evaluated."""
    operator = Operator("mark", (X, Y), (Requirement(condition, ""),), (Become("x", "marked"),), "")
    for x, y in product(sorted(CROWD.nodes), repeat=2):
        state = PlanningState(CROWD, "agent", {"mark": operator})
        check_call(state, ActionCall("mark", (x, y)), HasState(Id("table"), "marked"))


EFFECTS: Final[Mapping[str, tuple[Effect, ...]]] = {
    "of the first, or of none": (Become("v", "marked"),),
    "any other": (Unrelate("x", ("ON", "INSIDE")),),
    "from it alone": (Unrelate("x", ("ON", "INSIDE"), directed=True),),
    "both ways": (Relate("x", "ON", "v", mutual=True), Unrelate("x", ("INSIDE",), "v")),
    "turned round": (Unrelate("x", ("ON",), "v"), Relate("v", "ON", "x")),
    "removed and added at once": (Cease("x", "marked"), Become("x", "marked"), Become("x", "wet")),
    "removed and added": (Unrelate("x", ("ON",)), Relate("v", "ON", "x")),
    "if there is one": (When(is_bound("v"), (Become("x", "marked"),), (Become("x", "empty"),)),),
    "of each": (ForEach("w", Related("w", "ON", "x"), (When(Same("w", "v"), (), (Become("w", "marked"),)),)),),
    "of a second choice": (Become("second", "marked"), Unrelate("v", ("ON",), "second")),
}


@pytest.mark.parametrize("words", EFFECTS)
def test_an_effect_is_what_it_does(words: str) -> None:
    """Kind: an effect on a choice, on any node or both ways is another one in the plan."""
    second = Choose("second", (And((Related("second", "ON", "x"), Not(Same("second", "v")))),))
    operator = Operator("mark", (X,), (), EFFECTS[words], "", (FIRST_ON, second))
    operators = {"mark": operator}
    for x in sorted(CROWD.nodes):
        check_call(PlanningState(CROWD, "agent", operators), ActionCall("mark", (x,)), everything(operators, CROWD))


def test_what_a_goal_does_not_depend_on_is_left_out() -> None:
    """Kind: actions that can't help are ground by the engine for every node."""
    found = write_problem(operators_of("virtualhome"), WALKED, WALKER, HasState(Id("fridge_21"), "open"))
    assert {"walk", "open"} <= set(found.operators.values())
    assert "(:action turn_to" not in found.domain, "nobody asks what is faced"
    assert "(:action wash" not in found.domain
    assert "facing" not in found.problem


def test_a_goal_that_cannot_hold_is_known_at_once() -> None:
    for goal in (HasState(Id("nobody"), "on"), AtLeast(9, "x", HasClass("x", "cup")), HasClass(Id("pen-1"), "cup")):
        assert write_problem(operators_of("grasif"), HOME, ROBOT, goal).is_hopeless
    assert not write_problem(operators_of("grasif"), HOME, ROBOT, Not(HasState(Id("nobody"), "on"))).is_hopeless


def test_a_constant_of_an_action_that_a_part_lacks_changes_nothing() -> None:
    """Kind: the part of a scene that a goal is about has not the dock that an action names."""
    dock = Choose("d", (Same("d", Id("dock")),))
    wash = Operator("wash", (X,), (), (Become("x", "clean"), Become("d", "used")), "", (dock,))
    graph = SceneGraph.of([Node("cup", "Object", "cup", "cup"), Node("agent", "Agent", "agent", "agent")])
    found = write_problem({"wash": wash}, graph, "agent", HasState(Id("cup"), "clean"))
    assert "used" not in found.domain
    assert not found.is_hopeless


def test_a_large_count_is_written() -> None:
    cups = [Node(f"cup{i}", "Object", f"cup{i}", "cup") for i in range(1_200)]
    graph = SceneGraph.of([*cups, Node("agent", "Agent", "agent", "agent")])
    use = Operator("use", (X,), (), (Become("x", "used"),), "")
    assert not write_problem({"use": use}, graph, "agent", AtLeast(1_100, "x", HasState("x", "used"))).is_hopeless


def test_names_that_pddl_does_not_allow_are_replaced_and_found_again() -> None:
    """Kind: two names that differ in case, or in signs alone, become one."""
    nodes = [Node(it, "Object", it, "cup") for it in ("Cup-1", "cup_1", "CUP 1", "1", "and", "\u00fc")]
    graph = SceneGraph.of([*nodes, Node("agent", "Agent", "agent", "agent")])
    operator = Operator("Mark it", (X,), (), (Become("x", "Marked!"),), "")
    found = write_problem({"Mark it": operator}, graph, "agent", HasState(Id("and"), "Marked!"))
    assert len({*found.nodes}) == len(graph.nodes)
    semantics = Semantics(found.domain, found.problem)
    (name,) = semantics.actions
    ends = [semantics.after((name, it), semantics.start) for it in found.nodes]
    met = [
        found.nodes[it]
        for it, end in zip(found.nodes, ends, strict=True)
        if end and semantics.world(end).holds(semantics.goal, {})
    ]
    assert met == ["and"]
    assert found.call((name, "cup_1")).name == "Mark it"


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_no_action_requires_a_property_that_one_changes(vocabulary: str) -> None:
    """Properties are evaluated where a problem is written, so Assign and Forget change no fact."""
    operators = operators_of(vocabulary).values()
    effects = [effect for operator in operators for effect in simple_effects(operator.effects)]
    changed = {effect.key for effect in effects if isinstance(effect, Assign | Forget)}
    required = {
        part.key
        for operator in operators
        for condition in (
            *(each.condition for each in operator.requires),
            *(one for choice in operator.choose for one in choice.among),
        )
        for part in atoms_of(condition)
        if isinstance(part, PropertyEquals)
    }
    assert not changed & required
    expected = {"grasif": {"seen"}, "babyai": {"center"}, "household": {"center", "seen"}}
    assert changed == expected.get(vocabulary, set())
