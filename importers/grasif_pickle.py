"""GraSIF's released form, a pickled NetworkX graph, as a scene.

The papers do not print its attributes, so it is read like the JSON form: node attributes have the names of its fields,
and an edge holds its `relation` and `related_to`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.problems import Problem, document_error, problems_of
from scenecypher.db.graph.scene_check import RelationDraft
from scenecypher.db.graph.value import shown
from scenecypher.errors import DocumentError
from scenecypher.importers.assembly import NodeDraft, assemble
from scenecypher.importers.grasif import DECLARED, NAME_PREFIX, form_node
from scenecypher.importers.grasif_format import NOTHING, RELATIONS, ItemFacts
from scenecypher.importers.pickled import NETWORKX, Instance, read_pickle

SUFFIXES: Final = (".pkl", ".pickle", ".gpickle")

KIND_ATTRIBUTES: Final = ("type", "kind", "node_type")
KINDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("room", "rooms", "place", "places"), "Place"),
    **dict.fromkeys(("asset", "assets"), "Asset"),
    **dict.fromkeys(("object", "objects"), "Object"),
    "agent": "Agent",
}
"""Names of the JSON form's lists, singular and plural. The node of the kind `scene`, the root, is left out."""
ROOT: Final = "scene"

FACTS: Final = ("states", "affordances", "properties")
PLACED: Final[Mapping[str, str]] = {"room": "INSIDE", "location": "INSIDE", "holding": "HOLDS"}
"""Node attributes that name another node; so do `relation` and `related_to` together."""

EDGE_ATTRIBUTES: Final = ("relation", "type", "label")
WORDS: Final[Mapping[str, str]] = {
    **RELATIONS,
    "inside": "INSIDE",
    "ontop": "ON",
    "holding": "HOLDS",
    "holds": "HOLDS",
}
"""Words of edges; an edge without one is `inside_of`, as the edges of the hierarchy are."""

LEVELS: Final = ("Place", "Asset", "Object")
"""The hierarchy from the top; the edges that join two levels show the direction of all."""


@dataclass(frozen=True, slots=True)
class _Graph:
    """The content of a NetworkX graph: attributes by key, and edges as (source key, target key, attributes)."""

    directed: bool
    nodes: Mapping[Any, dict[str, Any]]
    edges: tuple[tuple[Any, Any, dict[str, Any]], ...]


def read_scene(path: Path, *, name: str | None = None) -> ImportedScene:
    """Return the scene of a pickled graph. Raises DocumentError with all its problems, or for more than a graph."""
    graph = _graph_of(_only_graph(read_pickle(path), path), path)
    kinds = {key: kind for key, attributes in graph.nodes.items() if (kind := _kind(attributes)) is not None}
    problems = [*_attribute_problems(graph)]
    drafts = [_draft(graph, key, kinds[key], problems) for key in graph.nodes if key in kinds]
    links = [*_links_of_nodes(graph, kinds, problems)]
    links += _links_of_edges(graph, kinds, problems, {(link.source, link.type, link.target) for link in links})
    scene_graph, more = assemble(drafts, links, vocabulary="grasif", declared=DECLARED)
    if problems or more:
        raise document_error(str(path), problems + more)
    return ImportedScene(name or NAME_PREFIX + path.stem, scene_graph, "grasif", declared=DECLARED, source=str(path))


def _only_graph(value: Any, path: Path) -> Instance:
    inner = [value] if isinstance(value, Instance) else value.values() if isinstance(value, dict) else value
    found = [item for item in inner if isinstance(item, Instance)] if isinstance(inner, Iterable) else []
    if len(found) != 1:
        cause = f"one NetworkX graph is needed, here are {len(found)}; pickle one graph a file"
        raise DocumentError(str(path), "$", cause)
    return found[0]


def _graph_of(instance: Instance, path: Path) -> _Graph:
    class_ = instance.name.rpartition(".")[2]
    nodes: Any = instance.state.get("_node", instance.state.get("node"))
    neighbours: Any = instance.state.get("_adj", instance.state.get("adj"))
    if class_ not in {"Graph", "DiGraph", "MultiGraph", "MultiDiGraph"} or not (
        _is_map_of_maps(nodes) and _is_map_of_maps(neighbours)
    ):
        cause = f"{instance.name.removeprefix(NETWORKX)} is no graph with nodes and edges; pickle a networkx.DiGraph"
        raise DocumentError(str(path), "$", cause)
    directed, many = "Di" in class_, class_.startswith("Multi")
    edges = [
        (s, t, each)
        for s, ends in neighbours.items()
        for t, given in ends.items()
        for each in _edges_between(given, many)
    ]
    return _Graph(directed, nodes, tuple(edges if directed else _unique_edges(edges)))


def _is_map_of_maps(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(inner, dict) for inner in value.values())


def _edges_between(given: Any, many: bool) -> list[dict[str, Any]]:  # noqa: FBT001 - the graph's own flag
    """Return the attributes of each edge between two nodes; a value that is not a map gives none."""
    between = [*given.values()] if many and isinstance(given, dict) else [given]
    return [attributes if isinstance(attributes, dict) else {} for attributes in between]


def _unique_edges(edges: Iterable[tuple[Any, Any, dict[str, Any]]]) -> Iterator[tuple[Any, Any, dict[str, Any]]]:
    """Yield each edge once: an undirected graph has it at both ends, with the same attributes."""
    seen: set[tuple[frozenset[Any], int]] = set()
    for source, target, attributes in edges:
        edge = (frozenset((source, target)), id(attributes))
        if edge not in seen:
            seen.add(edge)
            yield source, target, attributes


def _kind(attributes: Mapping[str, Any]) -> str | None:
    word = _word(attributes, KIND_ATTRIBUTES)
    return KINDS.get(word.casefold()) if isinstance(word, str) else None


