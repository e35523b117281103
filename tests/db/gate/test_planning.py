"""Planning timeouts: the request is repeated, reported as a service error, and not cached as a verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, LiteralString

import pytest
from neo4j import Result

from scenecypher.chat.scripted import Scripted, ScriptedReply
from scenecypher.db.gate import Gate, run
from scenecypher.db.store.connection import Database
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.replicas import Replicas
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import QueryTimeout, ServiceError
from scenecypher.retriever.retriever import Retriever
from tests.db.gate.conftest import HOME

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
    assert Gate(busy).run(TEXT, HOME).rows
    assert busy.plans == 2


def test_a_timeout_is_a_service_error_and_not_cached(busy: SlowPlanner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "UNPLANNED_S", 0.0)
    gate, busy.left = Gate(busy), 4
    for _ in range(2):
        with pytest.raises(ServiceError, match=r"the server was busy: .* says nothing about the query") as told:
            gate.run(TEXT, HOME)
        assert told.value.retryable
        assert not isinstance(told.value, QueryTimeout)
    assert gate.run(TEXT, HOME).rows
    assert gate.explain(TEXT, HOME).refused is None


def test_what_could_not_be_planned_is_remembered_by_its_shape(busy: SlowPlanner) -> None:
    """New names of variables made each text new: the server's processor was held by one question after another."""
    gate, busy.left = Gate(busy), 100
    for text in (TEXT, TEXT.replace("p", "q").replace("qlaces", "places"), "MATCH (x:Place) RETURN count(x) AS n"):
        with pytest.raises(ServiceError, match="ask again in a minute"):
            gate.run(text, HOME)
    assert busy.plans == 2
    busy.left = 0
    assert gate.run("MATCH (x:Place) RETURN count(x.name) AS n", HOME).rows, "another shape is planned"


def test_queries_are_planned_in_turn(scenes: Database) -> None:
    """Planning took no slot: texts that are hard to plan held all processors of the server."""
    at_once: list[int] = []

    class Counting(SlowPlanner):
        planning = 0

        @contextmanager
        def run_read_only(
            self, text: LiteralString, parameters: Mapping[str, Any], *, timeout_s: float, mark: str
        ) -> Iterator[Result]:
            Counting.planning += text.startswith("EXPLAIN")
            at_once.append(Counting.planning)
            try:
                with Database.run_read_only(self, text, parameters, timeout_s=timeout_s, mark=mark) as result:
                    yield result
            finally:
                Counting.planning -= text.startswith("EXPLAIN")

    with Counting(scenes.address, slots=1) as database, ThreadPoolExecutor(6) as pool:
        gate = Gate(database)
        texts = [f"MATCH (p:Place) RETURN {', '.join(f'p.id AS c{it}' for it in range(n))}" for n in range(1, 7)]
        assert all(pool.map(lambda text: gate.run(text, HOME).rows, texts))
    assert max(at_once) == 1


def test_the_model_is_not_asked_again(busy: SlowPlanner, scenes: Database) -> None:
    info = SceneStore(scenes).find("test/home")
    model = Scripted([ScriptedReply((), TEXT)])
    busy.left = 1
    found = Retriever(model, Gate(busy), Enumerator(Replicas(busy))).ask("How many places are there?", info)
    assert len(found.attempts) == 1
    assert found.outcome == "answered"
