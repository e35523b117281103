"""A simulator on a graph in memory: the same actions, corrections and refusals as in the database, without commits."""

from __future__ import annotations

from typing_extensions import Unpack

from scenecypher.db.graph.live import LiveGraph
from scenecypher.db.graph.scene import GraphView, SceneGraph
from scenecypher.db.rule_memory import decide
from scenecypher.db.rules import rules_of
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.commit import Intent, SceneVersion, check_version
from scenecypher.db.store.history import Event
from scenecypher.db.store.reference import resolve_reference
from scenecypher.planner.actions.operator import Operator
from scenecypher.planner.actions.simulator import Acting, ActionSimulator, CommittedAction
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
