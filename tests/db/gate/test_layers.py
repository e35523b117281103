"""Tests of the parser and the judge alone: each stops every reading attack without the other."""

import re
from typing import Any, cast

import pytest
from neo4j.exceptions import Neo4jError

from scenecypher.db.gate import Limits, Plan
from scenecypher.db.gate.judge import check_plan
from scenecypher.db.gate.messages import EXPLAIN
from scenecypher.db.gate.run import collect, run_scoped
from scenecypher.db.gate.scope import ScopedQuery, scope
from scenecypher.db.store.connection import Database
from scenecypher.errors import QueryFailed, QueryRefused, QueryTimeout
from tests.db.gate.conftest import HOME
from tests.db.gate.corpus import CANARY, HOME_BOUNDS, VOCABULARY, Case, cases, rows_of, text_of
from tests.sampling import sample

LIMITS = Limits()
TIMEOUT_S = 20.0
RESOURCE_S = 1.0
"""The time limit of attacks on the server's resources, some of which run until then."""
RAW = re.compile(r"^(?:EXPLAIN|PROFILE|CYPHER)\b", re.IGNORECASE)
READS_NOTHING = re.compile(r"linenumber|file\(\)|vector\.similarity|^FINISH|'it''s'|-> ?b RETURN")
SCOPE = re.compile(r" \{scene: \$__scene\}|scene: \$__scene, ")


def parameters(rows: list[Case]) -> list[Any]:
    return [pytest.param(case, id=f"{case.id}-{case.category}") for case in rows]


def attacks() -> list[Case]:
    return [case for case in cases() if case.kind == "attack"]


@pytest.mark.parametrize("case", parameters(sample([case for case in attacks() if case.expect == "no_leak"], 100)))
def test_the_parser_alone(scenes: Database, case: Case) -> None:
    seconds = RESOURCE_S if case.category == "resource" else TIMEOUT_S
    try:
        scoped = scope(case.cypher, VOCABULARY, LIMITS, bounds=HOME_BOUNDS)
        with run_scoped(scenes, scoped.text, scoped, HOME, seconds=seconds, mark="test") as result:
            columns, rows, _ = collect(result, scoped, LIMITS)
    except (QueryRefused, QueryFailed, QueryTimeout):
        return
    assert CANARY not in text_of(rows)
    assert f'"{HOME.key}"' not in text_of(rows)
    assert not any("__" in column for column in columns)


@pytest.mark.parametrize(
    "case",
    parameters(sample([case for case in attacks() if case.category != "resource" and not RAW.match(case.cypher)], 100)),
)
def test_the_judge_alone(scenes: Database, case: Case) -> None:
    """Judge texts as a model wrote them, with the scene's key as a parameter: each plan is refused."""
    if READS_NOTHING.search(case.cypher):
        pytest.skip("reads nothing, or is no Cypher")
    try:
        given = {"__scene": HOME.key, "scene": HOME.key, "p": {}}
        with scenes.run_read_only(
            cast("Any", EXPLAIN + case.cypher), given, timeout_s=TIMEOUT_S, mark="test"
        ) as result:
            summary = result.consume()
    except (QueryFailed, QueryTimeout, Neo4jError):
        return
    plan = Plan.of(summary.plan or {"operatorType": "none"})
    if summary.query_type == "r" and not any(step.operator in READING for step in plan) and "{" not in plan.text():
        return
    with pytest.raises(QueryRefused):
        check_plan(plan, summary.query_type)


READING = frozenset(
    {
        *("AllNodesScan", "NodeByLabelScan", "NodeIndexScan", "NodeIndexSeek", "NodeUniqueIndexSeek"),
        *("NodeByElementIdSeek", "NodeByIdSeek", "NodeCountFromCountStore", "RelationshipCountFromCountStore"),
        *("ProcedureCall", "LoadCSV"),
    }
)


def mutants() -> list[Any]:
    """Return each benign query once per node, without that node's scope."""
    found = []
    for case in cases():
        if case.expect == "rows":
            scoped = scope(case.cypher, VOCABULARY, LIMITS, bounds=HOME_BOUNDS)
            for number, match in enumerate(SCOPE.finditer(scoped.text)):
                text = scoped.text[: match.start()] + scoped.text[match.end() :]
                mutant = ScopedQuery(text, scoped.parameters, scoped.columns, scoped.origin)
                found.append(pytest.param(case, mutant, id=f"{case.id}-{number}"))
    return sample(found, 60)


@pytest.mark.parametrize(("case", "mutant"), mutants())
def test_the_judge_catches_a_parser_that_leaves_one_node_unbound(
    scenes: Database, case: Case, mutant: ScopedQuery, dialects: tuple[str, ...]
) -> None:
    """The query is refused, or its answer is right because the node is connected to a bound one."""
    if not mutant.text.startswith(dialects):
        pytest.skip("the server lacks its clauses")
    with run_scoped(scenes, EXPLAIN + mutant.text, mutant, HOME, seconds=TIMEOUT_S, mark="test") as result:
        summary = result.consume()
    try:
        check_plan(Plan.of(summary.plan or {}), summary.query_type)
    except QueryRefused:
        return
    with run_scoped(scenes, mutant.text, mutant, HOME, seconds=TIMEOUT_S, mark="test") as result:
        _, rows, _ = collect(result, mutant, LIMITS)
    assert rows_of(rows) == rows_of(case.rows or [])
