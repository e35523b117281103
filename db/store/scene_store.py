"""SceneStore: import, load, copy, lease, commit, history and undo of scenes in the database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Final, Literal
from uuid import uuid4

from neo4j import ManagedTransaction

from scenecypher.db.graph.delta import Delta, diff
from scenecypher.db.graph.graph_json import delta_from_json, delta_json
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.invariants import check_rules
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.rule_memory import without_memory
from scenecypher.db.schema import HOLDING, Declared
from scenecypher.db.store import catalog, history, lease, load, publish, rewind
from scenecypher.db.store.catalog import SceneInfo, checked_name, checked_new_name, read_only_error
from scenecypher.db.store.commit import DIVISION_BY_ZERO, AlreadyCommitted, Committed, Decide, Intent
from scenecypher.db.store.connection import Database
from scenecypher.db.store.history import Event, Revert
from scenecypher.db.store.load import LoadedScene
from scenecypher.db.store.publish import Header, Progress
from scenecypher.db.store.replicas import KEPT_MEMBERS, Replicas
from scenecypher.db.store.rewind import SceneAt, past_copy
from scenecypher.db.store.stored_form import prepare
from scenecypher.db.store.vectors import delete_unused, with_vectors
from scenecypher.db.vocabulary import DEFAULT, base_name, current_name, with_own_actions
from scenecypher.errors import (
    CommitUnknown,
    ConflictError,
    ConstraintViolated,
    DatabaseUnavailable,
    InputError,
    QueryFailed,
    QueryTimeout,
    SceneReplaced,
    ServiceError,
)

CHANGES_PER_COMMIT: Final = 5_000
"""A re-import that changes more than this becomes a new generation."""
KEEP_S: Final = 365 * 86_400.0
"""How long a generation that an import replaced is kept if it has a past, unless a setting says otherwise."""
COMMIT_TRIES: Final = 5
RESET: Final = "reset"
"""Author of the reset of a copy to its base, which rules of the house don't bind."""


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of an import; `nodes` and `relations` count the scene after it, `changes` those of a re-import.

    `conflicts` are the facts, in words, on which a merged source and the scene contradict each other.
    """

    name: str
    outcome: Literal["created", "updated", "replaced", "unchanged"]
    version: int
    nodes: int
    relations: int
    changes: int = 0
    conflicts: tuple[str, ...] = ()


class SceneStore:
    """Scenes in one database. The constructor makes no call."""

    def __init__(
        self, database: Database, *, commit_timeout_s: float | None = None, kept_members: int = KEPT_MEMBERS
    ) -> None:
        self.database = database
        self._commit_timeout_s = commit_timeout_s or database.commit_timeout_s
        self.replicas = Replicas(database, most=kept_members)
        """The scenes that this store keeps in memory."""

    def prepare(self) -> None:
        """Create missing constraints and indexes; the first scene that is written does so too."""
        prepare(self.database)

    # --- scenes

    def find(self, name: str) -> SceneInfo:
        """Return the published scene of this name. Raises SceneNotFound."""
        return catalog.find_scene(self.database, name)

    def materialise(self, name: str, *, progress: Progress | None = None) -> SceneInfo:
        """Return the scene of this name, to query; for ``NAME@VERSION`` or ``NAME@TIME`` a copy, written if needed.

        Raises SceneNotFound; InputError for a version or a time that it does not have; ServiceError if there is no such
        copy and this connection may not write.
        """
        found = rewind.find_at(self.database, name)
        return past_copy(self.database, found, progress=progress) if isinstance(found, SceneAt) else found

    def scenes(self) -> list[SceneInfo]:
        """Return all published scenes, by name."""
        return catalog.list_scenes(self.database)

    def put(
        self, scene: ImportedScene, *, actor: str = "import", replaces: bool = False, progress: Progress | None = None
    ) -> Imported:
        """Import a scene: create it, update it by one commit, or replace it by a new generation.

        An equal graph changes nothing. A scene of the default vocabulary keeps the one that it has, one without actions
        of its own those that it was given, and one without an agent the one that was added. What a scene declares is
        added to what it has declared. Another scene, of another role or with over CHANGES_PER_COMMIT other facts,
        replaces it: if that ends a history, only with `replaces`. Raises InputError, also for a bad name; NameTaken.
        """
        known = catalog.lookup_scene(self.database, checked_name(scene.name))
        scene = with_vectors(self.database, scene, progress=progress)
        if known is None:
            return self._publish(scene.graph, _header(scene), None, progress)
        current = self.load(scene.name)
        scene, known = with_stored_declarations(scene, current.info), current.info
        if known.role != scene.role:
            checked_new_name(scene.name, scene.role)
            _check_may_replace(known, f"it is a {known.role}, the other a {scene.role}", replaces=replaces)
            return self._publish(scene.graph, _header(scene), known, progress)
        graph = with_added_agent(scene.graph, current.graph)
        delta = diff(current.graph, graph)
        delta = without_memory(delta) if known.declared.rules else delta
        if len(delta) > CHANGES_PER_COMMIT:
            _check_may_replace(known, f"{len(delta):,} facts differ", replaces=replaces)
            return self._publish(scene.graph, _header(scene), known, progress)
        is_declared = (known.vocabulary, known.declared) == (scene.vocabulary, scene.declared)
        if is_declared and not delta:
            return _imported(known, graph, "unchanged", 0)
        intent = Intent(actor, "import", uuid4().hex, known.version, enforced=False)
        if is_declared:
            version = self._commit(known, delta, intent=intent).version
        else:
            version = self._redeclare(known, scene.vocabulary, scene.declared, delta, intent=intent).version
        return _imported(replace(known, version=version), graph, "updated", len(delta))

    def set_vocabulary(self, name: str, vocabulary: str) -> None:
        """Give a scene, and the beliefs about it, another vocabulary in place of its own actions; the history goes on.

        Raises InputError if the scene does not keep the vocabulary's rules, SceneNotFound.
        """
        info = self.find(name)
        declared = replace(info.declared, actions="", domain="")
        self.redeclare(info, vocabulary=current_name(vocabulary), declared=declared)

    def load(self, name: str) -> LoadedScene:
        """Return the whole scene at one version. Raises SceneNotFound, SceneReplaced."""
        return load.load_scene(self.database, name)

    def load_at(self, name: str) -> LoadedScene:
        """Return the whole scene as `load` does, or what it was at ``NAME@VERSION`` or ``NAME@TIME``.

        Raises InputError, too, for a version or a time that it does not have.
        """
        return rewind.load_at(self.database, name)

    def copy(self, name: str, to: str, *, progress: Progress | None = None) -> SceneInfo:
        """Copy a scene, or what it was at ``NAME@VERSION`` or ``NAME@TIME``, under a new name, with an empty history.

        Raises InputError for a bad name, NameTaken if it is given to another meanwhile.
        """
        found = rewind.find_at(self.database, name)
        checked_new_name(to, (found.scene if isinstance(found, SceneAt) else found).role)
        if catalog.lookup_scene(self.database, to) is not None:
            raise InputError(f"a scene named {to!r} exists; delete it first or choose another name")
        return self._copy(name, to, progress=progress)

    def redeclare(self, scene: SceneInfo, *, vocabulary: str, declared: Declared, actor: str = "person") -> SceneInfo:
        """Give a scene, and the beliefs about it, another vocabulary and what it declares; graph and history stay.

        That is a version of the scene, whose event says so. Those who keep the scene in memory load it again. Raises
        InputError for an unknown vocabulary or if the scene breaks its rules, SceneReplaced.
        """
        name = with_own_actions(base_name(vocabulary), declared.actions)
        check_rules(self.load(scene.name).graph, scene.name, name)
        intent = Intent(actor, _declaration(scene, name, declared), uuid4().hex)
        return self._redeclare(scene, name, declared, Delta(), intent=intent)

    def set_rules(self, scene: SceneInfo, rules: str, *, actor: str, action: str) -> SceneInfo:
        """Give a scene, and the beliefs about it, the rules of a JSON text (`scenecypher.db.rules`).

        That is a version of the scene, whose event is `action`. Raises ConflictError if the scene is no longer at the
        version of `scene`, SceneReplaced.
        """
        intent = Intent(actor, action, uuid4().hex, scene.version)
        declared = replace(scene.declared, rules=rules)
        return self._redeclare(scene, scene.vocabulary, declared, Delta(), intent=intent)

    def delete(self, name: str) -> None:
        """Remove the name of a scene at once; `delete_leftovers` frees its space later. Raises SceneNotFound."""
        publish.retire(self.database, self.find(name).key)

    def delete_leftovers(
        self, *, grace_s: float = 3_600.0, keep_s: float = KEEP_S, progress: Progress | None = None
    ) -> int:
        """Delete generations retired, and imports left unfinished, more than `grace_s` ago; return their number.

        Vectors that no scene has any more are deleted too.

        Of those that an import replaced, the ones with events or runs stay for `keep_s` seconds.
        """
        deleted = publish.delete_leftovers(self.database, grace_s=grace_s, keep_s=keep_s, progress=progress)
        delete_unused(self.database, grace_s=grace_s)
        return deleted

    # --- episodes

    def lease(self, name: str) -> AbstractContextManager[SceneInfo]:
        """Lease a copy of a scene to one worker; when the block ends it is reset and kept for the next lease."""
        source = self.find(name)
        origin, to = f"{source.key}@{source.version}", f"{name}#lease-{uuid4().hex[:12]}"
        return self._leased(origin, lambda: self._copy(name, to, leased=lease.holder(), copied_from=origin))

    def lease_imported(self, scene: ImportedScene, *, digest: str) -> AbstractContextManager[SceneInfo]:
        """Lease a copy of a scene that the database has only as such copies.

        Scenes of one name and `digest` are the same scene. Raises InputError for a bad name.
        """
        name = f"{checked_new_name(scene.name, scene.role)}#lease-{uuid4().hex[:12]}"
        origin = f"import:{scene.name}@{digest}"
        header = replace(_header(scene), name=name, copied_from=origin, leased=lease.holder())
        return self._leased(origin, lambda: publish.publish(self.database, scene.graph, header))

    def reset(self, scene: SceneInfo, version: int | None = None) -> int:
        """Revert all commits after `version` (the scene's base if None) in one commit; return the new version."""
        to = scene.base if version is None else version
        log = self.history(scene, after=to)
        delta = history.inverse_of(log)
        if not delta:
            return log[-1].version if log else to
        revert = Revert(delta, tuple(event.version for event in log), f"reset to version {to}")
        return self._commit_revert(scene, revert, kind="undo", actor=RESET).version

    def reset_and_rebase(self, scene: SceneInfo) -> int:
        """Reset the caller's own scene and make the result its base, so that later resets read less history."""
        version = self.reset(scene)
        if version != scene.base:
            lease.rebase(self.database, scene, version, timeout_s=self._commit_timeout_s)
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
        enforced: bool = True,
    ) -> Committed:
        """Apply a Delta in one transaction. A repeated `action_id` with the same Delta is applied once.

        What happens anyway, such as what people do, is not `enforced`: it may break rules of the house. Raises
        ConflictError naming the fact that differs from the Delta, RuleBroken, SceneReplaced, InputError.
        """
        intent = Intent(actor, action, action_id or uuid4().hex, expected_version, enforced=enforced)
        return self._commit(scene, delta, intent=intent)

    def change(
        self, scene: SceneInfo, decide: Decide, *, intent: Intent, agent: str | None = None, text: str | None = None
    ) -> Committed:
        """Let `decide` make a Delta from the scene, and commit it by one statement at the version it was decided at.

        If others come first again and again, or a connection breaks, it is decided and written under the scene's lock,
        which the action id makes safe. `agent` is the acting node, the first agent by id if None; `text` is the Delta's
        JSON if it is known before. An error of `decide`, such as ActionRefused, commits nothing. Raises CommitUnknown
        if nothing gave an answer; InputError for an earlier state, which nobody may change; SceneReplaced.
        """
        if scene.is_past_copy:
            raise read_only_error(scene.name)
        with self.replicas.of(scene) as replica:

            def work(tx: ManagedTransaction) -> Committed:
                at = replica.lock(tx, agent=agent, intent=intent, text=text)
                return replica.write(tx, at, decide(at), intent=intent)

            unanswered: ServiceError | None = None
            try:
                done = replica.change(decide, agent=agent, intent=intent, text=text, timeout_s=self._commit_timeout_s)
            except AlreadyCommitted as earlier:
                done = _repeated(earlier)
            except ServiceError as error:
                if not error.retryable or isinstance(error, QueryTimeout | SceneReplaced):
                    raise
                done, unanswered = None, error
            if done is None:
                done = self._under_lock(work, unanswered)
                replica.apply(done)
        self.database.versions.note(scene.key, done.version)
        return done

    def now(self, scene: SceneInfo) -> LoadedScene:
        """Return the whole scene as it is now, from memory where its events lead there.

        Raises SceneReplaced, ServiceError.
        """
        return self.replicas.now(scene)

    # --- history

    def history(self, scene: SceneInfo, *, after: int = 0, limit: int | None = None) -> list[Event]:
        """Return the events with a version above `after`, oldest first; with `limit` no more than the first ones."""
        return history.read_events(
            self.database, scene.key, after=after, limit=history.LARGEST if limit is None else limit
        )

    def latest(self, scene: SceneInfo) -> Iterator[Event]:
        """Yield the events, newest first, read by pages as they are asked for."""
        last, size = history.LARGEST, history.FIRST_PAGE
        while last > 0:
            page = history.read_events(self.database, scene.key, until=last, limit=size, newest=True)
            yield from page
            last, size = page[-1].version - 1 if len(page) == size else 0, 2 * size

    def event(self, scene: SceneInfo, action_id: str) -> Event | None:
        """Return the event of an action, None if it was not committed."""
        return history.event_of_action(self.database, scene.key, action_id)

    def undo(
        self,
        scene: SceneInfo,
        *,
        version: int | None = None,
        to: int | None = None,
        actor: str = "person",
        approved_by: str = "",
    ) -> Committed:
        """Revert the latest action in effect, the one of `version`, or all after version `to`.

        A scene that is as it was at `to` is not changed, as if the undo was `repeated`. What breaks a rule of the house
        is done if a person approved it.
        Raises NothingToUndo, ConflictError if its after-values no longer hold, RuleBroken if that breaks a rule of the
        house, InputError for a version there is not.
        """
        revert = history.plan_undo(self.latest(scene), version=version, to=to)
        if to is not None and not revert.delta:
            return Committed(max(revert.undoes), revert.delta, repeated=True)
        return self._commit_revert(scene, revert, kind="undo", actor=actor, approved_by=approved_by)

    def redo(self, scene: SceneInfo, *, actor: str = "person", approved_by: str = "") -> Committed:
        """Revert the latest undo. Raises NothingToRedo; RuleBroken unless a person approved it."""
        revert = history.plan_redo(self.latest(scene))
        return self._commit_revert(scene, revert, kind="redo", actor=actor, approved_by=approved_by)

    def as_of(self, name: str, version: int) -> SceneGraph:
        """Return the scene as of `version`, computed in memory. Raises InputError for a version it never had."""
        return rewind.load_version(
            self.database, rewind.scene_at(self.database, self.find(name), version), load=self.now
        ).graph

    # --- within

    def _publish(
        self, graph: SceneGraph, header: Header, known: SceneInfo | None, progress: Progress | None
    ) -> Imported:
        """Create a scene, or replace the `known` generation of its name. Raises NameTaken if that is another by now."""
        replaces = None if known is None else known.key
        info = publish.publish(self.database, graph, header, replaces=replaces, progress=progress)
        return _imported(info, graph, "created" if known is None else "replaced", 0)

    def _redeclare(
        self, scene: SceneInfo, vocabulary: str, declared: Declared, delta: Delta, *, intent: Intent
    ) -> SceneInfo:
        """Commit a Delta that may need what the scene declares from then on, with that, in one transaction."""
        after = replace(scene, vocabulary=vocabulary, declared=declared)
        intent = intent if delta else replace(intent, kind="declare")
        if not delta and intent.action == "import":
            intent = replace(intent, action=_declaration(scene, vocabulary, declared))

        with self.replicas.of(scene) as replica:

            def work(tx: ManagedTransaction) -> Committed:
                at = replica.lock(tx, agent=None, intent=intent, text=delta_json(delta))
                done = replica.write(tx, at, delta, intent=intent, scene=after)
                publish.redeclare(tx, scene, vocabulary=vocabulary, declared=declared)
                return done

            done = self._write(work)
        self.database.versions.note(scene.key, done.version)
        return replace(after, version=done.version)

    def _copy(
        self,
        name: str,
        to: str,
        *,
        leased: str | None = None,
        copied_from: str | None = None,
        progress: Progress | None = None,
    ) -> SceneInfo:
        source = self.load_at(name)
        info = source.info
        header = replace(Header.of(info), name=to, world=info.world, world_version=info.world_version, leased=leased)
        header = replace(header, copied_from=copied_from or header.copied_from)
        return publish.publish(self.database, source.graph, header, progress=progress)

    @contextmanager
    def _leased(self, origin: str, make: Callable[[], SceneInfo]) -> Iterator[SceneInfo]:
        """Lease a free copy of `origin`, or one that is made now."""
        copy = lease.acquire(self.database, origin, timeout_s=self._commit_timeout_s) or make()
        # An earlier worker may have died during its lease; what it did is none of the past that the next one sees.
        version = copy.base if copy.version == copy.base else self.reset_and_rebase(copy)
        try:
            yield replace(copy, version=version)
        finally:
            now = self.find(copy.name)  # its base, since an episode may have set another
            lease.release(self.database, now, self.reset(now), timeout_s=self._commit_timeout_s)
            of = origin.rpartition("@")[0]
            for key in lease.give_up_idle(self.database, f"{of}@", keep=lease.FREE_COPIES):
                publish.delete_generation(self.database, key)

    def _commit_revert(
        self, scene: SceneInfo, revert: Revert, *, kind: str, actor: str, approved_by: str = ""
    ) -> Committed:
        intent = Intent(actor, revert.action, uuid4().hex, kind=kind, undoes=revert.undoes, approved_by=approved_by)
        enforced = actor != RESET and not approved_by
        return self._commit(scene, revert.delta, intent=replace(intent, enforced=enforced))

    def _commit(self, scene: SceneInfo, delta: Delta, *, intent: Intent) -> Committed:
        return self.change(scene, lambda _: delta, intent=intent, text=delta_json(delta))

    def _under_lock(
        self, work: Callable[[ManagedTransaction], Committed], unanswered: ServiceError | None
    ) -> Committed:
        """Commit by `work`. Raises CommitUnknown if neither this nor what was left `unanswered` gave an answer."""
        try:
            return self._write(work)
        except (DatabaseUnavailable, QueryTimeout) as error:
            if unanswered is None:
                raise
            raise CommitUnknown(f"{error}; ask again, the work may be done or not", retryable=True) from unanswered

    def _write(self, work: Callable[[ManagedTransaction], Committed]) -> Committed:
        """Run a commit; after a lost answer to COMMIT run it again, which the action id makes safe."""
        for attempt in range(COMMIT_TRIES):
            try:
                return self.database.transaction(work, access="write", timeout_s=self._commit_timeout_s)
            except AlreadyCommitted as earlier:
                return _repeated(earlier)
            except CommitUnknown:
                if attempt == COMMIT_TRIES - 1:
                    raise
            except (ConstraintViolated, QueryFailed) as error:
                if isinstance(error, QueryFailed) and error.code != DIVISION_BY_ZERO:
                    raise
                msg = "the scene holds a relation or node that the change does not know of; load it again"
                raise ConflictError(msg) from error
        raise AssertionError


