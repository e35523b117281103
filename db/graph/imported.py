"""ImportedScene: what every importer yields and every store takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.schema import Declared


@dataclass(frozen=True, slots=True)
class ImportedScene:
    """A scene read from a file, with the name it shall have.

    `vocabulary` is a key of `scenecypher.db.schema.VOCABULARIES`; `source` says in words where the scene comes from.
    """

    name: str
    graph: SceneGraph
    vocabulary: str = "generic"
    role: Literal["world", "belief"] = "world"
    declared: Declared = field(default_factory=Declared)
    source: str = ""
