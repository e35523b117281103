"""The throw-away server's own promises: a test run sees nothing of the user's and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from scenecypher.settings import Settings
from tests.server import FOLDER, HOME, discard_homes, throwaway_server

ROOT: Final = Path(__file__).resolve().parent.parent
THE_USERS: Final = {
    "NEO4J_URI": "bolt://production:7687",
    "OPENAI_API_KEY": "sk-secret",
    "SCENECYPHER_HOME": "/home/user/scenes",
    "SCENECYPHER_MODEL": "dear-one",
}


def test_the_users_settings_are_hidden() -> None:
    settings = Settings()
    assert settings.neo4j_uri is None
    assert not settings.live_model
    assert settings.home == HOME
    assert not THE_USERS.keys() & {name for name in os.environ if name != "SCENECYPHER_HOME"}


def test_they_are_hidden_where_they_are_set(tmp_path: Path) -> None:
    lines = [f"{name}={value}" for name, value in THE_USERS.items()]
    (tmp_path / ".env").write_text("\n".join(lines), encoding="utf-8")
    run = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(ROOT)),
            *("-c", str(ROOT / "pyproject.toml"), f"{__file__}::{test_the_users_settings_are_hidden.__name__}"),
        ],
        cwd=tmp_path,
        env={**os.environ, **THE_USERS},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout
    assert "1 passed" in run.stdout


@pytest.mark.parametrize(
    ("chosen", "complaint"),
    [
        ({"SCENECYPHER_TEST_DB": "mysql"}, "choose one of local, 5.26, container, uri"),
        ({"SCENECYPHER_TEST_DB": "uri", "SCENECYPHER_TEST_URI": ""}, "needs SCENECYPHER_TEST_URI"),
    ],
)
def test_a_wrong_choice_of_server_is_named(
    chosen: dict[str, str], complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in chosen.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=complaint), throwaway_server():
        pass


def test_homes_of_dead_runs_are_thrown_away_and_those_of_living_ones_kept() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as living:
        dead = subprocess.Popen([sys.executable, "-c", ""])
        dead.wait()
        homes = [FOLDER / f"run-{process.pid}" for process in (living, dead)]
        for home in homes:
            home.mkdir(parents=True)
        discard_homes()
        assert [home.exists() for home in homes] == [True, False]
        living.kill()
    discard_homes()
    assert not homes[0].exists()


@pytest.mark.usefixtures("store")
def test_what_uses_the_server_is_marked(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("database")
