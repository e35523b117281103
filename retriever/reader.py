"""SceneReader: the gate to one scene, whose refusals name what really occurs there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from scenecypher.db.gate import Answer, Explained, Gate, Known, SceneRef
from scenecypher.db.schema import vocabulary_of
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.errors import QueryRefused

T = TypeVar("T")

NAMES: Final = frozenset({"label", "relation_type", "property"})
"""Codes of refusals that know better advice where the scene's values are known."""


@dataclass(frozen=True, slots=True)
class SceneReader:
    """Runs queries of people and models on one scene. Raises QueryRefused, SceneReplaced, ServiceError."""

    gate: Gate
    enumerator: Enumerator
    scene: SceneInfo

    def run(self, cypher: str) -> Answer:
        """The query's answer."""
        scene, vocabulary = SceneRef(self.scene.key, self.scene.name), vocabulary_of(self.scene.declared)
        answer = self._advised(lambda known: self.gate.run(cypher, scene, vocabulary, known=known))
        self.enumerator.note_version(self.scene.key, answer.version)
        return answer

    def explain(self, cypher: str) -> Explained:
        """What would run and the server's plan of it, or why it would not."""
        scene, vocabulary = SceneRef(self.scene.key, self.scene.name), vocabulary_of(self.scene.declared)
        found = self.gate.explain(cypher, scene, vocabulary)
        if found.refused is None or found.refused.code not in NAMES:
            return found
        return self.gate.explain(cypher, scene, vocabulary, known=self.enumerator.of(self.scene).known())

    def _advised(self, work: Callable[[Known | None], T]) -> T:
        """Do `work`; only where it refuses a name is it worth reading what occurs in the scene."""
        try:
            return work(None)
        except QueryRefused as refused:
            if refused.code not in NAMES:
                raise
        return work(self.enumerator.of(self.scene).known())
