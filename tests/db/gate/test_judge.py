"""Tests of the judge on plans as the server prints them, each with one fault."""

import pytest

from scenecypher.db.gate import Plan
from scenecypher.db.gate.judge import VERIFIED, bound_name, cannot_fail, check_plan, conditions, subqueries_are_bound
from scenecypher.db.local.jars import Release
from scenecypher.db.schema import Schema
from scenecypher.errors import QueryRefused
from tests.server import OLDEST

SEEK = Plan("NodeIndexSeek", "RANGE INDEX n:Entity(scene) WHERE scene = $__scene, cache[n.name]")
SCAN = Plan("NodeByLabelScan", "n:Object")
INDEX_SCAN = Plan("NodeIndexScan", "RANGE INDEX n:Entity(scene) WHERE scene IS NOT NULL, cache[n.scene]")
SCOPE = "n.scene = $__scene"


def over(leaf: Plan, *operators: Plan) -> Plan:
    """Return a chain of operators over a leaf, the nearest first."""
    for operator in operators:
        leaf = Plan(operator.operator, operator.details, (leaf, *operator.children))
    return Plan("ProduceResults", "n", (leaf,))


def filtered(details: str) -> Plan:
    return Plan("Filter", details)


def for_groups(groups: Plan, *leaf_and_over: Plan) -> Plan:
    """Return an Apply of a leaf for each group, with operators over it."""
    leaf, *operators = leaf_and_over
    return over(Plan("Apply", "", (groups, leaf)), *operators)


def groups(details: str) -> Plan:
    return Plan("EagerAggregation", details, (SEEK,))


ONS = Plan("DirectedRelationshipTypeScan", "(n)-[:ON]->(a)")

FINE = {
    "seek": over(SEEK),
    "unique": over(Plan("NodeUniqueIndexSeek", "UNIQUE n:Entity(scene, id) WHERE scene = $__scene AND id = $__p0")),
    "two seeks": over(Plan("MultiNodeIndexSeek", f"{SEEK.details}, {SEEK.details.replace('n:', 'm:')}")),
    "computed": over(Plan("Projection", "1 AS x")),
    "unwound": over(Plan("Unwind", "[1] AS x")),
    "scan with filter": over(SCAN, filtered(SCOPE)),
    "cached": over(INDEX_SCAN, filtered("cache[n.scene] = $__scene AND 1 / size(n.name) > 0")),
    "label first": over(SCAN, filtered(f"n:Entity AND (NOT n:Door AND {SCOPE}) AND 1 / size(n.name) > 0")),
    "comparison first": over(SCAN, filtered(f"n.name CONTAINS $__p0 AND n.id IN [$a, $b] AND {SCOPE}")),
    "expanded first": over(SCAN, Plan("Expand(All)", "(n)-[r]->(m)"), filtered(SCOPE)),
    "relation scan": over(Plan("DirectedRelationshipTypeScan", "(a)-[r:ON]->(n)"), filtered(SCOPE)),
    "filter over rows of another name": for_groups(Plan("Unwind", "[1] AS x"), ONS, filtered(SCOPE)),
    "filter over groups": for_groups(groups("count(DISTINCT n) AS c, x"), ONS, filtered(f"{SCOPE} AND n:Object")),
    "filter over both": for_groups(
        Plan("Unwind", "[1] AS x, m"), ONS, filtered(f"m.scene = $__scene AND (n:Object OR n:Door) AND {SCOPE}")
    ),
    "self-loop": over(Plan("DirectedAllRelationshipsScan", "(n)-[r]->(anon_0)"), filtered(f"n = anon_0 AND {SCOPE}")),
    "quoted name": over(Plan("NodeByLabelScan", "`my n`:Object"), filtered("`my n`.scene = $__scene")),
    "asked first": over(
        SCAN,
        Plan("SemiApply", "", (Plan("Filter", f"{SCOPE} AND 1 / n.x = 1", (Plan("Argument", "n"),)),)),
        filtered(SCOPE),
    ),
    "hidden": over(
        SEEK,
        Plan(
            "Projection",
            "CASE WHEN EXISTS {   MATCH (m)-[`a`]->(`z`)     WHERE m.scene IN [$__scene] } THEN 1 END AS x",
        ),
    ),
}

