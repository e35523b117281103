"""The whole gate on every query of the corpus."""

from collections.abc import Iterator

import pytest

from scenecypher.db.gate import Gate, Limits
from scenecypher.db.gate.scope import scope
from scenecypher.db.store.connection import Database
from scenecypher.errors import QueryRefused
from tests.db.gate.conftest import HOME, checksum
from tests.db.gate.corpus import CANARY, HOME_BOUNDS, VOCABULARY, Case, cases, rows_of, text_of
from tests.sampling import sample

KEY = f'"{HOME.key}"'


@pytest.fixture(scope="module", autouse=True)
def unchanged(scenes: Database) -> Iterator[None]:
    before = checksum(scenes)
    yield
    assert checksum(scenes) == before


def of_kind(expect: str) -> list[object]:
    """Return all queries of the corpus with this expectation, and a sample of the additional ones."""
    rows = [case for case in cases() if case.expect == expect]
    given = [case for case in rows if "x" not in case.id]
    more = sample([case for case in rows if "x" in case.id], 40)
    return [pytest.param(case, id=f"{case.id}-{case.category}") for case in given + more]


@pytest.mark.parametrize("case", of_kind("rows"))
def test_benign_queries_are_answered_right(gate: Gate, case: Case, dialects: tuple[str, ...]) -> None:
    if not scope(case.cypher, VOCABULARY, gate.limits, bounds=HOME_BOUNDS).text.startswith(dialects):
        with pytest.raises(QueryRefused, match=r"Cypher 5 only.*; leave out CYPHER 25"):
            gate.run(case.cypher, HOME)
        return
    answer = gate.run(case.cypher, HOME)
    assert rows_of(answer.rows) == rows_of(case.rows or [])
    assert all(len(row) == len(answer.columns) for row in answer.rows)
    assert answer.version == 3
    assert answer.truncated is None
    assert not any("__" in column or "$" in column for column in answer.columns)


@pytest.mark.parametrize("case", of_kind("refuse"))
def test_what_may_never_run_is_refused(gate: Gate, case: Case) -> None:
    with pytest.raises(QueryRefused) as refusal:
        gate.run(case.cypher, HOME)
    assert refusal.value.code != "timeout"
    assert CANARY not in str(refusal.value)


@pytest.mark.parametrize("case", of_kind("no_leak"))
def test_nothing_of_another_scene_is_shown(gate: Gate, case: Case) -> None:
    if case.category == "resource":
        gate = Gate(gate._database, limits=Limits(seconds=1.0))
    try:
        answer = gate.run(case.cypher, HOME)
        told = text_of(answer.rows)
        assert not any("__" in column for column in answer.columns)
    except QueryRefused as refusal:
        told = "" if CANARY in case.cypher else str(refusal)
    assert CANARY not in told
    assert KEY not in told
