"""The Dockerfile: its image is built, and its page and its tools work against a Neo4j beside it."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from importlib.metadata import version
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters

from scenecypher.db.store.connection import Address, Database
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.importers.homes import small_home
from tests import containers
from tests.rooms import ROOT

pytestmark = [pytest.mark.container, pytest.mark.timeout(900)]

TAG = "scenecypher:test"
HOST = {"network_mode": "host", "labels": {containers.LABEL: ""}, "remove": True}


@pytest.fixture(scope="module")
def docker() -> Iterator[Any]:
    """Docker's client, with the image of the Dockerfile."""
    import docker as package  # type: ignore[import-untyped]

    base = re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE)[0]
    reason = containers.why_none(base)
    if reason and os.environ.get("SCENECYPHER_TEST_DB") == "container":
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)
    with closing(package.from_env()) as client:
        client.images.build(path=str(ROOT), tag=TAG, network_mode="host", rm=True)
        yield client


@pytest.fixture(scope="module")
def beside(docker: Any) -> Iterator[dict[str, str]]:
    """The environment of a container beside a Neo4j that holds a home."""
    with containers.neo4j_container() as address, Database(address) as database:
        store = SceneStore(database)
        store.prepare()
        store.put(small_home())
        yield settings_of(address)


def settings_of(address: Address) -> dict[str, str]:
    """Return the settings that name a server."""
    return {"NEO4J_URI": address.uri, "NEO4J_USERNAME": address.username, "NEO4J_PASSWORD": address.password}


def test_a_command_answers_and_is_not_run_by_root(docker: Any) -> None:
    assert docker.containers.run(TAG, ["--version"], **HOST).decode().strip() == version("scenecypher")
    assert (
        docker.containers.run(TAG, ["-c", "import os; print(os.getuid())"], entrypoint="python", **HOST)
        .decode()
        .strip()
        == "1000"
    )


def test_the_page_shows_the_home(docker: Any, beside: dict[str, str]) -> None:
    page = docker.containers.run(TAG, ["ui", "--port", "8739"], environment=beside, detach=True, **HOST)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and "http://" not in (said := page.logs().decode()):
            time.sleep(0.2)
        link = re.findall(r"http://\S+", said)[0]
        with httpx2.Client(follow_redirects=True) as browser:
            assert browser.get(link).status_code == 200, said
            assert small_home().name in browser.get("http://127.0.0.1:8739/").text
    finally:
        with suppress(Exception):
            page.kill()


def test_the_tools_of_agents_query_the_home(docker: Any, beside: dict[str, str]) -> None:
    given = [word for name in beside for word in ("--env", name)]
    words = ["run", "--rm", "-i", "--network", "host", "--label", containers.LABEL, *given, TAG, "mcp"]

    async def ask() -> str:
        env = {**os.environ, **beside}
        async with Client(StdioServerParameters(command="docker", args=words, env=env)) as client:
            found = await client.call_tool("list_scenes", {})
            return str(found)

    assert small_home().name in anyio.run(ask)
