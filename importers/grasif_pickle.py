"""GraSIF's released form, a pickled NetworkX graph, as a scene.

The papers do not print its attributes, so it is read like the JSON form: node attributes have the names of its fields,
and an edge holds its `relation` and `related_to`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

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

KNOWN: Final = frozenset({*KIND_ATTRIBUTES, *FACTS, *PLACED, "name", "relation", "related_to"})
LEVELS: Final = ("Place", "Asset", "Object")
"""The hierarchy from the top; the edges that join two levels show the direction of all."""
_CLASS: Final = re.compile(r"[a-z]+\.(?P<many>Multi)?(?P<directed>Di)?Graph")
_Attributes: TypeAlias = dict[str, Any]
_Edge: TypeAlias = tuple[Any, Any, _Attributes]


def read_scene(path: Path, *, name: str | None = None) -> ImportedScene:
    """Return the scene of a pickled graph. Raises DocumentError with all its problems, or for more than a graph."""
    reader = _Reader(*_graph_of(read_pickle(path), path))
    drafts = [*reader.drafts()]
    links = [*reader.links_of_nodes()]
    links += reader.links_of_edges({(link.source, link.type, link.target) for link in links})
    graph, problems = assemble(drafts, links, vocabulary="grasif", declared=DECLARED)
    if reader.problems or problems:
        raise document_error(str(path), reader.problems + problems)
    return ImportedScene(name or NAME_PREFIX + path.stem, graph, "grasif", declared=DECLARED, source=str(path))


def _graph_of(value: Any, path: Path) -> tuple[bool, Mapping[Any, _Attributes], list[_Edge]]:
    """Return the one graph in a value: if it is directed, its nodes' attributes by key, and its edges."""
    inner = [value] if isinstance(value, Instance) else value.values() if isinstance(value, dict) else value
    found = [item for item in inner if isinstance(item, Instance)] if isinstance(inner, Iterable) else []
    if len(found) != 1:
        cause = f"one NetworkX graph is needed, here are {len(found)}; pickle one graph a file"
        raise DocumentError(str(path), "$", cause)
    state, class_ = found[0].state, found[0].name.removeprefix(NETWORKX)
    parts: list[Any] = [state.get(f"_{key}", state.get(key)) for key in ("node", "adj")]
    nodes, neighbours = parts
    kind = _CLASS.fullmatch(class_)
    if kind is None or not all(isinstance(it, dict) and _are_maps(it.values()) for it in (nodes, neighbours)):
        cause = f"{class_} is no graph with nodes and edges; pickle a networkx.DiGraph"
        raise DocumentError(str(path), "$", cause)
    edges: dict[Any, _Edge] = {}  # an undirected graph has each edge at both ends, with the same attributes
    for source, ends in neighbours.items():
        for target, given in ends.items():
            for one in given.values() if kind["many"] and isinstance(given, dict) else (given,):
                key = (source, target) if kind["directed"] else frozenset((source, target))
                edges.setdefault((key, id(one)), (source, target, one if isinstance(one, dict) else {}))
    return bool(kind["directed"]), nodes, [*edges.values()]


def _are_maps(values: Iterable[Any]) -> bool:
    return all(isinstance(value, dict) for value in values)


def _word(attributes: _Attributes, names: tuple[str, ...]) -> Any:
    return next((attributes[name] for name in names if attributes.get(name) is not None), None)


def _place(key: Any) -> str:
    return f"node {shown(key)}"


