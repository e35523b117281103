"""Where things usually are: counts over the data sets' scenes, by class of thing and of furniture.

`python -m scenecypher.planner.worlds.usual_places` writes the file in about a minute.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.vocabulary import conventions_of
from scenecypher.files import write_file
from scenecypher.importers.datasets import DATASETS

FILE: Final = files("scenecypher.planner") / "data" / "usual_places.json"
SOURCES: Final = ("eai", "homes", "robothow", "behavior-1k", "sayplan-office", "our-office")
MOST: Final = 8
"""Kinds of furniture that are kept for a class, the most frequent ones."""


@cache
def usual_places() -> Mapping[str, Mapping[str, int]]:
    """Return how often each class of things is in or on each class of furniture; both as `plain_class` has them."""
    found: Mapping[str, Mapping[str, int]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def plain_class(class_: str) -> str:
    """Return a class in the spelling that all data sets share: letters only."""
    return "".join(filter(str.isalpha, class_.casefold()))


def _pairs(graph: SceneGraph, vocabulary: str) -> Iterator[tuple[str, str]]:
    for id_ in graph.by_kind.get("Object", ()):
        for at in graph.targets(id_, *conventions_of(vocabulary).containment):
            if graph.nodes[at].kind == "Asset":
                yield plain_class(graph.nodes[id_].class_), plain_class(graph.nodes[at].class_)


def main() -> None:
    """Write the file."""
    counts: dict[str, Counter[str]] = {}
    for name in SOURCES:
        for scene in DATASETS[name].scenes():
            for thing, place in _pairs(scene.graph, scene.vocabulary):
                counts.setdefault(thing, Counter())[place] += 1
    lines = (
        f"{json.dumps(thing)}: {json.dumps(dict(sorted(found.items(), key=lambda it: (-it[1], it[0]))[:MOST]))}"
        for thing, found in sorted(counts.items())
    )
    write_file(Path(str(FILE)), "{\n" + ",\n".join(lines) + "\n}\n")
    sys.stderr.write(f"{FILE}: {len(counts)} classes\n")


if __name__ == "__main__":
    main()
