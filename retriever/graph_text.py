"""A whole scene graph as text, a line a node and a line a link, for the papers' methods without queries."""

from __future__ import annotations

import json

from scenecypher.retriever.graph_api import attributes, bounded, link_row
from scenecypher.retriever.reader import SceneReader


def graph_text(reader: SceneReader) -> tuple[str, int]:
    """Return every node with its attributes and every link, sorted and read at one version, and that version.

    Equal scenes give equal text. Raises QueryRefused for a scene of more than `graph_api.MAX_ROWS` links, and as the
    reader does.
    """
    now = reader.now()
    nodes = bounded(sorted(now.graph.nodes))
    links = bounded([*now.graph.in_order()])
    lines = ["NODES", *(_line(attributes(now.graph.nodes[it])) for it in nodes)]
    return "\n".join([*lines, "LINKS", *(_line(link_row(it)) for it in links)]), now.info.version


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
