"""Prompts: how to work in a home."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import mcp_types as types

from scenecypher.errors import ReplyRejected
from scenecypher.tools.table import Tool

INSTRUCTIONS: Final = (
    "Homes as scene graphs in a database. Read the schema of a scene before you query it; look at rooms and things by "
    "look and tree; change it only by act, one checked action at a time. A refusal says what to do first."
)
WORK: Final = "work_in_a_home"
NAMES: Final = frozenset({"scene", "task"})
LENGTH: Final = 10_000

PROMPTS: Final[Mapping[str, types.Prompt]] = {
    WORK: types.Prompt(
        name=WORK,
        title="Work in a home",
        description="How to find things in a scene and how to change it safely.",
        arguments=[
            types.PromptArgument(name="scene", description="the scene's name", required=True),
            types.PromptArgument(name="task", description="what shall be done", required=False),
        ],
    )
}

READING: Final = """\
You work in the home {scene}, a scene graph in a database. What you know of it comes from your tools:
- schema tells which classes, states and relations there are. Use its words alone.
- query answers a question by Cypher, look shows a room or thing, tree shows what is where. Ask for what you need, not \
for everything.
- history and past tell what was done before."""
CHANGING: Final = """\

- actions lists what can be done. act does one action; give each an action_id of its own and, if it matters that \
nobody else changed the home, the expected_version that you read.
- A refused action changes nothing; its text says what must hold first. Do that, then try again.
- If a call is lost, repeat it with the same action_id: it is done exactly once. undo takes a mistake back.
- plan reaches a goal such as "mug ON shelf; fridge is closed" by itself.
- At the end, check by query that it is so, and say what you did."""


def prompt_text(name: str, given: Mapping[str, str], tools: Mapping[str, Tool]) -> str:
    """Return the text of a prompt for the tools that are served. Raises ReplyRejected for wrong names or arguments."""
    if name not in PROMPTS:
        raise ReplyRejected(f"there is no prompt {name[:60]!r}; there is {WORK}")
    if "scene" not in given or given.keys() - NAMES or max(map(len, given.values())) > LENGTH:
        raise ReplyRejected(f"{WORK} takes scene and, if you like, task, up to {LENGTH:,} characters each")
    text = READING.format(scene=given["scene"]) + (CHANGING if "act" in tools else "")
    return text + (f"\n\nYour task: {given['task']}" if given.get("task") else "")
