"""SceneCypher: household robots' scene graphs in Neo4j, read through scoped Cypher, changed by checked actions."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PUBLIC = {
    "SceneGraph": "scenecypher.db.graph.scene",
    "Node": "scenecypher.db.graph.scene",
    "Relation": "scenecypher.db.graph.scene",
    "Delta": "scenecypher.db.graph.delta",
    "SceneStore": "scenecypher.db.store.scene_store",
    "Database": "scenecypher.db.store.connection",
    "Settings": "scenecypher.settings",
    "connect": "scenecypher.db.connect",
}

__all__ = list(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        msg = f"module 'scenecypher' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(_PUBLIC[name]), name)
