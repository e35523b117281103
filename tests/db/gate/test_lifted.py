"""Numbers as parameters: a query has the same meaning and verdict with and without them."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from scenecypher.db.gate import Limits, Plan
from scenecypher.db.gate.judge import check_plan
from scenecypher.db.gate.messages import EXPLAIN
from scenecypher.db.gate.run import collect, run_scoped
from scenecypher.db.gate.scope import ScopedQuery, scope
from scenecypher.db.store.connection import Database
from scenecypher.errors import QueryFailed, QueryRefused
from tests.db.gate.conftest import HOME
from tests.db.gate.corpus import HOME_BOUNDS, VOCABULARY, cases, rows_of
from tests.sampling import sample

LIMITS = Limits()
TIMEOUT_S = 20.0
NUMBER = re.compile(r"\$(__[if]\d+)")


def scoped(text: str) -> ScopedQuery:
    return scope(text, VOCABULARY, LIMITS, bounds=HOME_BOUNDS)


def written_out(one: ScopedQuery) -> ScopedQuery:
    """Return the query with its numbers as the model wrote them."""
    return replace(one, text=NUMBER.sub(lambda match: repr(one.parameters[match.group(1)]), one.text))


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("MATCH (n {size_x: 3}) RETURN n.name", [3]),
        ("MATCH (n) WHERE n.size_x > 2 AND n.confidence <= 0.5 RETURN n.name LIMIT 5", [2, 0.5, 5]),
        ("MATCH (n) WITH n, COUNT { (n)-->() } AS c WHERE c = 1 OR (c <> 1) RETURN CASE WHEN c < 7 THEN 1 END", [1, 7]),
        ("MATCH (n) RETURN n LIMIT 5;", [5]),
    ],
)
def test_numbers_that_are_compared_and_the_last_limit_are_parameters(text: str, numbers: list[float]) -> None:
    values = [value for value in scoped(text).parameters.values() if not isinstance(value, str)]
    assert values == numbers
    assert [type(value) for value in values] == [type(number) for number in numbers]


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (n)-[:ON*1..3]->(m) RETURN n",
        "MATCH p = SHORTEST 3 (n)-[:ON]-{1,4}(m) RETURN [x IN nodes(p) | x.name][0]",
        "UNWIND range(1, 5) AS i RETURN i + 1",
        "MATCH (n) WITH n LIMIT 5 MATCH (m) RETURN m",
        "MATCH (n) RETURN n LIMIT 101",
        "MATCH (n) RETURN n LIMIT 5 UNION MATCH (n) RETURN n",
        "CALL { MATCH (n) RETURN n LIMIT 5 } RETURN n",
        "MATCH (n) RETURN n SKIP 5 LIMIT 2 + 3",
        "MATCH (n) WHERE 1 = 1 AND n.size_x = -1 AND n.size_x < 2 + 3 RETURN n",
        "LET x = 5 RETURN x",
        "RETURN round(2.5, 1) AS r, [1, 2][1] AS i, point({x: 1, y: 2}) AS p, percentileCont(3, 0.5) AS m",
    ],
)
def test_numbers_on_which_a_plan_or_a_rule_depends_stand_in_the_shape(text: str) -> None:
    assert scoped(text).parameters == {}


def lifted() -> list[Any]:
    found = []
    for case in cases():
        try:
            one = scoped(case.cypher)
        except QueryRefused:
            continue
        if NUMBER.search(one.text):
            found.append(pytest.param(one, id=case.id))
    assert len(found) > 20
    return sample(found, 14)


@pytest.mark.parametrize("one", lifted())
def test_a_query_has_one_verdict_and_one_answer(scenes: Database, one: ScopedQuery) -> None:
    with_numbers, without = outcome(scenes, written_out(one)), outcome(scenes, one)
    assert without == with_numbers


def outcome(database: Database, one: ScopedQuery) -> tuple[str, list[str], list[str]]:
    """Return the verdict, the operators of the plan and the rows."""
    try:
        with run_scoped(database, EXPLAIN + one.text, one, HOME, seconds=TIMEOUT_S, mark="test") as result:
            summary = result.consume()
        plan = Plan.of(summary.plan or {"operatorType": "none"})
        check_plan(plan, summary.query_type)
        with run_scoped(database, one.text, one, HOME, seconds=TIMEOUT_S, mark="test") as result:
            return "accepted", [step.operator for step in plan], rows_of(collect(result, one, LIMITS)[1])
    except QueryRefused as refused:
        return refused.code, [], []
    except QueryFailed as failed:
        return failed.code, [], []


SHAPES: dict[str, Callable[[int], str]] = {
    "compared": lambda number: f"MATCH (o:Object) WHERE size(o.states) < {number} RETURN o.name",
    "limited": lambda number: f"MATCH (o:Object) RETURN o.name ORDER BY o.name LIMIT {number}",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_numbers_share_a_shape(shape: str) -> None:
    assert len({scoped(SHAPES[shape](number)).text for number in (1, 2, 30)}) == 1


def test_whole_numbers_and_others_have_shapes_of_their_own() -> None:
    one, other = (scoped(f"MATCH (o:Object) WHERE o.size_x = {number} RETURN o") for number in ("1", "1.0"))
    assert one.text != other.text, "the server plans for their types"
