"""Agents' tools ask the person at the client: what is meant, and whether an action that a rule reserves may be done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from uuid import uuid4

import anyio
import pytest
from mcp import Client
from mcp_types import ElicitRequestFormParams, ElicitResult, TextContent

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.mcp.server import HomeServer
from scenecypher.planner.rules.house import add_rule
from tests.planner.methods.test_asking_back import FOUR, INTO_THE_BOX
from tests.scenecypher.mcp.conftest import MODERN, words_of
from tests.scripted_model import MODEL_NAME, ScriptedModel

Make = Callable[..., HomeServer]
MODES = pytest.mark.parametrize("mode", [MODERN, "legacy"])


@pytest.fixture
def four(store: SceneStore, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    name = f"test/four-{uuid4().hex[:8]}"
    store.put(ImportedScene(name, FOUR, "grasif"))
    with ScriptedModel(lambda _: INTO_THE_BOX) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "scripted")
        monkeypatch.setenv("SCENECYPHER_MODEL", MODEL_NAME)
        yield name
    store.delete(name)


class Person:
    """A client's person, who answers forms in turn (None: declines)."""

    def __init__(self, *answers: str | None) -> None:
        self._answers, self.asked = iter(answers), list[ElicitRequestFormParams]()

    async def __call__(self, context: object, params: object) -> ElicitResult:
        del context
        assert isinstance(params, ElicitRequestFormParams)
        self.asked.append(params)
        said = next(self._answers)
        return (
            ElicitResult(action="decline") if said is None else ElicitResult(action="accept", content={"answer": said})
        )


def called(server: HomeServer, person: Person | None, mode: str, tool: str, **arguments: object) -> tuple[bool, str]:
    """Return whether a tool failed, and its words."""

    async def work() -> tuple[bool, str]:
        async with Client(server.server(), mode=mode, elicitation_callback=person) as client:
            result = await client.call_tool(tool, arguments)
            assert all(isinstance(it, TextContent) for it in result.content)
            return bool(result.is_error), words_of(result)

    return anyio.run(work)


@MODES
def test_a_plan_asks_the_person_at_the_client(server_here: Make, four: str, store: SceneStore, mode: str) -> None:
    """Kind: an agent's tool guesses what its person could say."""
    pytest.importorskip("up_fast_downward", reason="needs `pip install 'scenecypher[pddl]'`")
    person, plan = Person("cup-3: in kitchen, ontop table-1, dirty"), {"scene": four, "method": "goal-then-plan"}
    failed, words = called(server_here(), person, mode, "plan", instruction="Put the cup into the box.", **plan)
    assert not failed, words
    (form,) = person.asked
    assert form.message == "Which cup is meant (1 of 4)?"
    assert form.requested_schema["properties"]["answer"]["enum"][-1] == "any of them"
    assert store.load(four).graph.has("cup-3", "INSIDE", "box-1")


@MODES
def test_an_action_that_a_rule_reserves_is_approved_at_the_client(
    server_here: Make, four: str, store: SceneStore, mode: str
) -> None:
    """Kind: a rule that asks is as good as one that forbids wherever an agent acts."""
    add_rule(store, four, "ask before go_to(kitchen)", name="kitchen")
    server, act = server_here(), {"scene": four, "action": "go_to(kitchen)", "fix": True}
    failed, words = called(server, Person(None), mode, "act", **act)
    assert (failed, "it was not approved" in words) == (True, True)
    person = Person("do it")
    failed, words = called(server, person, mode, "act", **act)
    assert not failed, words
    assert "the rule kitchen has a person asked" in person.asked[0].message
    assert store.history(store.find(four))[-1].approved_by == "person"


@MODES
def test_a_client_without_forms_is_as_nobody(server_here: Make, four: str, store: SceneStore, mode: str) -> None:
    add_rule(store, four, "ask before go_to(kitchen)", name="kitchen")
    failed, words = called(server_here(), None, mode, "act", scene=four, action="go_to(kitchen)", fix=True)
    assert (failed, "nobody is here to ask" in words) == (True, True)


def test_an_answer_that_nothing_waits_for_is_refused(server_here: Make, four: str) -> None:
    from mcp import MCPError

    async def work() -> None:
        async with Client(server_here().server(), mode=MODERN) as client:
            with pytest.raises(MCPError, match="no call waits"):
                await client.call_tool("act", {"scene": four, "action": "go_to(kitchen)"}, request_state="stale")

    anyio.run(work)
