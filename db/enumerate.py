"""Reading a scene's Enumerations: four statements in one read transaction, kept for as long as the version stands."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final, LiteralString

from neo4j import ManagedTransaction

from db.catalog import BY_KEY, SceneInfo
from db.connection import Database
from db.enumerations import DENSE, AgentUse, ClassUse, Enumerations, Pattern, PropertyUse, ValueUse, literal
from db.schema import HOLDING, KINDS, RELATION_TYPES, RESERVED_PROPERTIES
from scenecypher.errors import SceneReplaced

READ_TIMEOUT_S: Final = 30.0
READ_TRIES: Final = 3
SCENES_KEPT: Final = 64
ALL_NAMES_UP_TO: Final = 5_000
"""Nodes up to which every name, id and property value is read."""
VALUES_SHOWN: Final = 16
"""A property with more different values than this is described without them."""
VALUE_LENGTH: Final = 60
AGENTS_SHOWN: Final = 20
PROPERTY_LIMITS: Final = {"reserved": sorted(RESERVED_PROPERTIES), "longest": VALUE_LENGTH}
TYPE_WORDS: Final[Mapping[str, str]] = {
    "STRING": "text",
    "BOOLEAN": "boolean",
    "INTEGER": "whole number",
    "FLOAT": "number",
    "POINT": "point",
}


def _kind_of(variable: LiteralString) -> LiteralString:
    cases: list[LiteralString] = ["WHEN " + variable + ":" + kind + " THEN '" + kind + "'" for kind in KINDS]
    return "CASE " + " ".join(cases) + " END"


SPARSE: Final[LiteralString] = "|".join(name for name in RELATION_TYPES if name not in DENSE)
"""The registered types by name: the server then leaves the many dense relations untouched."""
NODES: Final[LiteralString] = (
    "MATCH (n:Entity {scene: $key}) RETURN "
    + _kind_of("n")
    + """ AS kind, n.class AS class, n.states AS states, n.affordances AS affordances,
    count(*) AS count, min(n.name) AS example,
    sum(COUNT { (n)-[:CLOSE]->() }) AS close,
    collect(CASE WHEN $all OR n:Place THEN n.name END) AS names,
    collect(CASE WHEN $all THEN n.id END) AS ids"""
)
_PATTERN: Final[LiteralString] = (
    "RETURN " + _kind_of("a") + " AS source, type(r) AS type, " + _kind_of("b") + " AS target, count(*) AS count"
)
PATTERNS: Final[LiteralString] = "MATCH (a:Entity {scene: $key})-[r:" + SPARSE + "]->(b) " + _PATTERN
DECLARED_PATTERNS: Final[LiteralString] = "MATCH (a:Entity {scene: $key})-[r:$any($types)]->(b) " + _PATTERN
PROPERTIES: Final[LiteralString] = """
MATCH (n:Entity {scene: $key}) UNWIND keys(n) AS name
WITH n, name WHERE NOT name IN $reserved
WITH name, n[name] AS value, valueType(n[name]) AS type
RETURN name, type, count(*) AS count,
       CASE WHEN NOT $all THEN null
            WHEN type STARTS WITH 'BOOLEAN' THEN value
            WHEN type STARTS WITH 'STRING' THEN CASE WHEN size(value) <= $longest THEN value END
       END AS value
"""
AGENTS: Final[LiteralString] = (
    """
