"""Constraints and indexes made by several processes at once, on a server that has none of them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Final, LiteralString

import pytest

from scenecypher.db.schema import definitions
from scenecypher.db.store.connection import Address, Database
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.store.stored_form import prepare
from tests.db.store.test_vectors import imported, indexing
from tests.sampling import FULL

PROCESSES: Final = 8
ROUNDS: Final = 20 if FULL else 1
NAMES: Final = frozenset(name for name, _ in definitions())

PREPARER: Final = """
import json, sys
from scenecypher.db.store.connection import Address, Database
from scenecypher.db.store.stored_form import prepare
with Database(Address(**json.loads(sys.stdin.readline()))) as database:
    database.reach()
    print("ready", flush=True)
    for _ in sys.stdin:
        try:
            print(json.dumps(prepare(database)), flush=True)
        except Exception as error:
            print(repr(error), flush=True)
"""


@pytest.fixture
def bare(database: Database) -> Iterator[Database]:
    """Yield the server of this run, whose constraints and indexes may be dropped; they are there again afterwards."""
    if os.environ.get("SCENECYPHER_TEST_DB") == "uri":
        pytest.skip("the server is shared with other workers, which need its indexes")
    yield database
    prepare(database)


def index_names(database: Database) -> frozenset[str]:
    """Return the names of all indexes; a constraint's index has its name."""
    return frozenset(row["name"] for row in database.rows("SHOW INDEXES YIELD name RETURN name"))


def drop_all(database: Database) -> None:
    for name, definition in definitions():
        what: LiteralString = "CONSTRAINT" if "CONSTRAINT" in definition else "INDEX"
        statement: LiteralString = "DROP " + what + " " + name + " IF EXISTS"
        database.execute(statement)


def test_eight_processes_prepare_a_bare_server_at_once(bare: Database, address: Address, forks: Path) -> None:
    with ExitStack() as running:
        preparers = [running.enter_context(preparer(forks, address)) for _ in range(PROCESSES)]
        for number in range(ROUNDS):
            drop_all(bare)
            assert not NAMES & index_names(bare)
            for each in preparers:
                tell(each, "prepare")
            answers = [heard(each) for each in preparers]
            assert [answer for answer in answers if not answer.startswith("[")] == [], f"round {number}"
            made = [name for answer in answers for name in json.loads(answer)]
            assert {*made} == NAMES
            assert index_names(bare) >= NAMES


def test_a_prepared_server_is_left_alone(bare: Database) -> None:
    prepare(bare)
    assert prepare(bare) == []


def test_an_index_of_others_is_not_waited_for(bare: Database) -> None:
    """Imports failed while the server still made the index of many vectors, which takes minutes."""
    bare.execute("CREATE (:Other {text: $text})", {"text": "x" * 40_000})
    bare.execute("CREATE INDEX other FOR (o:Other) ON (o.text)")
    try:
        bare.execute("DROP INDEX object_scene_seen IF EXISTS")
        assert prepare(bare) == ["object_scene_seen"]
    finally:
        bare.execute("DROP INDEX other IF EXISTS")


def test_vectors_are_written_when_their_constraints_are_there(bare: Database, address: Address) -> None:
    drop_all(bare)
    seen: list[frozenset[str]] = []
    with Database(address) as fresh, indexing():
        SceneStore(fresh).put(imported(), progress=lambda _done, _total: seen.append(index_names(bare)))
    assert seen[0] >= NAMES


def preparer(forks: Path, address: Address) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    process = subprocess.Popen([forks / "python", "-c", PREPARER], stdin=pipe, stdout=pipe, text=True)
    tell(process, json.dumps(asdict(address)))
    assert heard(process) == "ready"
    return process


def tell(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()


def heard(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()
