"""Successive states of a source, such as a robot's map, merged into one scene that others change too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from scenecypher.db.graph.delta import Delta
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.merge import apply_fitting, merge, without
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo, checked_name, lookup_scene
from scenecypher.db.store.history import read_events_of_others
from scenecypher.db.store.load import LoadedScene
from scenecypher.db.store.publish import Progress
from scenecypher.db.store.scene_store import CHANGES_PER_COMMIT, Imported, SceneStore, with_stored_declarations
from scenecypher.db.store.vectors import with_vectors
from scenecypher.db.vocabulary import base_name
from scenecypher.errors import ConflictError, SceneReplaced

ACTOR: Final = "map"
TRIES: Final = 5


def bring_in(
    store: SceneStore,
    scene: ImportedScene,
    *,
    sets_vocabulary: bool = False,
    replaces: bool = False,
    progress: Progress | None = None,
) -> Imported:
    """Import a scene: merged into the scene of its name if it `merges`, else as `SceneStore.put` does.

    With `sets_vocabulary`, the scene of its name first gets its vocabulary, even the default one; with `replaces`,
    another scene replaces it even if that ends a history.
    """
    known = lookup_scene(store.database, checked_name(scene.name)) if sets_vocabulary else None
    if known is not None and base_name(known.vocabulary) != scene.vocabulary:
        store.set_vocabulary(scene.name, scene.vocabulary)
    if scene.merges:
        return MapUpdater(store).update(scene, progress=progress)
    return store.put(scene, replaces=replaces, progress=progress)


@dataclass(frozen=True, slots=True)
class _Known:
    """A generation of a scene at its version, and the part of it that came from the source."""

    key: str
    version: int
    source: SceneGraph


class MapUpdater:
    """Brings one scene up to date with successive states of its source, of which it keeps the last one.

    Each state is one commit, of several only above CHANGES_PER_COMMIT changes. Facts that others changed are kept.
    """

    def __init__(self, store: SceneStore) -> None:
        self._store = store
        self._known: _Known | None = None

    def update(self, scene: ImportedScene, *, progress: Progress | None = None) -> Imported:
        """Apply what the source changed since its last state; create the scene if there is none.

        Raises InputError for a bad name, ConflictError if others write without a pause.
        """
        scene = with_vectors(self._store.database, scene, progress=progress)
        for _ in range(TRIES):
            info = lookup_scene(self._store.database, checked_name(scene.name))
            if info is None or info.role != scene.role:
                return self._store.put(scene, actor=ACTOR, progress=progress)
            with suppress(ConflictError, SceneReplaced):
                return self._merge(scene, self._store.now(self._declared(scene, info)))
        raise ConflictError(f"{scene.name} is changed by others without a pause; import it again")

    def _declared(self, scene: ImportedScene, info: SceneInfo) -> SceneInfo:
        """Return the stored scene, which declares what the source needs from now on."""
        wanted = with_stored_declarations(scene, info)
        if (info.vocabulary, info.declared) == (wanted.vocabulary, wanted.declared):
            return info
        return self._store.redeclare(info, vocabulary=wanted.vocabulary, declared=wanted.declared, actor=ACTOR)

    def _source(self, now: LoadedScene) -> SceneGraph:
        """Return the part of a scene that came from the source: the one that is known, if nothing was undone since."""
        info, known = now.info, self._known
        if known is not None and known.key == info.key:
            events = self._store.history(info, after=known.version) if info.version > known.version else []
            if all(event.kind == "act" for event in events):
                return known.source
        others = read_events_of_others(self._store.database, info.key, actor=ACTOR, until=info.version)
        return without(now.graph, [event.delta for event in others])

    def _merge(self, scene: ImportedScene, now: LoadedScene) -> Imported:
        """Commit what the source changed. Raises ConflictError, SceneReplaced if the scene is not as it was."""
        info, source, version = now.info, self._source(now), now.info.version
        merged = merge(source, scene.graph, now.graph)
        for part in _parts(merged.delta):
            version = self._store.commit(
                info, part, actor=ACTOR, action="import", expected_version=version, enforced=False
            ).version
            source = apply_fitting(source, [part])
            self._known = _Known(info.key, version, source)
        self._known = _Known(info.key, version, _with_nodes_of(scene.graph, source))
        graph = self._store.replicas.now(info, at_least=version).graph
        size = len(graph.nodes), graph.size - len(graph.nodes)
        outcome: Final = "updated" if merged.delta else "unchanged"
        return Imported(info.name, outcome, version, *size, len(merged.delta), merged.conflicts)


def _with_nodes_of(graph: SceneGraph, same: SceneGraph) -> SceneGraph:
    """Return `same` with the equal nodes of `graph` as its own: the next version of a map is compared by identity."""
    nodes = {}
    for node_id, node in same.nodes.items():
        other = graph.nodes.get(node_id)
        nodes[node_id] = other if other is not None and (other is node or other == node) else node
    return SceneGraph(MappingProxyType(nodes), same.outgoing)


def _parts(delta: Delta) -> Iterator[Delta]:
    """Yield a Delta in parts of CHANGES_PER_COMMIT changes: in canonical order each part fits after those before."""
    for start in range(0, len(delta), CHANGES_PER_COMMIT):
        yield Delta(delta.changes[start : start + CHANGES_PER_COMMIT])
