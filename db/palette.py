"""The colours of nodes by kind, on the page, in pictures, in Neo4j Browser and in the terminal."""

from __future__ import annotations

from dataclasses import dataclass
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
