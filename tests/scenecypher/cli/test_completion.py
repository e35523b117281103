"""Shell completion, requested as the scripts of `--install-completion` do."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scenecypher.db.local import status
from scenecypher.settings import Settings


def completed(line: str, env: dict[str, str], program: Path) -> list[str]:
    """Return bash's completions at the end of a line by a program; check that standard error is empty."""
    words = line.split(" ")
    asked = {"_SCENECYPHER_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    if '"' in line:
        before = line[: line.index('"')]
        asked["COMP_CWORD"] = str(len(before.split()))
    ran = subprocess.run([program], capture_output=True, text=True, timeout=60, check=False, env={**env, **asked})
    assert ran.stderr == ""
    return list(filter(None, ran.stdout.splitlines()))


@pytest.fixture
def forked(forks: Path) -> Path:
    """Return the program that starts at once; one test has the installed one."""
    return forks / "scenecypher"


def test_scenes_are_completed(home: str, user_env: dict[str, str], forked: Path) -> None:
    assert completed(f"scenecypher query {home[:-2]}", user_env, forked) == [home]
    assert home in completed("scenecypher scenes show ", user_env, forked)
    assert home in completed(f"scenecypher scenes diff {home} ", user_env, forked)
    assert completed("scenecypher ask no-such-", user_env, forked) == []


def test_methods_are_completed_without_a_database(tmp_path: Path, forked: Path) -> None:
    env, installed = {**os.environ, "SCENECYPHER_HOME": str(tmp_path)}, Path(sys.executable).parent / "scenecypher"
    assert completed("scenecypher plan x --method sg2", env, installed) == ["sg2", "sg2-limit"]
    assert completed("scenecypher session x -m stepw", env, forked) == ["stepwise"]
    assert completed("scenecypher methods lookp", env, forked) == ["lookplangraph"]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("put", ["put_on", "put_in", "put_back", "put_off"]),
        ("plug", ["plug_in", "plug_out"]),
        ('"walk(cup_2', ["walk(cup_2004)"]),
        ('"put_in(cup_2004, microw', ["put_in(cup_2004, microwave_297)"]),
        ('"put_in(cup_2', ["put_in(cup_2004, "]),
        ("stand", ["stand_up()"]),
        ('"fly(', []),
        ('"walk(cup_2004, ', []),
    ],
)
def test_actions_and_what_they_are_done_with_are_completed(
    home: str, user_env: dict[str, str], forked: Path, typed: str, expected: list[str]
) -> None:
    assert completed(f"scenecypher act {home} {typed}", user_env, forked) == expected


def test_ids_of_nodes_and_of_agents_are_completed(home: str, user_env: dict[str, str], forked: Path) -> None:
    assert completed(f"scenecypher observe {home} picture.png --at microw", user_env, forked) == ["microwave_297"]
    assert completed(f"scenecypher act {home} --agent ", user_env, forked) == ["character_65"]


@pytest.mark.parametrize("words", ["scenes show ", "act home ", "act home --agent ", "observe home x --at "])
def test_no_server_is_started_and_nothing_is_said(tmp_path: Path, forked: Path, words: str) -> None:
    env = {**os.environ, "SCENECYPHER_HOME": str(tmp_path)}
    assert completed(f"scenecypher {words}", env, forked) == []
    assert status(Settings(home=tmp_path)) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("uri", ["bolt://127.0.0.1:9", "http://nonsense"])
def test_a_server_that_does_not_answer_is_soon_given_up(user_env: dict[str, str], forked: Path, uri: str) -> None:
    begun = time.monotonic()
    assert completed("scenecypher scenes show ", {**user_env, "NEO4J_URI": uri}, forked) == []
    assert time.monotonic() - begun < 20
    assert completed("scenecypher scenes show ", {**user_env, "NEO4J_USERNAME": "nobody"}, forked) == []
