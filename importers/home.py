"""The small home of our own that comes with the package: four rooms, with positions, sizes and prefab names."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import Final

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.importers.virtualhome import read_graph

NAME: Final = "small_home"
FILE: Final = "small_home.json"


def small_home() -> ImportedScene:
    """Return the home, in VirtualHome's vocabulary.

    Items that the public home has too (`freezer_289`, `microwave_297`, `cup_2004`, `character_65`, …) have the same
    names, so that examples about them work in both; their places, and all else, are made up.
    """
    with as_file(files("scenecypher.importers") / "data" / FILE) as path:
        return read_graph(path, name=NAME, source="scenecypher's small home")
