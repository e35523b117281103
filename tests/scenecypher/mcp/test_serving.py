"""`scenecypher mcp` with the SDK's own client, over both transports and in both of the protocol's eras."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp_types import CallToolResult

from scenecypher.db.store.scene_store import SceneStore
from scenecypher.tools.table import TOOLS
from tests.pages import blocks_of
from tests.rooms import ROOT
from tests.scenecypher.mcp.conftest import MODERN, TOKEN, RunCommand, Served, Start, words_of

CUPS = "MATCH (c:Object {id: 'cup_2004'})-[:INSIDE]->(room:Place) RETURN c.id AS cup, room.id AS room"


async def called(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return the structured result of a tool that succeeds; the SDK's client compares it with the tool's schema."""
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    assert not result.is_error, words_of(result)
    found: dict[str, Any] = result.structured_content
    return found


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """Return what a tool says that refuses a call."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert result.structured_content is None
    return words_of(result)


async def evening(client: Client, home: str) -> None:
    """Work in a home with every tool."""
    listed = await client.list_tools()
    assert [tool.name for tool in listed.tools] == [*TOOLS]
    for tool in listed.tools:
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is not tool.annotations.destructive_hint
        assert tool.input_schema["additionalProperties"] is False
    found = await called(client, "list_scenes", containing=home)
    assert [(it["name"], it["version"]) for it in found["scenes"]] == [(home, 0)]
    assert "cup" in (await called(client, "schema", scene=home))["content"]
    rows = await called(client, "query", scene=home, cypher=CUPS)
    ((cup, room),) = rows["rows"]
    assert "Cup" in await refused(client, "query", scene=home, cypher="MATCH (c:Cup) RETURN c")
    assert cup in (await called(client, "tree", scene=home, of=room))["content"]
    assert "affordances: " in (await called(client, "look", scene=home, of=cup))["content"]
    assert "grab(" in (await called(client, "actions", scene=home))["content"]

    assert "close" in await refused(client, "act", scene=home, action=f"grab({cup})")
    walked = await called(client, "act", scene=home, action=f"walk({cup})", action_id="one", expected_version=0)
    assert walked == await called(client, "act", scene=home, action=f"walk({cup})", action_id="one")
    assert "version" in await refused(client, "act", scene=home, action=f"grab({cup})", expected_version=0)
    log = (await called(client, "history", scene=home))["events"]
    assert [(it["version"], it["action"], it["undone"]) for it in log] == [(1, f"walk({cup})", False)]
    assert (bool(log[0]["at"]), log[0]["scene_time"]) == (True, None)
    asked = await called(client, "past", scene=home, cypher="MATCH (e:PastEvent) RETURN e.action")
    assert asked["rows"] == [[f"walk({cup})"]]
    moved = await called(client, "diff", scene=home, since=0)
    assert (moved["before"], moved["after"]) == (f"{home}@0", f"{home}@1")
    assert moved["changes"]
    then = await called(client, "query", scene=f"{home}@0", cypher="MATCH (n) RETURN count(n)")
    assert then["version"] == 0
    assert (await called(client, "undo", scene=home))["version"] == 2

    counter = (await called(client, "query", scene=home, cypher="MATCH (a:Asset) RETURN a.id LIMIT 1"))["rows"][0][0]
    look = await called(
        client, "observe", scene=home, of=counter, things=[{"class": "mug", "support": {"relation": "ON"}}]
    )
    assert (look["belief"], look["merged"]) == (f"{home}@belief", True)
    assert any("mug" in line for line in look["changes"])

    heard: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, message))

    goal = {"scene": home, "goal": f"character_65 HOLDS_RH {cup}"}
    done = await client.call_tool("plan", goal, progress_callback=hear)
    assert done.structured_content["done"], words_of(done)
    assert (done.structured_content["goal"], done.structured_content["unmet"]) == ("met", [])
    assert done.structured_content["actions"][-1] == f"grab({cup})"
    assert [it for it, _ in heard] == sorted(it for it, _ in heard)
    assert any(f"grab({cup})" in (message or "") for _, message in heard)

    uris = {it.uri async for it in resources(client)}
    uri = next(it for it in uris if home.replace("/", "%2F") in it and it.endswith("/tree"))
    (content,) = (await client.read_resource(uri)).contents
    assert cup in content.text  # type: ignore[union-attr]
    prompt = await client.get_prompt("work_in_a_home", {"scene": home, "task": "Tidy up."})
    assert "Tidy up." in words_of(prompt.messages[0].model_copy(update={"content": [prompt.messages[0].content]}))


async def resources(client: Client) -> Any:
    cursor: str | None = None
    while True:
        page = await client.list_resources(cursor=cursor)
        for it in page.resources:
            yield it
        cursor = page.next_cursor
        if cursor is None:
            return


def test_an_evening_over_standard_input_and_output(over_stdio: Start, home: str) -> None:
    async def work() -> None:
        async with over_stdio(mode=MODERN) as client:
            await evening(client, home)

    anyio.run(work)


def test_an_evening_over_http_in_the_era_before(served: Served, home: str) -> None:
    async def work() -> None:
        async with served.client(mode="legacy") as client:
            await evening(client, home)

    anyio.run(work)


def test_who_may_not_ask_over_http_is_refused(served: Served) -> None:
    given = {"authorization": f"Bearer {TOKEN}"}
    with httpx2.Client(base_url=f"http://{served.host}") as sender:
        assert sender.post("/mcp", json={}).status_code == 401
        assert sender.post("/mcp", json={}, headers={"authorization": "Bearer wrong"}).status_code == 401
        assert sender.post("/mcp", json={}, headers={**given, "host": "evil.example"}).status_code == 421
        assert sender.post("/mcp", json={}, headers={**given, "origin": "http://evil.example"}).status_code == 403
        assert sender.post("/mcp", content=b"x" * 2_000_000, headers=given).status_code == 413
        garbled = sender.post("/mcp", content=b"{", headers={**given, "content-type": "application/json"})
        assert garbled.status_code == 400

    async def wrong() -> None:
        async with served.client(token="wrong"):
            pass

    with pytest.raises(Exception, match=r"401|unhandled"):
        anyio.run(wrong)

    async def right() -> int:
        async with served.client() as client:
            return len((await client.list_tools()).tools)

    assert anyio.run(right) == len(TOOLS), "the process lives on"


def test_eight_clients_at_once_each_get_their_own_answers(
    served: Served, home: str, other: str, store: SceneStore
) -> None:
    async def work() -> None:
        async with anyio.create_task_group() as group:
            for number in range(8):
                group.start_soon(visit, number)

    async def visit(number: int) -> None:
        scene = (home, other)[number % 2]
        async with served.client(mode=MODERN if number < 6 else "legacy") as client:
            cup = (await called(client, "query", scene=scene, cypher=CUPS))["rows"][0][0]
            await called(client, "act", scene=scene, action=f"walk({cup})", action_id=f"visit-{number // 4}")
            assert (await called(client, "list_scenes", containing=scene))["scenes"][0]["name"] == scene

    anyio.run(work)
    for scene in (home, other):
        ids = [event.action_id for event in store.history(store.find(scene))]
        assert sorted(ids) == ["visit-0", "visit-1"], "each action once, whoever asked for it"


@pytest.mark.parametrize("mode", [MODERN, "legacy"])
@pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")
def test_subscribers_hear_of_changes(over_stdio: Start, home: str, command: RunCommand, mode: str) -> None:
    uri = f"scenecypher://scenes/{home.replace('/', '%2F')}/tree"
    told = anyio.Event()

    async def heard(message: Any) -> None:
        if getattr(message, "method", "") == "notifications/resources/updated" and str(message.params.uri) == uri:
            told.set()

    async def work() -> None:
        client = over_stdio(mode=mode)
        client.message_handler = heard
        async with client, subscribed(client, uri):
            await anyio.to_thread.run_sync(command, "act", home, "walk(cup_2004)")
            with anyio.fail_after(60):
                await told.wait()
            with pytest.raises(MCPError, match="no scene named"):
                async with subscribed(client, f"{uri.removesuffix('/tree')}x/tree"):
                    pass

    anyio.run(work)


@asynccontextmanager
async def subscribed(client: Client, uri: str) -> AsyncIterator[None]:
    """Subscribe to a resource as the client's era does."""
    if client.protocol_version == MODERN:
        async with client.listen(resource_subscriptions=[uri]):
            yield
    else:
        await client.subscribe_resource(uri)
        yield
        await client.unsubscribe_resource(uri)