def _word(attributes: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((attributes[name] for name in names if attributes.get(name) is not None), None)


def _is_root(attributes: Mapping[str, Any]) -> bool:
    return bool(_word(attributes, KIND_ATTRIBUTES) == ROOT)


def _attribute_problems(graph: _Graph) -> Iterator[Problem]:
    known = {*KIND_ATTRIBUTES, *FACTS, *PLACED, "name", "relation", "related_to"}
    for key, attributes in graph.nodes.items():
        if _is_root(attributes):
            continue
        if _kind(attributes) is None:
            word = _word(attributes, KIND_ATTRIBUTES)
            yield _place(key), f"its type should be one of {', '.join(KINDS)} or {ROOT}, not {shown(word)}"
        for extra in attributes.keys() - known:
            yield _place(key), f"GraSIF has no attribute {shown(extra)}; remove it"


def _place(key: Any) -> str:
    return f"node {shown(key)}"


def _name(graph: _Graph, key: Any) -> Any:
    """Return a node's name; the key of a missing node, for the message."""
    name = graph.nodes.get(key, {}).get("name", key)
    return str(name) if isinstance(name, int) and not isinstance(name, bool) else name


def _draft(graph: _Graph, key: Any, kind: str, problems: list[Problem]) -> NodeDraft:
    facts = {fact: _listed(graph.nodes[key].get(fact)) for fact in FACTS}
    read: ItemFacts | None = None
    if kind in {"Asset", "Object"}:
        try:
            read = ItemFacts.model_validate(facts)
        except ValidationError as error:
            problems += problems_of(error, facts, root=_place(key))
    return NodeDraft(_place(key), partial(form_node, _name(graph, key), kind, read))


def _listed(given: Any) -> Any:
    return [] if given is None else [*given] if isinstance(given, tuple | set | list) else given


def _links_of_nodes(graph: _Graph, kinds: Mapping[Any, str], problems: list[Problem]) -> Iterator[RelationDraft]:
    for key in kinds:
        attributes = graph.nodes[key]
        for name, type_ in PLACED.items():
            if attributes.get(name) not in NOTHING:
                yield from _link(_place(key), name, (_name(graph, key), type_, attributes[name]), problems)
        word = attributes.get("relation")
        if isinstance(word, str) and word in RELATIONS:
            relation = (_name(graph, key), RELATIONS[word], attributes.get("related_to"))
            yield from _link(_place(key), "related_to", relation, problems)
        elif word is not None or attributes.get("related_to") is not None:
            problems.append((_place(key), f"relation should be one of {', '.join(RELATIONS)}, not {shown(word)}"))


def _link(place: str, field: str, relation: tuple[Any, str, Any], problems: list[Problem]) -> Iterator[RelationDraft]:
    source, type_, target = relation
    if isinstance(source, str) and isinstance(target, str):
        yield RelationDraft(f"{place}.{field}", source, type_, target)
    else:
        problems.append((f"{place}.{field}", f"should be the name of a node, not {shown(target)}"))


def _links_of_edges(
    graph: _Graph, kinds: Mapping[Any, str], problems: list[Problem], known: set[tuple[str, str, str]]
) -> Iterator[RelationDraft]:
    downwards = _runs_downwards(graph, kinds, problems)
    for source, target, attributes in graph.edges:
        place = f"edge {shown(source)} to {shown(target)}"
        if _is_root(graph.nodes.get(source, {})) or _is_root(graph.nodes.get(target, {})):
            continue
        word = _word(attributes, EDGE_ATTRIBUTES) or "inside_of"
        if not isinstance(word, str) or word not in WORDS:
            problems.append((place, f"relation should be one of {', '.join(WORDS)}, not {shown(word)}"))
            continue
        low, high = (
            (target, source) if _is_reversed(source, target, WORDS[word], kinds, downwards) else (source, target)
        )
        relation = _name(graph, low), WORDS[word], _name(graph, high)
        if not all(isinstance(part, str) for part in relation):
            problems.append((place, "its two ends should be nodes with names of text"))
        elif relation not in known:
            yield RelationDraft(place, *relation)


def _is_reversed(source: Any, target: Any, type_: str, kinds: Mapping[Any, str], downwards: bool | None) -> bool:  # noqa: FBT001
    """Return True if an edge is to be read from its target to its source."""
    if type_ == "HOLDS":
        return kinds.get(target) == "Agent"
    levels = _level(source, kinds), _level(target, kinds)
    return levels[0] < levels[1] if downwards is None else downwards


def _level(key: Any, kinds: Mapping[Any, str]) -> int:
    return LEVELS.index(kinds[key]) if kinds.get(key) in LEVELS else len(LEVELS) - 1


def _runs_downwards(graph: _Graph, kinds: Mapping[Any, str], problems: list[Problem]) -> bool | None:
    """Return True if edges lead from a room to its content; None if the direction differs by edge."""
    joined = [(s, t) for s, t, given in graph.edges if s in kinds and t in kinds and not _is_holding(given)]
    steps = [_level(t, kinds) - _level(s, kinds) for s, t in joined]
    if not graph.directed:
        problems += [
            (f"edge {shown(s)} to {shown(t)}", "an undirected graph can't say which of the two is in the other")
            for (s, t), step in zip(joined, steps, strict=True)
            if step == 0
        ]
        return None
    if min(steps, default=0) < 0 < max(steps, default=0):
        problems.append(("the edges", "some lead from a room to what is in it, some back; let all lead one way"))
    return max(steps, default=0) > 0


def _is_holding(attributes: Mapping[str, Any]) -> bool:
    word = _word(attributes, EDGE_ATTRIBUTES)
    return isinstance(word, str) and WORDS.get(word) == "HOLDS"
