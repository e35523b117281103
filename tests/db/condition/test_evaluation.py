"""The value of a Condition: two-valued, absent is false, and the laws of logic hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import process_time

import pytest
from hypothesis import given

from scenecypher.db.condition import (
    And,
    AtLeast,
    Atom,
    Condition,
    Exactly,
    Exists,
    ForAll,
    HasAffordance,
    HasClass,
    HasKind,
    HasState,
    HeldBy,
    Id,
    Not,
    Or,
    PropertyEquals,
    Related,
    Same,
    Within,
    evaluate,
    terms,
    witnesses,
)
from scenecypher.db.graph.change import value_of
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.graph.value import InvalidValue, same_value
from scenecypher.db.schema import HOLDING
from tests.strategies import atoms, bound, choices, conditions, scene_graphs

Choices = dict[str, int]


def plain(  # noqa: C901, PLR0911  a branch an operator
    condition: Condition, graph: SceneGraph, bindings: Mapping[str, str]
) -> bool:
    """The meaning of each operator, spelt out with no thought of speed."""

    def count(var: str, *wheres: Condition) -> int:
        found = [{**bindings, var: node_id} for node_id in graph.nodes]
        return sum(all(plain(where, graph, each) for where in wheres) for each in found)

    match condition:
        case And():
            return {plain(part, graph, bindings) for part in condition.parts} <= {True}
        case Or():
            return True in {plain(part, graph, bindings) for part in condition.parts}
        case Not():
            return not plain(condition.part, graph, bindings)
        case Exists():
            return count(condition.var, condition.where) > 0
        case ForAll():
            return count(condition.var, condition.where, Not(condition.then)) == 0
        case AtLeast():
            return count(condition.var, condition.where) >= condition.n
        case Exactly():
            return count(condition.var, condition.where) == condition.n
        case _:
            found = [graph.nodes.get(bindings.get(t, "") if isinstance(t, str) else t.id) for t in terms(condition)]
            there = [node for node in found if node is not None]
            return len(there) == len(found) and plain_atom(condition, there, graph)


def plain_atom(  # noqa: C901, PLR0911  a branch an operator
    atom: Atom, nodes: Sequence[Node], graph: SceneGraph
) -> bool:
    """`atom` about `nodes`, which are there."""
    one, other = nodes[0], nodes[-1]
    links = {(r.source, r.type, r.target) for r in graph.relations}
    match atom:
        case HasState():
            return atom.state in one.states
        case HasAffordance():
            return atom.affordance in one.affordances
        case HasClass():
            return one.class_ == atom.class_
        case HasKind():
            return one.kind == atom.kind
        case PropertyEquals():
            return same_value(value_of(one, atom.key), atom.value)
        case Related():
            return (one.id, atom.type, other.id) in links
        case HeldBy():
            return any((other.id, type_, one.id) in links for type_ in HOLDING)
        case Same():
            return one.id == other.id
        case Within():
            reached: set[str] = set()
            for _ in graph.nodes:
                reached |= {end for start, type_, end in links if type_ in atom.types and start in {one.id, *reached}}
            return other.id in reached


@given(conditions(), scene_graphs(), choices())
def test_narrowing_the_candidates_changes_no_value(condition: Condition, graph: SceneGraph, chosen: Choices) -> None:
    bindings = bound(chosen, graph)
    assert evaluate(condition, graph, bindings) is plain(condition, graph, bindings)


@given(conditions(4), conditions(4), scene_graphs(), choices())
def test_the_laws_of_logic_hold(one: Condition, other: Condition, graph: SceneGraph, chosen: Choices) -> None:
    bindings = bound(chosen, graph)

    def same(left: Condition, right: Condition) -> bool:
        return evaluate(left, graph, bindings) is evaluate(right, graph, bindings)

    assert same(Not(Not(one)), one)
    assert same(Not(And((one, other))), Or((Not(one), Not(other))))
    assert same(Not(Or((one, other))), And((Not(one), Not(other))))
    assert same(Or((one, Not(one))), And(()))
    assert same(And((one, Not(one))), Or(()))
    assert same(Not(Exists("x", one)), ForAll("x", one, Or(())))
    assert same(Not(ForAll("x", one, other)), Exists("x", And((one, Not(other)))))
    assert same(Exists("x", one), AtLeast(1, "x", one))
    assert same(Exactly(2, "x", one), And((AtLeast(2, "x", one), Not(AtLeast(3, "x", one)))))
    assert same(AtLeast(0, "x", one), And(()))


@given(atoms(), scene_graphs())
def test_what_is_unbound_is_false(atom: Condition, graph: SceneGraph) -> None:
    without = SceneGraph.of()
    assert evaluate(atom, without, {}) is False
    assert evaluate(Not(atom), without, {"x": "a"}) is True
    assert evaluate(Exists("x", atom), without, {}) is False
    assert evaluate(ForAll("x", And(()), atom), without, {}) is True
    assert isinstance(evaluate(atom, graph, {}), bool)


def test_a_variable_shadows_the_one_outside() -> None:
    graph = SceneGraph.of([Node("a", "Object", "a", "a", ("open",)), Node("b", "Object", "b", "b")])
    inner = Exists("x", HasState("x", "open"))
    assert evaluate(And((Not(HasState("x", "open")), inner)), graph, {"x": "b"})
    assert evaluate(Exists("x", And((HasClass("x", "b"), inner))), graph, {})
    assert not evaluate(Exists("x", And((Same("x", Id("b")), HasState("x", "open")))), graph, {"x": "a"})


def test_witnesses_come_in_a_fixed_order() -> None:
    graph = SceneGraph.of(
        [Node(f"n{number}", "Object", "n", "n") for number in range(9)],
        [Relation(f"n{number}", "ON", "n0") for number in (7, 3, 5)],
    )
    assert [*witnesses("x", Related("x", "ON", Id("n0")), graph=graph, bindings={})] == ["n3", "n5", "n7"]


def test_quantifiers_look_at_neighbours_before_the_whole_scene() -> None:
    """Four quantifiers over 2,000 nodes: with no narrowing that were 16 million million looks."""
    nodes = [Node(f"n{number}", "Object", "n", f"c{number % 100}") for number in range(2_000)]
    graph = SceneGraph.of(nodes, [Relation(f"n{number}", "ON", f"n{number + 1}") for number in range(1_999)])
    deep: Condition = HasState("e", "open")
    for here, above in (("e", "d"), ("d", "c"), ("c", "b")):
        deep = Exists(here, And((Related(above, "ON", here), deep)))
    started = process_time()
    assert not evaluate(Exists("b", And((HasClass("b", "c7"), deep))), graph, {})
    assert process_time() - started < 2


def test_a_chain_of_ten_thousand_is_within() -> None:
    nodes = [Node(f"n{number}", "Object", "n", "n") for number in range(10_000)]
    graph = SceneGraph.of(nodes, [Relation(f"n{number}", "ON", f"n{number + 1}") for number in range(9_999)])
    assert evaluate(Within(Id("n0"), Id("n9999")), graph, {})
    assert not evaluate(Within(Id("n9999"), Id("n0")), graph, {})


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: HasKind("x", "Room"), "kind 'Room' is none of"),
        (lambda: HasState("x", ""), "state is empty"),
        (lambda: HasState("x", "s" * 101), "state: 101 characters"),
        (lambda: HasClass("x", "a\nb"), "class: .* control character"),
        (lambda: HasAffordance("x", ""), "affordance is empty"),
        (lambda: Id(""), "id is empty"),
        (lambda: Related("x", "on", "y"), "relation type 'on' must be"),
        (lambda: Within("x", "y", ("ON", "]->()")), "relation type .* must be"),
        (lambda: Within("x", "y", ()), "needs at least one relation type"),
        (lambda: PropertyEquals("x", "scene", "k"), "'scene' is no property name"),
        (lambda: PropertyEquals("x", "states", ("open",)), "'states' is no property name"),
        (lambda: PropertyEquals("x", "color", float("nan")), "color: nan is outside"),
        (lambda: Exists("a b", And(())), "variable 'a b' must be"),
        (lambda: ForAll("1x", And(()), And(())), "variable '1x' must be"),
        (lambda: AtLeast(-1, "x", And(())), "a whole number from 0 to 1,000,000,000, not -1"),
        (lambda: AtLeast(2**63, "x", And(())), "from 0 to 1,000,000,000, not a whole number"),
        (lambda: Exactly(n=True, var="x", where=And(())), "from 0 to 1,000,000,000, not True"),
        (lambda: Exactly(1.0, "x", And(())), "from 0 to 1,000,000,000, not 1.0"),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_a_condition_that_makes_no_sense_is_refused(make: Callable[[], object], says: str) -> None:
    with pytest.raises(InvalidValue, match=says):
        make()


def test_conditions_are_values_that_heed_types() -> None:
    numbers = {PropertyEquals("x", "size_x", value) for value in (1, 1.0, True)}
    assert len(numbers) == 3
    assert HasState("x", "e\u0301") == HasState("x", "é")
    assert hash(And((HasState("x", "a"),))) == hash(And((HasState("x", "a"),)))
