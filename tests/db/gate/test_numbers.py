"""Numbers out of range, and errors of foreign types: nothing but a refusal leaves the gate for a query's text."""

from __future__ import annotations

import json
from typing import Final

import pytest

from scenecypher.cli.query import result_document
from scenecypher.db.gate import Gate, Limits
from scenecypher.db.gate.cost import regex_steps
from scenecypher.db.gate.scope import scope
from scenecypher.db.store.bounds import Bounds
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.replicas import Replicas
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import GateFault, QueryRefused
from scenecypher.retriever.retrieval import SceneReader
from tests.db.gate.conftest import HOME
from tests.db.gate.corpus import VOCABULARY

LONG: Final = {"decimal": "9" * 310, "hexadecimal": "0x" + "f" * 310, "octal": "0o" + "7" * 400}
PLACES: Final = (
    "MATCH (n:Object) RETURN n.name LIMIT %s",
    "MATCH (n:Object) RETURN n.name SKIP %s",
    "MATCH (n:Object) RETURN n.name ORDER BY n.name OFFSET %s",
    "MATCH (a:Object)-[:ON]->{1,%s}(b) RETURN b.name",
    "MATCH (a:Object)-[:ON]->{%s}(b) RETURN b.name",
    "MATCH (a:Object)-[:ON*1..%s]->(b) RETURN b.name",
    "MATCH p = SHORTEST %s (a:Object {id: 'a'})-[:ON]->+(b:Object {id: 'b'}) RETURN length(p)",
    "RETURN round(1.5, %s)",
    "RETURN range(0, %s)",
    "RETURN {a: %s}",
    "RETURN [1, %s]",
    "RETURN -%s",
    "MATCH (n:Object {id: %s}) RETURN n",
    "MATCH (n:Object) WHERE n.height > %s RETURN n",
    "RETURN [1, 2][%s]",
    "UNWIND range(1, 3) AS x WITH x LIMIT %s RETURN x",
)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("base", LONG)
def test_a_number_out_of_range_is_refused_where_it_is_read(place: str, base: str) -> None:
    """The kind: Python's numbers have no bound, its floats and the server's integers have one."""
    with pytest.raises(QueryRefused, match="out of range") as refused:
        scope(place % LONG[base], VOCABULARY, Limits())
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("number", ["1e400", "9" * 400 + ".5", "2.0e309"])
def test_a_float_out_of_range_is_refused(number: str) -> None:
    """An infinite parameter compares with every value, where the server refuses the same number as a literal."""
    with pytest.raises(QueryRefused, match="out of range"):
        scope(f"MATCH (n:Object) WHERE n.height < {number} RETURN n", VOCABULARY, Limits())


def test_the_largest_numbers_are_read() -> None:
    for number in ("9223372036854775807", "-9223372036854775808", "0x7fffffffffffffff", "1.7e308"):
        scope(f"RETURN {number} AS x", VOCABULARY, Limits())


@pytest.mark.parametrize(
    "cypher",
    [
        "MATCH (a:Object)-[:ON]->{1,9223372036854775807}(b) RETURN b.name",
        f"MATCH (a:Object) {'(' * 12}(x)-[:ON]->(y){'){1,9000000000000000000}' * 12} (b) RETURN a.name",
        "MATCH (a:Object)-[:CLOSE*1..100]-(b) RETURN count(*)",
        f"RETURN 'a' =~ '{'a*' * 400}'",
        f"RETURN 'a' =~ '{'(a|b)' * 400}'",
        f"RETURN {' * '.join(['9223372036854775807'] * 50)}",
        f"MATCH (a:Object) RETURN {' * '.join(['1.7e308'] * 50)}",
    ],
)
def test_bounds_that_overflow_are_infinite(cypher: str) -> None:
    """The kind: bounds are products and powers of the text's numbers, and Python raises where they overflow."""
    large = Bounds(
        frozenset(
            {
                *(("nodes", "Object", 1_000_000), ("relations", "CLOSE", 10**9), ("out", "CLOSE", 10**6)),
                *(("in", "CLOSE", 10**6), ("text", "name", 100), ("relations", "ON", 10**6)),
            }
        )
    )
    try:
        scope(cypher, VOCABULARY, Limits(), bounds=large)
    except QueryRefused:
        return


def test_a_regular_expression_is_judged_before_it_is_counted() -> None:
    with pytest.raises(QueryRefused, match="repetitions"):
        regex_steps("a*" * 900, 1_000.0)


def test_a_fault_of_the_gate_is_told_as_one_and_the_next_query_is_answered(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kind: an error of a foreign type left the gate as itself, through every surface."""

    def broken(*_: object, **__: object) -> None:
        raise OverflowError("int too large to convert to float")

    fresh, database = Gate(gate._database), gate._database
    reader = SceneReader(Gate(database), Enumerator(Replicas(database)), SceneStore(database).find(HOME.name))
    monkeypatch.setattr("scenecypher.db.gate.run.scope", broken)
    with pytest.raises(GateFault, match="fault of SceneCypher"):
        fresh.run("RETURN 1 AS x", HOME)
    with pytest.raises(GateFault, match="fault of SceneCypher"):
        fresh.explain("RETURN 1 AS x", HOME)
    told = result_document(reader, "RETURN 1 AS x")
    monkeypatch.undo()
    assert (told["ok"], told["code"]) == (False, "service")
    assert json.dumps(told)
    assert result_document(reader, "RETURN 2 AS x")["rows"] == [[2]]
