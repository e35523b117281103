"""SceneReader: the gate to one scene, with refusals that name the scene's own values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from scenecypher.db.gate import Answer, Explanation, Gate, KnownValues, SceneRef
from scenecypher.db.schema import vocabulary_of
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.errors import QueryRefused

T = TypeVar("T")

NAME_CODES: Final = frozenset({"label", "relation_type", "property"})
"""Codes of refusals that give better advice if the scene's values are known."""


@dataclass(frozen=True, slots=True)
class SceneReader:
    """Queries of people and models on one scene. Raises QueryRefused, SceneReplaced, ServiceError."""

    gate: Gate
    enumerator: Enumerator
    scene: SceneInfo

    def run(self, cypher: str) -> Answer:
        """Return the query's answer."""
        scene, vocabulary = SceneRef(self.scene.key, self.scene.name), vocabulary_of(self.scene.declared)
        return self._with_known_values(lambda known: self.gate.run(cypher, scene, vocabulary, known=known))

    def explain(self, cypher: str) -> Explanation:
        """Return the query that would run and the server's plan of it, or its refusal."""
        scene, vocabulary = SceneRef(self.scene.key, self.scene.name), vocabulary_of(self.scene.declared)
        found = self.gate.explain(cypher, scene, vocabulary)
        if found.refused is None or found.refused.code not in NAME_CODES:
            return found
        return self.gate.explain(cypher, scene, vocabulary, known=self.enumerator.of(self.scene).known())

    def _with_known_values(self, work: Callable[[KnownValues | None], T]) -> T:
        """Do `work`; read the scene's values, which takes time, only if a name is refused."""
        try:
            return work(None)
        except QueryRefused as refused:
            if refused.code not in NAME_CODES:
                raise
        return work(self.enumerator.of(self.scene).known())
