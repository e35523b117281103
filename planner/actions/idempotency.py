"""Idempotent actions: an action id stands for one action, which is carried out at most once."""

from __future__ import annotations

from scenecypher.errors import InputError
from scenecypher.planner.actions.text import ActionCall


class ActionIds:
    """The actions carried out so far, by action id."""

    def __init__(self) -> None:
        self._calls: dict[str, ActionCall] = {}

    def has(self, action_id: str, call: ActionCall) -> bool:
        """Return whether the action was carried out. Raises InputError if the id belongs to another action."""
        before = self._calls.get(action_id)
        if before not in {None, call}:
            raise reused_id_error(action_id, str(before))
        return before is not None

    def add(self, action_id: str, call: ActionCall) -> None:
        """Record an action that was carried out."""
        self._calls[action_id] = call


def reused_id_error(action_id: str, before: str) -> InputError:
    """Return the error for an id that already belongs to another action, whose text is `before`."""
    return InputError(f"action id {action_id!r} was used for {before}; give each action an id of its own")
