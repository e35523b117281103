"""Reads of the product's own that take too long, with a real server: no model is told that it wrote them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, LiteralString

import pytest
from neo4j import Result

from scenecypher.db.gate import Gate
from scenecypher.db.store.connection import Database
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import QueryRefused, QueryTimeout
from scenecypher.retriever.collapsed import collapse
from scenecypher.retriever.graph_api import GraphApi
from scenecypher.retriever.reader import SceneReader
from tests.planner.actions.test_operators import put
from tests.planner.actions.worlds import HOME


class SlowReader(Database):
    """A real database in which each query of the gate times out."""

    @contextmanager
    def run_read_only(
        self, text: LiteralString, parameters: Mapping[str, Any], *, timeout_s: float, mark: str
    ) -> Iterator[Result]:
        if not text.startswith("EXPLAIN"):
            raise QueryTimeout("ended at its time limit", retryable=True)
        with super().run_read_only(text, parameters, timeout_s=timeout_s, mark=mark) as result:
            yield result


def test_a_read_of_ours_that_is_too_slow_is_the_servers_not_a_models(store: SceneStore) -> None:
    """Kind: one part believes what another said: SayPlan's expand_node timed out, and the model was told to mend it."""
    scene = put(store, HOME)
    with SlowReader(store.database.address) as slow:
        reader = SceneReader(Gate(slow), Enumerator(store.database), scene)
        for read in (lambda: collapse(GraphApi(reader)), lambda: GraphApi(reader).expand("cup_30")):
            with pytest.raises(QueryTimeout, match="raise SCENECYPHER_QUERY_TIMEOUT_S") as told:
                read()
            assert "--query-timeout" not in str(told.value)
        with pytest.raises(QueryRefused):
            reader.run("MATCH (n:Object) RETURN n.id")
