"""VirtualHome documents without what an export drops: order, and the difference of null and absent."""

from __future__ import annotations

import json
from typing import Any

OPTIONAL = ("category", "prefab_name", "bounding_box", "obj_transform")


def canonical(document: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the canonical form of a document, equal for documents of one graph."""
    nodes = [
        {
            **node,
            **{key: node.get(key) for key in OPTIONAL},
            "properties": sorted(set(node["properties"])),
            "states": sorted(set(node["states"])),
        }
        for node in json.loads(json.dumps(document["nodes"]), parse_int=_number, parse_float=_number)
    ]
    return sorted(map(_text, nodes)), sorted(map(_text, document["edges"]))


def _number(text: str) -> float | int:
    whole = "." not in text and "e" not in text
    return int(text) if whole and abs(int(text)) > 2**53 else float(text)


def _text(item: Any) -> str:
    return json.dumps(item, sort_keys=True)
