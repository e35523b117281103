"""Past reasons, actions and refusals as prompts show them."""

from __future__ import annotations

from collections.abc import Iterator

from scenecypher.planner.sessions.method import Act, Memory, Turn


def previous_actions(memory: Memory) -> str:
    """Return the reasons and actions so far, without those refused with feedback (LookPlanGraph, section IV-A)."""
    lines = [line for turn in memory.turns for line in _lines(turn)]
    return "\n".join(lines) or "none"


def feedback(memory: Memory) -> str:
    """Return why the last proposal was refused; empty if it was not."""
    return memory.turns[-1].feedback if memory.turns and memory.turns[-1].refused else ""


def _lines(turn: Turn) -> Iterator[str]:
    match turn.decision:
        case Act(action, reason) if not (turn.refused and turn.feedback):
            if reason:
                yield reason
            yield f"action: {action}"
        case _:
            return
