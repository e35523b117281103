"""What was said and done so far, as prompts tell it."""

from __future__ import annotations

from collections.abc import Iterator

from scenecypher.planner.method import Act, Memory, Turn


def previous_actions(memory: Memory) -> str:
    """The reasons and actions so far, without those that were refused and told so (LookPlanGraph, section IV-A)."""
    lines = [line for turn in memory.turns for line in _lines(turn)]
    return "\n".join(lines) or "none"


def feedback(memory: Memory) -> str:
    """Why the last proposal was refused; empty where it was not."""
    return memory.turns[-1].feedback if memory.turns and memory.turns[-1].refused else ""


def _lines(turn: Turn) -> Iterator[str]:
    match turn.decision:
        case Act(action, reason) if not (turn.refused and turn.feedback):
            if reason:
                yield reason
            yield f"action: {action}"
        case _:
            return
