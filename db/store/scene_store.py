"""SceneStore: scenes in the database — import, load, copy, lease, commit, history, undo."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final, Literal
from uuid import uuid4

from neo4j import ManagedTransaction

from scenecypher.db.graph.delta import Delta, apply, diff
from scenecypher.db.graph.document import delta_from_json
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store import catalog, history, lease, load, publish
from scenecypher.db.store.catalog import SceneInfo, checked_name, checked_new_name
from scenecypher.db.store.commit import AlreadyDone, Committed, Decide, Intent, commit_delta, opened, write
from scenecypher.db.store.connection import CommitUnknown, ConstraintViolated, Database
from scenecypher.db.store.footprint import Footprint
from scenecypher.db.store.history import Event, Step
from scenecypher.db.store.load import Snapshot
from scenecypher.db.store.optimistic import Crowding, try_act
from scenecypher.db.store.prepare import prepare
from scenecypher.db.store.publish import Header, Progress
from scenecypher.errors import ConflictError, InputError, QueryTimeout, ServiceError

CHANGES_A_COMMIT: Final = 5_000
"""A re-import that changes more than this becomes a new generation."""
HISTORY_TIMEOUT_S: Final = 60.0
COMMIT_ASKED_AGAIN: Final = 5


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did; `nodes` and `relations` count the scene after it, `changes` what a re-import changed."""

    name: str
    outcome: Literal["created", "updated", "replaced", "unchanged"]
    version: int
    nodes: int
    relations: int
    changes: int = 0


