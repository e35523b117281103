"""ImportedScene: the result of every importer and the input of every store."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal
from unicodedata import normalize

from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.graph.value import digest
from scenecypher.db.schema import Declared
from scenecypher.db.vocabulary import DEFAULT

if TYPE_CHECKING:
    from scenecypher.db.graph.vectors import NodeVectors


@dataclass(frozen=True, slots=True)
class ImportedScene:
    """A scene read from a file, and its name.

    `merges`: another import of it keeps what others than the importer changed in the scene, as a robot's growing map
    needs. `notes` tell the user what of the file was left out. `vectors` are those that are not stored yet; what is
    `declared` names the others. `vocabulary` is a name that `scenecypher.db.vocabulary`
    knows; `source` describes the origin of the scene. The name is in Unicode's NFC.
    """

    name: str
    graph: SceneGraph
    vocabulary: str = DEFAULT
    role: Literal["world", "belief"] = "world"
    declared: Declared = field(default_factory=Declared)
    source: str = ""
    merges: bool = field(default=False, compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)
    vectors: tuple[NodeVectors, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        """Compose the letters of the name: some systems take those of files apart."""
        object.__setattr__(self, "name", normalize("NFC", self.name))

    @property
    def digest(self) -> str:
        """A digest of the scene's content, without its name."""
        lines = sorted(f"{relation.source}\t{relation.type}\t{relation.target}" for relation in self.graph.relations)
        lines += sorted(map(repr, self.graph.nodes.values()))
        return digest("\n".join([self.vocabulary, repr(self.declared), *lines]))
