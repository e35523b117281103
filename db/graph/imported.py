"""ImportedScene: the result of every importer and the input of every store."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.schema import Declared
from scenecypher.db.vocabulary import DEFAULT


@dataclass(frozen=True, slots=True)
class ImportedScene:
    """A scene read from a file, and its name.

    `vocabulary` is a name that `scenecypher.db.vocabulary` knows; `source` describes the origin of the scene.
    """

    name: str
    graph: SceneGraph
    vocabulary: str = DEFAULT
    role: Literal["world", "belief"] = "world"
    declared: Declared = field(default_factory=Declared)
    source: str = ""
