"""References to nodes by people and models, resolved to ids: by id, then unique name, then unique class."""

from __future__ import annotations

import unicodedata
from typing import Final

from scenecypher.db.graph.scene import GraphView
from scenecypher.errors import UnknownReference, did_you_mean

CANDIDATES_SHOWN: Final = 10
"""Cap on the candidates listed in an error."""


def resolve_reference(graph: GraphView, text: str) -> str:
    """Return the id of the only node that `text` can mean.

    Raises UnknownReference with the candidates if there are several, with the nearest words if there is none.
    """
    wanted = unicodedata.normalize("NFC", text)
    for found in ([wanted] if wanted in graph.nodes else [], graph.by_name.get(wanted), graph.by_class.get(wanted)):
        if found:
            return _single(text, [*found])
    raise _unknown(text, list({word for it in graph.nodes.values() for word in (it.id, it.name, it.class_)}))


def _unknown(text: str, words: list[str]) -> UnknownReference:
    near = did_you_mean(unicodedata.normalize("NFC", text), words)
    return UnknownReference(f"there is no {text[:100]!r} in this scene{near}; use the id of a node in it", text, words)


def _single(text: str, found: list[str]) -> str:
    if len(found) == 1:
        return found[0]
    listed = ", ".join(found[:CANDIDATES_SHOWN]) + (", …" if len(found) > CANDIDATES_SHOWN else "")
    raise UnknownReference(f"{text!r} can mean several things: {listed}; use the id of one of them")
