"""Actions by their ids: one id is one action, done once however often it is asked for."""

from __future__ import annotations

from scenecypher.errors import InputError
from scenecypher.planner.actions.text import ActionCall


class ActionIds:
    """What was carried out under which id."""

    def __init__(self) -> None:
        self._calls: dict[str, ActionCall] = {}

    def has(self, action_id: str, call: ActionCall) -> bool:
        """Whether it was done. Raises InputError where the id was another action's."""
        before = self._calls.get(action_id)
        if before not in {None, call}:
            raise reused_id_error(action_id, str(before))
        return before is not None

    def add(self, action_id: str, call: ActionCall) -> None:
        """Note an action that was carried out."""
        self._calls[action_id] = call


def reused_id_error(action_id: str, before: str) -> InputError:
    """The error for an id that was used for another action, whose text is `before`."""
    return InputError(f"action id {action_id!r} was used for {before}; give each action an id of its own")
