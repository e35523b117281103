"""Actions as people and models write them: ``put_on(soap_1001, sink_42)``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Protocol

from scenecypher.errors import ActionRefused, did_you_mean
from scenecypher.planner.actions.operator import Operator

MAX_CHARACTERS: Final = 2_000
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
"""Half a surrogate pair: no character, refused by databases and model services."""
_CALL: Final = re.compile(r"\s*([^\W\d][\w -]*?)\s*\((.*)\)\s*;?\s*", re.DOTALL)
_WORD_GAP: Final = re.compile("[ -]+")
_ARGUMENT: Final = re.compile(r"""\s*(?:"((?:[^"]|"")*)"|'([^']*)'|([^,"'()]*(?:'[^,"'()]+)*))\s*(,|$)""")


class HasSignature(Protocol):
    """Anything with an action's signature."""

    @property
    def signature(self) -> str:
        """The action as it is typed."""
        ...


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
    call: ActionCall, operators: Mapping[str, Operator], macros: Mapping[str, HasSignature] = MappingProxyType({})
) -> Operator:
    """Return the called operator. Raises ActionRefused if it is unknown or the number of arguments is wrong.

    The refusal also names `macros`, the other actions that can be called.
    """
    operator = operators.get(call.name)
    if operator is None:
        known = ", ".join(each.signature for each in (*operators.values(), *macros.values()))
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
    return (doubled.replace('""', '"') if doubled is not None else quoted or plain or "").strip()


def _quoted(argument: str) -> str:
    """Quote the argument so that it is parsed back; with both kinds of quotes in it, double quotes are doubled."""
    if not set(argument) & set(""",()"'"""):
        return argument
    if "'" in argument or '"' not in argument:
        return '"' + argument.replace('"', '""') + '"'
    return f"'{argument}'"


def _short(text: str) -> str:
    line = " ".join(text.split()).encode("utf-8", "backslashreplace").decode()
    return (line if len(line) <= 100 else f"{line[:99]}…") or "nothing"
