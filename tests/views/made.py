"""A generated view: its pictures and its JSON document."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from scenecypher.chat import Image

COLORS: Final = ("blue", "green", "grey", "purple", "red", "yellow")
KINDS: Final = ("ball", "box", "key")
SORTS: Final = tuple(f"{color} {kind}" for color in COLORS for kind in KINDS)


@dataclass(frozen=True, slots=True)
class MadeView:
    """View: its name, its pictures by file names, and its JSON document."""

    name: str
    pictures: dict[str, Image]
    document: dict[str, Any]

    def text(self) -> str:
        """Return the text of the JSON file."""
        return json.dumps(self.document, indent=1) + "\n"


def listed(things: Sequence[str], asset: str, relation: str) -> list[dict[str, str]]:
    """Return the things numbered by class, in the order of their names."""
    found = []
    for sort, amount in sorted(Counter(things).items()):
        names = [f"{sort}-{number}" for number in range(1, amount + 1)]
        found += [{"name": it, "relation": relation, "related_to": asset} for it in names]
    return found
