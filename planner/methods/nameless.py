"""Methods with a schema text without node names, like SG2's Task Planner and SG-RwR's Reasoner.

They know types and values only, and so do their Retrievers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from scenecypher.chat.model import Usage
from scenecypher.db.store.enumerations import Enumerations
from scenecypher.planner.method import Decision, Memory, Method
from scenecypher.retriever.schema_text import schema_text


class NamelessMethod:
    """Wrapper of `method` whose schema text has no example names or agents (SG2, "Reasoner Module")."""

    def __init__(self, method: Method, occurring: Callable[[], Enumerations], vocabulary: str) -> None:
        self._method, self._occurring, self._vocabulary = method, occurring, vocabulary

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the method's decision. Raises as the method does."""
        schema = schema_text(self._occurring(), memory.instruction, vocabulary=self._vocabulary, names=False)
        return self._method.decide(replace(memory, schema=schema))
