"""Scoped, limited, read-only Cypher for untrusted authors: see docs/safety.md."""

from db.gate.hints import Known
from db.gate.limits import Limits
from db.gate.plan import Plan
from db.gate.run import Answer, Explained, Gate, SceneRef, Verdict
from db.gate.values import JsonValue

__all__ = ["Answer", "Explained", "Gate", "JsonValue", "Known", "Limits", "Plan", "SceneRef", "Verdict"]
