"""Scoped, limited, read-only Cypher for untrusted authors: see docs/safety.md."""

from scenecypher.db.gate.graph import Graph, SceneRef
from scenecypher.db.gate.judge import Plan
from scenecypher.db.gate.limits import Limits
from scenecypher.db.gate.names import KnownValues
from scenecypher.db.gate.run import Answer, Explanation, Gate
from scenecypher.db.store.values import JsonValue

__all__ = ["Answer", "Explanation", "Gate", "Graph", "JsonValue", "KnownValues", "Limits", "Plan", "SceneRef"]
