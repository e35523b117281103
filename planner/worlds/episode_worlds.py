"""Worlds of episodes: one scene to act in and to put back, in memory or as a leased copy in the database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from typing_extensions import Unpack

from scenecypher.db.graph.delta import Delta
from scenecypher.db.graph.live import LiveGraph
from scenecypher.db.graph.scene import GraphView, SceneGraph
from scenecypher.db.rule_memory import decide
from scenecypher.db.rules import rules_of
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.commit import Intent, SceneVersion, check_version
from scenecypher.db.store.history import Event
from scenecypher.db.store.reference import resolve_reference
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.actions.operator import Operator
from scenecypher.planner.actions.simulator import Acting, ActionSimulator, CommittedAction, Simulator
from scenecypher.planner.actions.text import ActionCall


class MemorySimulator(ActionSimulator):
    """Acts on `graph`, a copy of the given one, which nobody else sees; versions count from the scene's.

    It keeps no history: a repeated action id is carried out again.
    """

    def __init__(self, scene: SceneInfo, graph: SceneGraph, **how: Unpack[Acting]) -> None:
        super().__init__(scene, **how)
        self.graph, self._version = LiveGraph(graph), scene.version

    def _commit(self, operator: Operator, call: ActionCall, because: str | None, intent: Intent) -> CommittedAction:
        check_version(self._version, intent.expected_version)
        rules = rules_of(self.scene.declared)
        delta = self._decide(operator, call, SceneVersion.of(self._version, self.graph, self._agent, rules))
        delta = decide(rules, self.graph, delta, action=str(call), version=self._version)
        self.graph.apply(delta)
        self._version += 1
        return CommittedAction(str(call), self._version, delta, because, action_id=intent.action_id)

    def snapshot(self) -> SceneGraph:
        """Return the graph as it is now, which later actions don't change."""
        return LiveGraph(self.graph).frozen()

    def _event_of(self, action_id: str) -> Event | None:
        del action_id
        return None

    def _resolve(self, word: str) -> str:
        return resolve_reference(self.graph, word)

    def _graph(self) -> GraphView:
        return self.graph


ACTOR, MOVER = "gym", "perturb"
"""Who acts in an episode, and who moves things before it, in the history of a copy."""


class MemoryWorld:
    """A world of this process alone, without a database."""

    def __init__(self, scene: SceneInfo, start: SceneGraph, *, agent: str | None, fix: bool) -> None:
        self._scene, self._start, self._agent, self._fix = scene, start, agent, fix
        self._simulator = self._new()

    @property
    def graph(self) -> LiveGraph:
        """The present graph; it changes in place."""
        return self._simulator.graph

    def begin(self, moved: Delta) -> None:
        """Put everything back to the start, then apply `moved`, which nobody's action did."""
        self._simulator = self._new()
        self._simulator.graph.apply(moved)

    def act(self, action: str) -> Iterator[CommittedAction]:
        """Carry out an action as `Simulator.act` does, without a commit. Raises as it does."""
        return self._simulator.act(action)

    def _new(self) -> MemorySimulator:
        return MemorySimulator(self._scene, self._start, agent=self._agent, fix=self._fix)


class LeasedWorld:
    """A world in the database: `copy` is the caller's own, such as `SceneStore.lease` yields."""

    def __init__(self, store: SceneStore, copy: SceneInfo, *, agent: str | None, fix: bool) -> None:
        self._store, self._agent, self._fix = store, agent, fix
        self._start = store.load(copy.name).graph
        self._copy, self._version, self._graph = copy, copy.version, LiveGraph(self._start)
        self._simulator = self._new()

    @property
    def graph(self) -> LiveGraph:
        """The graph as of this world's latest commit; it changes in place."""
        return self._graph

    def begin(self, moved: Delta) -> None:
        """Undo in one commit what the last episode did, then commit `moved`."""
        version = self._store.reset_and_rebase(self._copy)
        self._copy = replace(self._copy, version=version, base=version)
        self._version, self._graph, self._simulator = version, LiveGraph(self._start), self._new()
        if moved:
            done = self._store.commit(self._copy, moved, actor=MOVER, action=MOVER, enforced=False)
            self._version = done.version
            self._graph.apply(moved)

    def act(self, action: str) -> Iterator[CommittedAction]:
        """Carry out and commit an action as `Simulator.act` does. Raises as it does."""
        for step in self._simulator.act(action):
            self._follow(step)
            yield step

    def _follow(self, step: CommittedAction) -> None:
        if step.version == self._version + 1:
            self._graph.apply(step.delta)
            self._version = step.version
        elif step.version > self._version:  # somebody else has changed the copy
            now = self._store.load(self._copy.name)
            self._version, self._graph = now.info.version, LiveGraph(now.graph)

    def _new(self) -> Simulator:
        return Simulator(self._store, self._copy, actor=ACTOR, agent=self._agent, fix=self._fix)


EpisodeWorld: TypeAlias = MemoryWorld | LeasedWorld
"""A scene in which episodes are played one after another."""
