"""The algebra's own functions, by which other modules walk and change conditions."""

from __future__ import annotations

import json

from hypothesis import given

import scenecypher.db.condition as c
from tests.strategies import conditions


def rebuilt(condition: c.Condition, parts: tuple[c.Condition, ...]) -> c.Condition:
    """Return the condition made again of its children, which must be `parts` in order."""
    left = iter(parts)
    made = c.map_children(condition, lambda _: next(left))
    assert [*left] == []
    return made


@given(conditions())
def test_a_condition_is_made_again_of_its_children(condition: c.Condition) -> None:
    """A form whose children are not walked, or not in the order in which they are changed."""
    assert c.fold(condition, rebuilt) == condition
    count: int = c.fold(condition, lambda _, parts: 1 + sum(parts))
    assert count == json.dumps(c.condition_document(condition)).count('{"op": '), "every form within is walked"


@given(conditions())
def test_only_what_is_not_bound_inside_is_free(condition: c.Condition) -> None:
    """A variable that is taken for free, or for bound: binding it would change another one."""
    free = c.free_variables(condition)
    assert c.bind(condition, {name: name for name in free}) == condition
    closed = c.bind(condition, {name: c.Id("node") for name in free})
    assert c.free_variables(closed) == frozenset()
    assert free <= {term for atom in c.atoms_of(condition) for term in c.terms(atom)}


def test_connectives_are_flattened_one_sort_at_a_time() -> None:
    x, y, z = (c.HasState("x", state) for state in ("open", "on", "clean"))
    nested = c.Or((x, c.Or((c.And((y, z)),))))
    assert [*c.disjuncts(nested)] == [x, c.And((y, z))]
    assert [*c.conjuncts(nested)] == [nested]
    assert [*c.conjuncts(c.And((x, c.And((y, nested)))))] == [x, y, nested]
