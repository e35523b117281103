"""The style of Neo4j Browser: fixed colours, sizes and captions by kind, and what connecting sets in Browser."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Final

from scenecypher.db.palette import line_colour

LIGHT, DARK = "#FFFFFF", "#1B2430"


def _node(color: str, border: str, text: str, diameter: int, caption: str) -> Mapping[str, str]:
    return {
        "color": color,
        "border-color": border,
        "text-color-internal": text,
        "diameter": f"{diameter}px",
        "caption": caption,
    }


def _relation(color: str, width: int = 1) -> Mapping[str, str]:
    return {"color": color, "shaft-width": f"{width}px", "caption": "<type>"}


# Of all rules that match, the last one counts in Browser; and it adds a rule of its own at the end for a label that has
# none, which would override a kind's: so Entity and Past have theirs, first.
STYLE: Final[Mapping[str, Mapping[str, str]]] = {
    "node": {**_node("#A5ABB6", "#7F8694", DARK, 50, "{name}"), "border-width": "2px", "font-size": "10px"},
    "relationship": {
        **_relation("#8A93A3"),
        "font-size": "8px",
        "padding": "3px",
        "text-color-external": DARK,
        "text-color-internal": LIGHT,
    },
    "node.Scene": _node("#1B2430", "#000000", LIGHT, 80, "{name}"),
    "node.Entity": _node("#A5ABB6", "#7F8694", DARK, 50, "{name}"),
    "node.Place": _node(line_colour("Place"), "#1F4F88", LIGHT, 80, "{name}"),
    "node.Door": _node("#9CC3EB", "#5E93C7", DARK, 30, "{name}"),
    "node.Waypoint": _node("#DCE4EC", "#A9B7C5", DARK, 20, "{name}"),
    "node.Asset": _node(line_colour("Asset"), "#986522", DARK, 50, "{class}"),
    "node.Object": _node(line_colour("Object"), "#26756A", DARK, 40, "{class}"),
    "node.Agent": _node(line_colour("Agent"), "#8E2A33", LIGHT, 65, "{name}"),
    "node.Past": _node("#B9AFCB", "#8D80A6", DARK, 40, "{name}"),
    "node.Run": _node("#5B3F8C", "#412B68", LIGHT, 80, "{instruction}"),
    "node.Step": _node("#A48CCB", "#7A60A6", DARK, 50, "{kind} {action}"),
    "node.PastEvent": _node("#E0A12B", "#AD7815", DARK, 65, "{action}"),
    "node.PastFact": _node("#F1DFB8", "#C7AE78", DARK, 40, "{relation}{state}{property}"),
    "node.PastNode": _node("#C9D6C9", "#93A893", DARK, 40, "{name}"),
    "relationship.CLOSE": _relation("#E3E6EA"),
    "relationship.FACING": _relation("#E3E6EA"),
    "relationship.HOLDS": _relation(line_colour("Agent"), 3),
    "relationship.HOLDS_LH": _relation(line_colour("Agent"), 3),
    "relationship.HOLDS_RH": _relation(line_colour("Agent"), 3),
    "relationship.LED_TO": _relation("#5B3F8C", 2),
    "relationship.BEGAN": _relation("#3B8653", 2),
    "relationship.ENDED": _relation(line_colour("Agent"), 2),
}
"""The rules of the style by Browser's selector."""

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
