"""Resources: the schema and the tree of each scene, by their URIs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

import mcp_types as types
from mcp.shared.exceptions import MCPError

RESOURCE_KINDS: Final[Mapping[str, str]] = {
    "schema": "What occurs in the scene: kinds of nodes, classes, states, relations.",
    "tree": "Rooms, furniture and things: what is where.",
}
"""Each is what the tool of this name returns for a whole scene."""

BASE: Final = "scenecypher://scenes/"


@dataclass(frozen=True, slots=True)
class Place:
    """The scene and the kind of a resource."""

    scene: str
    kind: str


def uri_of(scene: str | None, kind: str) -> str:
    """Return a resource's URI; for None the template of all scenes."""
    return f"{BASE}{'{scene}' if scene is None else quote(scene, safe='')}/{kind}"


def place_of(uri: str) -> Place:
    """Return what a URI names. Raises MCPError for any other."""
    scene, _, kind = uri.removeprefix(BASE).rpartition("/")
    if not uri.startswith(BASE) or not scene or kind not in RESOURCE_KINDS:
        forms = " or ".join(uri_of(None, it) for it in RESOURCE_KINDS)
        raise MCPError(types.INVALID_PARAMS, f"there is no resource {uri[:200]!r}; it has the form {forms}")
    return Place(unquote(scene), kind)
