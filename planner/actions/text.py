"""Actions as people and models write them, ``put_on(soap_1001, sink_42)``; macros; and ids, each of one action."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from scenecypher.errors import ActionRefused, CommitUnknown, InputError, did_you_mean
from scenecypher.planner.actions.operator import Operator, Parameter

MAX_CHARACTERS: Final = 2_000
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
"""Half a surrogate pair: no character, refused by databases and model services."""
_CALL: Final = re.compile(r"\s*([^\W\d][\w -]*?)\s*\((.*)\)\s*;?\s*", re.DOTALL)
_WORD_GAP: Final = re.compile("[ -]+")
_ARGUMENT: Final = re.compile(r"""\s*(?:"((?:[^"]|"")*)"|'([^']*)'|([^,"'()]*(?:'[^,"'()]+)*))\s*(,|$)""")


@dataclass(frozen=True, slots=True)
class ActionCall:
    """An action's name and its arguments as written."""

    name: str
    arguments: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(_quoted, self.arguments))})"


def parse_action(text: str) -> ActionCall:
    """Parse `text`. Raises ActionRefused if it is no action.

    Arguments may be quoted; a double quote within double quotes is doubled.
    """
    found = _CALL.fullmatch(text) if len(text) <= MAX_CHARACTERS and not _LONE_SURROGATE.search(text) else None
    arguments = _arguments(found[2]) if found else None
    if found is None or arguments is None:
        raise ActionRefused(_short(text), ["that is no action; write one like grab(soap_1001)"])
    return ActionCall(_WORD_GAP.sub("_", found[1].lower()), arguments)


def operator_of(
    call: ActionCall, operators: Mapping[str, Operator], macros: Mapping[str, Macro] = MappingProxyType({})
) -> Operator:
    """Return the called operator. Raises ActionRefused if it is unknown or the number of arguments is wrong.

    The refusal also names `macros`, the other actions that can be called.
    """
    operator = operators.get(call.name)
    if operator is None:
        actions: list[Operator | Macro] = [*operators.values(), *macros.values()]
        known = ", ".join(each.signature for each in actions)
        hint = did_you_mean(call.name, (*operators, *macros))
        raise ActionRefused(_short(str(call)), [f"there is no action {call.name!r}{hint}; choose one of {known}"])
    if len(call.arguments) != len(operator.parameters):
        wanted = f"it takes {len(operator.parameters)}, as in {operator.signature}"
        raise ActionRefused(_short(str(call)), [f"{argument_count(call)}; {wanted}"])
    return operator


def argument_count(call: ActionCall) -> str:
    """Return the number of arguments of a call, in words."""
    return "1 argument is given" if len(call.arguments) == 1 else f"{len(call.arguments)} arguments are given"


def _arguments(text: str) -> tuple[str, ...] | None:
    """Split at commas; None if an argument is empty or a quote does not end."""
    if not text.strip():
        return ()
    found: list[str] = []
    place = 0
    while True:
        piece = _ARGUMENT.match(text, place)
        argument = _unquoted(piece) if piece else ""
        if piece is None or not argument:
            return None
        found.append(argument)
        place = piece.end()
        if not piece[4]:
            return tuple(found)


def _unquoted(piece: re.Match[str]) -> str:
    doubled, quoted, plain = piece.groups()[:3]
    argument = doubled.replace('""', '"') if doubled is not None else quoted or (plain or "").strip()
    return argument if argument.strip() else ""


def _quoted(argument: str) -> str:
    """Quote the argument so that it is parsed back; with both kinds of quotes in it, double quotes are doubled."""
    if argument == argument.strip() and not set(argument) & set(""",()"'"""):
        return argument
    if "'" in argument or '"' not in argument:
        return '"' + argument.replace('"', '""') + '"'
    return f"'{argument}'"


def _short(text: str) -> str:
    line = " ".join(text.split()).encode("utf-8", "backslashreplace").decode()
    return (line if len(line) <= 100 else f"{line[:99]}…") or "nothing"


@dataclass(frozen=True, slots=True)
class Macro:
    """An action that expands to several; one word among its arguments selects the expansion.

    It is written ``name(first, word, others)``. `expansions` gives the steps by that word, each an operator's name and
    the parameter that it takes; `aliases` are other spellings.
    """

    name: str
    parameters: tuple[Parameter, ...]
    word: str
    expansions: Mapping[str, tuple[tuple[str, str], ...]]
    words: str
    aliases: Mapping[str, str] = field(default_factory=dict)

    @property
    def signature(self) -> str:
        """The macro as it is typed: ``rearrange(x, relation, y)``."""
        first, *others = (parameter.name for parameter in self.parameters)
        return f"{self.name}({', '.join((first, self.word, *others))})"

    def steps(self, call: ActionCall) -> tuple[ActionCall, ...]:
        """Return the steps of `call`. Raises ActionRefused."""
        if len(call.arguments) != len(self.parameters) + 1:
            expected = f"it takes {len(self.parameters) + 1}, as in {self.signature}"
            raise ActionRefused(str(call), [f"{argument_count(call)}; {expected}"])
        first, word, *others = call.arguments
        word = self.aliases.get(word.casefold(), word.casefold())
        if word not in self.expansions:
            known = ", ".join(self.expansions)
            hint = did_you_mean(word[:60], tuple(self.expansions))
            raise ActionRefused(str(call), [f"{word[:60]!r} is no {self.word}{hint}; choose one of {known}"])
        nodes = dict(zip((parameter.name for parameter in self.parameters), (first, *others), strict=True))
        return tuple(ActionCall(name, (nodes[parameter],)) for name, parameter in self.expansions[word])


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
