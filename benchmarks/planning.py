"""What a planning session costs besides its model, and how its prompts grow with the scene."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle
from statistics import median
from time import perf_counter
from typing import Final

from benchmarks.acting import TABLE, reachable
from benchmarks.frame import Row, median_ms
from benchmarks.home import home
from benchmarks.writing import OBJECT, scene
from scenecypher.chat.model import Reply, Request, Usage
from scenecypher.db.gate import Gate
from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.actions.simulator import Simulator, Step
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
OVERHEAD_MS: Final = 5.0
TEXT_MS: Final = 10.0
GROWTH: Final = 1.2
STEPS: Final = 200
HOMES: Final = 10
BESIDE: Final = 20.0
"""How much full-graph prompting may grow: it is printed beside the others, and is theirs to beat."""


class _Noting:
    """Stands for a model: gives one reply after the other, and notes how long each request is, in characters."""

    def __init__(self, *replies: str) -> None:
        self.lengths: list[int] = []
        self._replies = cycle(replies)

    def reply(self, request: Request) -> Reply:
        self.lengths.append(sum(len(message.text) for message in request.messages))
        return Reply(next(self._replies), Usage(1, 1), "noting", source="scripted")


class _Timed(Simulator):
    """Remembers the seconds that its actions took."""

    taken: float = 0.0

    def act(self, text: str, *, expected_version: int | None = None) -> Iterator[Step]:
        began = perf_counter()
        steps = list(super().act(text, expected_version=expected_version))
        self.taken += perf_counter() - began
        yield from steps


def sessions(database: Database) -> Iterator[Row]:
    """A session's step besides model, commit and memory text, and that text, both beside their limits in ms."""
    store = SceneStore(database)
    with scene(store, reachable(home())) as info:
        yield Row(f"ms of a step besides model and commit ({OVERHEAD_MS:g})", _overhead_ms(store, info), OVERHEAD_MS, 1)
        access = SceneAccess(store, info, SceneReader(Gate(database), Enumerator(database), info), NoModel())
        view, _ = make_view(recipe_named("lookplangraph"), access)
        memory = Memory(INSTRUCTION, "", "")
        took = median_ms(lambda: view(memory) if view else None, warm_up=300)
        yield Row(f"ms of the memory graph's text, {info.nodes} nodes ({TEXT_MS:g})", took, TEXT_MS, 1)


def prompts(database: Database) -> Iterator[Row]:
    """Characters of a first prompt in a building of ten such homes, beside those in one; the agent is in one room."""
    store, one = SceneStore(database), home(relations=600)
    with scene(store, one) as small, scene(store, _building(one)) as large:
        for method, limit in (("lookplangraph", GROWTH), ("sg2", GROWTH), ("llm-as-p", BESIDE)):
            ours, theirs = (float(_first_prompt(store, info, method)) for info in (large, small))
            yield Row(f"first prompt of {method}, {large.nodes:,} nodes ({small.nodes})", ours, theirs, limit, "chars")


def _overhead_ms(store: SceneStore, info: SceneInfo) -> float:
    """The median of a step's time but for what the simulator took."""
    replies = (_reply("grab", OBJECT), _reply("put_on", OBJECT, TABLE))
    simulator = _Timed(store, info, actor="bench")
    method = LookPlanGraph(_Noting(*replies), info.vocabulary)
    asker = Retriever(NoModel(), Gate(store.database), Enumerator(store.database))
    session = Session(method, simulator, asker, view=lambda _: "a text", budget=Budget(STEPS))
    rest: list[float] = []
    began = perf_counter()
    for event in session.run(Memory(INSTRUCTION, "", "")):
        if type(event).__name__ == "Remembered":
            rest.append((perf_counter() - began - simulator.taken) * 1e3)
            began, simulator.taken = perf_counter(), 0.0
    return median(rest)


def _building(one: SceneGraph) -> SceneGraph:
    """The home, and as many more of it, without its agent, as make HOMES of them."""
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
    model = _Noting("{}")
    setting = SessionSetting(store, Gate(store.database), info, INSTRUCTION, method, model=model, belief=False)
    for _ in prepare_session(setting, recipe_named(method)).run():
        if model.lengths:
            break
    return model.lengths[0]
