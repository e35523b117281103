"""`scenecypher db` before a server of one's own; the local one's commands are tested where it runs."""

from __future__ import annotations

import pytest

from scenecypher.db.store.connection import Address
from tests.scenecypher.cli.conftest import RunCommand

NOWHERE = "bolt://127.0.0.1:1"


def test_status_of_a_named_server(command: RunCommand, address: Address) -> None:
    done = command("db", "status", "--json")
    assert done.code == 0
    facts = done.json
    assert (facts["server"], facts["running"], facts["uri"]) == ("NEO4J_URI", True, address.uri)
    assert facts["version"][0].isdigit()
    assert "password" not in done.out


def test_status_in_words(command: RunCommand, address: Address) -> None:
    done = command("db", "status")
    assert done.code == 0
    assert address.uri in done.out


def test_start_checks_a_named_server(command: RunCommand) -> None:
    done = command("db", "start", "--json")
    assert (done.code, done.json["running"]) == (0, True)


def test_a_server_that_does_not_answer(command: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_URI", NOWHERE)
    status = command("db", "status", "--json")
    assert (status.code, status.json["running"]) == (2, False)
    assert NOWHERE in status.json["problem"]
    started = command("db", "start")
    assert started.code == 2
    assert NOWHERE in started.err


def test_a_wrong_password(command: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_PASSWORD", "wrong")
    done = command("db", "status", "--json")
    assert done.code == 2
    assert "NEO4J_PASSWORD" in done.json["problem"]


def test_an_address_that_is_none(command: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_URI", "localhost")
    done = command("db", "status")
    assert done.code == 2
    assert "bolt://localhost:7687" in done.err


def test_browser_of_a_named_server(command: RunCommand) -> None:
    done = command("db", "browser")
    assert done.code == 0
    assert ":7474/browser/" in done.out
    assert "NEO4J_PASSWORD" in done.out
