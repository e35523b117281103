"""References to nodes by people and models, resolved to ids: by id, then unique name, then unique class."""

from __future__ import annotations

import unicodedata
from typing import Final, LiteralString

from neo4j import ManagedTransaction

from scenecypher.db.graph.scene import GraphView
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.steady import steady_transaction
from scenecypher.errors import UnknownReference, did_you_mean

CANDIDATES_SHOWN: Final = 10
"""Cap on the candidates listed in an error."""

RESOLVE: Final[LiteralString] = """
RETURN COLLECT { MATCH (n:Entity {scene: $key, id: $text}) RETURN n.id } AS by_id,
       COLLECT { MATCH (n:Entity {scene: $key, name: $text}) RETURN n.id ORDER BY n.id LIMIT $limit } AS by_name,
       COLLECT { MATCH (n:Entity {scene: $key, class: $text}) RETURN n.id ORDER BY n.id LIMIT $limit } AS by_class
"""
ALL_WORDS: Final[LiteralString] = """
MATCH (n:Entity {scene: $key}) WITH n LIMIT 5000
UNWIND [n.id, n.name, n.class] AS word RETURN collect(DISTINCT word) AS words
"""


def resolve_reference(database: Database, scene: SceneInfo, text: str) -> str:
    """Return the id of the only node of `scene` that `text` can mean.

    Raises UnknownReference with the candidates if there are several, with the nearest words if there is none.
    """
    wanted = unicodedata.normalize("NFC", text)

    def work(tx: ManagedTransaction) -> str:
        record = tx.run(RESOLVE, key=scene.key, text=wanted, limit=CANDIDATES_SHOWN + 1).single(strict=True)
        for found in (record["by_id"], record["by_name"], record["by_class"]):
            if found:
                return _single(text, found)
        raise _unknown(text, tx.run(ALL_WORDS, key=scene.key).single(strict=True)["words"])

    return steady_transaction(database, scene, work, status=scene.status)[0]


def resolve_in_graph(graph: GraphView, text: str) -> str:
    """Return what `resolve_reference` does, for a graph in memory. Raises UnknownReference as it does."""
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
    msg = f"{text!r} can mean several things: {listed}; use the id of one of them"
    raise UnknownReference(msg)
