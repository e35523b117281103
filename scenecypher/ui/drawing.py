"""Drawings of relations: cytoscape, fetched once from Maven Central, and the part of a graph that one shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zipfile import ZipFile

from scenecypher.db.local.jars import Pin, Tell, library_jar
from scenecypher.errors import DatabaseUnavailable

if TYPE_CHECKING:
    from scenecypher.db.graph.scene import Relation, SceneGraph

CYTOSCAPE: Final = Pin(
    "org.webjars.npm", "cytoscape", "3.33.1", "", "62ca1549b677163bd154184ac3b2d9686b082708d1c3364ca969e18869e107e5"
)
"""Cytoscape.js (MIT); its text begins with its licence."""
SCRIPT: Final = "META-INF/resources/webjars/cytoscape/{version}/dist/cytoscape.min.js"


def cytoscape(tell: Tell, *, cache: Path | None = None, repository: str | None = None) -> str:
    """Return the library's text, fetched on first use; empty where it can't be had, which `tell` is told."""
    try:
        jar = library_jar(CYTOSCAPE, tell=tell, cache=cache, repository=repository)
        with ZipFile(jar) as found:
            return found.read(SCRIPT.format(version=CYTOSCAPE.version)).decode("utf-8")
    except (DatabaseUnavailable, OSError) as error:  # of the system: the folder of the user's caches is read-only
        tell(f"relations are listed, not drawn: {error}")
        return ""


def drawn(graph: SceneGraph, relations: Iterable[Relation]) -> Mapping[str, Any]:
    """Return relations and the nodes at their ends as a document for the drawing script."""
    listed = [*relations]
    ends = {end for it in listed for end in (it.source, it.target)}
    return {
        "nodes": {it: [graph.nodes[it].name, graph.nodes[it].kind] for it in sorted(ends)},
        "relations": [[it.source, it.type, it.target] for it in listed],
    }
