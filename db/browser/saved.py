"""The saved queries of Neo4j Browser: a zip of `.cypher` files, each a favourite once it is dropped onto Browser."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from typing import Final, LiteralString

from scenecypher.db.browser.views import VIEWS, name_literal, view_query

FOLDER: Final = "SceneCypher"

# Nodes of the past and of the present know their scene by its key; no relation leads to the Scene node, which every
# action locks.
FOLLOWING: Final[tuple[tuple[str, LiteralString], ...]] = (
    (
        "All scenes with their size, version and last event",
        """MATCH (s:Scene {status: 'ready'}) WHERE s.name IS NOT NULL AND s.leased IS NULL
RETURN s.name AS scene, s.role AS role, s.nodes AS nodes, s.version AS version,
  COLLECT { MATCH (e:Event {scene: s.key, version: s.version}) RETURN e.at + ', ' + e.actor + ': ' + e.action }[0] AS last
ORDER BY scene""",
    ),
    (
        "The scene that a node is of: click the node, and put its property `scene` here",
        "MATCH (s:Scene {key: 'SCENE'}) RETURN s.name AS scene, s.role AS role, s.version AS version",
    ),
)
