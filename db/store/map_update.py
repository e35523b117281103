"""Successive states of a source, such as a robot's map, merged into one scene that others change too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from scenecypher.db.graph.delta import Delta, apply
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.merge import apply_fitting, merge, without
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo, checked_name, lookup_scene
from scenecypher.db.store.history import read_events_of_others
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
    """A scene at its version, and the part of it that came from the source."""

    info: SceneInfo
    now: SceneGraph
    source: SceneGraph


class MapUpdater:
    """Brings one scene up to date with successive states of its source, and keeps it in memory between them.

    Each state is one commit, of several only above CHANGES_PER_COMMIT changes. Facts that others changed are kept.
    """

    def __init__(self, store: SceneStore) -> None:
        self._store = store
        self._known: _Known | None = None

    def update(self, scene: ImportedScene, *, progress: Progress | None = None) -> Imported:
        """Apply what the source changed since its last state; create the scene if there is none.

        The scene is taken to be as it was last seen; if others have changed it since, or there is nothing to change, it
        is brought up to date first. Raises InputError for a bad name, ConflictError if others write without a pause.
        """
        scene = with_vectors(self._store.database, scene, progress=progress)
        known = self._known
        if known is not None and scene.declared.vectors not in ((), known.info.declared.vectors):
            known = self._known = None
        if known is not None and known.info.name == scene.name:
            done = self._try_merge(scene, known)
            if done is not None and done.changes:
                return done
        for _ in range(TRIES):
            known = self._catch_up(scene)
            if known is None:
                return self._store.put(scene, actor=ACTOR, progress=progress)
            done = self._try_merge(scene, known)
            if done is not None:
                return done
        raise ConflictError(f"{scene.name} is changed by others without a pause; import it again")

    def _catch_up(self, scene: ImportedScene) -> _Known | None:
        """Return the scene as it is; None if the source has to make it anew."""
        known, info = self._known, lookup_scene(self._store.database, checked_name(scene.name))
        if known is None or info is None or known.info.key != info.key:
            return self._load(scene, info)
        events = self._store.history(info, after=known.info.version) if info.version > known.info.version else []
        if any(event.kind != "act" for event in events):
            return self._load(scene, info)
        now = known.now
        for event in events:
            now = apply(now, event.delta)
        version = events[-1].version if events else known.info.version
        self._known = replace(known, info=replace(known.info, version=version), now=now)
        return self._known

    def _load(self, scene: ImportedScene, info: SceneInfo | None) -> _Known | None:
        if info is None or info.role != scene.role:
            return None
        scene = with_stored_declarations(scene, info)
        if (info.vocabulary, info.declared) != (scene.vocabulary, scene.declared):
            self._store.redeclare(info, vocabulary=scene.vocabulary, declared=scene.declared, actor=ACTOR)
        snapshot = self._store.load(scene.name)
        others = read_events_of_others(
            self._store.database, snapshot.info.key, actor=ACTOR, until=snapshot.info.version
        )
        source = without(snapshot.graph, [event.delta for event in others])
        self._known = _Known(snapshot.info, snapshot.graph, source)
        return self._known

    def _try_merge(self, scene: ImportedScene, known: _Known) -> Imported | None:
        """Return what was committed, or None if the scene is no longer as it is known."""
        merged = merge(known.source, scene.graph, known.now)
        try:
            for part in _parts(merged.delta):
                known = self._commit(known, part)
        except (ConflictError, SceneReplaced):
            return None
        self._known = replace(known, source=_with_nodes_of(scene.graph, known.source))
        info, size = known.info, (len(known.now.nodes), len(known.now.relations))
        outcome: Final = "updated" if merged.delta else "unchanged"
        return Imported(info.name, outcome, info.version, *size, len(merged.delta), merged.conflicts)

    def _commit(self, known: _Known, part: Delta) -> _Known:
        info = known.info
        done = self._store.commit(
            info, part, actor=ACTOR, action="import", expected_version=info.version, enforced=False
        )
        now, source = apply(known.now, part), apply_fitting(known.source, [part])
        self._known = _Known(replace(info, version=done.version), now, source)
        return self._known


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
