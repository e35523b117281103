"""The front door: a connection to the configured database, and the homes in it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias, TypedDict

from typing_extensions import Unpack

from scenecypher.db.connect import connect as connect_database
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.map_update import bring_in
from scenecypher.db.store.rewind import SceneAt, find_at
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError, check_options
from scenecypher.meaning import Embed, Meaning
from scenecypher.settings import Settings

if TYPE_CHECKING:  # what only some commands use is imported when it is used
    from scenecypher.chat.model import Model
    from scenecypher.db.gate import Gate
    from scenecypher.db.graph.imported import ImportedScene
    from scenecypher.home import Home
    from scenecypher.planner.vocabularies.own_actions import AddedActions
    from scenecypher.readable import ReadableHome
    from scenecypher.retriever.retrieval import SceneReader

Teller: TypeAlias = Callable[[str], None]
"""Receives a line of progress, such as "starting the local server"."""


class ImportOptions(TypedDict, total=False):
    """Options of imports: the `vocabulary` of the actions that a scene allows, and an `agent` to add in a `room`.

    `vectors` name the model of the file's vectors of nodes, or are ``wordllama``, for vectors of the nodes' words. With
    `replace`, another scene of the name is replaced even if that ends its history.
    """

    vocabulary: str | None
    agent: str | None
    room: str | None
    vectors: str | None
    replace: bool


class NodeLinkGraph(Protocol):
    """A `networkx` graph, of any of its four classes."""

    def is_directed(self) -> bool:
        """Tell whether its edges have a direction."""
        ...

    def is_multigraph(self) -> bool:
        """Tell whether two nodes may have several edges."""
        ...


def connect(
    settings: Settings | None = None, *, model: Model | str | None = None, tell: Teller | None = None
) -> SceneDatabase:
    """Connect to the configured database; start the local server if no other is configured.

    `settings` are read from the environment and `.env` by default. `model` answers questions and plans: a model of
    `scenecypher`, or the name of a model at the configured service; by default the configured one. `tell` receives
    each line of progress; by default standard error does. Raises DatabaseUnavailable, InputError.
    """
    chosen = settings or Settings()
    database = connect_database(chosen, tell=tell or partial(print, file=sys.stderr))
    try:
        return SceneDatabase(database, chosen, model=model, tell=tell)
    except BaseException:
        database.close()
        raise


class SceneDatabase:
    """The homes in one database; a context manager that closes its connections. Safe to share between threads.

    `tell` gets a line when a heavy query waits for others.
    """

    def __init__(
        self, database: Database, settings: Settings, *, model: Model | str | None = None, tell: Teller | None = None
    ) -> None:
        self.settings = settings
        self.store = SceneStore(database, kept_members=settings.kept_members)
        self.enumerator = Enumerator(self.store.replicas)
        self.meaning = Meaning(partial(_vectors, settings))
        self._gate: Gate | None = None
        self._tell = tell
        self._model, self._lock, self._open = model, Lock(), ExitStack()
        self._connected: dict[str, Model] = {}
        self._open.callback(database.close)

    def __repr__(self) -> str:
        return f"<SceneDatabase at {self.store.database.address.uri}>"

    @property
    def gate(self) -> Gate:
        """The gate to the database, with the configured limits."""
        from scenecypher.chat.embeddings import encoder_of
        from scenecypher.db.gate import Gate, Limits

        with self._lock:
            if self._gate is None:
                limits, encoders = Limits.of(self.settings), partial(encoder_of, self.settings)
                self._gate = Gate(self.store.database, limits=limits, tell=self._tell, encoders=encoders)
            return self._gate

    # --- homes

    def home(self, name: str) -> Home:
        """Return the home of a scene, such as ``virtualhome/963_2``. Raises SceneNotFound with the nearest names."""
        return self._home(self.store.find(name).name)

    def home_at(self, name: str) -> ReadableHome:
        """Return the home of this very name, or else what ``NAME@7`` (a version) or ``NAME@TIME`` means, to read.

        Raises SceneNotFound; InputError for a version or a time that the scene does not have.
        """
        from scenecypher.home import PastHome

        found = find_at(self.store.database, name)
        return PastHome(self, found) if isinstance(found, SceneAt) else self._home(found.name)

    def reader(self, name: str) -> SceneReader:
        """Return the gated reader of a scene, for queries of people and models; ``NAME@7`` is it as it was.

        Raises SceneNotFound; InputError for a version or a time that the scene does not have.
        """
        return self.reader_of(self.store.materialise(name))

    def reader_of(self, info: SceneInfo) -> SceneReader:
        """Return the gated reader of a scene as it was found, or of a cached copy of an earlier state."""
        from scenecypher.retriever.retrieval import SceneReader

        self.gate.note(info)
        return SceneReader(self.gate, self.enumerator, info, self.meaning)

    def scenes(self) -> list[SceneInfo]:
        """Return the facts of all scenes, by name."""
        return self.store.scenes()

    def delete(self, name: str) -> None:
        """Delete a scene. Raises SceneNotFound."""
        self.store.delete(name)

    # --- actions of one's own

    def add_actions(self, name: str, domain: Path, *, mapping: Path | None = None) -> AddedActions:
        """Give a scene the actions of a PDDL domain in place of its vocabulary's; graph and history stay.

        `mapping` is a TOML file that says how predicates and types are stored. Raises DocumentError naming the line of
        what can't be mapped, SceneNotFound; InputError without the extra `pddl`.
        """
        from scenecypher.planner.vocabularies.own_actions import add_actions

        return add_actions(self.store, name, domain, mapping=mapping)

    def remove_actions(self, name: str) -> None:
        """Take a scene's own actions away: it has those of its vocabulary again. Raises SceneNotFound."""
        from scenecypher.planner.vocabularies.own_actions import remove_actions

        remove_actions(self.store, name)

    # --- bringing scenes in

    def import_pddl(
        self,
        problem: Path,
        domain: Path,
        *,
        mapping: Path | None = None,
        name: str | None = None,
        replace: bool = False,
    ) -> Home:
        """Import a PDDL problem: a scene with its domain's actions, whose goal `plan` reaches.

        Raises DocumentError; InputError for a history that would end, unless the scene may be replaced (`replace`).
        """
        from scenecypher.planner.vocabularies.own_actions import NAME_PREFIX, read_pddl_scene

        named = name or NAME_PREFIX + problem.stem
        scene = read_pddl_scene(problem, domain, mapping=mapping, name=named)
        return self._home(self.store.put(scene, replaces=replace).name)

    def import_virtualhome(self, scene: str, *, name: str | None = None) -> Home:
        """Import one of VirtualHome's 518 recorded homes, such as ``963_2``.

        Raises InputError if the package `eai-eval` is missing or has no such home.
        """
        from scenecypher.importers.virtualhome import packaged_scene

        return self.import_scene(packaged_scene(scene), name=name)

    def import_file(
        self,
        path: str | Path,
        *,
        name: str | None = None,
        file_format: str | None = None,
        declare: Sequence[str] = (),
        strict: bool = False,
        **options: Unpack[ImportOptions],
    ) -> Home:
        """Import a file of any format that docs/importing.md names, or a folder of the files of one scene.

        The content decides on the format, unless `file_format` names it. `declare` names relation types and properties
        that a node-link file uses; `strict` refuses what would be left out. Raises DocumentError with all problems of
        the file, or if it has several scenes and `name` is none of theirs.
        """
        from scenecypher.db.schema import Declared
        from scenecypher.importers.detect import read_any

        declared = Declared.of_names(declare)
        scene = read_any(Path(path), name=name, file_format=file_format, declared=declared, strict=strict)
        return self.import_scene(scene, **options)

    def import_networkx(self, graph: NodeLinkGraph, *, name: str, **options: Unpack[ImportOptions]) -> Home:
        """Import a graph of NetworkX, with the attributes that docs/importing.md names.

        Raises DocumentError with all problems of the graph, InputError if NetworkX is missing.
        """
        try:
            from networkx import node_link_data
        except ImportError as error:
            raise InputError("NetworkX is missing: run `pip install networkx`") from error

        from scenecypher.importers.networkx_json import from_document

        # The library's own type would make NetworkX a dependency of every user's type check.
        to_document: Any = node_link_data
        scene = from_document(to_document(graph, edges="edges"), file=name, name=name)
        return self.import_scene(scene, **options)

    def import_scene(self, scene: ImportedScene, *, name: str | None = None, **options: Unpack[ImportOptions]) -> Home:
        """Import a scene that was read or made in Python.

        An equal scene changes nothing, one that differs in few facts is brought up to date by one commit, any other
        replaces the scene of that name: if that ends a history, only with `replace`. A robot's map is merged: what
        others changed in the scene stays. Raises InputError for a bad name, an unknown vocabulary, an agent where the
        scene has one, or a history that would end.
        """
        from scenecypher.importers.adjusting import Adjustment

        check_options(options, ImportOptions.__annotations__)
        vocabulary = options.get("vocabulary")
        adjusted = Adjustment(vocabulary, options.get("agent"), options.get("room"), options.get("vectors"))(scene)
        named = adjusted if name is None else replace(adjusted, name=name)
        replaces = options.get("replace", False)
        done = bring_in(self.store, named, sets_vocabulary=vocabulary is not None, replaces=replaces)
        return self._home(done.name)

    def _home(self, name: str) -> Home:
        from scenecypher.home import Home

        return Home(self, name)

    # --- models and connections

    def model(self, chosen: Model | str | None = None) -> Model:
        """Return the model to ask: `chosen`, else the one given to `connect`, else the configured one.

        A text is the name of a model at the configured service. Raises ModelUnavailable if none is configured.
        """
        wanted = self._model if chosen is None else chosen
        if wanted is not None and not isinstance(wanted, str):
            return wanted
        from scenecypher.chat.live import OpenAIModel

        name = self.settings.model if wanted is None else wanted
        with self._lock:
            if name not in self._connected:
                settings = self.settings.model_copy(update={"model": name})
                self._connected[name] = self._open.enter_context(OpenAIModel.from_settings(settings))
            return self._connected[name]

    def vision_model(self) -> Model:
        """Return the model that reads pictures: its own if one is configured, else as `model` does."""
        return self.model(self.settings.vision_model)

    def close(self) -> None:
        """Close the connections to the database and to models."""
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _vectors(settings: Settings) -> Embed | None:
    """Return the embeddings service, if any; it holds no database, since caches keep a `Meaning`."""
    from scenecypher.chat.embeddings import vectors_of

    return vectors_of(settings)
