"""SceneReader: the gate to one scene, with refusals that name the scene's own values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from scenecypher.chat.clean import clean_cypher
from scenecypher.db.gate import Answer, Explanation, Gate, KnownValues, SceneRef
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.load import LoadedScene
from scenecypher.errors import QueryRefused
from scenecypher.meaning import NO_MEANING, Meaning
from scenecypher.retriever.empty_answers import causes

T = TypeVar("T")

NAME_CODES: Final = frozenset({"label", "relation_type", "property"})
"""Codes of refusals that give better advice if the scene's values are known."""


@dataclass(frozen=True, slots=True)
class SceneReader:
    """Queries of people and models on one scene. Raises QueryRefused, SceneReplaced, ServiceError."""

    gate: Gate
    enumerator: Enumerator
    scene: SceneInfo
    meaning: Meaning = NO_MEANING

    def query(self, cypher: str) -> Answer:
        """Return the answer to the query in a text of a person or an agent, which may be fenced or labelled.

        An empty answer has hints: what in the query matches nothing.
        """
        bare = clean_cypher(cypher)
        answer = self.run(bare)
        if not answer.is_empty:
            return answer
        occurring, schema = self.enumerator.of(self.scene), SceneRef.of(self.scene).schema
        return replace(answer, hints=causes(bare, occurring, self.meaning, schema))

    def run(self, cypher: str) -> Answer:
        """Return the query's answer."""
        scene = SceneRef.of(self.scene)
        return self._with_known_values(lambda known: self.gate.run(cypher, scene, known=known))

    def now(self) -> LoadedScene:
        """Return the whole scene as it is now. Raises SceneReplaced, ServiceError."""
        return self.enumerator.replicas.now(self.scene)

    def explain(self, cypher: str) -> Explanation:
        """Return the query that would run and the server's plan of it, or its refusal."""
        scene, cypher = SceneRef.of(self.scene), clean_cypher(cypher)
        found = self.gate.explain(cypher, scene)
        if found.refused is None or found.refused.code not in NAME_CODES:
            return found
        return self.gate.explain(cypher, scene, known=self.enumerator.of(self.scene).known())

    def _with_known_values(self, work: Callable[[KnownValues | None], T]) -> T:
        """Do `work`; read the scene's values, which takes time, only if a name is refused."""
        try:
            return work(None)
        except QueryRefused as refused:
            if refused.code not in NAME_CODES:
                raise
        return work(self.enumerator.of(self.scene).known())
