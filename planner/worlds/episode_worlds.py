"""Worlds of episodes: one scene to act in and to put back, in memory or as a leased copy in the database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Protocol

from scenecypher.db.graph.delta import Delta
from scenecypher.db.graph.live import LiveGraph
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.actions.memory_simulator import MemorySimulator
from scenecypher.planner.actions.simulator import CommittedAction, Simulator

ACTOR, MOVER = "gym", "perturb"
"""Who acts in an episode, and who moves things before it, in the history of a copy."""


class EpisodeWorld(Protocol):
    """A scene in which episodes are played one after another."""

    @property
    def graph(self) -> LiveGraph:
        """The present graph; it changes in place."""
        ...

    def begin(self, moved: Delta) -> None:
        """Put everything back to the start, then apply `moved`, which nobody's action did."""
        ...

    def act(self, action: str) -> Iterator[CommittedAction]:
        """Carry out an action as `Simulator.act` does. Raises as it does."""
        ...


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
        """Put everything back to the start, then apply `moved`."""
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
