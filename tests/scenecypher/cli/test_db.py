"""`scenecypher db` before a server of one's own; the local one's commands are tested where it runs."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest

from scenecypher.db.browser import views
from scenecypher.db.browser.style import CONFIG, grass
from scenecypher.db.browser.views import view_query
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


def test_status_counts_the_copies_of_episodes_and_clean_collects_them(command: RunCommand, home: str) -> None:
    """A fault of this kind is growth that no command shows: copies that nobody uses were not counted nor collected."""
    from scenecypher.gym import HomeEnv

    def copies() -> tuple[int, int]:
        facts = command("db", "status", "--json").json
        return facts["leased_copies"], facts["free_copies"]

    leased, free = copies()
    env = HomeEnv(scene=home, goal="character_65 HOLDS_RH cup_2004", instruction="Take the cup.")
    env.reset()
    assert copies() == (leased + 1, free)
    env.close()
    assert copies() == (leased + 1, free + 1)
    lines = command("db", "status").out.splitlines()
    assert [line.split()[-1] for line in lines if " copies " in line] == [str(leased + 1), str(free + 1)]

    with closing(HomeEnv(scene=home, goal="character_65 HOLDS_RH cup_2004", instruction="Take the cup.")) as used:
        used.reset()
        assert copies() == (leased + 1, free), "a free copy is taken before one is made"
        assert command("db", "clean", "--grace", "0", "--json").json["cleaned"] >= free
        assert copies() == (leased - free + 1, 0), "what is in use stays"
    assert command("db", "clean", "--grace", "0", "--json").json["cleaned"] == 1
    assert copies() == (leased - free, 0)


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
    assert ":7474/browser/?dbms=" in done.out
    assert "cmd=edit" not in done.out
    assert "NEO4J_PASSWORD" in done.out


def test_browser_of_a_scene(command: RunCommand, home: str, tmp_path: Path) -> None:
    style, queries = tmp_path / "home.grass", tmp_path / "home.zip"
    files = ("--style", str(style), "--queries", str(queries))
    done = command("db", "browser", "--scene", home, "--at", "http://elsewhere:80/", *files)
    assert done.code == 0, done.err
    assert "http://elsewhere:80/?dbms=bolt%3A%2F%2Fneo4j%40" in done.out
    assert f"&cmd=edit&arg={quote(view_query('overview', home), safe='')}\n" in done.out
    assert (style.read_text(encoding="utf-8"), queries.read_bytes()[:2]) == (grass(), b"PK")
    room = command("db", "browser", "--scene", home, "--room", "dining_room")
    assert quote("'dining_room_201' AS id", safe="") in room.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--view", "overview"), "--scene NAME"),
        (("--queries", "queries.zip"), "--scene NAME"),
        (("--scene", "nowhere"), "'nowhere'"),
        (("--scene", "HOME", "--room", "cellar"), "it has "),
        (("--scene", "HOME", "--version", "3"), "nothing has changed"),
        (("--scene", "HOME", "--run", "987654"), "no run 987654"),
        (("--scene", "HOME", "--view", "belief"), "no belief"),
        (("--scene", "HOME@3"), "--version N"),
        (("--scene", "HOME", "--view", "robot", "--room", "x"), "--view room"),
    ],
)
def test_a_view_that_can_not_be_shown(command: RunCommand, home: str, options: tuple[str, ...], said: str) -> None:
    done = command("db", "browser", *(it.replace("HOME", home) for it in options))
    assert done.code == (1 if "cellar" in options else 2), "a node that there is not is refused, the rest is bad input"
    assert said in done.err
    assert not done.out


def test_a_server_that_does_not_set_browser_up_is_told(command: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "run :config" not in command("db", "browser").out
    monkeypatch.setattr(views, "CONFIG", "another command")
    done = command("db", "browser")
    assert f"run :{CONFIG}" in done.out
    assert "--style" in done.out