REFUSED = {
    "a column of the groups": for_groups(groups("x, n"), ONS, filtered(SCOPE)),
    "a name of the groups": for_groups(groups("count(x) AS `n`"), ONS, filtered(SCOPE)),
    "no group": for_groups(SEEK, ONS, filtered(SCOPE)),
    "another n": for_groups(groups("x"), ONS, Plan("Expand(All)", "(x)-->(n)"), filtered(SCOPE)),
    "groups themselves": for_groups(Plan("EagerAggregation", "count(n) AS c", (SCAN,)), SEEK, filtered(SCOPE)),
    "no scan of all": over(Plan("AllNodesScan", "n"), filtered(SCOPE)),
    "no count store": over(Plan("NodeCountFromCountStore", "count(n)")),
    "no relation count": over(Plan("RelationshipCountFromCountStore", "count(()-[r]->())")),
    "no id": over(Plan("NodeByElementIdSeek", "n WHERE elementId(n) = $x")),
    "no procedure": over(Plan("ProcedureCall", "db.labels()")),
    "no file": over(Plan("LoadCSV", "l")),
    "no command": over(Plan("ShowTransactions", "")),
    "no write": over(SEEK, Plan("SetProperty", "n.x = 1")),
    "unheard of": over(SEEK, Plan("Teleport", "")),
    "bare scan": over(SCAN),
    "another key": over(SCAN, filtered("n.scene = $autostring_0")),
    "another node": over(SCAN, filtered("m.scene = $__scene")),
    "another property": over(SCAN, filtered("n.name = $__scene")),
    "or": over(SCAN, filtered(f"({SCOPE} OR n.id = $x)")),
    "or in front": over(SCAN, filtered(f"n.id = $x OR n.id = $y AND {SCOPE}")),
    "not": over(SCAN, filtered(f"NOT {SCOPE}")),
    "unequal": over(SCAN, filtered("n.scene <> $__scene")),
    "too late": over(SCAN, filtered(f"1 / size(n.name) > 0 AND {SCOPE}")),
    "too late, by function": over(SCAN, filtered(f"toInteger(n.name) = $x AND {SCOPE}")),
    "after a count": over(SCAN, Plan("EagerAggregation", "count(*) AS c, n"), filtered(SCOPE)),
    "after a limit": over(SCAN, Plan("Limit", "3"), filtered(SCOPE)),
    "after a projection": over(SCAN, Plan("Projection", "m AS n"), filtered(SCOPE)),
    "across a union": over(SEEK, Plan("Union", "", (SCAN,)), filtered(SCOPE)),
    "beside": over(SCAN, Plan("CartesianProduct", "", (Plan("Filter", SCOPE, (SEEK,)),))),
    "seek by another": over(Plan("NodeIndexSeek", "RANGE INDEX n:Entity(scene) WHERE scene = $autostring_0")),
    "seek by name": over(Plan("NodeIndexSeek", "RANGE INDEX n:Entity(name) WHERE name = $__scene")),
    "one of two seeks": over(
        Plan("MultiNodeIndexSeek", f"{SEEK.details}, RANGE INDEX m:Entity(scene) WHERE scene = $autostring_0")
    ),
    "asks too much": over(
        SCAN,
        Plan("SemiApply", "", (Plan("Filter", f"1 / n.x = 1 AND {SCOPE}", (Plan("Argument", "n"),)),)),
        filtered(SCOPE),
    ),
    "filter over both, of the first": for_groups(
        Plan("Unwind", "[1] AS x, n"), ONS, filtered(f"x.scene = $__scene AND {SCOPE}")
    ),
    "filter over both, computed first": for_groups(
        Plan("Unwind", "[1] AS x, m"), ONS, filtered(f"1 / n.x = 1 AND m.scene = $__scene AND {SCOPE}")
    ),
    "filter over both, or": for_groups(
        Plan("Unwind", "[1] AS x, m"), ONS, filtered(f"m.scene = $__scene AND ({SCOPE} OR n:Object)")
    ),
    "asks a scan": over(SEEK, Plan("SemiApply", "", (SCAN,))),
    "hidden": over(SEEK, Plan("Projection", "CASE WHEN EXISTS {   MATCH (m)-[`a`]->(z) } THEN 1 END AS x")),
    "hidden or": over(
        SEEK, filtered("any(x IN l WHERE EXISTS {   MATCH (m)     WHERE m.scene IN [$__scene] OR true })")
    ),
    "hidden second path": over(
        SEEK, Plan("Projection", "COUNT {   MATCH (m), (z)     WHERE m.scene IN [$__scene] } AS c")
    ),
    "hidden second match": over(
        SEEK,
        Plan("Projection", "COUNT {   MATCH (m)     WHERE m.scene IN [$__scene]   MATCH (z)   RETURN z } AS c"),
    ),
    "hidden union": over(
        SEEK,
        Plan(
            "Projection",
            "COUNT {   MATCH (m)     WHERE m.scene IN [$__scene]   RETURN m   UNION   MATCH (z)   RETURN z } AS c",
        ),
    ),
}


