"""The proxy loses exactly what it is told to: otherwise tests that rely on it prove nothing."""

from __future__ import annotations

from typing import Final, Literal, LiteralString
from uuid import uuid4

import pytest

from scenecypher.db.store.connection import Address, Database
from scenecypher.errors import CommitUnknown
from tests.proxy import proxied

MARK: Final[LiteralString] = "CREATE (n:Scene {key: $key, status: 'importing'})"
COUNT: Final[LiteralString] = "MATCH (n:Scene {key: $key}) RETURN count(n) AS n"
DROP: Final[LiteralString] = "MATCH (n:Scene {key: $key}) DELETE n"


def count(database: Database, key: str) -> int:
    return int(database.rows(COUNT, {"key": key}, timeout_s=10)[0]["n"])


def test_left_alone_it_passes_everything(address: Address, database: Database) -> None:
    key = uuid4().hex
    with proxied(address) as (proxy, through), Database(through) as remote:
        remote.execute(MARK, {"key": key}, timeout_s=10)
        assert count(remote, key) == 1
        assert proxy.lost == 0
    database.execute(DROP, {"key": key}, timeout_s=10)


@pytest.mark.parametrize(("what", "done"), [("answer", 1), ("request", 0)])
def test_a_lost_commit_is_unknown_to_the_client(
    address: Address, database: Database, what: Literal["answer", "request"], done: int
) -> None:
    key = uuid4().hex
    with proxied(address) as (proxy, through), Database(through) as remote:
        remote.verify()
        proxy.lose(what)
        with pytest.raises(CommitUnknown, match="broke before the answer to COMMIT"):
            remote.execute(MARK, {"key": key}, timeout_s=10)
        assert proxy.lost == 1
        assert count(database, key) == done
        assert count(remote, key) == done, "the next connection works again"
    database.execute(DROP, {"key": key}, timeout_s=10)
