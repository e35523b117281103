"""Predicted PDDL actions, read from a model's text as the Embodied Agent Interface reads them, within our limits."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

Tree: TypeAlias = "str | tuple[Tree, ...]"
"""An expression: a literal with its arguments as one text, or a connective followed by what it connects."""

NOTHING: Final = "()"
LONGEST: Final = 100_000
"""Characters of an output that are read; recorded ones have at most 30,000."""
DEEPEST: Final = 40
MOST_TOKENS: Final = 4_000
CONNECTIVES: Final[Mapping[str, int]] = {"and": 0, "or": 0, "not": 2, "exists": 3, "forall": 3, "when": 3}
"""The length that a list has which begins so; 0 for any."""

_COMMENT: Final = re.compile(r";.*$", re.MULTILINE)
_ACTION: Final = re.compile(r"\(:action\s+(\w+)")
_PARTS: Final = (":parameters", ":precondition", ":effect")


@dataclass(frozen=True, slots=True)
class Deed:
    """An action as text: each part with its brackets, blanks made single."""

    name: str
    parameters: str
    precondition: str
    effect: str

    def pddl(self) -> str:
        """As it stands in a domain."""
        parts = (self.parameters, self.precondition, self.effect)
        body = " ".join(f"{name} {text}" for name, text in zip(_PARTS, parts, strict=True))
        return f"(:action {self.name} {body})"


def deeds(output: str) -> Mapping[str, Deed] | None:
    """The actions of an output by name, none where it holds none; None where it can't be read."""
    if len(output) > LONGEST:
        return None
    text = _inner(output)
    if not isinstance(text, str) or len(text) > LONGEST:
        return None
    plain = " ".join(_COMMENT.sub("", text).split())
    try:
        return _actions(plain)
    except IndexError:  # brackets that nothing closes
        return None


def tree(text: str) -> Tree:
    """The expression. Raises ValueError for one that is malformed, too deep or too long."""
    tokens = re.findall(r"[()]|[^()\s][^()]*", text)
    if len(tokens) > MOST_TOKENS:
        raise ValueError(f"over {MOST_TOKENS} words")
    lists: list[list[Tree]] = [[]]
    for token in map(str.strip, tokens):
        if token == "(":  # noqa: S105 - a bracket
            lists.append([])
        elif token == ")":  # noqa: S105
            closed = _closed(lists.pop())
            if not lists:
                raise ValueError("a bracket too many")
            lists[-1].append(closed)
        else:
            lists[-1].append(token)
        if len(lists) > DEEPEST:
            raise ValueError(f"over {DEEPEST} levels")
    if len(lists) != 1 or len(lists[0]) != 1:
        raise ValueError("not one expression")
    return lists[0][0]


def written(found: Tree) -> str:
    """The expression as text."""
    if isinstance(found, str):
        return found if found == NOTHING else f"({found})"
    return f"({found[0]} {' '.join(map(written, found[1:]))})"


def _inner(output: str) -> Any:
    """The value of the key ``output``; the text itself where it is not JSON, or has none."""
    text = output[7:].strip("`") if output.startswith("```json") else output
    text = text.strip().replace("\n", "").replace("'", '"')
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return found["output"] if isinstance(found, dict) and "output" in found else found


def _actions(text: str) -> Mapping[str, Deed]:
    found: dict[str, Deed] = {}
    ends, at = closed_at(text), 0
    while action := _ACTION.search(text, at):
        starts = [text.find(part, action.end()) for part in _PARTS]
        if -1 in starts:
            break
        parameters = _block(text, starts[0], ends)
        precondition, effect = (_block_or_nothing(text, start, ends) for start in starts[1:])
        found[action[1]] = Deed(action[1], parameters, precondition, effect)
        at = starts[2] + effect[1:].find(")") + 1
    return found


def closed_at(text: str) -> Mapping[int, int]:
    """Where each bracket that is closed is closed."""
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
        return NOTHING


def _block(text: str, start: int, ends: Mapping[int, int]) -> str:
    """The first balanced list from `start` on, empty where none begins. Raises IndexError where it does not end."""
    opened = text.find("(", start)
    if opened < 0:
        return ""
    if opened not in ends:
        raise IndexError(start)
    return text[opened : ends[opened] + 1].replace(") )", "))")


def _closed(items: list[Tree]) -> Tree:
    """What a finished list means."""
    if not items:
        return NOTHING
    head = items[0]
    length = CONNECTIVES.get(head) if isinstance(head, str) else None
    if length is None:
        if not all(isinstance(item, str) for item in items):
            raise ValueError(f"{str(head)[:60]} connects nothing")
        return " ".join(map(str, items))
    if length and len(items) != length:
        raise ValueError(f"{head} takes {length - 1}")
    return tuple(items)
