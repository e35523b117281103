"""Options that several commands share, what a shell completes in them, and commands that take a class of options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, is_dataclass
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any, Final, get_args, get_origin

import typer

from scenecypher.errors import SceneCypherError

if TYPE_CHECKING:
    from scenecypher.db.store.catalog import SceneInfo
    from scenecypher.db.store.connection import Database

MOST: Final = 200
"""Node ids that are offered at once."""
TIMEOUT_S: Final = 1.0
"""The time for a connection, and for a query."""
LIMITS: Final = "Limits"
"""The panel of help with what a command may use."""


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
    return _ids_in(ctx, incomplete)


def agent_ids(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the ids of the scene's agents that begin with `incomplete`; none if the database does not answer."""
    return _ids_in(ctx, incomplete, kind="Agent")


def calls(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the actions of the scene that begin with `incomplete`: names, or one action with the nodes to act on.

    None if the database does not answer.
    """
    from scenecypher.planner.vocabularies.vocabulary import operators_of

    with suppress(SceneCypherError, OSError), _open_scene(ctx) as (database, scene):
        operators = operators_of(scene.vocabulary)
        name, bracket, written = incomplete.partition("(")
        names = [name] if bracket else _starting(operators, name)
        if len(names) != 1 or names[0] not in operators:
            return names if not bracket else []
        arity, (*before, last) = len(operators[names[0]].parameters), written.split(",")
        if len(before) >= arity:
            return [] if arity else [f"{names[0]}()"]
        end = ")" if len(before) + 1 == arity else ", "
        begun = "".join(f"{argument.strip()}, " for argument in before)
        return [f"{names[0]}({begun}{node_id}{end}" for node_id in _ids(database, scene, last.strip())]
    return []


def _ids_in(ctx: typer.Context, incomplete: str, *, kind: str | None = None) -> list[str]:
    with suppress(SceneCypherError, OSError), _open_scene(ctx) as (database, scene):
        return _ids(database, scene, incomplete, kind=kind)
    return []


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
    """The configured server, never started here. Raises DatabaseUnavailable soon if it does not answer or run."""
    from scenecypher.db.connect import address_of
    from scenecypher.db.local import status
    from scenecypher.db.store.connection import Database
    from scenecypher.errors import DatabaseUnavailable
    from scenecypher.settings import Settings

    settings = Settings()
    if settings.neo4j_uri is None and status(settings) is None:
        raise DatabaseUnavailable("no local server runs; start it with `scenecypher db start`")
    address = address_of(settings, tell=lambda _: None)
    with Database(address, connect_timeout_s=TIMEOUT_S, retry_s=0) as database:
        yield database


def _starting(words: Iterable[str], start: str) -> list[str]:
    return [word for word in words if word.startswith(start)]


def option(*told: str, **more: Any) -> Any:
    """Return an option as the help tells it: its names, a word for its value unless it is a switch, what it is for."""
    *names, words = told
    metavar = None if names[-1].startswith("-") else names.pop()
    return typer.Option(*names, metavar=metavar, help=words, **more)


def argument(metavar: str, words: str, **more: Any) -> Any:
    """Return an argument as the help tells it."""
    return typer.Argument(metavar=metavar, help=words, **more)


AsJson = Annotated[bool, option("--json", "Print JSON.")]


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command as Typer reads it: in place of each parameter of a class of options stand the class's fields.

    ``Annotated[Timeouts, {"read_timeout_s"}]`` takes only the fields named in the set.
    """
    parameters, groups = list[Parameter](), dict[str, tuple[type, Mapping[str, Parameter]]]()
    for parameter in signature(command, eval_str=True).parameters.values():
        is_annotated = get_origin(parameter.annotation) is Annotated
        kind, *taken = get_args(parameter.annotation) if is_annotated else (parameter.annotation,)
        if not is_dataclass(kind) or not isinstance(kind, type):
            parameters.append(parameter)
            continue
        fields = signature(kind, eval_str=True).parameters
        options = {name: it for name, it in fields.items() if not taken or name in taken[0]}
        groups[parameter.name] = kind, options
        parameters += (it.replace(kind=Parameter.KEYWORD_ONLY) for it in options.values())

    def run(**given: Any) -> None:
        for name, (kind, options) in groups.items():
            given[name] = kind(**{key: given.pop(key) for key in options})
        command(**given)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__dict__["__signature__"] = Signature(parameters)
    return run


def _timeout(name: str, words: str) -> Any:
    return option(name, "SECONDS", words, rich_help_panel=LIMITS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Settings of what is waited for, None for the default; `open_database` takes them."""

    query_timeout_s: Annotated[
        float | None, _timeout("--query-timeout", "The most that a query may run; else 10, or the setting.")
    ] = None
    model_timeout_s: Annotated[
        float | None, _timeout("--model-timeout", "How long a reply is awaited; else 120, or the setting.")
    ] = None
    engine_timeout_s: Annotated[
        float | None, _timeout("--engine-timeout", "How long an engine may plan; else 30, or the setting.")
    ] = None
    read_timeout_s: Annotated[
        float | None, _timeout("--read-timeout", "The most that a read of ours may take; else 30.")
    ] = None
    commit_timeout_s: Annotated[
        float | None, _timeout("--commit-timeout", "The most that a change may take; else 30.")
    ] = None
    connect_timeout_s: Annotated[
        float | None, _timeout("--connect-timeout", "How long a connection is awaited; else 10.")
    ] = None


PlanTimeouts = Annotated[
    Timeouts, {"model_timeout_s", "engine_timeout_s", "read_timeout_s", "commit_timeout_s", "connect_timeout_s"}
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """Options of imports: how scenes differ from their files, and what is done with them."""

    vocabulary: Annotated[
        str | None,
        option(
            "--vocabulary",
            "NAME",
            "The actions that the scenes allow, in place of the format's.",
            autocompletion=vocabularies,
        ),
    ] = None
    agent: Annotated[str | None, option("--agent", "NAME", "Add an agent of this name, where a scene has none.")] = None
    place: Annotated[str | None, option("--in", "ROOM", "The room of the added agent.")] = None
    vectors: Annotated[str | None, option("--vectors", "MODEL", "The model of the nodes' vectors, or wordllama.")] = (
        None
    )
    replaces: Annotated[bool, option("--replace", "Replace a scene of the name even if that ends its history.")] = False
    dry_run: Annotated[bool, option("--dry-run", "Check and count; write nothing.")] = False
    as_json: AsJson = False


AsTheyAre = Annotated[ImportOptions, {"replaces", "dry_run", "as_json"}]
"""Options of imports that change nothing of their scenes."""
InVocabulary = Annotated[ImportOptions, {"vocabulary", "replaces", "dry_run", "as_json"}]
"""Options of imports that have agents and no vectors."""


Name = Annotated[str, argument("SCENE", "A scene's name, as `scenes list` shows it.", autocompletion=scene_names)]
ReadName = Annotated[
    str,
    argument(
        "SCENE",
        "A scene, or an earlier state of it: SCENE@7 (a version), SCENE@2026-11-23T10:15 (a time).",
        autocompletion=scene_names,
    ),
]
