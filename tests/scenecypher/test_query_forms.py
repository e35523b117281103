"""Forms of queries that models and people write: answered, or refused or empty with a hint from which to mend them.

`tests/data/queries.jsonl` has a query of each form, asked of our apartment, and what becomes of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final
from uuid import uuid4

import pytest

import scenecypher as sc
from scenecypher.errors import QueryRefused
from scenecypher.importers.homes import our_home
from tests.rooms import ROOT
from tests.server import environment_of

FORMS: Final[list[dict[str, Any]]] = [
    json.loads(line) for line in (ROOT / "tests/data/queries.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.fixture(scope="module")
def home(address: Any) -> Iterator[sc.Home]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment_of(address).items():
            if name.startswith("NEO4J_"):
                patch.setenv(name, value)
        with sc.connect(tell=lambda _: None) as opened:
            home = opened.import_scene(our_home("apartment")[0], name=f"test/forms-{uuid4().hex[:10]}")
            yield home
            opened.delete(home.name)


@pytest.mark.parametrize("form", FORMS, ids=lambda it: it["form"])
def test_a_form_of_queries_has_its_verdict(home: sc.Home, form: dict[str, Any]) -> None:
    says = form.get("says", "")
    if form["verdict"] == "refused":
        with pytest.raises(QueryRefused) as refused:
            home.query(form["query"])
        assert says in str(refused.value)
        return
    answer = home.query(form["query"])
    assert bool(answer.rows) == (form["verdict"] == "rows")
    assert says in " ".join((*answer.hints, str(answer.rows)))
    assert bool(says) or form["verdict"] == "rows", "an empty answer has a hint"
    if "rows" in form:
        assert json.loads(json.dumps(sorted(answer.rows))) == sorted(form["rows"])
