"""The part of a scene that an action reads, fetched in the statement that takes the lock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, LiteralString

from db.commit import LOCK, SCENE_FACTS


@dataclass(frozen=True, slots=True)
class Footprint:
    """What an action reads, all in one round trip.

    The *seeds* are the nodes of `ids`, the agents (or the one of id `agent`) and what they hold.
    `between` are relation types read where both ends are seeds; of `around`, every relation that touches a seed is
    read with its other end; `climb` follows INSIDE and ON upwards from each seed; `classes` adds all nodes of a class.
    """

    ids: tuple[str, ...]
    agent: str | None = None
    between: tuple[str, ...] = ()
    around: tuple[str, ...] = ()
    climb: bool = False
    classes: tuple[str, ...] = ()


_SEEDS: LiteralString = """
CALL (s) { MATCH (a:Agent {scene: $key}) WHERE $agent IS NULL OR a.id = $agent RETURN collect(a) AS agents }
CALL (s) { UNWIND $ids AS id MATCH (n:Entity {scene: $key, id: id}) RETURN collect(n) AS named }
CALL (agents) { UNWIND agents AS a MATCH (a)-[:HOLDS|HOLDS_LH|HOLDS_RH]->(h) RETURN collect(DISTINCT h) AS held }
WITH s, done, agents, agents + named + held AS seeds
"""
_BETWEEN: LiteralString = """
CALL (seeds) { UNWIND seeds AS n MATCH (n)-[r]->(m) WHERE type(r) IN $between AND m IN seeds
               RETURN collect(DISTINCT [n.id, type(r), m.id]) AS between }
"""
_AROUND: LiteralString = """
CALL (seeds) { UNWIND seeds AS n MATCH (n)-[r]-(m) WHERE type(r) IN $around
               RETURN collect(DISTINCT [startNode(r).id, type(r), endNode(r).id]) AS around,
                      collect(DISTINCT m) AS ends }
"""
_CLIMB: LiteralString = """
CALL (seeds) { UNWIND seeds AS n MATCH (n)-[path:INSIDE|ON*1..5]->(m)
               WITH last(path) AS r, m
               RETURN collect(DISTINCT [startNode(r).id, type(r), m.id]) AS climb, collect(DISTINCT m) AS above }
"""
_CLASSES: LiteralString = """
CALL (s) { UNWIND $classes AS class MATCH (n:Entity {scene: $key, class: class}) RETURN collect(n) AS classed }
"""


def statement_of(footprint: Footprint) -> tuple[LiteralString, dict[str, Any]]:
    """The lock statement that also reads `footprint`, and its parameters (without key and action id)."""
    parts: list[LiteralString] = [LOCK, _SEEDS]
    nodes: list[LiteralString] = ["seeds"]
    relations: list[LiteralString] = []
    if footprint.between:
        parts.append(_BETWEEN)
        relations.append("between")
    if footprint.around:
        parts.append(_AROUND)
        relations.append("around")
        nodes.append("ends")
    if footprint.climb:
        parts.append(_CLIMB)
        relations.append("climb")
        nodes.append("above")
    if footprint.classes:
        parts.append(_CLASSES)
        nodes.append("classed")
    found: LiteralString = " + ".join(nodes) + " AS nodes, " + (" + ".join(relations) or "[]") + " AS relations"
    text: LiteralString = "".join(parts) + "RETURN " + SCENE_FACTS + "[a IN agents | a.id] AS agents, " + found
    return text, {
        "ids": list(footprint.ids),
        "agent": footprint.agent,
        "between": list(footprint.between),
        "around": list(footprint.around),
        "classes": list(footprint.classes),
    }