def test_a_server_without_a_database_says_so_and_lives_on(over_stdio: Start) -> None:
    nowhere = {"NEO4J_URI": "bolt://127.0.0.1:1", "SCENECYPHER_RETRY_S": "0", "SCENECYPHER_CONNECT_TIMEOUT_S": "1"}

    async def work() -> None:
        async with over_stdio(env=nowhere) as client:
            for _ in range(2):
                assert "bolt://127.0.0.1:1" in await refused(client, "list_scenes")
            with pytest.raises(MCPError, match=r"bolt://127\.0\.0\.1:1"):
                await client.read_resource("scenecypher://scenes/a/tree")
            assert "its arguments are" in await refused(client, "query", scene="a"), (
                "checked before the database is asked"
            )
            assert len((await client.list_tools()).tools) == len(TOOLS)

    anyio.run(work)


def test_options_that_do_not_fit(command: RunCommand) -> None:
    without = command("mcp", "--port", "8080")
    assert (without.code, without.out) == (2, "")
    assert "--http" in without.err
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        found = command("mcp", "--http", "--port", port)
    assert (found.code, found.out) == (2, "")
    assert f"port {port}" in found.err


def test_a_token_that_could_be_guessed_is_refused(command: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCENECYPHER_MCP_TOKEN", "short")
    result = command("mcp", "--http")
    assert result.code == 2
    assert "SCENECYPHER_MCP_TOKEN" in result.err


def test_without_the_extra_it_is_named(command: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [it for it in sys.modules if it.startswith("scenecypher.mcp.serving")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp.server.stdio", None)
    result = command("mcp")
    assert result.code == 2
    assert "pip install 'scenecypher[agents]'" in result.err


def test_the_configurations_of_the_page_start_a_server(
    user_env: dict[str, str], home: str, monkeypatch: pytest.MonkeyPatch, forks: Path
) -> None:
    """Each stdio server that docs/agents.md configures for a client answers; it finds the command by its name."""
    blocks = [it.text for it in blocks_of((ROOT / "docs/agents.md").read_text("utf-8")) if it.language == "json"]
    documents = [json.loads(text) for text in blocks]
    servers = [it for found in documents for it in (found.get("mcpServers") or found["servers"]).values()]
    started = [it for it in servers if it.get("type", "stdio") == "stdio"]
    assert len(servers) - len(started) == 1, "one is reached over HTTP"
    path = f"{forks}{os.pathsep}{os.environ['PATH']}"

    async def tried(server: dict[str, Any]) -> int:
        arguments = [home if it == "virtualhome/963_2" else it for it in server["args"]]
        given = StdioServerParameters(command=server["command"], args=arguments, env={**user_env, "PATH": path})
        async with Client(given) as client:
            assert home in str((await called(client, "list_scenes", containing=home))["scenes"])
            return len((await client.list_tools()).tools)

    monkeypatch.setenv("PATH", path)
    assert [anyio.run(tried, it) for it in started] == [len(TOOLS), len(TOOLS) - 4]
