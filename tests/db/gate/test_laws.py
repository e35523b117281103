"""Properties of generated queries: the same answer with and without other scenes, and no change to the database."""

import json
from collections.abc import Iterator
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from neo4j import ManagedTransaction

from scenecypher.db.gate import Gate, Limits
from scenecypher.db.gate.run import collect
from scenecypher.db.gate.scope import SCENE_PARAMETER, scope
from scenecypher.db.store.connection import Database
from scenecypher.errors import QueryFailed, QueryRefused
from tests.db.gate.conftest import HOME, TIMEOUT_S, IndependentClient, checksum
from tests.db.gate.corpus import CANARY, HOME_BOUNDS, VOCABULARY, plain_form, rows_of

LIMITS = Limits(seconds=20, rows=200_000, row_bytes=50_000_000, total_bytes=50_000_000)

LABELS = [
    "",
    ":Object",
    ":Asset",
    ":Place",
    ":Agent",
    ":Entity",
    ":!Object",
    ":Object|Asset",
    ":%",
    " IS Place",
    ":Object:Entity",
]
MAPS = ["", "", " {class: 'Cup'}", " {id: 'kitchen'}", " {name: 'blue cup'}", " {}"]
TYPES = ["", ":ON", ":INSIDE", ":ON|INSIDE", ":CLOSE", ":!ON", ":CONNECTS", ":HOLDS", " IS ON"]
ARROWS = [("-", "->"), ("<-", "-"), ("-", "-")]
REACHES = ["", "", "", "*1..2", "*0..1"]
HOSTILE = [
    ".scene", "['scene']", "[k]", " {.*}", ":Event", ":Scene", "(x)", "(x)--(y)", "-->()", "/* ", " */", "//", "\n",
    "'", "`", "COUNT { (n) }", "[(u)-->(v) | v.name]", "EXISTS { (w) }", "$__scene", "\\u0041", ";",
    "UNION MATCH (n) RETURN n.name AS x", "{scene: 'other'}", "elementId(n)", "SET n.x = 1", "MATCH (q)", "RETURN 1",
    ")", "(", " OR true", "WITH *", "CALL db.labels()",
]  # fmt: skip


@st.composite
def nodes(draw: st.DrawFn, name: str) -> str:
    condition = f" WHERE {draw(conditions(name))}" if name and draw(st.integers(0, 9)) == 0 else ""
    return f"({name}{draw(st.sampled_from(LABELS))}{draw(st.sampled_from(MAPS))}{condition})"


@st.composite
def relations(draw: st.DrawFn) -> str:
    left, right = draw(st.sampled_from(ARROWS))
    inside = draw(st.sampled_from(TYPES)) + draw(st.sampled_from(REACHES))
    return f"{left}[{inside}]{right}" if inside or draw(st.booleans()) else left + right


@st.composite
def paths(draw: st.DrawFn, first: str, *, most: int = 2) -> str:
    text = draw(nodes(first))
    for number in range(draw(st.integers(0, most))):
        text += draw(relations()) + draw(nodes(draw(st.sampled_from(["", f"{first}{number}"])) if first else ""))
    return text


@st.composite
def conditions(draw: st.DrawFn, name: str) -> str:
    path = f"({name}){draw(relations())}{draw(nodes(''))}"
    simple = [
        f"{name}.name CONTAINS '{draw(st.sampled_from(['cup', 'k', CANARY]))}'",
        f"'dirty' IN {name}.states",
        f"{name}.class = 'Cup'",
        f"size({name}.name) > 6",
        f"1 / (size({name}.name) - {draw(st.integers(3, 12))}) >= 0",
        f"toInteger({name}.name) IS NULL",
        f"any(s IN {name}.states WHERE s STARTS WITH '{draw(st.sampled_from(['d', CANARY]))}')",
        f"{name}:Object",
        path,
        f"EXISTS {{ {path} }}",
        f"EXISTS {{ {draw(nodes('e'))} WHERE e.id = {name}.id }}",
        f"COUNT {{ {path} }} > 1",
        f"CASE WHEN EXISTS {{ {path} }} THEN true ELSE {name}.id < 'm' END",
        f"all(x IN [1, 2] WHERE x > COUNT {{ {path} }})",
        f"{name}.id IN COLLECT {{ MATCH {draw(nodes('c'))} RETURN c.id }}",
    ]
    text = draw(st.sampled_from(simple))
    joiner = draw(st.sampled_from(["", "", " AND ", " OR ", " XOR "]))
    second = draw(st.sampled_from(simple)) if joiner else ""
    return f"{draw(st.sampled_from(['', 'NOT ']))}({text}){joiner}{second}"


