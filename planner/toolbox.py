"""The tools that a method may call in a session: each by a name, answering in text; they change nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from scenecypher.chat.model import Usage
from scenecypher.errors import ReplyRejected, did_you_mean


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool gave: `text` for the method, and the tokens of a model that it asked for it."""

    text: str
    usage: Usage = field(default_factory=Usage)


Tool: TypeAlias = Callable[[Mapping[str, Any]], ToolAnswer]
"""Raises RejectedError, in words for the model, where its arguments mean nothing."""


@dataclass(frozen=True, slots=True)
class Toolbox:
    """Tools by name."""

    tools: Mapping[str, Tool]

    def call(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """What a tool gives. Raises RejectedError for an unknown one, and as the tool does."""
        if name not in self.tools:
            known = ", ".join(self.tools) or "there are none"
            raise ReplyRejected(f"there is no tool {name[:60]!r}{did_you_mean(name, tuple(self.tools))}; use {known}")
        return self.tools[name](arguments)


NO_TOOLS: Final = Toolbox({})


def argument(arguments: Mapping[str, Any], name: str, *, tool: str) -> str:
    """A text or number among a tool's arguments. Raises ReplyRejected where it is missing."""
    value = arguments.get(name)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ReplyRejected(f'{tool} takes the argument "{name}", a text; call it with that')
    return str(value)
