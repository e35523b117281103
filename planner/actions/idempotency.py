"""Idempotent actions: an action id stands for one action, which is carried out at most once."""

from __future__ import annotations

from typing import Final

from scenecypher.errors import CommitUnknown, InputError
from scenecypher.planner.actions.text import ActionCall

MAX_ID_LENGTH: Final = 200


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


def checked_action_id(action_id: str) -> str:
    """Return an id that a user gives an action. Raises InputError if it can't be stored or read."""
    if not action_id or len(action_id) > MAX_ID_LENGTH or not action_id.isprintable():
        msg = f"{action_id[:60]!r} can't be an action's id: use 1 to {MAX_ID_LENGTH} printable characters"
        raise InputError(msg)
    return action_id


def unknown_outcome_error(action_id: str, error: CommitUnknown) -> CommitUnknown:
    """Return the error for an action of which it is unknown if it is committed."""
    msg = f"{error}; repeat it with the same id (`act --action-id {action_id}`): it is carried out once"
    return CommitUnknown(msg, retryable=True)