class SceneStore:
    """Scenes in one database. Makes no call before a method is used."""

    def __init__(self, database: Database, *, commit_timeout_s: float = 30.0) -> None:
        self.database = database
        self._commit_timeout_s = commit_timeout_s
        self._crowding = Crowding()

    def prepare(self) -> None:
        """Create the constraints and indexes that are missing; once a connection, never while reading."""
        prepare(self.database)

    # --- scenes

    def find(self, name: str) -> SceneInfo:
        """The published scene of this name. Raises SceneNotFound."""
        return catalog.find(self.database, name)

    def scenes(self) -> list[SceneInfo]:
        """All published scenes, by name."""
        return catalog.scenes(self.database)

    def put(self, scene: ImportedScene, *, actor: str = "import", progress: Progress | None = None) -> Imported:
        """Import a scene: create it, bring it up to date by one commit, or replace it by a new generation.

        An equal graph changes nothing. Raises InputError for a bad name.
        """
        checked_name(scene.name)
        known = catalog.lookup(self.database, scene.name)
        if known is None or known.role != scene.role:
            checked_new_name(scene.name, scene.role)
        header = Header(scene.name, scene.vocabulary, scene.role, scene.declared, scene.source)
        if known is None or (known.vocabulary, known.declared, known.role) != (
            scene.vocabulary,
            scene.declared,
            scene.role,
        ):
            return self._publish(scene.graph, header, "replaced" if known else "created", progress)
        current = self.load(scene.name)
        delta = diff(current.graph, scene.graph)
        if not delta:
            return _imported(current.info, current.graph, "unchanged", 0)
        if len(delta) > CHANGES_A_COMMIT:
            return self._publish(scene.graph, header, "replaced", progress)
        done = self.commit(current.info, delta, actor=actor, action="import", expected_version=current.info.version)
        return _imported(replace(current.info, version=done.version), scene.graph, "updated", len(delta))

    def load(self, name: str) -> Snapshot:
        """The whole scene at one version. Raises SceneNotFound, SceneReplaced."""
        return load.load(self.database, name)

    def load_replaced(self, name: str) -> Snapshot:
        """The generation that had this name last and lost it, as it then was.

        Raises InputError where none is left, SceneReplaced where it is collected meanwhile.
        """
        return load.load_replaced(self.database, name)

    def copy(self, name: str, to: str, *, progress: Progress | None = None) -> SceneInfo:
        """A copy under a new name, with an empty history. Raises InputError where `to` is taken."""
        checked_new_name(to, self.find(name).role)
        if catalog.lookup(self.database, to) is not None:
            msg = f"a scene named {to!r} exists; delete it first or choose another name"
            raise InputError(msg)
        return self._copy(name, to, progress=progress)

    def delete(self, name: str) -> None:
        """Take a scene away from its name at once; `clean` frees its space later. Raises SceneNotFound."""
        publish.retire(self.database, self.find(name).key)

    def clean(self, *, grace_s: float = 3_600.0, progress: Progress | None = None) -> int:
        """Delete generations retired, and imports left unfinished, more than `grace_s` ago; how many."""
        return publish.clean(self.database, grace_s=grace_s, progress=progress)

    # --- episodes

    @contextmanager
    def lease(self, name: str) -> Iterator[SceneInfo]:
        """A copy of a scene for one worker's own use; it is reset and kept for the next when the block ends."""
        source = self.find(name)
        origin = f"{source.key}@{source.version}"
        copy = lease.take(self.database, origin, timeout_s=self._commit_timeout_s) or self._copy(
            name, f"{name}#lease-{uuid4().hex[:12]}", leased=uuid4().hex, copied_from=origin
        )
        with self._leased(copy) as version:
            yield replace(copy, version=version)

    @contextmanager
    def lease_imported(self, scene: ImportedScene, *, digest: str) -> Iterator[SceneInfo]:
        """The same of a scene that is in nobody's hands but the caller's: only copies of it are in the database.

        Scenes of one name and `digest` are the same scene. Raises InputError for a bad name.
        """
        name = checked_name(f"{scene.name}#lease-{uuid4().hex[:12]}")
        origin = f"import:{scene.name}@{digest}"
        copy = lease.take(self.database, origin, timeout_s=self._commit_timeout_s)
        if copy is None:
            header = Header(name, scene.vocabulary, scene.role, scene.declared, scene.source, copied_from=origin)
            copy = publish.publish(self.database, scene.graph, replace(header, leased=uuid4().hex))
        with self._leased(copy) as version:
            yield replace(copy, version=version)

    def reset(self, scene: SceneInfo, version: int | None = None) -> int:
        """Take back, in one commit, all that happened since `version` (a copy's own start where None)."""
        to = scene.base if version is None else version
        log = self.history(scene, after=to)
        way_back = history.rewound(log)
        if not way_back:
            return log[-1].version if log else to
        step = Step(way_back, tuple(event.version for event in log), f"reset to version {to}")
        return self._commit_step(scene, step, kind="undo", actor="reset").version

    def rest(self, scene: SceneInfo) -> int:
        """Reset a scene of one's own, and let it start from there: later resets don't read what was taken back."""
        version = self.reset(scene)
        if version != scene.base:
            lease.rest(self.database, scene, version, timeout_s=self._commit_timeout_s)
        return version

    # --- writing

    def commit(
        self,
        scene: SceneInfo,
        delta: Delta,
        *,
        actor: str,
        action: str,
        action_id: str | None = None,
        expected_version: int | None = None,
    ) -> Committed:
        """Apply a Delta in one transaction. A repeated `action_id` with the same Delta is applied once.

        Raises ConflictError naming what is not as the Delta says, SceneReplaced, InputError.
        """
        intent = Intent(actor, action, action_id or uuid4().hex, expected_version)
        return self._write(lambda tx: commit_delta(tx, scene, delta, intent=intent))

    def act(self, scene: SceneInfo, footprint: Footprint, decide: Decide, *, intent: Intent) -> Committed:
        """Read `footprint` under the scene's lock, let `decide` make the Delta from it, commit it at that version.

        Most often that takes two statements (`optimistic.py`). Where another writer came between them, or lately did,
        or a connection broke, it is done in one transaction that keeps the lock. Whatever `decide` raises
        (ActionRefused above all) commits nothing.
        """
        done = self._tried(scene, footprint, decide, intent)
        if done is not None:
            return done
        parameters = {**footprint.parameters, "key": scene.key, "action_id": intent.action_id}

        def work(tx: ManagedTransaction) -> Committed:
            record = tx.run(footprint.statements.locking, parameters).single()
            locked = opened(record, scene, intent, None)
            return write(tx, scene, locked, decide(locked), intent=intent)

        return self._write(work)

    # --- history

    def history(self, scene: SceneInfo, *, after: int = 0) -> list[Event]:
        """The events with a version above `after`, oldest first."""
        return self.database.read(lambda tx: history.events(tx, scene.key, after=after), timeout_s=HISTORY_TIMEOUT_S)

    def undo(
        self, scene: SceneInfo, *, version: int | None = None, to: int | None = None, actor: str = "person"
    ) -> Committed:
        """Take back the latest action that still holds, the one of `version`, or all after version `to`.

        Raises InputError where there is none, ConflictError where its after-values no longer hold.
        """
        step = history.undo_step(self.history(scene), version=version, to=to)
        return self._commit_step(scene, step, kind="undo", actor=actor)

    def redo(self, scene: SceneInfo, *, actor: str = "person") -> Committed:
        """Take the latest undo back. Raises InputError where there is none."""
        return self._commit_step(scene, history.redo_step(self.history(scene)), kind="redo", actor=actor)

    def as_of(self, name: str, version: int) -> SceneGraph:
        """The scene as it was at `version`, rewound in memory. Raises InputError for a version it never had."""
        snapshot = self.load(name)
        if not 0 <= version <= snapshot.info.version:
            msg = f"{name!r} has versions 0 to {snapshot.info.version}, not {version}"
            raise InputError(msg)
        log = [e for e in self.history(snapshot.info, after=version) if e.version <= snapshot.info.version]
        return apply(snapshot.graph, history.rewound(log))

    # --- within

    def _publish(
        self,
        graph: SceneGraph,
        header: Header,
        outcome: Literal["created", "replaced"],
        progress: Progress | None,
    ) -> Imported:
        info = publish.publish(self.database, graph, header, progress=progress)
        return _imported(info, graph, outcome, 0)

    def _copy(
        self,
        name: str,
        to: str,
        *,
        leased: str | None = None,
        copied_from: str | None = None,
        progress: Progress | None = None,
    ) -> SceneInfo:
        source = self.load(name)
        info = source.info
        header = Header(
            to,
            info.vocabulary,
            info.role,
            info.declared,
            info.source,
            copied_from=copied_from or f"{info.key}@{info.version}",
            world=info.world,
            world_version=info.world_version,
            leased=leased,
        )
        return publish.publish(self.database, source.graph, header, progress=progress)

    @contextmanager
    def _leased(self, copy: SceneInfo) -> Iterator[int]:
        version = self._as_left(copy)
        try:
            yield version
        finally:
            lease.give_back(self.database, copy, self.reset(copy), timeout_s=self._commit_timeout_s)

    def _as_left(self, copy: SceneInfo) -> int:
        """Reset a copy as it was just found: an earlier worker may have died with it in its hands."""
        return copy.base if copy.version == copy.base else self.reset(copy)

    def _commit_step(self, scene: SceneInfo, step: Step, *, kind: str, actor: str) -> Committed:
        intent = Intent(actor, step.action, uuid4().hex, kind=kind, undoes=step.undoes)
        return self._write(lambda tx: commit_delta(tx, scene, step.delta, intent=intent))

    def _tried(self, scene: SceneInfo, footprint: Footprint, decide: Decide, intent: Intent) -> Committed | None:
        """The short way; None where it has to be done with the lock kept, which the action id makes safe."""
        if not self._crowding.worth_trying(scene.key):
            return None
        timeout_s = self._commit_timeout_s
        try:
            done = try_act(self.database, scene, footprint, decide, intent=intent, timeout_s=timeout_s)
        except AlreadyDone as before:
            return _repeated(before)
        except ConstraintViolated:
            return None
        except ServiceError as error:
            if not error.retryable or isinstance(error, QueryTimeout):
                raise
            return None
        if done is None:
            self._crowding.lost(scene.key)
        return done

    def _write(self, work: Callable[[ManagedTransaction], Committed]) -> Committed:
        """Run a commit; a lost answer to COMMIT is asked again, which the action id makes safe."""
        for asked in range(COMMIT_ASKED_AGAIN):
            try:
                return self.database.write(work, timeout_s=self._commit_timeout_s)
            except AlreadyDone as before:
                return _repeated(before)
            except CommitUnknown:
                if asked == COMMIT_ASKED_AGAIN - 1:
                    raise
            except ConstraintViolated as error:
                msg = "the scene holds a relation or node that the change does not know of; load it again"
                raise ConflictError(msg) from error
        raise AssertionError


def _repeated(before: AlreadyDone) -> Committed:
    return Committed(before.version, delta_from_json(before.delta_text), repeated=True)


def _imported(
    info: SceneInfo,
    graph: SceneGraph,
    outcome: Literal["created", "updated", "replaced", "unchanged"],
    changes: int,
) -> Imported:
    return Imported(info.name, outcome, info.version, len(graph.nodes), len(graph.relations), changes)
