"""Planning timeouts: the request is repeated, reported as a service error, and not cached as a verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, LiteralString

import pytest
from neo4j import Result

from scenecypher.chat.scripted import Scripted, ScriptedReply
from scenecypher.db.gate import Gate
from scenecypher.db.store.connection import Database
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import QueryTimeout, ServiceError
from scenecypher.retriever.retriever import Retriever
from tests.db.gate.conftest import HOME
from tests.db.gate.corpus import VOCABULARY

TEXT = "MATCH (p:Place) RETURN count(p) AS places"


class SlowPlanner(Database):
    """A real database whose next `left` plans time out."""

    left = 0
    plans = 0

    @contextmanager
    def run_read_only(
        self, text: LiteralString, parameters: Mapping[str, Any], *, timeout_s: float, mark: str
    ) -> Iterator[Result]:
        if text.startswith("EXPLAIN"):
            self.plans += 1
            if self.left:
                self.left -= 1
                raise QueryTimeout("ended at its time limit", retryable=True)
        with super().run_read_only(text, parameters, timeout_s=timeout_s, mark=mark) as result:
            yield result


@pytest.fixture
def busy(scenes: Database) -> Iterator[SlowPlanner]:
    with SlowPlanner(scenes.address) as database:
        yield database


def test_planning_is_repeated(busy: SlowPlanner) -> None:
    busy.left = 1
    assert Gate(busy).run(TEXT, HOME, VOCABULARY).rows
    assert busy.plans == 2


def test_a_timeout_is_a_service_error_and_not_cached(busy: SlowPlanner) -> None:
    gate, busy.left = Gate(busy), 4
    for _ in range(2):
        with pytest.raises(ServiceError, match=r"the server was busy: .* says nothing about the query") as told:
            gate.run(TEXT, HOME, VOCABULARY)
        assert told.value.retryable
        assert not isinstance(told.value, QueryTimeout)
    assert gate.run(TEXT, HOME, VOCABULARY).rows
    assert gate.explain(TEXT, HOME, VOCABULARY).refused is None


def test_the_model_is_not_asked_again(busy: SlowPlanner, scenes: Database) -> None:
    info = SceneStore(scenes).find("test/home")
    model = Scripted([ScriptedReply((), TEXT)])
    busy.left = 1
    found = Retriever(model, Gate(busy), Enumerator(busy)).ask("How many places are there?", info)
    assert len(found.attempts) == 1
    assert found.outcome == "answered"
