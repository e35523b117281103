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
"""Half a surrogate pair: no character, which neither a database nor a model takes."""
_CALL: Final = re.compile(r"\s*([^\W\d][\w -]*?)\s*\((.*)\)\s*;?\s*", re.DOTALL)
_WORD_GAP: Final = re.compile("[ -]+")
_ARGUMENT: Final = re.compile(r"""\s*(?:"((?:[^"]|"")*)"|'([^']*)'|([^,"'()]*(?:'[^,"'()]+)*))\s*(,|$)""")


class HasSignature(Protocol):
    """What is called like an action."""

    @property
    def signature(self) -> str:
        """As it is typed."""
        ...


@dataclass(frozen=True, slots=True)
class ActionCall:
    """An action's name and its arguments, as they were written."""

    name: str
    arguments: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(_quoted, self.arguments))})"


def parse_action(text: str) -> ActionCall:
    """The call that `text` is. Raises ActionRefused where it is none.

    Arguments may stand in quotes, double quotes within double ones being doubled.
    """
    found = _CALL.fullmatch(text) if len(text) <= MAX_CHARACTERS and not _LONE_SURROGATE.search(text) else None
    arguments = _arguments(found[2]) if found else None
    if found is None or arguments is None:
        raise ActionRefused(_short(text), ["that is no action; write one like grab(soap_1001)"])
    return ActionCall(_WORD_GAP.sub("_", found[1].lower()), arguments)


def operator_of(
    call: ActionCall, operators: Mapping[str, Operator], macros: Mapping[str, HasSignature] = MappingProxyType({})
) -> Operator:
    """The operator that is called. Raises ActionRefused for an unknown one, or the wrong number of arguments.

    What else could have been called, `macros`, is named in the refusal.
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
    """How many arguments a call has, in words."""
    return "1 argument is given" if len(call.arguments) == 1 else f"{len(call.arguments)} arguments are given"


def _arguments(text: str) -> tuple[str, ...] | None:
    """What stands between commas; None where something is empty or a quote does not end."""
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
    """As it is read again; where it has both sorts of quotes, the outer ones are doubled within."""
    if not set(argument) & set(""",()"'"""):
        return argument
    if "'" in argument or '"' not in argument:
        return '"' + argument.replace('"', '""') + '"'
    return f"'{argument}'"


def _short(text: str) -> str:
    line = " ".join(text.split()).encode("utf-8", "backslashreplace").decode()
    return (line if len(line) <= 100 else f"{line[:99]}…") or "nothing"
