"""Options that several commands share, as classes whose fields are options, and commands that take such a class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, Final, get_args, get_origin

import typer

from scenecypher.cli.completion import vocabularies

LIMITS: Final = "Limits"
"""The panel of help with what a command may use."""

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command as Typer reads it: in place of each parameter of a class of options stand the class's fields.

    ``Annotated[Timeouts, {"read_timeout_s"}]`` takes only the fields named in the set.
    """
    parameters, groups = list[Parameter](), dict[str, tuple[type, Mapping[str, Parameter]]]()
    for parameter in signature(command, eval_str=True).parameters.values():
        kind, *taken = get_args(parameter.annotation) if _is_annotated(parameter) else (parameter.annotation,)
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


def _is_annotated(parameter: Parameter) -> bool:
    return get_origin(parameter.annotation) is Annotated


def _timeout(name: str, words: str) -> Any:
    return typer.Option(name, metavar="SECONDS", rich_help_panel=LIMITS, help=words)


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
        typer.Option(
            "--vocabulary",
            metavar="NAME",
            help="The actions that the scenes allow, in place of the format's.",
            autocompletion=vocabularies,
        ),
    ] = None
    agent: Annotated[
        str | None, typer.Option("--agent", metavar="NAME", help="Add an agent of this name, where a scene has none.")
    ] = None
    place: Annotated[str | None, typer.Option("--in", metavar="ROOM", help="The room of the added agent.")] = None
    vectors: Annotated[
        str | None, typer.Option("--vectors", metavar="MODEL", help="The model of the nodes' vectors, or wordllama.")
    ] = None
    replaces: Annotated[
        bool, typer.Option("--replace", help="Replace a scene of the name even if that ends its history.")
    ] = False
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check and count; write nothing.")] = False
    as_json: AsJson = False


AsTheyAre = Annotated[ImportOptions, {"replaces", "dry_run", "as_json"}]
"""Options of imports that change nothing of their scenes."""
InVocabulary = Annotated[ImportOptions, {"vocabulary", "replaces", "dry_run", "as_json"}]
"""Options of imports that have agents and no vectors."""