class _Reader:
    """Reads the nodes and edges of one graph; `problems` are those found so far."""

    def __init__(self, directed: bool, nodes: Mapping[Any, _Attributes], edges: list[_Edge]) -> None:  # noqa: FBT001
        words = {key: _word(attributes, KIND_ATTRIBUTES) for key, attributes in nodes.items()}
        self.directed = directed
        self.nodes = {key: attributes for key, attributes in nodes.items() if words[key] != ROOT}
        roots = nodes.keys() - self.nodes.keys()
        self.edges = [edge for edge in edges if roots.isdisjoint(edge[:2])]
        found = {key: KINDS.get(word.casefold()) for key, word in words.items() if isinstance(word, str)}
        self.kinds = {key: kind for key, kind in found.items() if kind is not None}
        self.problems: list[Problem] = []
        for key, attributes in self.nodes.items():
            if key not in self.kinds:
                cause = f"its type should be one of {', '.join(KINDS)} or {ROOT}, not {shown(words[key])}"
                self.problems.append((_place(key), cause))
            for extra in attributes.keys() - KNOWN:
                self.problems.append((_place(key), f"GraSIF has no attribute {shown(extra)}; remove it"))

    def _name(self, key: Any) -> Any:
        """Return a node's name; the key of a missing node, for the message."""
        name = self.nodes.get(key, {}).get("name", key)
        return str(name) if isinstance(name, int) and not isinstance(name, bool) else name

    def drafts(self) -> Iterator[NodeDraft]:
        for key, kind in self.kinds.items():
            given = {fact: self.nodes[key].get(fact) for fact in FACTS}
            facts = {
                fact: [*it] if isinstance(it, tuple | set | list) else [] if it is None else it
                for fact, it in given.items()
            }
            read: ItemFacts | None = None
            if kind in LEVELS[1:]:
                try:
                    read = ItemFacts.model_validate(facts)
                except ValidationError as error:
                    self.problems += problems_of(error, facts, root=_place(key))
            yield NodeDraft(_place(key), partial(form_node, self._name(key), kind, read))

    def links_of_nodes(self) -> Iterator[RelationDraft]:
        for key in self.kinds:
            attributes, place, name = self.nodes[key], _place(key), self._name(key)
            given = [(field, type_, attributes.get(field)) for field, type_ in PLACED.items()]
            given = [it for it in given if it[2] not in NOTHING]
            word, target = attributes.get("relation"), attributes.get("related_to")
            if isinstance(word, str) and word in RELATIONS:
                given.append(("related_to", RELATIONS[word], target))
            elif word is not None or target is not None:
                self.problems.append((place, f"relation should be one of {', '.join(RELATIONS)}, not {shown(word)}"))
            for field, type_, other in given:
                if isinstance(name, str) and isinstance(other, str):
                    yield RelationDraft(f"{place}.{field}", name, type_, other)
                else:
                    self.problems.append((f"{place}.{field}", f"should be the name of a node, not {shown(other)}"))

    def links_of_edges(self, known: set[tuple[str, str, str]]) -> Iterator[RelationDraft]:
        downwards = self._runs_downwards()
        for source, target, attributes in self.edges:
            place = f"edge {shown(source)} to {shown(target)}"
            word = _word(attributes, EDGE_ATTRIBUTES) or "inside_of"
            if not isinstance(word, str) or word not in WORDS:
                self.problems.append((place, f"relation should be one of {', '.join(WORDS)}, not {shown(word)}"))
                continue
            ends = (self._name(source), self._name(target))
            low, high = ends[::-1] if self._is_reversed(source, target, WORDS[word], downwards=downwards) else ends
            if not (isinstance(low, str) and isinstance(high, str)):
                self.problems.append((place, "its two ends should be nodes with names of text"))
            elif (low, WORDS[word], high) not in known:
                yield RelationDraft(place, low, WORDS[word], high)

    def _is_reversed(self, source: Any, target: Any, type_: str, *, downwards: bool | None) -> bool:
        """Return True if an edge is to be read from its target to its source."""
        if type_ == "HOLDS":
            return self.kinds.get(target) == "Agent"
        return self._level(source) < self._level(target) if downwards is None else downwards

    def _level(self, key: Any) -> int:
        return LEVELS.index(self.kinds[key]) if self.kinds.get(key) in LEVELS else len(LEVELS) - 1

    def _runs_downwards(self) -> bool | None:
        """Return True if edges lead from a room to its content; None if the direction differs by edge."""
        joined = [
            (s, t) for s, t, given in self.edges if s in self.kinds and t in self.kinds and not _is_holding(given)
        ]
        steps = [self._level(t) - self._level(s) for s, t in joined]
        if not self.directed:
            cause = "an undirected graph can't say which of the two is in the other"
            alike = ((s, t) for (s, t), step in zip(joined, steps, strict=True) if step == 0)
            self.problems += [(f"edge {shown(s)} to {shown(t)}", cause) for s, t in alike]
            return None
        if min(steps, default=0) < 0 < max(steps, default=0):
            self.problems.append(
                ("the edges", "some lead from a room to what is in it, some back; let all lead one way")
            )
        return max(steps, default=0) > 0


def _is_holding(attributes: _Attributes) -> bool:
    word = _word(attributes, EDGE_ATTRIBUTES)
    return isinstance(word, str) and WORDS.get(word) == "HOLDS"