def _repeated(earlier: AlreadyCommitted) -> Committed:
    return Committed(earlier.version, delta_from_json(earlier.delta_text), repeated=True)


def with_added_agent(graph: SceneGraph, before: SceneGraph) -> SceneGraph:
    """Return a graph without an agent with the agents that people added `before`, where these are; hands are empty.

    An added agent is known by its class, which is its name.
    """
    agents = [before.nodes[node_id] for node_id in before.by_kind.get("Agent", ())]
    added = {it.id: it for it in agents if it.id == it.name == it.class_ and it.id not in graph.nodes}
    if graph.by_kind.get("Agent") or not added:
        return graph
    places = (it for node_id in added for it in before.outgoing.get(node_id, ()) if it.type not in HOLDING)
    kept = {it for it in places if it.target in graph.nodes}
    return SceneGraph.of((*graph.nodes.values(), *added.values()), (*graph.relations, *kept))


def with_stored_declarations(scene: ImportedScene, known: SceneInfo) -> ImportedScene:
    """Return a scene that is imported again, with what the `known` one has declared besides.

    It has that one's vocabulary and actions where it names none. Names stay declared: the history has facts of them,
    which an undo brings back.
    """
    vocabulary = base_name(known.vocabulary if scene.vocabulary == DEFAULT else scene.vocabulary)
    mine, stored = scene.declared, known.declared
    actions = (mine if mine.actions else stored).actions, (mine if mine.actions else stored).domain
    types, properties = (*mine.relation_types, *stored.relation_types), (*mine.properties, *stored.properties)
    declared = Declared(types, properties, *actions, mine.rules or stored.rules, mine.vectors or stored.vectors)
    return replace(scene, vocabulary=with_own_actions(vocabulary, declared.actions), declared=declared)