MATCH (a:Agent {scene: $key}) WITH a ORDER BY a.name, a.id LIMIT $limit
RETURN a.name AS name, a.class AS class, [(a)-[:INSIDE]->(p:Place) | p.name] AS places, [(a)-[h:"""
    + "|".join(HOLDING)
    + "]->(o) | [type(h), o.name]] AS holds"
)


class Enumerator:
    """Enumerations of scenes, the latest ones kept by scene and version. For use from many threads."""

    def __init__(self, database: Database, *, scenes_kept: int = SCENES_KEPT) -> None:
        self._database = database
        self._scenes_kept = scenes_kept
        self._kept: OrderedDict[tuple[str, int], Enumerations] = OrderedDict()
        self._lock = Lock()

    def of(self, scene: SceneInfo) -> Enumerations:
        """What occurs in the scene: as of `scene.version` where that is kept, else as of now.

        A reading during which the scene moved may count a few nodes twice or not at all; it is read again, and given
        out unkept if writers leave no pause. Raises SceneReplaced.
        """
        kept = self._recall((scene.key, scene.version))
        if kept is not None:
            return kept
        for _ in range(READ_TRIES):
            reading = self._database.read(_reading(scene), timeout_s=READ_TIMEOUT_S)
            if reading.version is not None:
                self._keep((scene.key, reading.version), reading.enumerations)
                break
        return reading.enumerations

    def _recall(self, version: tuple[str, int]) -> Enumerations | None:
        with self._lock:
            if version in self._kept:
                self._kept.move_to_end(version)
            return self._kept.get(version)

    def _keep(self, version: tuple[str, int], enumerations: Enumerations) -> None:
        with self._lock:
            self._kept[version] = enumerations
            self._kept.move_to_end(version)
            while len(self._kept) > self._scenes_kept:
                self._kept.popitem(last=False)


@dataclass(frozen=True, slots=True)
class _Reading:
    """Enumerations and the version they belong to; None where the scene moved meanwhile."""

    version: int | None
    enumerations: Enumerations


def _reading(scene: SceneInfo) -> Callable[[ManagedTransaction], _Reading]:
    everything = scene.nodes <= ALL_NAMES_UP_TO
    types = [name for name in scene.declared.relation_types if name not in RELATION_TYPES]

    def work(tx: ManagedTransaction) -> _Reading:
        before = _version(tx, scene)
        nodes = list(tx.run(NODES, {"key": scene.key, "all": everything}))
        pairs = list(tx.run(PATTERNS, key=scene.key))
        pairs += list(tx.run(DECLARED_PATTERNS, key=scene.key, types=types)) if types else []
        properties = list(tx.run(PROPERTIES, {"key": scene.key, "all": everything} | PROPERTY_LIMITS))
        agents = list(tx.run(AGENTS, key=scene.key, limit=AGENTS_SHOWN))
        found = _enumerations(nodes, pairs, properties, agents)
        return _Reading(before if before == _version(tx, scene) else None, found)

    return work


def _version(tx: ManagedTransaction, scene: SceneInfo) -> int:
    record = tx.run(BY_KEY, key=scene.key).single()
    if record is None or record["s"]["status"] != "ready":
        raise SceneReplaced(scene.name)
    version: int = record["s"]["version"]
    return version


_Rows = Iterable[Mapping[str, Any]]


def _enumerations(nodes: _Rows, pairs: _Rows, properties: _Rows, agents: _Rows) -> Enumerations:
    groups = list(nodes)
    kinds: Counter[str] = Counter()
    for group in groups:
        kinds[group["kind"]] += group["count"]
    return Enumerations(
        kinds=tuple((kind, kinds[kind]) for kind in KINDS if kinds[kind]),
        classes=_classes(groups),
        states=_values(groups, "states"),
        affordances=_values(groups, "affordances"),
        patterns=_patterns(groups, pairs),
        properties=_properties(properties),
        agents=tuple(_agent(row) for row in agents),
        places=_all(groups, "names", kind="Place"),
        names=_all(groups, "names") if _all(groups, "ids") else (),
        ids=_all(groups, "ids"),
    )


def _classes(groups: _Rows) -> tuple[ClassUse, ...]:
    found: dict[tuple[str, str], ClassUse] = {}
    for group in groups:
        key = group["kind"], group["class"]
        known = found.get(key, ClassUse(*key, 0, group["example"]))
        found[key] = ClassUse(*key, known.count + group["count"], min(known.example, group["example"]))
    return tuple(found[key] for key in sorted(found))


def _values(groups: _Rows, field: str) -> tuple[ValueUse, ...]:
    counts: Counter[str] = Counter()
    kinds: defaultdict[str, set[str]] = defaultdict(set)
    for group in groups:
        for value in group[field]:
            counts[value] += group["count"]
            kinds[value].add(group["kind"])
    return tuple(ValueUse(value, tuple(sorted(kinds[value])), counts[value]) for value in sorted(counts))


def _patterns(groups: _Rows, pairs: _Rows) -> tuple[Pattern, ...]:
    found = [Pattern(row["source"], row["type"], row["target"], row["count"]) for row in pairs]
    close = sum(group["close"] for group in groups)
    found += [Pattern("Entity", "CLOSE", "Entity", close)] if close else []
    return tuple(sorted(found, key=lambda pattern: (pattern.type, pattern.source, pattern.target)))


def _properties(rows: _Rows) -> tuple[PropertyUse, ...]:
    by_name: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        by_name[row["name"]].append(row)
    return tuple(_property(name, by_name[name]) for name in sorted(by_name))


def _property(name: str, rows: list[Mapping[str, Any]]) -> PropertyUse:
    types = {_type_words(row["type"]) for row in rows}
    values = {row["value"] for row in rows}
    is_listed = None not in values and len(values) <= VALUES_SHOWN
    shown = tuple(sorted(map(literal, values))) if is_listed else ()
    return PropertyUse(name, tuple(sorted(types)), sum(row["count"] for row in rows), shown)


def _type_words(type_: str) -> str:
    plain = type_.replace(" NOT NULL", "")
    inner = plain.removeprefix("LIST<").removesuffix(">")
    word = TYPE_WORDS.get(inner, inner.casefold())
    return word if inner == plain else f"list of {word}"


def _agent(row: Mapping[str, Any]) -> AgentUse:
    holds = sorted((kind, name) for kind, name in row["holds"])
    return AgentUse(row["name"], row["class"], tuple(sorted(row["places"])), tuple(holds))


def _all(groups: _Rows, field: str, *, kind: str | None = None) -> tuple[str, ...]:
    return tuple(sorted({name for group in groups if kind in {None, group["kind"]} for name in group[field]}))
