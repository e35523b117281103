"""Every query of the corpus through the whole gate."""

from collections.abc import Iterator

import pytest

from db.connection import Database
from db.gate import Gate
from scenecypher.errors import QueryRefused
from tests.db.gate.conftest import HOME, checksum
from tests.db.gate.corpus import CANARY, VOCABULARY, Case, cases, rows_of, shown

KEY = f'"{HOME.key}"'


@pytest.fixture(scope="module", autouse=True)
def unchanged(scenes: Database) -> Iterator[None]:
    before = checksum(scenes)
    yield
    assert checksum(scenes) == before


def of_kind(expect: str) -> list[object]:
    return [pytest.param(case, id=f"{case.id}-{case.category}") for case in cases() if case.expect == expect]


@pytest.mark.parametrize("case", of_kind("rows"))
def test_benign_queries_are_answered_right(gate: Gate, case: Case) -> None:
    answer = gate.run(case.cypher, HOME, VOCABULARY)
    assert rows_of(answer.rows) == rows_of(case.rows or [])
    assert answer.version == 3
    assert answer.truncated is None
    assert not any("__" in column or "$" in column for column in answer.columns)


@pytest.mark.parametrize("case", of_kind("refuse"))
def test_what_may_never_run_is_refused(gate: Gate, case: Case) -> None:
    with pytest.raises(QueryRefused) as refusal:
        gate.run(case.cypher, HOME, VOCABULARY)
    assert refusal.value.code != "timeout"
    assert CANARY not in str(refusal.value)


@pytest.mark.parametrize("case", of_kind("no_leak"))
def test_nothing_of_another_scene_is_shown(gate: Gate, case: Case) -> None:
    try:
        text = shown(gate.run(case.cypher, HOME, VOCABULARY))
    except QueryRefused as refusal:
        text = refusal.message + refusal.hint if CANARY not in case.cypher else ""
    assert CANARY not in text.replace(case.cypher, "") or CANARY in case.cypher
    assert KEY not in text