@pytest.mark.parametrize("name", FINE)
def test_accepted(name: str) -> None:
    check_plan(FINE[name], "r")


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    with pytest.raises(QueryRefused) as refusal:
        check_plan(REFUSED[name], "r")
    assert refusal.value.code == "plan"


def test_an_unknown_operator_is_refused_with_the_version_that_was_not_tested() -> None:
    with pytest.raises(QueryRefused, match=r"\(Teleport of Neo4j 5\.26\.0\)"):
        check_plan(REFUSED["unheard of"], "r", version="5.26.0")


def test_it_is_verified_on_the_servers_that_the_tests_run_on() -> None:
    """Run `tests/db/gate` on a new version before it is named here, with `SCENECYPHER_TEST_FULL=1`."""
    assert (Release.of().version, Release.of(OLDEST).version) == VERIFIED


@pytest.mark.parametrize("query_type", ["rw", "w", "s", None])
def test_only_reads(query_type: str | None) -> None:
    with pytest.raises(QueryRefused) as refusal:
        check_plan(over(SEEK), query_type)
    assert refusal.value.code == "write"


def test_conditions_are_split_as_they_are_evaluated() -> None:
    assert conditions("a:X AND (b.c = $d AND (e:F OR g:H))") == ["a : X", "b . c = $d", "e : F OR g : H"]
    assert conditions("a OR b AND c") == ["a OR b AND c"]
    assert conditions("a.b STARTS WITH $c") == ["a . b STARTS WITH $c"]
    assert bound_name("n . scene IN [ $__scene ]") == "n"
    assert bound_name("cache [ `a b` . scene ] = $__scene") == "a b"
    assert bound_name("n . scene IN [ $__scene , $x ]") is None


@pytest.mark.parametrize(
    "condition", ["n : Object", "NOT n : A", "n . a = $b", "n . a IS NOT NULL", "$x IN n . states"]
)
def test_conditions_that_cannot_fail(condition: str) -> None:
    assert cannot_fail(condition)


def test_lists_of_scenes_are_no_lists_elsewhere() -> None:
    """The kind: a test of a text as a list fails, and tells so of what another one has."""
    other = Schema({"Object"}, set(), {"states"}, scope="tenant")
    assert not cannot_fail("$x IN n . states", other)
    plan = over(SCAN, filtered("$x IN n.states AND n.tenant = $__scene"))
    with pytest.raises(QueryRefused):
        check_plan(plan, "r", other)
    check_plan(over(SCAN, filtered("n.tenant = $__scene AND $x IN n.states")), "r", other)


@pytest.mark.parametrize(
    "condition", ["1 / n . a = $b", "n . a =~ $b", "f ( n . a )", "$x IN n . name", "n . a + 1 > $b"]
)
def test_conditions_that_may_fail(condition: str) -> None:
    assert not cannot_fail(condition)


def test_text_with_starts_with_is_no_clause() -> None:
    assert subqueries_are_bound("EXISTS {   MATCH (m)     WHERE m.name STARTS WITH $a AND m.scene IN [$__scene] }")


def test_plan_as_text() -> None:
    plan = Plan.of(
        {
            "operatorType": "ProduceResults@neo4j",
            "args": {"Details": "n", "EstimatedRows": 2.5},
            "children": [{"operatorType": "NodeByLabelScan@neo4j", "args": {"Details": "n:\nObject"}, "children": []}],
        }
    )
    assert plan.text() == "ProduceResults | n\n  NodeByLabelScan | n: Object"
