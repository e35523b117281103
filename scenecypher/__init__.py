"""SceneCypher: household robots' scene graphs in Neo4j, read through scoped Cypher, changed by checked actions."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from scenecypher.rooms import check_rooms

check_rooms()

_PUBLIC = {
    "SceneGraph": "db.scene",
    "Node": "db.scene",
    "Relation": "db.scene",
    "Delta": "db.delta",
    "SceneStore": "db.store",
    "Database": "db.connection",
    "Settings": "scenecypher.settings",
    "connect": "db.connection",
}

__all__ = list(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        msg = f"module 'scenecypher' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(_PUBLIC[name]), name)
