"""Counts of what occurs in a scene, made in memory and cached by version; who has acted there."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Final

from scenecypher.db.graph.scene import GraphView, Node
from scenecypher.db.graph.value import Point, Value
from scenecypher.db.schema import ENTITY, HOLDING, KINDS
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.enumerations import (
    DENSE,
    LIST_OF,
    AgentUse,
    ClassUse,
    Enumerations,
    Pattern,
    PropertyUse,
    ValueUse,
    literal,
)
from scenecypher.db.store.history import read_actors
from scenecypher.db.store.replicas import Replicas
from scenecypher.db.store.sharing import LRUCache

SCENES_CACHED: Final = 64
VALUES_LENGTH: Final = 640
"""Cap on the characters of all distinct values of a property, as a text lists them; above it none is listed."""
VALUE_LENGTH: Final = 60
AGENTS_SHOWN: Final = 20
LISTED_NODES_LIMIT: Final = 5_000
"""Largest number of nodes of which every name, id and value is listed."""
TYPE_WORDS: Final[Mapping[type, str]] = {
    str: "text",
    bool: "boolean",
    int: "whole number",
    float: "number",
    Point: "point",
}


class Enumerator:
    """Enumerations of scenes, of the latest version each; safe to share between threads."""

    def __init__(
        self,
        replicas: Replicas,
        *,
        scenes_cached: int = SCENES_CACHED,
        listed_nodes_limit: int = LISTED_NODES_LIMIT,
    ) -> None:
        self.replicas, self._listed_nodes_limit = replicas, listed_nodes_limit
        self._cached: LRUCache[str, tuple[int, Enumerations]] = LRUCache(scenes_cached)
        self._actors: LRUCache[tuple[str, int], tuple[int, frozenset[str]]] = LRUCache(scenes_cached)

    def latest(self, scene: SceneInfo) -> int:
        """Return the latest version of a scene that was seen."""
        return max(scene.version, self.replicas.database.versions.latest(scene.key) or 0)

    def of(self, scene: SceneInfo) -> Enumerations:
        """Return Enumerations of `scene.version`, or of a later one that was seen. Raises SceneReplaced."""
        version, cached = self._cached.get(scene.key) or (-1, None)
        wanted = self.latest(scene)
        if cached is not None and version >= wanted:
            return cached
        now = self.replicas.now(scene, at_least=wanted)
        found = count_graph(now.graph, listed_nodes_limit=self._listed_nodes_limit)
        self._cached.put(scene.key, (now.info.version, found))
        return found

    def actors(self, scene: SceneInfo) -> frozenset[str]:
        """Return who acted in a scene up to its latest version that was seen; nobody where nothing happened."""
        since = scene.key, scene.base
        done, found = self._actors.get(since) or (scene.base, frozenset())
        wanted = self.latest(scene)
        if wanted > done:
            found |= read_actors(self.replicas.database, scene.key, after=done, until=wanted)
            self._actors.put(since, (wanted, found))
        return found


def count_graph(graph: GraphView, *, listed_nodes_limit: int = LISTED_NODES_LIMIT) -> Enumerations:
    """Return the sorted Enumerations of a scene.

    Above the limit, ids, values and names are not listed, but the names of places are.
    """
    nodes = graph.nodes.values()
    is_listed = len(nodes) <= listed_nodes_limit
    agents = sorted((graph.nodes[node_id] for node_id in graph.by_kind.get("Agent", ())), key=attrgetter("name", "id"))
    return Enumerations(
        kinds=tuple((kind, len(graph.by_kind[kind])) for kind in KINDS if kind in graph.by_kind),
        classes=_classes(nodes),
        states=_values((node.states, node) for node in nodes),
        affordances=_values((node.affordances, node) for node in nodes),
        patterns=_patterns(graph),
        properties=_properties(nodes, is_listed=is_listed),
        agents=tuple(_agent(graph, agent) for agent in agents[:AGENTS_SHOWN]),
        places=_sorted(graph.nodes[node_id].name for node_id in graph.by_kind.get("Place", ())),
        names=_sorted(node.name for node in nodes) if is_listed else (),
        name_kinds=_name_kinds(graph) if is_listed else (),
        ids=_sorted(graph.nodes) if is_listed else (),
        class_links=_class_links(graph) if is_listed else frozenset(),
    )


def _classes(nodes: Iterable[Node]) -> tuple[ClassUse, ...]:
    """Return the classes, each with the smallest name as an example."""
    names: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for node in nodes:
        names[node.kind, node.class_].append(node.name)
    return tuple(ClassUse(*key, len(names[key]), min(names[key])) for key in sorted(names))


def _values(lists: Iterable[tuple[Sequence[str], Node]]) -> tuple[ValueUse, ...]:
    kinds: defaultdict[str, list[str]] = defaultdict(list)
    for values, node in lists:
        for value in values:
            kinds[value].append(node.kind)
    return tuple(ValueUse(value, _sorted(kinds[value]), len(kinds[value])) for value in sorted(kinds))


def _name_kinds(graph: GraphView) -> tuple[tuple[str, str], ...]:
    kinds = {name: {graph.nodes[node_id].kind for node_id in ids} for name, ids in graph.by_name.items()}
    return tuple((name, found.pop()) for name, found in sorted(kinds.items()) if len(found) == 1)


def _patterns(graph: GraphView) -> tuple[Pattern, ...]:
    """Return the patterns of relations by the kinds of their ends; DENSE, between almost all nodes, is one."""
    kinds = {node_id: node.kind for node_id, node in graph.nodes.items()}
    ends = Counter(
        (ENTITY, DENSE, ENTITY) if it.type == DENSE else (kinds[it.source], it.type, kinds[it.target])
        for it in graph.in_order()
    )
    found = (Pattern(*pattern, count) for pattern, count in ends.items())
    return tuple(sorted(found, key=attrgetter("type", "source", "target")))


def _class_links(graph: GraphView) -> frozenset[tuple[str, str, str]]:
    classes = {node_id: node.class_ for node_id, node in graph.nodes.items()}
    return frozenset((classes[it.source], it.type, classes[it.target]) for it in graph.in_order() if it.type != DENSE)


def _properties(nodes: Iterable[Node], *, is_listed: bool) -> tuple[PropertyUse, ...]:
    values: defaultdict[str, list[Value]] = defaultdict(list)
    for node in nodes:
        for name, value in node.properties.items():
            values[name].append(value)
    return tuple(_property(name, values[name], is_listed=is_listed) for name in sorted(values))


def _property(name: str, values: Sequence[Value], *, is_listed: bool) -> PropertyUse:
    """Return a property with its types, and all of its values if they are few, short, and texts or truth values."""
    single = [one for it in values for one in (it if isinstance(it, tuple) else (it,))]
    short = [it for it in single if isinstance(it, bool) or (isinstance(it, str) and len(it) <= VALUE_LENGTH)]
    shown = {*short}
    is_whole = is_listed and len(short) == len(single) and sum(len(literal(it)) + 2 for it in shown) <= VALUES_LENGTH
    return PropertyUse(
        name,
        _sorted(map(_type_words, values)),
        len(values),
        tuple(sorted(shown, key=literal)) if is_whole else (),
    )


def _type_words(value: Value) -> str:
    if isinstance(value, tuple):
        return f"{LIST_OF}{TYPE_WORDS[type(value[0])] if value else 'nothing'}"
    return TYPE_WORDS[type(value)]


def _agent(graph: GraphView, agent: Node) -> AgentUse:
    near = [(relation.type, graph.nodes[relation.target]) for relation in graph.outgoing.get(agent.id, ())]
    places = sorted(node.name for type_, node in near if type_ == "INSIDE" and node.kind == "Place")
    holds = sorted((type_, node.name) for type_, node in near if type_ in HOLDING)
    return AgentUse(agent.name, agent.class_, tuple(places), tuple(holds))


def _sorted(texts: Iterable[str]) -> tuple[str, ...]:
    """Return each text once, sorted."""
    return tuple(sorted({*texts}))
