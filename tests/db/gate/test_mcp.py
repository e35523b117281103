"""The hostile corpus through the tool `query` of `scenecypher mcp`."""

from __future__ import annotations

import json
from collections.abc import Callable

import anyio
from mcp import Client

from scenecypher.db.store.connection import Database
from tests.db.gate.conftest import checksum
from tests.db.gate.corpus import CANARY, Case, cases
from tests.sampling import sample
from tests.scenecypher.mcp.conftest import here, server_here, words_of
from tests.scenecypher.mcp.test_serving import called

__all__ = ["here", "server_here"]


def corpus() -> list[Case]:
    """Return the hostile queries; those against the gate's time limits are the gate's own tests'."""
    every = [case for case in cases() if case.expect != "rows" and case.category != "resource"]
    return sample(every, 60)


def test_no_hostile_query_shows_or_changes_anything(here: Callable[..., Client], scenes: Database) -> None:
    before = checksum(scenes)

    async def work() -> None:
        async with here(only="test/home") as client:
            for case in corpus():
                result = await client.call_tool("query", {"scene": "test/home", "cypher": case.cypher})
                told = words_of(result) + json.dumps(result.structured_content)
                assert result.is_error or case.expect == "no_leak", case.id
                assert CANARY in case.cypher or CANARY not in told, case.id
            assert (await called(client, "query", scene="test/home", cypher="MATCH (n) RETURN count(n)"))["rows"][0][0]

    anyio.run(work)
    assert checksum(scenes) == before
