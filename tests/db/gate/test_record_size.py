"""Size check of records: never more than the JSON text's length, and bounded work for records of any size."""

from __future__ import annotations

import json
import time
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenecypher.db.gate import Gate, Limits
from scenecypher.db.store.connection import Database
from scenecypher.db.store.values import exceeds, json_value
from scenecypher.errors import QueryRefused
from tests.db.gate.conftest import HOME, accepted, send_unchecked

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@given(st.lists(VALUES))
def test_the_count_is_at_most_the_length_of_the_text(row: list[Any]) -> None:
    assert not exceeds(row, len(json.dumps([json_value(value) for value in row])))


@given(st.text(), st.integers(0, 100))
def test_characters_are_counted(text: str, more: int) -> None:
    assert exceeds([text], len(text) - 1) or not text
    assert not exceeds([text], len(text) + more)


@pytest.mark.parametrize("text", ["MATCH (n) RETURN n", "MATCH p = (a:Object)-[r]->(b) RETURN p, a, r, {b: b}"])
def test_nodes_relations_and_paths_are_no_larger_than_their_text(scenes: Database, gate: Gate, text: str) -> None:
    verdict = accepted(gate, text)
    with scenes.run_read_only(
        cast("Any", verdict.text),
        {**verdict.parameters, "__scene": HOME.key},
        timeout_s=60,
        mark="test",
    ) as result:
        rows = [record.values() for record in result]
    assert rows
    for row in rows:
        length = len(json.dumps([json_value(value) for value in row]))
        assert not exceeds(row, length)
        assert exceeds(row, length // 4)


def test_a_huge_record_is_refused_before_conversion() -> None:
    huge = [["x" * 1_000] * 1_000] * 100_000
    begun = time.perf_counter()
    assert exceeds([huge], 200_000)
    assert time.perf_counter() - begun < 1


@pytest.mark.parametrize("rows", [1, 1_000])
def test_a_large_list_is_refused_on_arrival(scenes: Database, rows: int) -> None:
    """The query skips the static checks and gives rows of 1 MB; the gate reads one and discards at most a few."""
    text = "UNWIND range(1, $rows) AS i RETURN [x IN range(1, 50000) | 'a text of letters ' + x] AS l"
    gate = Gate(scenes, limits=Limits(seconds=30))
    send_unchecked(gate, text.replace("$rows", str(rows)), "RETURN 1 AS l")
    begun = time.monotonic()
    with pytest.raises(QueryRefused) as refused:
        gate.run("RETURN 1 AS l", HOME)
    assert refused.value.code == "size"
    assert time.monotonic() - begun < 60
    assert gate.run("RETURN 2 AS x", HOME).rows == [[2]]
