"""Homes and query results as HTML, for notebooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from scenecypher.db.gate.values import JsonValue
from scenecypher.db.graph.scene import Node, SceneGraph
from scenecypher.db.schema import HOLDING
from scenecypher.retriever.retrieval import cell_text

ROWS_SHOWN: Final = 100
CHILDREN_SHOWN: Final = 100
"""Things shown in one place; what is left out is counted."""
DEPTH: Final = 6


def table_html(columns: Sequence[str], rows: Sequence[Sequence[JsonValue]], *, truncated: str | None) -> str:
    """Return a table of the first rows, and how many there are; `truncated` says why there are no more."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(f"<tr>{_cells(row)}</tr>" for row in rows[:ROWS_SHOWN])
    count = f"{len(rows):,} row{'' if len(rows) == 1 else 's'}" + (f", {truncated}" if truncated else "")
    if len(rows) > ROWS_SHOWN:
        count += f"; the first {ROWS_SHOWN} are shown"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{escape(count)}</p>"


def home_html(title: str, graph: SceneGraph) -> str:
    """Return counts by kind, and a tree of the rooms with what is in and on what."""
    kinds = Counter(node.kind for node in graph.nodes.values())
    counts = ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items()))
    tree = _Tree(graph)
    rooms = "".join(f"<li>{tree.item(room)}</li>" for room in tree.roots())
    return f"<p><b>{escape(title)}</b>: {escape(counts)}</p><ul>{rooms}</ul>"


class _Tree:
    """The containment tree of a graph; each node appears once, below what directly holds it."""

    def __init__(self, graph: SceneGraph) -> None:
        self._graph = graph
        self._parents: dict[str, str] = {}
        self._children: dict[str, list[str]] = {}
        for node_id in graph.nodes:
            parent = self._parent(node_id)
            if parent is not None and node_id not in self._above(parent):
                self._parents[node_id] = parent
                self._children.setdefault(parent, []).append(node_id)

    def roots(self) -> list[str]:
        """Return what is in and on nothing: places first, then by name."""
        nodes = self._graph.nodes
        roots = (node_id for node_id in nodes if node_id not in self._parents)
        return sorted(roots, key=lambda node_id: (nodes[node_id].kind != "Place", self._name(node_id)))

    def item(self, node_id: str, depth: int = 0) -> str:
        """Return a node with all that is in and on it, as a list item's inside."""
        children = sorted(self._children.get(node_id, ()), key=self._name)
        label = _label(self._graph.nodes[node_id])
        if not children or depth == DEPTH:
            return label
        shown = "".join(f"<li>{self.item(child, depth + 1)}</li>" for child in children[:CHILDREN_SHOWN])
        more = len(children) - CHILDREN_SHOWN
        rest = f"<li>and {more:,} more</li>" if more > 0 else ""
        return f"<details><summary>{label} ({len(children):,})</summary><ul>{shown}{rest}</ul></details>"

    def _parent(self, node_id: str) -> str | None:
        """Return who holds a node, else what it is on or in, else its room."""
        held = [source for word in HOLDING for source in self._graph.sources(node_id, word)]
        found = [*held, *self._graph.targets(node_id, "ON"), *self._graph.targets(node_id, "INSIDE")]
        nodes = self._graph.nodes
        return next((it for it in found if nodes[it].kind != "Place"), next(iter(found), None))

    def _above(self, node_id: str) -> Iterator[str]:
        """Yield a node and all that it is in or on; VirtualHome's files have things inside each other."""
        above: str | None = node_id
        while above is not None:
            yield above
            above = self._parents.get(above)

    def _name(self, node_id: str) -> str:
        return self._graph.nodes[node_id].name


def _label(node: Node) -> str:
    states = f" <small>[{escape(', '.join(node.states))}]</small>" if node.states else ""
    return f"{escape(node.name)}{states}"


def _cells(row: Sequence[JsonValue]) -> str:
    return "".join(f"<td>{escape(cell_text(cell))}</td>" for cell in row)
