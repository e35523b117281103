"""Enumerations of scenes: what occurs in a scene, counted in memory and cached by version."""

from __future__ import annotations

from typing import Final

from scenecypher.db.store.cache import LRUCache
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.counting import LISTED_NODES_LIMIT, count_graph
from scenecypher.db.store.enumerations import Enumerations
from scenecypher.db.store.replicas import Replicas

SCENES_CACHED: Final = 64


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
