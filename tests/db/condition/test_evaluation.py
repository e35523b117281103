"""Evaluation of Conditions: two-valued, false of absent nodes, and conforming to the laws of logic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import process_time

import pytest
from hypothesis import given

import scenecypher.db.condition as c
from scenecypher.db.graph.change import value_of
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.graph.value import InvalidValue, same_value
from scenecypher.db.schema import HOLDING
from tests.strategies import atoms, bound, choices, conditions, scene_graphs

Choices = dict[str, int]


def plain(  # noqa: C901, PLR0911  a branch an operator
    condition: c.Condition, graph: SceneGraph, bindings: Mapping[str, str]
) -> bool:
    """Return the value of a condition by its definition, without regard to speed."""

    def count(var: str, *wheres: c.Condition) -> int:
        found = [{**bindings, var: node_id} for node_id in graph.nodes]
        return sum(all(plain(where, graph, each) for where in wheres) for each in found)

    match condition:
        case c.And():
            return {plain(part, graph, bindings) for part in condition.parts} <= {True}
        case c.Or():
            return True in {plain(part, graph, bindings) for part in condition.parts}
        case c.Not():
            return not plain(condition.part, graph, bindings)
        case c.Exists():
            return count(condition.var, condition.where) > 0
        case c.ForAll():
            return count(condition.var, condition.where, c.Not(condition.then)) == 0
        case c.AtLeast():
            return count(condition.var, condition.where) >= condition.n
        case c.Exactly():
            return count(condition.var, condition.where) == condition.n
        case _:
            found = [graph.nodes.get(bindings.get(t, "") if isinstance(t, str) else t.id) for t in c.terms(condition)]
            there = [node for node in found if node is not None]
            return len(there) == len(found) and plain_atom(condition, there, graph)


def plain_atom(  # noqa: C901, PLR0911  a branch an operator
    atom: c.Atom, nodes: Sequence[Node], graph: SceneGraph
) -> bool:
    """Return the value of `atom` about `nodes`, all present."""
    one, other = nodes[0], nodes[-1]
    links = {(r.source, r.type, r.target) for r in graph.relations}
    match atom:
        case c.HasState():
            return atom.state in one.states
        case c.HasAffordance():
            return atom.affordance in one.affordances
        case c.HasClass():
            return one.class_ == atom.class_
        case c.HasKind():
            return one.kind == atom.kind
        case c.PropertyEquals():
            return same_value(value_of(one, atom.key), atom.value)
        case c.Related():
            return (one.id, atom.type, other.id) in links
        case c.HeldBy():
            return any((other.id, type_, one.id) in links for type_ in HOLDING)
        case c.Same():
            return one.id == other.id
        case c.Within():
            reached: set[str] = set()
            for _ in graph.nodes:
                reached |= {end for start, type_, end in links if type_ in atom.types and start in {one.id, *reached}}
            return other.id in reached


@given(conditions(), scene_graphs(), choices())
def test_narrowing_the_candidates_changes_no_value(condition: c.Condition, graph: SceneGraph, chosen: Choices) -> None:
    bindings = bound(chosen, graph)
    assert c.evaluate(condition, graph, bindings) is plain(condition, graph, bindings)


@given(conditions(4), conditions(4), scene_graphs(), choices())
def test_the_laws_of_logic_hold(one: c.Condition, other: c.Condition, graph: SceneGraph, chosen: Choices) -> None:
    bindings = bound(chosen, graph)

    def same(left: c.Condition, right: c.Condition) -> bool:
        return c.evaluate(left, graph, bindings) is c.evaluate(right, graph, bindings)

    assert same(c.Not(c.Not(one)), one)
    assert same(c.Not(c.And((one, other))), c.Or((c.Not(one), c.Not(other))))
    assert same(c.Not(c.Or((one, other))), c.And((c.Not(one), c.Not(other))))
    assert same(c.Or((one, c.Not(one))), c.And(()))
    assert same(c.And((one, c.Not(one))), c.Or(()))
    assert same(c.Not(c.Exists("x", one)), c.ForAll("x", one, c.Or(())))
    assert same(c.Not(c.ForAll("x", one, other)), c.Exists("x", c.And((one, c.Not(other)))))
    assert same(c.Exists("x", one), c.AtLeast(1, "x", one))
    assert same(c.Exactly(2, "x", one), c.And((c.AtLeast(2, "x", one), c.Not(c.AtLeast(3, "x", one)))))
    assert same(c.AtLeast(0, "x", one), c.And(()))


@given(atoms(), scene_graphs())
def test_an_unbound_variable_is_false(atom: c.Condition, graph: SceneGraph) -> None:
    without = SceneGraph.of()
    assert c.evaluate(atom, without, {}) is False
    assert c.evaluate(c.Not(atom), without, {"x": "a"}) is True
    assert c.evaluate(c.Exists("x", atom), without, {}) is False
    assert c.evaluate(c.ForAll("x", c.And(()), atom), without, {}) is True
    assert isinstance(c.evaluate(atom, graph, {}), bool)


def test_a_variable_shadows_the_one_outside() -> None:
    graph = SceneGraph.of([Node("a", "Object", "a", "a", ("open",)), Node("b", "Object", "b", "b")])
    inner = c.Exists("x", c.HasState("x", "open"))
    assert c.evaluate(c.And((c.Not(c.HasState("x", "open")), inner)), graph, {"x": "b"})
    assert c.evaluate(c.Exists("x", c.And((c.HasClass("x", "b"), inner))), graph, {})
    assert not c.evaluate(c.Exists("x", c.And((c.Same("x", c.Id("b")), c.HasState("x", "open")))), graph, {"x": "a"})


def test_witnesses_come_in_a_fixed_order() -> None:
    graph = SceneGraph.of(
        [Node(f"n{number}", "Object", "n", "n") for number in range(9)],
        [Relation(f"n{number}", "ON", "n0") for number in (7, 3, 5)],
    )
    assert [*c.witnesses("x", c.Related("x", "ON", c.Id("n0")), graph=graph, bindings={})] == ["n3", "n5", "n7"]


def test_quantifiers_search_neighbours_before_the_whole_scene() -> None:
    """Four quantifiers over 2,000 nodes: without narrowing these are 16 million million evaluations."""
    nodes = [Node(f"n{number}", "Object", "n", f"c{number % 100}") for number in range(2_000)]
    graph = SceneGraph.of(nodes, [Relation(f"n{number}", "ON", f"n{number + 1}") for number in range(1_999)])
    deep: c.Condition = c.HasState("e", "open")
    for here, above in (("e", "d"), ("d", "c"), ("c", "b")):
        deep = c.Exists(here, c.And((c.Related(above, "ON", here), deep)))
    started = process_time()
    assert not c.evaluate(c.Exists("b", c.And((c.HasClass("b", "c7"), deep))), graph, {})
    assert process_time() - started < 2


def test_a_chain_of_ten_thousand_is_within() -> None:
    nodes = [Node(f"n{number}", "Object", "n", "n") for number in range(10_000)]
    graph = SceneGraph.of(nodes, [Relation(f"n{number}", "ON", f"n{number + 1}") for number in range(9_999)])
    assert c.evaluate(c.Within(c.Id("n0"), c.Id("n9999")), graph, {})
    assert not c.evaluate(c.Within(c.Id("n9999"), c.Id("n0")), graph, {})


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: c.HasKind("x", "Room"), "kind 'Room' is none of"),
        (lambda: c.HasState("x", ""), "state is empty"),
        (lambda: c.HasState("x", "s" * 101), "state: 101 characters"),
        (lambda: c.HasClass("x", "a\nb"), "class: .* control character"),
        (lambda: c.HasAffordance("x", ""), "affordance is empty"),
        (lambda: c.Id(""), "id is empty"),
        (lambda: c.Related("x", "on", "y"), "relation type 'on' must be"),
        (lambda: c.Within("x", "y", ("ON", "]->()")), "relation type .* must be"),
        (lambda: c.Within("x", "y", ()), "needs at least one relation type"),
        (lambda: c.PropertyEquals("x", "scene", "k"), "'scene' is no property name"),
        (lambda: c.PropertyEquals("x", "states", ("open",)), "'states' is no property name"),
        (lambda: c.PropertyEquals("x", "color", float("nan")), "color: nan is outside"),
        (lambda: c.Exists("a b", c.And(())), "variable 'a b' must be"),
        (lambda: c.ForAll("1x", c.And(()), c.And(())), "variable '1x' must be"),
        (lambda: c.AtLeast(-1, "x", c.And(())), "a whole number from 0 to 1,000,000,000, not -1"),
        (lambda: c.AtLeast(2**63, "x", c.And(())), "from 0 to 1,000,000,000, not a whole number"),
        (lambda: c.Exactly(n=True, var="x", where=c.And(())), "from 0 to 1,000,000,000, not True"),
        (lambda: c.Exactly(1.0, "x", c.And(())), "from 0 to 1,000,000,000, not 1.0"),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_an_invalid_condition_is_refused(make: Callable[[], object], says: str) -> None:
    with pytest.raises(InvalidValue, match=says):
        make()


def test_conditions_are_type_strict_values() -> None:
    numbers = {c.PropertyEquals("x", "size_x", value) for value in (1, 1.0, True)}
    assert len(numbers) == 3
    assert c.HasState("x", "e\u0301") == c.HasState("x", "é")
    assert hash(c.And((c.HasState("x", "a"),))) == hash(c.And((c.HasState("x", "a"),)))
