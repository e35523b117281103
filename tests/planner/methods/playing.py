"""Whole sessions of a method on a new scene, with a scripted model behind real HTTP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from scenecypher.chat import OpenAIModel, Usage
from scenecypher.db.gate import Gate
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.importers.babyai import level_instance
from scenecypher.planner.methods import recipe_named
from scenecypher.planner.sessions.budget import Budget
from scenecypher.planner.sessions.events import Began, Event, Finished, Remembered
from scenecypher.planner.sessions.setup import SessionSetting, prepare_session
from tests.planner.actions.test_operators import put
from tests.scripted_model import MODEL_NAME, Script, ScriptedModel

EPISODE: Final = level_instance("trv1", 7)
ROOMS: Final = EPISODE.scene.graph
"""Two rooms, blue door_1 between them at (5, 4), ball_1 before it, blue key_1, yellow key_2; box_1 is behind it."""
INSTRUCTION: Final = "pick up the purple box"
PLAN: Final = ("pickup(key_1)", "remove(ball_1)", "open(door_1)", "pickup(box_1)")
SOLUTION: Final = f"[{', '.join(PLAN)}]"

ROLES: Final[Mapping[str, str]] = {
    "You solve tasks about an environment that is described by a scene graph. You know": "planner",
    "You write Cypher for Neo4j": "writer",
    "You check the work of a query writer": "verifier",
    "You are given a list of Python functions": "caller",
    "You answer queries about a scene graph": "limited",
    "You plan and reason about an environment": "reasoner",
    "You retrieve information from the graph": "retriever",
    "You answer questions about the scene graph": "reader",
    "You write a plan in words as the actions": "translator",
    "You solve a task about an environment by one Python program": "coder",
    "You solve tasks about an environment that is described by a scene graph, of which": "react",
    "You solve tasks about an environment that is described by a scene graph, which": "prompting",
    "You are a robot that carries out a task by actions": "alfworld",
}
"""Roles of agents, by the prefixes of their system messages."""


@dataclass(frozen=True, slots=True)
class Played:
    """A finished session."""

    events: Sequence[Event]
    requests: Sequence[Mapping[str, Any]]
    actions: Sequence[str]
    key: str
    scene: str

    @property
    def end(self) -> Finished:
        """The session's last event."""
        (end,) = (event for event in self.events if isinstance(event, Finished))
        return end

    @property
    def roles(self) -> list[str]:
        """The role of each request."""
        return [role_of(request) for request in self.requests]

    def said(self, number: int) -> str:
        """Return the text of a request (numbered from 0) without its system message."""
        return "\n".join(message["content"] for message in self.requests[number]["messages"][1:])

    def last(self, number: int) -> str:
        """Return the last message of a request."""
        return str(self.requests[number]["messages"][-1]["content"])

    def of(self, kind: type[Event]) -> list[Event]:
        """Return the events of one type."""
        return [event for event in self.events if isinstance(event, kind)]


def role_of(request: Mapping[str, Any]) -> str:
    text = system_of(request)
    return next(role for words, role in ROLES.items() if text.startswith(words))


def system_of(request: Mapping[str, Any]) -> str:
    return str(request["messages"][0]["content"])


def play(
    store: SceneStore,
    method: str,
    script: Script,
    *,
    graph: SceneGraph = ROOMS,
    vocabulary: str = "babyai",
    instruction: str = INSTRUCTION,
    ablations: tuple[str, ...] = (),
    steps: int = 30,
) -> Played:
    """Run a session of `method` with the replies of `script`."""
    scene = put(store, graph, vocabulary=vocabulary)
    with (
        ScriptedModel(script) as server,
        OpenAIModel(model=MODEL_NAME, base_url=server.base_url, api_key="none", retries=0) as model,
    ):
        setting = SessionSetting(
            store,
            Gate(store.database),
            scene,
            instruction,
            method,
            model=model,
            ablations=ablations,
            budget=Budget(steps),
        )
        whole = prepare_session(setting, recipe_named(method)).run()
        events = [event for event in whole if not isinstance(event, Began | Remembered)]
    return Played(events, server.requests, [event.action for event in store.history(scene)], scene.key, scene.name)


def script_usage(requests: int) -> Usage:
    """Return the tokens of a number of scripted replies."""
    return Usage(11 * requests, 7 * requests)


def names_in_text(text: str, graph: SceneGraph, but: Sequence[str] = ()) -> list[str]:
    """Return the ids and names of nodes in a text, except names that equal their class."""
    words = {word for node in graph.nodes.values() for word in (node.id, node.name) if word != node.class_}
    return sorted(word for word in words - {*but} if word in text)
