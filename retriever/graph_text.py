"""A whole scene graph as text, a line a node and a line a link, for the papers' methods without queries."""

from __future__ import annotations

import json
from typing import Final, LiteralString

from scenecypher.errors import ServiceError
from scenecypher.retriever.graph_api import LINKS, attributes
from scenecypher.retriever.paging import all_rows_with_version
from scenecypher.retriever.reader import SceneReader

NODES: Final[LiteralString] = "MATCH (n:Entity) RETURN n, labels(n) AS labels ORDER BY n.id"
MAX_READS: Final = 5


def graph_text(reader: SceneReader) -> tuple[str, int]:
    """Return every node with its attributes and every link, sorted and read at one version, and that version.

    Equal scenes give equal text. Raises QueryRefused for a scene beyond `paging.MAX_ROWS` links, and as the reader
    does.
    """
    for _ in range(MAX_READS):
        nodes, version = all_rows_with_version(reader, NODES)
        links, after = all_rows_with_version(reader, LINKS)
        if version == after:
            lines = ["NODES", *(_line(attributes(node, labels)) for node, labels in nodes)]
            return "\n".join([*lines, "LINKS", *(_line(link) for link in links)]), version
    msg = f"scene {reader.scene.name!r} changes faster than its graph is read; ask again"
    raise ServiceError(msg, retryable=True)


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
