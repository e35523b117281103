"""Parser of predicted PDDL actions as the Embodied Agent Interface reads them, within our limits."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

Expression: TypeAlias = "str | tuple[Expression, ...]"
"""Literal with its arguments as one text, or a connective followed by its operands."""

EMPTY: Final = "()"
MAX_CHARACTERS: Final = 100_000
"""Characters of an output that are read; recorded ones have at most 30,000."""
MAX_DEPTH: Final = 40
MAX_TOKENS: Final = 4_000
CONNECTIVES: Final[Mapping[str, int]] = {"and": 0, "or": 0, "not": 2, "exists": 3, "forall": 3, "when": 3}
"""Length of a list that begins with this connective; 0 for any."""

_COMMENT: Final = re.compile(r";.*$", re.MULTILINE)
_ACTION: Final = re.compile(r"\(:action\s+(\w+)")
_PARTS: Final = (":parameters", ":precondition", ":effect")


@dataclass(frozen=True, slots=True)
class PddlAction:
    """Action as text: each part with its brackets and single blanks."""

    name: str
    parameters: str
    precondition: str
    effect: str

    def pddl(self) -> str:
        """Return the action as it is written in a domain."""
        parts = (self.parameters, self.precondition, self.effect)
        body = " ".join(f"{name} {text}" for name, text in zip(_PARTS, parts, strict=True))
        return f"(:action {self.name} {body})"


def parse_actions(output: str) -> Mapping[str, PddlAction] | None:
    """Return the actions of an output by name, possibly none; None if it can't be read."""
    if len(output) > MAX_CHARACTERS:
        return None
    text = _output_text(output)
    if not isinstance(text, str) or len(text) > MAX_CHARACTERS:
        return None
    plain = " ".join(_COMMENT.sub("", text).split())
    try:
        return _actions(plain)
    except IndexError:  # unclosed brackets
        return None


def parse_expression(text: str) -> Expression:
    """Parse an expression. Raises ValueError if it is malformed, too deep or too long."""
    tokens = re.findall(r"[()]|[^()\s][^()]*", text)
    if len(tokens) > MAX_TOKENS:
        raise ValueError(f"over {MAX_TOKENS} words")
    lists: list[list[Expression]] = [[]]
    for token in map(str.strip, tokens):
        if token == "(":  # noqa: S105 - a bracket
            lists.append([])
        elif token == ")":  # noqa: S105
            closed = _finish_list(lists.pop())
            if not lists:
                raise ValueError("a bracket too many")
            lists[-1].append(closed)
        else:
            lists[-1].append(token)
        if len(lists) > MAX_DEPTH:
            raise ValueError(f"over {MAX_DEPTH} levels")
    if len(lists) != 1 or len(lists[0]) != 1:
        raise ValueError("not one expression")
    return lists[0][0]


def expression_text(found: Expression) -> str:
    """Return the expression as text."""
    if isinstance(found, str):
        return found if found == EMPTY else f"({found})"
    return f"({found[0]} {' '.join(map(expression_text, found[1:]))})"


def _output_text(output: str) -> Any:
    """Return the value of the key ``output``; the text itself if it is not JSON or has no such key."""
    text = output[7:].strip("`") if output.startswith("```json") else output
    text = text.strip().replace("\n", "").replace("'", '"')
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return found["output"] if isinstance(found, dict) and "output" in found else found


def _actions(text: str) -> Mapping[str, PddlAction]:
    found: dict[str, PddlAction] = {}
    ends, at = matching_brackets(text), 0
    while action := _ACTION.search(text, at):
        starts = [text.find(part, action.end()) for part in _PARTS]
        if -1 in starts:
            break
        parameters = _block(text, starts[0], ends)
        precondition, effect = (_block_or_nothing(text, start, ends) for start in starts[1:])
        found[action[1]] = PddlAction(action[1], parameters, precondition, effect)
        at = starts[2] + effect[1:].find(")") + 1
    return found


def matching_brackets(text: str) -> Mapping[int, int]:
    """Map each opening bracket that is closed to its closing one."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    for bracket in re.finditer("[()]", text):
        if bracket[0] == "(":
            opened.append(bracket.start())
        elif opened:
            ends[opened.pop()] = bracket.start()
    return ends


def _block_or_nothing(text: str, start: int, ends: Mapping[int, int]) -> str:
    try:
        return _block(text, start, ends)
    except IndexError:
        return EMPTY


def _block(text: str, start: int, ends: Mapping[int, int]) -> str:
    """Return the first balanced list from `start` on, empty if none begins. Raises IndexError if it does not end."""
    opened = text.find("(", start)
    if opened < 0:
        return ""
    if opened not in ends:
        raise IndexError(start)
    return text[opened : ends[opened] + 1].replace(") )", "))")


def _finish_list(parts: list[Expression]) -> Expression:
    """Return the expression of a completed list."""
    if not parts:
        return EMPTY
    head = parts[0]
    length = CONNECTIVES.get(head) if isinstance(head, str) else None
    if length is None:
        if not all(isinstance(item, str) for item in parts):
            raise ValueError(f"{str(head)[:60]} connects nothing")
        return " ".join(map(str, parts))
    if length and len(parts) != length:
        raise ValueError(f"{head} takes {length - 1}")
    return tuple(parts)
