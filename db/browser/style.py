"""Colours of nodes by kind, everywhere; the style of Neo4j Browser, and what connecting sets in it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final


@dataclass(frozen=True, slots=True)
class Colours:
    """A kind's colours as #rrggbb: its line, the same on light and dark ground, and its area on each."""

    line: str
    light: str
    dark: str


PALETTE: Final = {
    "Place": Colours("#2f6db5", "#f7f9fc", "#1d232c"),
    "Asset": Colours("#d98a00", "#f9e6c4", "#4a3616"),
    "Object": Colours("#3fae9a", "#cfeee6", "#14483f"),
    "Agent": Colours("#c2414b", "#c2414b", "#c2414b"),
}
"""Any two lines differ by 20 or more in CIELAB for all usual eyes, also those that miss one kind of cones."""
OTHER: Final = Colours("#8a8a8a", "#ffffff", "#16181c")


def line_colour(kind: str) -> str:
    """Return the colour of a kind's line."""
    return PALETTE.get(kind, OTHER).line


def css_variables() -> str:
    """Return the colours as CSS variables, such as ``--asset-line``, by the browser's scheme."""
    named = {**{kind.lower(): it for kind, it in PALETTE.items()}, "other": OTHER}
    lines = "".join(f"--{name}-line: {it.line}; " for name, it in named.items())
    light = "".join(f"--{name}-fill: {it.light}; " for name, it in named.items())
    dark = "".join(f"--{name}-fill: {it.dark}; " for name, it in named.items())
    return f":root {{ {lines}{light}}}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark}}} }}\n"


# Of all rules that match, the last one counts in Browser; and it adds a rule of its own at the end for a label that has
# none, which would override a kind's: so Entity and Past have theirs, first.
STYLE: Final[Mapping[str, Mapping[str, str]]] = {
    selector: {name: line_colour(value[1:]) if value.startswith("@") else value for name, value in rule.items()}
    for selector, rule in json.loads(Path(__file__).with_suffix(".json").read_bytes()).items()
}
"""The rules of the style by Browser's selector; in the file, ``@Place`` is the colour of that kind."""

CONFIG: Final = 'config "autoComplete": false, "allowCrashReports": false, "allowUserStats": false'
"""Browser's command, without its colon, that turns *Connect result nodes* off, and reports to its makers.

Else it draws all relations among the nodes of a result, such as every CLOSE.
"""


def grass() -> str:
    """Return the style as a `.grass` file."""
    return "".join(f"{selector} {{\n{_lines(rule)}}}\n\n" for selector, rule in STYLE.items())


def style_command() -> str:
    """Return Browser's command, without its colon, that sets the style: on one line, without semicolons."""
    return f"style {json.dumps(STYLE, separators=(',', ':'))}"


def connect_commands() -> str:
    """Return the server's setting `browser.post_connect_cmd`: what Browser does when it has connected."""
    return f"{CONFIG};{style_command()}"


def _lines(rule: Mapping[str, str]) -> str:
    # A text in braces stands in quotes, as Browser writes it.
    return "".join(f"  {name}: {_quoted(value)};\n" for name, value in rule.items())


def _quoted(value: str) -> str:
    return f"'{value}'" if "{" in value or "<" in value else value


if __name__ == "__main__":
    sys.stdout.write(f"{connect_commands()}\n")
