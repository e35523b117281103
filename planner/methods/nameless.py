"""A method shown a schema that names no node: SG2's Task Planner and SG-RwR's Reasoner know types and values alone.

So do their Retrievers, whose own schema texts are written without names too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from scenecypher.chat.model import Usage
from scenecypher.db.store.enumerations import Enumerations
from scenecypher.planner.method import Decision, Memory, Method
from scenecypher.retriever.schema_text import schema_text


class NamelessMethod:
    """Decides as `method` does, without example names and agents in the schema text (SG2, "Reasoner Module")."""

    def __init__(self, method: Method, occurring: Callable[[], Enumerations], vocabulary: str) -> None:
        self._method, self._occurring, self._vocabulary = method, occurring, vocabulary

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """The method's decision. Raises as it does."""
        schema = schema_text(self._occurring(), memory.instruction, vocabulary=self._vocabulary, names=False)
        return self._method.decide(replace(memory, schema=schema))
