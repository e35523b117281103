"""Fixtures that run commands as a user would, in this process, on the throw-away server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import pytest

from scenecypher.cli.app import run_command_line
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.importers.babyai import level_instance
from scenecypher.importers.homes import small_home
from tests.scenes import delete_scenes
from tests.scripted_model import MODEL_NAME, Script, ScriptedModel


@dataclass(frozen=True, slots=True)
class CommandResult:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


RunCommand = Callable[..., CommandResult]
Serve = Callable[[Script], ScriptedModel]


@pytest.fixture
def command(
    user_env: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> RunCommand:
    """Return a function that runs `scenecypher` with its arguments."""
    for name, value in user_env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("COLUMNS", "160")

    def ran(*arguments: str) -> CommandResult:
        capsys.readouterr()
        code = run_command_line(arguments)
        return CommandResult(code, *capsys.readouterr())

    return ran


@pytest.fixture
def model(user_env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Yield a function that starts a scripted server and makes it the user's model."""
    with ExitStack() as stack:

        def start(script: Script) -> ScriptedModel:
            server = stack.enter_context(ScriptedModel(script))
            for name, value in (("OPENAI_BASE_URL", server.base_url), ("SCENECYPHER_MODEL", MODEL_NAME)):
                monkeypatch.setenv(name, value)
                user_env[name] = value
            return server

        yield start


@pytest.fixture
def home(store: SceneStore) -> Iterator[str]:
    """Yield the name of a small home that only this test uses."""
    name = f"test/home-{uuid4().hex[:10]}"
    store.put(replace(small_home(), name=name))
    yield name
    delete_scenes(store, name)


@pytest.fixture
def level(store: SceneStore) -> tuple[str, tuple[str, ...]]:
    """Return the name of a MiniGrid level that only this test uses, and the actions of its mission."""
    pytest.importorskip("minigrid", reason="needs `pip install 'scenecypher[papers]'`")
    begun = level_instance("trv1", 7)
    assert begun.task is not None
    name = f"test/{uuid4().hex}/trv1/7"
    store.put(replace(begun.scene, name=name))
    return name, tuple(map(str, begun.task.program))