def _header(scene: ImportedScene) -> Header:
    return Header(scene.name, scene.vocabulary, scene.role, scene.declared, scene.source)


def _check_may_replace(known: SceneInfo, why: str, *, replaces: bool) -> None:
    """Raise InputError if replacing a scene ends a history and nobody has asked for it."""
    if known.version and not replaces:
        raise InputError(
            f"{known.name} would be replaced by another scene ({why}), which ends its history of {known.version:,} "
            "versions; have it replaced (`--replace`), or import this one under another name"
        )


def _declaration(before: SceneInfo, vocabulary: str, declared: Declared) -> str:
    """Return what is declared anew, in words."""
    was = before.declared
    names = sorted({*declared.relation_types, *declared.properties} - {*was.relation_types, *was.properties})
    found = [f"declare {', '.join(names)}"] if names else []
    if declared.vectors != was.vectors:
        found.append(f"vectors {', '.join(it.name for it in declared.vectors)}")
    if declared.actions != was.actions:
        found.append("give own actions" if declared.actions else "take own actions away")
    if base_name(vocabulary) != base_name(before.vocabulary):
        found.append(f"vocabulary {base_name(vocabulary)}")
    return "; ".join(found) or "declare the same again"


def _imported(
    info: SceneInfo,
    graph: SceneGraph,
    outcome: Literal["created", "updated", "replaced", "unchanged"],
    changes: int,
) -> Imported:
    return Imported(info.name, outcome, info.version, len(graph.nodes), len(graph.relations), changes)