def values(name: str) -> st.SearchStrategy[str]:
    return st.sampled_from(
        [
            f"{name}.name", f"{name}", f"keys({name})", f"properties({name})", f"{name} {{.*}}", f"labels({name})",
            "count(*)", f"count({name})", f"collect({name}.name)", f"collect(DISTINCT {name}.class)",
            f"max({name}.name)", f"size({name}.states)", f"[({name})-->(t) | t.name]", f"COUNT {{ ({name})--() }}",
            f"[k IN keys({name}) | {name}[k]]", "COUNT { (z) }", "[(s)-[:ON]->(t) | s.id]",
            f"CASE WHEN EXISTS {{ ({name})-[:ON]->() }} THEN {name}.id ELSE '-' END",
        ]
    )  # fmt: skip


@st.composite
def queries(draw: st.DrawFn) -> str:
    text = f"MATCH {draw(paths('n'))}"
    if draw(st.booleans()):
        text += f" WHERE {draw(conditions('n'))}"
    extra = draw(st.sampled_from(["none", "optional", "call", "with", "unwind"]))
    if extra == "optional":
        text += f" OPTIONAL MATCH {draw(paths('n', most=1))}"
    elif extra == "call":
        text += f" CALL (n) {{ MATCH (n){draw(relations())}{draw(nodes('m'))} RETURN count(m) AS c }}"
    elif extra == "with":
        text += f" WITH n, {draw(values('n'))} AS v WHERE v IS NOT NULL"
    elif extra == "unwind":
        text += " WITH collect(n) AS l UNWIND l AS n"
    text += f" RETURN {draw(values('n'))} AS x"
    if draw(st.integers(0, 4)) == 0:
        text += f" UNION MATCH {draw(paths('n', most=1))} RETURN {draw(values('n'))} AS x"
    return text


@st.composite
def hostile(draw: st.DrawFn) -> str:
    text = draw(queries())
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.sampled_from(HOSTILE)) + text[at:]
    return text


class RollBack(Exception):
    """Raised in a transaction to roll it back."""


@pytest.fixture(scope="module", autouse=True)
def unchanged(scenes: Database) -> Iterator[None]:
    before = checksum(scenes)
    yield
    assert checksum(scenes) == before


def without_others(database: Database, text: str) -> list[str] | str:
    """Return the query's answer without other scenes, from a transaction that deletes them and is rolled back."""
    scoped = scope(text, VOCABULARY, LIMITS, bounds=HOME_BOUNDS)
    parameters = {**scoped.parameters, SCENE_PARAMETER: HOME.key}
    outcome: list[Any] = []

    def work(tx: ManagedTransaction) -> None:
        tx.run("MATCH (n:Entity|Event) WHERE n.scene <> 'home' DETACH DELETE n").consume()
        outcome.append(rows_of(collect(tx.run(cast("Any", scoped.text), parameters), scoped, LIMITS)[1]))
        raise RollBack

    try:
        database.transaction(work, access="write", timeout_s=TIMEOUT_S)
    except RollBack:
        return list(outcome[0])
    except QueryFailed as error:
        return error.code
    raise AssertionError


def _check_refusal(database: Database, text: str, refusal: QueryRefused) -> None:
    assert CANARY not in str(refusal) or CANARY in text
    if refusal.code == "failed" and isinstance(refusal.__cause__, QueryFailed):
        assert without_others(database, text) == refusal.__cause__.code


def check(database: Database, text: str) -> None:
    gate = Gate(database, limits=LIMITS)
    try:
        rows = gate.run(text, HOME).rows
    except QueryRefused as refusal:
        _check_refusal(database, text, refusal)
        return
    shown = json.dumps(plain_form(rows)).replace(CANARY, "", 0)
    assert CANARY not in shown
    assert '"home"' not in shown
    assert rows_of(rows) == without_others(database, text)


SUPPRESSED = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]


@settings(max_examples=25, suppress_health_check=SUPPRESSED, deadline=None)
@given(queries())
def test_other_scenes_change_no_answer(scenes: Database, independent_client: IndependentClient, text: str) -> None:
    check(scenes, text)
    assert independent_client.sees_no_change()


@settings(max_examples=40, suppress_health_check=SUPPRESSED, deadline=None)
@given(hostile())
def test_other_scenes_change_no_answer_to_hostile_queries(
    scenes: Database, independent_client: IndependentClient, text: str
) -> None:
    check(scenes, text)
    assert independent_client.sees_no_change()


@pytest.mark.slow
@settings(max_examples=1_000, suppress_health_check=SUPPRESSED, deadline=None)
@given(st.one_of(queries(), hostile()))
def test_other_scenes_change_no_answer_at_length(
    scenes: Database, independent_client: IndependentClient, text: str
) -> None:
    check(scenes, text)
    assert independent_client.sees_no_change()
