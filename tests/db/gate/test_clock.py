"""The server's clock and the forms of text: what an expression is decides, not how it is spelt."""

from __future__ import annotations

import unicodedata
from typing import Final

import pytest

from scenecypher.db.gate import Gate, Limits
from scenecypher.db.gate.scope import scope
from scenecypher.db.store.values import json_value
from scenecypher.errors import QueryRefused
from tests.db.gate.conftest import HOME, send_unchecked
from tests.db.gate.corpus import VOCABULARY

CLOCKS: Final = (
    "WITH {timezone: 'UTC'} AS year RETURN datetime(year) AS x",
    "WITH {timezone: 'UTC'} AS m RETURN time(m) AS hour",
    "WITH {a: {timezone: 'UTC'}} AS year RETURN datetime(year.a) AS x",
    "WITH {year: {timezone: 'UTC'}} AS m RETURN datetime(m.year) AS x",
    "UNWIND [{timezone: 'UTC'}] AS day RETURN localdatetime(day) AS x",
    "RETURN datetime({timezone: 'UTC' /* year */}) AS x",
    "RETURN datetime({timezone: head(['UTC', {year: 1}])}) AS x",
    "RETURN datetime({timezone: 'UTC'}, {year: 1}) AS x",
    "RETURN time(CASE WHEN true THEN {timezone: 'UTC'} ELSE {hour: 1} END) AS x",
    "RETURN [date IN [{timezone: 'UTC'}] | datetime(date)] AS x",
    "WITH {hour: 1} AS time RETURN localtime(coalesce(null, {timezone: 'UTC'}, time)) AS x",
    "RETURN date({timezone: 'UTC'} {.year}) AS x",
)
TIMES: Final = (
    "RETURN datetime({year: 2026, month: 3}) AS x",
    "RETURN datetime({timezone: 'UTC', year: 2026}) AS x",
    "RETURN time({timezone: 'UTC', hour: 3}) AS x",
    "RETURN datetime({epochSeconds: 1000}) AS x",
    "RETURN date('2026-11-23') AS x",
    "WITH '2026-11-23' AS d RETURN date(d) AS x",
    "RETURN date(datetime('2026-11-23T10:00Z')) AS x",
    "WITH date('2026-11-23') AS d RETURN datetime({date: d, hour: 3}) AS x",
)


@pytest.mark.parametrize("cypher", CLOCKS)
def test_what_may_read_the_clock_is_refused(cypher: str) -> None:
    """The kind: a rule by spelling, which a variable, a nested map or a comment of the right name passed."""
    with pytest.raises(QueryRefused) as refused:
        scope(cypher, VOCABULARY, Limits())
    assert refused.value.code in {"function", "syntax"}


@pytest.mark.parametrize("cypher", TIMES)
def test_a_time_that_the_text_says_is_answered(gate: Gate, cypher: str) -> None:
    assert gate.run(cypher, HOME).rows == gate.run(cypher, HOME).rows


def test_a_text_in_another_form_finds_what_is_stored() -> None:
    """The kind: texts that look equal are stored in one form (NFC) and asked for in another."""
    asked = unicodedata.normalize("NFD", "MATCH (n:Object {name: 'café'}) WHERE n.class <> \"ñ\" RETURN n.id")
    assert set(scope(asked, VOCABULARY, Limits()).parameters.values()) == {"café", "ñ"}


def test_bytes_are_those_of_utf_8(gate: Gate) -> None:
    """The kind: a limit counted in the bytes of an encoding that nobody sends (six for each é)."""
    gate = Gate(gate._database)
    for number, (length, fits) in enumerate({80_000: True, 99_000: True, 101_000: False}.items()):
        send_unchecked(gate, "RETURN $__text AS x", f"RETURN {number} AS x", {"__text": "é" * length})
        if fits:
            assert gate.run(f"RETURN {number} AS x", HOME).rows == [["é" * length]]
        else:
            with pytest.raises(QueryRefused, match="longer than 200,000 bytes"):
                gate.run(f"RETURN {number} AS x", HOME)


def test_maps_of_an_answer_have_public_keys_only() -> None:
    """The second look at an answer, which does not rely on the first: whatever map comes back, at any depth."""
    found = [{"name": "cup", "line": "secret", "deep": [{"host": "secret", "name": 1}]}]
    assert json_value(found, frozenset({"name", "deep"})) == [{"name": "cup", "deep": [{"name": 1}]}]
