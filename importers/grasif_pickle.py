"""GraSIF's released form, a pickled NetworkX graph, as a scene.

The papers do not print its attributes, so it is read like the JSON form: node attributes have the names of its fields,
and an edge holds its `relation`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from pydantic import AliasChoices, Field, ValidationError

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.problems import Problem, RelationDraft, document_error, problems_of
from scenecypher.db.graph.value import shown
from scenecypher.errors import DocumentError
from scenecypher.importers.assembly import NodeDraft, assemble
from scenecypher.importers.grasif import DECLARED, NAME_PREFIX, form_node
from scenecypher.importers.grasif_format import NOTHING, RELATIONS, ObjectForm, RelationWord
from scenecypher.importers.pickled import NETWORKX, Instance, read_pickle

SUFFIXES: Final = (".pkl", ".pickle", ".gpickle")
LEVELS: Final = ("Place", "Asset", "Object")
"""The hierarchy from the top; the edges that join two levels show the direction of all."""
KINDS: Final = {"room": "Place", "place": "Place", "asset": "Asset", "object": "Object", "agent": "Agent"}
"""Types of nodes, singular; the JSON form's lists have plurals. The node of the type `scene`, the root, is left out."""
TYPES: Final = ("type", "kind", "node_type")
EDGE_ATTRIBUTES: Final = ("relation", "type", "label")
WORDS: Final = {**RELATIONS, "inside": "INSIDE", "ontop": "ON", **dict.fromkeys(("holding", "holds"), "HOLDS")}
"""Words of edges; an edge without one is `inside_of`, as the edges of the hierarchy are."""
_CLASS: Final = re.compile(r"[a-z]+\.(?P<many>Multi)?(?P<directed>Di)?Graph")
_Edge: TypeAlias = tuple[Any, Any, dict[Any, Any]]


class NodeForm(ObjectForm):
    """The attributes of a node of any kind."""

    type: Literal["room", "rooms", "place", "places", "asset", "assets", "object", "objects", "agent"] = Field(
        validation_alias=AliasChoices(*TYPES)
    )
    relation: RelationWord | None = None
    related_to: str | None = None
    room: str | None = Field(None, validation_alias=AliasChoices("room", "location"))
    holding: str | None = None

    @property
    def kind(self) -> str:
        """The kind of node."""
        return KINDS[self.type.rstrip("s")]

    def links(self, place: str) -> Iterator[RelationDraft]:
        """Yield the relations to the nodes that the attributes name."""
        related = RELATIONS.get(self.relation or "", "")
        for field, type_ in {"room": "INSIDE", "holding": "HOLDS", "related_to": related}.items():
            if (other := getattr(self, field)) not in NOTHING:
                yield RelationDraft(f"{place}.{field}", self.name, type_, other)


def read_scene(path: Path, *, name: str | None = None) -> ImportedScene:
    """Return the scene of a pickled graph. Raises DocumentError with all its problems, or for more than a graph."""
    directed, nodes, edges = _graph_of(read_pickle(path), path)
    problems: list[Problem] = []
    forms = dict(_forms(nodes, problems))
    links = [*_links(forms, [it for it in edges if forms.keys() >= {*it[:2]}], problems, directed=directed)]
    drafts = [NodeDraft(f"node {shown(key)}", partial(form_node, it.name, it.kind, it)) for key, it in forms.items()]
    known = {link[1:] for link in links}
    named = (link for draft, it in zip(drafts, forms.values(), strict=True) for link in it.links(draft.place))
    links += [link for link in named if link[1:] not in known]
    graph, more = assemble(drafts, links, vocabulary="grasif", declared=DECLARED)
    if problems or more:
        raise document_error(str(path), problems + more)
    return ImportedScene(name or NAME_PREFIX + path.stem, graph, "grasif", declared=DECLARED, source=str(path))


def _graph_of(value: Any, path: Path) -> tuple[bool, Mapping[Any, dict[Any, Any]], list[_Edge]]:
    """Return the one graph in a value: if it is directed, its nodes' attributes by key, and its edges."""
    inner = [value] if isinstance(value, Instance) else value.values() if isinstance(value, dict) else value
    found = [item for item in inner if isinstance(item, Instance)] if isinstance(inner, Iterable) else []
    if len(found) != 1:
        raise DocumentError(str(path), "$", f"one NetworkX graph is needed, here are {len(found)}; pickle one a file")
    class_ = found[0].name.removeprefix(NETWORKX)
    nodes, neighbours = (found[0].state.get(f"_{key}", found[0].state.get(key)) for key in ("node", "adj"))
    if (kind := _CLASS.fullmatch(class_)) is None or not (_is_map_of_maps(nodes) and _is_map_of_maps(neighbours)):
        raise DocumentError(str(path), "$", f"{class_} is no graph with nodes and edges; pickle a networkx.DiGraph")
    edges: dict[Any, _Edge] = {}  # an undirected graph has each edge at both ends, with the same attributes
    for source, target, given in ((source, *end) for source, ends in neighbours.items() for end in ends.items()):
        for one in given.values() if kind["many"] and isinstance(given, dict) else (given,):
            key = (source, target) if kind["directed"] else frozenset((source, target))
            edges.setdefault((key, id(one)), (source, target, one if isinstance(one, dict) else {}))
    return bool(kind["directed"]), nodes, [*edges.values()]


def _is_map_of_maps(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(inner, dict) for inner in value.values())


def _forms(nodes: Mapping[Any, dict[Any, Any]], problems: list[Problem]) -> Iterator[tuple[Any, NodeForm]]:
    """Yield the form of each node but the root, by its key; add the problems of the others."""
    for key, attributes in nodes.items():
        given = {name: [*it] if isinstance(it, tuple | set) else it for name, it in attributes.items()}
        given = {"name": str(key) if type(key) is int else key, **{k: it for k, it in given.items() if it is not None}}
        try:
            if "scene" not in [given.get(name) for name in TYPES]:
                yield key, NodeForm.model_validate(given)
        except ValidationError as error:
            problems += problems_of(error, given, root=f"node {shown(key)}")


def _links(
    forms: Mapping[Any, NodeForm], edges: list[_Edge], problems: list[Problem], *, directed: bool
) -> Iterator[RelationDraft]:
    """Yield the relations of all edges, each from the lower of its two nodes; a directed graph's all lead one way."""
    words = [next((it[name] for name in EDGE_ATTRIBUTES if it.get(name) is not None), "inside_of") for *_, it in edges]
    types = [WORDS.get(str(word)) for word in words]
    levels = {key: LEVELS.index(form.kind) if form.kind in LEVELS else len(LEVELS) - 1 for key, form in forms.items()}
    steps = {levels[t] - levels[s] for (s, t, _), type_ in zip(edges, types, strict=True) if type_ != "HOLDS"}
    if directed and min(steps, default=0) < 0 < max(steps, default=0):
        problems.append(("the edges", "some lead from a room to what is in it, some back; let all lead one way"))
    for (source, target, _), word, type_ in zip(edges, words, types, strict=True):
        place, step = f"edge {shown(source)} to {shown(target)}", levels[target] - levels[source]
        if type_ is None:
            problems.append((place, f"relation should be one of {', '.join(WORDS)}, not {shown(word)}"))
            continue
        if not directed and type_ != "HOLDS" and step == 0:
            problems.append((place, "an undirected graph can't say which of the two is in the other"))
        is_down = forms[target].kind == "Agent" if type_ == "HOLDS" else (max(steps) if directed else step) > 0
        low, high = (target, source) if is_down else (source, target)
        yield RelationDraft(place, forms[low].name, type_, forms[high].name)
