"""Servers of the protocol, as a client starts them: over standard input and output, over HTTP, and in this process."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

import scenecypher as sc
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.importers.homes import small_home
from scenecypher.mcp.server import Front, HomeServer
from tests.scenecypher.cli.conftest import CommandResult, RunCommand, command, home
from tests.server import environment_of

__all__ = ["CommandResult", "RunCommand", "command", "home"]

Start = Callable[..., Client]
TOKEN = "a-token-of-the-tests"
MODERN = "2026-07-28"


def words_of(result: object) -> str:
    """Return the text of a tool's result."""
    return "".join(it.text for it in result.content)  # type: ignore[attr-defined]


@pytest.fixture
def over_stdio(user_env: dict[str, str], forks: Path) -> Start:
    """Return a function that makes a client which starts `scenecypher mcp` with some options."""

    def start(*options: str, mode: str = "auto", env: dict[str, str] | None = None) -> Client:
        words, program = ["mcp", *options], str(forks / "scenecypher")
        server = StdioServerParameters(command=program, args=words, env={**user_env, **(env or {})})
        return Client(server, mode=mode)

    return start


@dataclass(frozen=True, slots=True)
class Served:
    """A server over HTTP."""

    url: str

    @property
    def host(self) -> str:
        return self.url.split("/")[2]

    @asynccontextmanager
    async def client(self, *, mode: str = "auto", token: str = TOKEN) -> AsyncIterator[Client]:
        """Yield a client of it."""
        async with (
            httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=60) as sender,
            Client(streamable_http_client(self.url, http_client=sender), mode=mode) as client,
        ):
            yield client


@pytest.fixture(scope="module")
def served(address: object, store: SceneStore, forks: Path) -> Iterator[Served]:
    """A server over HTTP for the tests of a module."""
    env = {**environment_of(store.database.address), "SCENECYPHER_MCP_TOKEN": TOKEN}
    command = [str(forks / "scenecypher"), "mcp", "--http"]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("serving http://127.0.0.1:"), line
        yield Served(line.split()[1])
        process.terminate()
        assert process.stdout.read() == "", "a configured token is not printed"


@pytest.fixture
def server_here(user_env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., HomeServer]]:
    """Yield a function that makes a server in this process."""
    for name, value in user_env.items():
        if name.startswith("NEO4J_"):
            monkeypatch.setenv(name, value)
    servers: list[HomeServer] = []

    def make(*, only: str | None = None, read_only: bool = False) -> HomeServer:
        front = Front(lambda: sc.connect(tell=lambda _: None), only=only)
        servers.append(HomeServer(front, read_only=read_only))
        return servers[-1]

    yield make
    for server in servers:
        server.close()


@pytest.fixture
def here(server_here: Callable[..., HomeServer]) -> Callable[..., Client]:
    """Return a function that makes a client of a server in this process."""

    def start(*, only: str | None = None, read_only: bool = False, mode: str = MODERN) -> Client:
        return Client(server_here(only=only, read_only=read_only).server(), mode=mode)

    return start


@pytest.fixture
def other(store: SceneStore) -> Iterator[str]:
    """Yield the name of a second home."""
    name = f"test/other-{uuid4().hex[:10]}"
    store.put(replace(small_home(), name=name))
    yield name
    store.delete(name)
