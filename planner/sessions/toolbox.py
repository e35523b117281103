"""Tools that a method may call in a session: read-only, each with a name and an answer in text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from scenecypher.chat.model import Usage
from scenecypher.errors import ReplyRejected, did_you_mean


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """Answer of a tool: `text` for the method, and the tokens of its own model requests."""

    text: str
    usage: Usage = field(default_factory=Usage)


Tool: TypeAlias = Callable[[Mapping[str, Any]], ToolAnswer]
"""Function from arguments to an answer; raises RejectedError, worded for the model, for bad arguments."""


@dataclass(frozen=True, slots=True)
class Toolbox:
    """Tools by name."""

    tools: Mapping[str, Tool]

    def call(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Call a tool. Raises RejectedError for an unknown name, and as the tool does."""
        if name not in self.tools:
            known = ", ".join(self.tools) or "there are none"
            raise ReplyRejected(f"there is no tool {name[:60]!r}{did_you_mean(name, tuple(self.tools))}; use {known}")
        return self.tools[name](arguments)


NO_TOOLS: Final = Toolbox({})


def argument(arguments: Mapping[str, Any], name: str, *, tool: str) -> str:
    """Return a text or number among a tool's arguments as text. Raises ReplyRejected if it is missing."""
    value = arguments.get(name)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ReplyRejected(f'{tool} takes the argument "{name}", a text; call it with that')
    return str(value)
