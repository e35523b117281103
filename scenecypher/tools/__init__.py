"""A home's tools for agents: one table, served by MCP, as tools of the chat-completions protocol, and to libraries.

import scenecypher as sc
from scenecypher import tools

with sc.connect() as db:
    given = tools.openai(db.home("virtualhome/963_2"))
    client.chat.completions.create(..., tools=given.definitions)
    given.call(name, arguments)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scenecypher.home import Home
    from scenecypher.tools.calling import HomeTools

__all__ = ["openai"]


def openai(home: Home, *, read_only: bool = False) -> HomeTools:
    """Return a home's tools for the chat-completions protocol: their definitions, and what carries out a call."""
    from scenecypher.tools.calling import HomeTools

    return HomeTools(home, read_only=read_only)
