"""Homes and query results as HTML, for notebooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Final

from scenecypher.db.graph.scene import Node, SceneGraph
from scenecypher.db.store.values import JsonValue
from scenecypher.floorplan.figure import figure_of
from scenecypher.floorplan.home_view import view_of
from scenecypher.floorplan.layout import drawing_of
from scenecypher.retriever.retrieval import cell_text
from scenecypher.tree import SceneTree

ROWS_SHOWN: Final = 100
CHILDREN_SHOWN: Final = 100
"""Things shown in one place; what is left out is counted."""
DEPTH: Final = 6
DRAWN: Final = 1_500


def table_html(
    columns: Sequence[str], rows: Sequence[Sequence[JsonValue]], *, truncated: str | None, hints: Sequence[str]
) -> str:
    """Return a table of the first rows, how many there are, and the hints; `truncated` says why there are no more."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(f"<tr>{_cells(row)}</tr>" for row in rows[:ROWS_SHOWN])
    count = f"{len(rows):,} row{'' if len(rows) == 1 else 's'}" + (f", {truncated}" if truncated else "")
    if len(rows) > ROWS_SHOWN:
        count += f"; the first {ROWS_SHOWN} are shown"
    notes = "".join(f"<p>{escape(note)}</p>" for note in (count, *hints))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"


def home_html(title: str, graph: SceneGraph) -> str:
    """Return counts by kind, the home from above, and a tree of its rooms, bare walls and floors left off.

    Homes of more than DRAWN nodes have no picture.
    """
    kinds = Counter(node.kind for node in graph.nodes.values())
    counts = ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items()))
    tree = SceneTree(graph, shell=False)
    rooms = "".join(f"<li>{_item(tree, room)}</li>" for room in tree.roots())
    rest = f"<p>left off: {escape(tree.left_off_text())}</p>" if tree.left_off else ""
    plan = (
        f'<div style="overflow:auto">{figure_of(drawing_of(graph, view_of(graph)), title)}</div>' if graph.nodes else ""
    )
    picture = plan if len(graph.nodes) <= DRAWN else ""
    return f"<p><b>{escape(title)}</b>: {escape(counts)}</p>{picture}<ul>{rooms}</ul>{rest}"


def _item(tree: SceneTree, node_id: str, depth: int = 0) -> str:
    """Return a node with all that is in and on it, as a list item's inside."""
    children = tree.children(node_id)
    label = _label(tree.graph.nodes[node_id])
    if not children or depth == DEPTH:
        return label
    shown = "".join(f"<li>{_item(tree, child, depth + 1)}</li>" for child in children[:CHILDREN_SHOWN])
    more = len(children) - CHILDREN_SHOWN
    rest = f"<li>and {more:,} more</li>" if more > 0 else ""
    return f"<details><summary>{label} ({len(children):,})</summary><ul>{shown}{rest}</ul></details>"


def _label(node: Node) -> str:
    states = f" <small>[{escape(', '.join(node.states))}]</small>" if node.states else ""
    return f"{escape(node.name)}{states}"


def _cells(row: Sequence[JsonValue]) -> str:
    return "".join(f"<td>{escape(cell_text(cell))}</td>" for cell in row)
