"""Words that a shell completes: scenes, methods, actions and node ids, from a server that runs already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

import typer

from scenecypher.errors import SceneCypherError

if TYPE_CHECKING:
    from scenecypher.db.store.catalog import SceneInfo
    from scenecypher.db.store.connection import Address, Database
    from scenecypher.settings import Settings

MOST: Final = 200
"""Node ids that are offered at once."""
TIMEOUT_S: Final = 1.0
"""The time for a connection, and for a query."""


def scene_names(incomplete: str) -> list[str]:
    """Return the names of the scenes that begin with `incomplete`; none if the database does not answer."""
    from scenecypher.db.store.catalog import list_scenes

    with suppress(SceneCypherError, OSError), _running_database() as database:
        return _starting([scene.name for scene in list_scenes(database)], incomplete)
    return []


def vocabularies(incomplete: str) -> list[str]:
    """Return the known vocabularies that start with `incomplete`."""
    from scenecypher.db.vocabulary import vocabulary_names

    return _starting(vocabulary_names(), incomplete)


def method_names(incomplete: str) -> list[str]:
    """Return the names of the planning methods that begin with `incomplete`."""
    from scenecypher.planner.methods import METHODS

    return _starting(METHODS, incomplete)


def node_ids(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the ids of the scene's nodes that begin with `incomplete`; none if the database does not answer."""
    with suppress(SceneCypherError, OSError), _open_scene(ctx) as (database, scene):
        return _ids(database, scene, incomplete)
    return []


def agent_ids(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the ids of the scene's agents that begin with `incomplete`; none if the database does not answer."""
    with suppress(SceneCypherError, OSError), _open_scene(ctx) as (database, scene):
        return _ids(database, scene, incomplete, kind="Agent")
    return []


def calls(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the actions of the scene that begin with `incomplete`: names, or one action with the nodes to act on.

    None if the database does not answer.
    """
    from scenecypher.planner.vocabularies.registry import operators_of

    with suppress(SceneCypherError, OSError), _open_scene(ctx) as (database, scene):
        operators = operators_of(scene.vocabulary)
        name, bracket, written = incomplete.partition("(")
        names = [name] if bracket else _starting(operators, name)
        if len(names) != 1 or names[0] not in operators:
            return names if not bracket else []
        return list(_calls_of(database, scene, names[0], written, arity=len(operators[names[0]].parameters)))
    return []


def _calls_of(database: Database, scene: SceneInfo, name: str, written: str, *, arity: int) -> Iterator[str]:
    """Yield the calls of an action whose arguments are `written` so far, one argument further."""
    *before, last = written.split(",")
    if len(before) >= arity:
        if arity == 0:
            yield f"{name}()"
        return
    end = ")" if len(before) + 1 == arity else ", "
    arguments = [argument.strip() for argument in before]
    for node_id in _ids(database, scene, last.strip()):
        yield f"{name}({', '.join([*arguments, node_id])}{end}"


def _ids(database: Database, scene: SceneInfo, start: str, *, kind: str | None = None) -> list[str]:
    from scenecypher.db.store.load import node_ids

    return node_ids(database, scene, start, kind=kind, most=MOST, timeout_s=TIMEOUT_S)


@contextmanager
def _open_scene(ctx: typer.Context) -> Iterator[tuple[Database, SceneInfo]]:
    """The database and the scene that the command line names so far. Raises SceneNotFound, DatabaseUnavailable."""
    from scenecypher.db.store.catalog import find_scene

    with _running_database() as database:
        # Before an option's value is typed, the parser leaves the arguments unassigned.
        yield database, find_scene(database, ctx.params.get("scene") or next(iter(ctx.args), ""))


@contextmanager
def _running_database() -> Iterator[Database]:
    """The configured server, never started here. Raises DatabaseUnavailable soon if it does not answer."""
    from scenecypher.db.store.connection import Database
    from scenecypher.settings import Settings

    with Database(_running_address(Settings()), connect_timeout_s=TIMEOUT_S, retry_s=0) as database:
        yield database


def _running_address(settings: Settings) -> Address:
    """Return where the configured server runs. Raises DatabaseUnavailable if no local one does."""
    from scenecypher.db.connect import address_of
    from scenecypher.db.local import status
    from scenecypher.errors import DatabaseUnavailable

    if settings.neo4j_uri is None and status(settings) is None:
        raise DatabaseUnavailable("no local server runs; start it with `scenecypher db start`")
    return address_of(settings, tell=lambda _: None)


def _starting(words: Iterable[str], start: str) -> list[str]:
    return [word for word in words if word.startswith(start)]
