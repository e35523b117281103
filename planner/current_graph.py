"""A scene's graph, read whole once and then kept by the events since."""

from __future__ import annotations

from dataclasses import dataclass

from scenecypher.db.graph.delta import apply
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import ConflictError


@dataclass(slots=True)
class CurrentGraph:
    """The graph of `scene` as it is at each `read`. Not safe to share between threads."""

    store: SceneStore
    scene: SceneInfo
    _known: tuple[int, SceneGraph] | None = None

    def read(self) -> SceneGraph:
        """Return the present graph: the same object until something changes. Raises SceneNotFound, ServiceError."""
        self._known = self._loaded() if self._known is None else self._updated(*self._known)
        return self._known[1]

    def _updated(self, version: int, graph: SceneGraph) -> tuple[int, SceneGraph]:
        """Return version and graph after the events since a version; loaded anew if these do not lead there."""
        try:
            for event in self.store.history(self.scene, after=version):
                if event.version != version + 1:
                    return self._loaded()
                version, graph = event.version, apply(graph, event.delta)
        except ConflictError:
            return self._loaded()
        return version, graph

    def _loaded(self) -> tuple[int, SceneGraph]:
        snapshot = self.store.load(self.scene.name)
        self.scene = snapshot.info
        return snapshot.info.version, snapshot.graph
