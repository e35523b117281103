"""Cost of a planning session without its model, and growth of its prompts with the scene."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle
from statistics import median
from time import perf_counter
from typing import Final

from benchmarks.acting import TABLE, with_agent_close
from benchmarks.commits import OBJECT, temporary_scene
from benchmarks.comparison import Measurement, median_ms
from benchmarks.home import make_home
from scenecypher.chat.model import Reply, Request, Usage
from scenecypher.db.gate import Gate
from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.replicas import Replicas
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.actions.simulator import CommittedAction, Simulator
from scenecypher.planner.budget import Budget
from scenecypher.planner.method import Memory
from scenecypher.planner.methods import recipe_named
from scenecypher.planner.methods.lookplangraph import LookPlanGraph
from scenecypher.planner.recipe import SceneAccess
from scenecypher.planner.session import Session
from scenecypher.planner.staging import NoModel, SessionSetting, prepare_session
from scenecypher.planner.views import make_view
from scenecypher.retriever.reader import SceneReader
from scenecypher.retriever.retriever import Retriever

INSTRUCTION: Final = "Put the cup on the table."
OVERHEAD_MS: Final = 1.5
TEXT_MS: Final = 10.0
GROWTH: Final = 1.2
STEPS: Final = 200
HOMES: Final = 10
FULL_GRAPH_GROWTH: Final = 20.0
"""Limit for full-graph prompting, which is shown only for comparison with the others."""


class _PromptRecorder:
    """Model that cycles through its replies and records the length of each request, in characters."""

    def __init__(self, *replies: str) -> None:
        self.lengths: list[int] = []
        self._replies = cycle(replies)

    def reply(self, request: Request) -> Reply:
        self.lengths.append(sum(len(message.text) for message in request.messages))
        return Reply(next(self._replies), Usage(1, 1), "noting", source="scripted")


class _TimedSimulator(Simulator):
    """Simulator that sums the seconds of its actions."""

    taken: float = 0.0

    def act(
        self,
        text: str,
        *,
        expected_version: int | None = None,
        action_id: str | None = None,
        is_new: bool = False,
    ) -> Iterator[CommittedAction]:
        began = perf_counter()
        steps = list(super().act(text, expected_version=expected_version, action_id=action_id, is_new=is_new))
        self.taken += perf_counter() - began
        yield from steps


def sessions(database: Database) -> Iterator[Measurement]:
    """Measure a session's step without model, commit and memory text, and that text, against their limits in ms."""
    store = SceneStore(database)
    with temporary_scene(store, with_agent_close(make_home())) as info:
        yield Measurement(
            f"ms of a step besides model and commit ({OVERHEAD_MS:g})", _overhead_ms(store, info), OVERHEAD_MS, 1
        )
        access = SceneAccess(store, info, SceneReader(Gate(database), Enumerator(Replicas(database)), info), NoModel())
        view, _ = make_view(recipe_named("lookplangraph"), access)
        memory = Memory(INSTRUCTION, "", "")
        took = median_ms(lambda: view(memory) if view else None, warm_up=300)
        yield Measurement(f"ms of the memory graph's text, {info.nodes} nodes ({TEXT_MS:g})", took, TEXT_MS, 1)


def prompt_growth(database: Database) -> Iterator[Measurement]:
    """Compare characters of a first prompt in a building of ten homes with those in one; the agent is in one room."""
    store, one = SceneStore(database), make_home(relations=600)
    with temporary_scene(store, one) as small, temporary_scene(store, _building(one)) as large:
        for method, limit in (("lookplangraph", GROWTH), ("sg2", GROWTH), ("llm-as-p", FULL_GRAPH_GROWTH)):
            ours, theirs = (float(_first_prompt(store, info, method)) for info in (large, small))
            yield Measurement(
                f"first prompt of {method}, {large.nodes:,} nodes ({small.nodes})", ours, theirs, limit, "chars"
            )


def _overhead_ms(store: SceneStore, info: SceneInfo) -> float:
    """Return the median time of a step without the simulator's, in ms."""
    replies = (_reply("grab", OBJECT), _reply("put_on", OBJECT, TABLE))
    simulator = _TimedSimulator(store, info, actor="bench")
    method = LookPlanGraph(_PromptRecorder(*replies), info.vocabulary)
    asker = Retriever(NoModel(), Gate(store.database), Enumerator(store.replicas))
    session = Session(method, simulator, asker, view=lambda _: "a text", budget=Budget(STEPS))
    rest: list[float] = []
    began = perf_counter()
    for event in session.run(Memory(INSTRUCTION, "", "")):
        if type(event).__name__ == "Remembered":
            rest.append((perf_counter() - began - simulator.taken) * 1e3)
            began, simulator.taken = perf_counter(), 0.0
    return median(rest)


def _building(one: SceneGraph) -> SceneGraph:
    """Return HOMES copies of the home in one scene, with one agent."""
    nodes, relations = [*one.nodes.values()], [*one.relations]
    for number in range(2, HOMES + 1):
        ids = {node.id: f"{node.id}_{number}" for node in one.nodes.values() if node.kind != "Agent"}
        nodes += [replace(one.nodes[old], id=new, name=new) for old, new in ids.items()]
        among = [it for it in one.relations if it.source in ids and it.target in ids]
        relations += [Relation(ids[it.source], it.type, ids[it.target]) for it in among]
    return SceneGraph.of(nodes, relations)


def _reply(name: str, node: str, destination: str | None = None) -> str:
    action = {"function_name": name, "node": node, "relation": None, "destination": destination}
    return json.dumps({"reason": "since it is wanted", "action": action})


def _first_prompt(store: SceneStore, info: SceneInfo, method: str) -> int:
    model = _PromptRecorder("{}")
    setting = SessionSetting(store, Gate(store.database), info, INSTRUCTION, method, model=model, belief=False)
    for _ in prepare_session(setting, recipe_named(method)).run():
        if model.lengths:
            break
    return model.lengths[0]
