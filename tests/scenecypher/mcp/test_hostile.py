"""What a client may not do: leave its scene, change what is read-only, act twice, or stop the process."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Thread
from urllib.parse import quote

import anyio
import pytest
from mcp import Client, MCPError
from neo4j import GraphDatabase

from scenecypher.db.store.scene_store import SceneStore
from scenecypher.importers.homes import small_home
from scenecypher.mcp.server import HomeServer
from scenecypher.tools.table import TOOLS
from tests.scenecypher.mcp.conftest import MODERN, Served, Start
from tests.scenecypher.mcp.test_serving import called, refused, subscribed

ACTION = "walk(cup_2004)"
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
WAITING = "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN count(*)"


def test_other_scenes_do_not_exist_for_a_client_of_one(
    here: Callable[..., Client], home: str, other: str, store: SceneStore
) -> None:
    async def work() -> None:
        async with here(only=home) as client:
            assert [it["name"] for it in (await called(client, "list_scenes"))["scenes"]] == [home]
            for name in (other, f"{other}@0", f"{home}x", "", "x" * 600):
                for tool in ("schema", "actions", "undo"):
                    assert other not in (await refused(client, tool, scene=name)).replace(name, "")
            assert "no scene" in await refused(client, "diff", scene=home, other=other)
            assert "no scene" in await refused(client, "act", scene=other, action=ACTION)
            assert "earlier state" in await refused(client, "act", scene=f"{home}@0", action=ACTION)
            assert {it.name.rpartition(" ")[2] for it in (await client.list_resources()).resources} == {home}
            with pytest.raises(MCPError, match="no scene"):
                await client.read_resource(f"scenecypher://scenes/{other.replace('/', '%2F')}/tree")
            store.put(replace(small_home(), name=near))
            store.put(replace(small_home(), name=f"{near}@belief", role="belief"))
            absent = f"{home}@belief"
            for tool, scene in (("tree", absent), ("tree", f"{absent}@0"), ("actions", absent)):
                assert_hides(near, await refused(client, tool, scene=scene))
            assert_hides(near, await refused(client, "diff", scene=home, other=absent))
            uri = f"scenecypher://scenes/{quote(absent, safe='')}/tree"
            with pytest.raises(MCPError) as unread:
                await client.read_resource(uri)
            assert_hides(near, str(unread.value))
            with pytest.raises(MCPError) as unheard:
                async with subscribed(client, uri):
                    pass
            assert_hides(near, str(unheard.value))
            store.delete(home)
            assert_hides(near, await refused(client, "tree", scene=home))

    near = f"{home}x"
    anyio.run(work)
    assert store.find(other).version == 0


def assert_hides(name: str, told: str) -> None:
    assert "no scene" in told
    assert name not in told


def test_read_only_has_no_tool_that_changes_anything(here: Callable[..., Client], home: str) -> None:
    changing = [name for name, tool in TOOLS.items() if tool.changes]
    assert changing == ["act", "undo", "observe", "plan"]

    async def work() -> None:
        async with here(read_only=True) as client:
            assert not {it.name for it in (await client.list_tools()).tools} & {*changing}
            for name in changing:
                with pytest.raises(MCPError, match="there is no tool"):
                    await client.call_tool(name, {"scene": home, "action": ACTION})
            text = (await client.get_prompt("work_in_a_home", {"scene": home})).messages[0].content
            assert "action_id" not in str(text)

    anyio.run(work)


def test_bad_arguments_are_refused_in_words(here: Callable[..., Client], home: str) -> None:
    async def work() -> None:
        async with here() as client:
            assert "nobody" in await refused(client, "act", scene=home, action=ACTION, nobody="knows")
            assert "scene: Field required" in await refused(client, "tree")
            assert "at most" in await refused(client, "query", scene=home, cypher="x" * 1_000_000)
            assert "4000" in await refused(client, "query", scene=home, cypher="RETURN 1 //" + "x" * 9_000)
            assert "integer" in await refused(client, "undo", scene=home, to="yesterday")
            assert "either" in await refused(client, "undo", scene=home, to=0, version=1)
            assert "either" in await refused(client, "diff", scene=home)
            assert "versions 0 to 0" in await refused(client, "tree", scene=f"{home}@7")
            assert "goal" in await refused(client, "plan", scene=home)
            assert "method" in await refused(client, "plan", scene=home, goal="cup ON table", method="nonsense")
            assert "cellar" in await refused(client, "observe", scene=home, of="cellar", things=[])
            for uri in ("scenecypher://scenes/a/rooms", "file:///etc/passwd", "scenecypher://scenes//tree"):
                with pytest.raises(MCPError, match="there is no resource"):
                    await client.read_resource(uri)
            for given in ({}, {"scene": home, "x": "y"}, {"scene": "a" * 20_000}):
                with pytest.raises(MCPError, match="takes scene"):
                    await client.get_prompt("work_in_a_home", given)
            assert (await called(client, "tree", scene=home))["version"] == 0, "the process lives on"

    anyio.run(work)


@contextmanager
def locked(store: SceneStore, home: str) -> Iterator[Callable[[], None]]:
    """Lock a scene, so that actions in it wait; yield a function that waits for one that does."""
    address = store.database.address
    auth = (address.username, address.password)
    with GraphDatabase.driver(address.uri, auth=auth) as driver, driver.session() as held, driver.session() as seen:

        def wait() -> None:
            end = time.monotonic() + 60
            while not seen.run(WAITING).single(strict=True)[0]:
                assert time.monotonic() < end, "no action is waiting"
                time.sleep(0.05)

        lock = held.begin_transaction()
        lock.run("MATCH (s:Scene {key: $key}) SET s.held = true REMOVE s.held", key=store.find(home).key).consume()
        try:
            yield wait
        finally:
            lock.rollback()


@pytest.mark.parametrize("end", ["leaves", "is killed"])
def test_a_client_that_goes_in_the_middle_of_an_act_finds_it_done_once(
    end: str, over_stdio: Start, user_env: dict[str, str], home: str, store: SceneStore, *, forks: Path
) -> None:
    """The server's input ends while the action waits for the scene's lock, or its process is killed there."""
    arguments = {"scene": home, "action": ACTION, "action_id": "errand"}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "act", "arguments": arguments}},
    ]
    command = [str(forks / "scenecypher"), "mcp"]
    with subprocess.Popen(command, env=user_env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        with locked(store, home) as wait:
            process.stdin.write("".join(f"{json.dumps(line)}\n" for line in lines))
            process.stdin.flush()
            wait()
            if end == "is killed":
                process.kill()
            process.stdin.close()
        process.wait(timeout=60)
    if end == "leaves":
        assert store.find(home).version == 1, "an action that has begun is carried out"

    async def again() -> int:
        async with over_stdio(mode=MODERN) as client:
            return int((await called(client, "act", **arguments))["version"])

    assert anyio.run(again) == 1
    assert [event.action_id for event in store.history(store.find(home))] == ["errand"]


def test_a_cancelled_act_over_http_is_done_once(served: Served, home: str, store: SceneStore) -> None:
    arguments = {"scene": home, "action": ACTION, "action_id": "errand"}

    async def work() -> int:
        async with served.client(mode=MODERN) as client:
            with locked(store, home) as wait:
                async with anyio.create_task_group() as group:
                    group.start_soon(client.call_tool, "act", arguments)
                    await anyio.to_thread.run_sync(wait)
                    group.cancel_scope.cancel()
            return int((await called(client, "act", **arguments))["version"])

    assert anyio.run(work) == 1
    assert [event.action_id for event in store.history(store.find(home))] == ["errand"]


def test_a_server_that_ends_stops_a_plan_after_its_present_step(
    server_here: Callable[..., HomeServer], home: str, store: SceneStore
) -> None:
    """An interrupt closes the server on the event loop's own thread, so that no call can be cancelled there."""
    server = server_here()
    told: list[str] = []

    async def plan(client: Client) -> None:
        told.append(await refused(client, "plan", scene=home, goal="character_65 HOLDS_RH cup_2004"))

    async def work() -> None:
        async with Client(server.server(), mode=MODERN) as client, anyio.create_task_group() as group:
            closing = Thread(target=server.close)
            with locked(store, home) as wait:
                group.start_soon(plan, client)
                await anyio.to_thread.run_sync(wait)
                closing.start()
                assert await anyio.to_thread.run_sync(server.ending.wait, 60)
            await anyio.to_thread.run_sync(closing.join)

    anyio.run(work)
    assert "the call was cancelled" in told[0]
    assert [event.action for event in store.history(store.find(home))] == ["walk(cup_2004)"]


def test_an_interrupt_ends_a_server_that_waits_for_input(user_env: dict[str, str], forks: Path) -> None:
    command = [str(forks / "scenecypher"), "mcp"]
    with subprocess.Popen(command, env=user_env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["result"]["serverInfo"]["name"] == "scenecypher"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert process.stdout.read() == ""
