"""Parser of sub-goals: the list in a reply and the formula of each, read as the original reads them.

`stmt = or {"then" or}`, `or = and {"or" and}`, `and = unit {"and" unit}`; a unit is ``NAME(object, …)``, a unit after
``not``, or a statement in brackets. What the original reads under ``exists``, ``forall`` or ``forn`` it can't bring
about, so that it is no formula here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

MAX_CHARACTERS: Final = 100_000
MAX_DEPTH: Final = 50
"""Nesting depth of brackets; recorded formulas have one or two levels."""
ACTIONS_WITHOUT_BRACKETS: Final = ("SLEEP", "WAKEUP", "STANDUP")
"""Actions that may be written without brackets."""
_OBJECT: Final = re.compile(r"{[^{}]*}", re.DOTALL)
_CALL: Final = re.compile(r"\w+\(.*?\)")
_NAME: Final = re.compile(r"(?!(?:then|or|and|not|exists|forall|forn)$)[a-zA-Z_\-]\w*")
_TOKEN: Final = re.compile(r"[a-zA-Z_\-]\w*(?:\.[0-9]+)?|[0-9]+|\S")


class FormulaError(ValueError):
    """Error for text that is no formula; it never leaves the scorer of sub-goals."""


@dataclass(frozen=True, slots=True)
class Primitive:
    """Atom such as ``ON(lamp.7)``."""

    name: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compound:
    """Formulas joined by `word` (then, and, or), or one under it (not)."""

    word: str
    parts: tuple[Formula, ...]


Formula: TypeAlias = Primitive | Compound


def parse_subgoals(output: str) -> Formula:
    """Parse all sub-goals of a reply into one formula, joined by ``then``. Raises FormulaError.

    Of alternatives within an entry, the original picks one at random; ours is the first.
    """
    return parse_subgoal(" then ".join(_entries(output)))


def parse_subgoal(text: str) -> Formula:
    """Parse a formula. Raises FormulaError."""
    reader = _Parser(_TOKEN.findall(text))
    found = reader.statement()
    if reader.rest:
        raise FormulaError(f"{reader.rest[-1]!r} is not expected")
    return found


def primitives(found: Formula) -> Iterator[Primitive]:
    """Yield every primitive of a formula, from left to right."""
    if isinstance(found, Primitive):
        yield found
    else:
        for part in found.parts:
            yield from primitives(part)


def primitives_to_achieve(found: Formula) -> Iterator[Formula]:
    """Yield what to achieve in order, primitives and their negations, the first of each choice.

    Raises FormulaError if there is no order.
    """
    match found:
        case Primitive() | Compound("not", (Primitive(),)):
            yield found
        case Compound("or"):
            yield from primitives_to_achieve(found.parts[0])
        case Compound("then" | "and"):
            for part in found.parts:
                yield from primitives_to_achieve(part)
        case Compound(word):
            raise FormulaError(f"there is no way to bring about {word!r} of a formula")


def _entries(output: str) -> Iterator[str]:
    found = _OBJECT.search(output.strip().replace("}}", "}")) if len(output) <= MAX_CHARACTERS else None
    try:
        document: Any = json.loads(found[0]) if found else None
    except (ValueError, RecursionError) as error:
        raise FormulaError("the reply's object is no JSON") from error
    if not isinstance(document, dict) or not isinstance(document.get("output"), list):
        raise FormulaError("the reply has no list called 'output'")
    for entry in document["output"]:
        if not isinstance(entry, str):
            raise FormulaError("a sub-goal is no text")
        if entry.strip() in ACTIONS_WITHOUT_BRACKETS:
            yield f"{entry.strip()}()"
        elif _CALL.search(entry):
            yield entry.strip().split(" or ")[0]


class _Parser:
    def __init__(self, tokens: Sequence[str]) -> None:
        self.rest = [*reversed(tokens)]
        self._depth = 0

    def statement(self, words: Sequence[str] = ("then", "or", "and")) -> Formula:
        """Parse formulas joined by the first of `words`, which binds least."""
        if not words:
            return self._unit()
        word, *others = words
        parts = [self.statement(others)]
        while self._has(word):
            parts.append(self.statement(others))
        if word == "and" and len({_is_temporal(one) for one in parts}) > 1:
            raise FormulaError("a conjunction of what is at one time and what is over time")
        return parts[0] if len(parts) == 1 else Compound(word, tuple(parts))

    def _unit(self) -> Formula:
        token = self._next()
        self._depth += 1
        if self._depth > MAX_DEPTH + 1:
            raise FormulaError("too many brackets in brackets")
        match token:
            case "(":
                found = self.statement()
                self._expect(")")
            case "not":
                found = Compound("not", (self._unit(),))
            case _ if _NAME.fullmatch(token):
                self._expect("(")
                found = Primitive(token, () if self._has(")") else tuple(self._objects()))
            case _:
                raise FormulaError(f"{token!r} begins no formula")
        self._depth -= 1
        return found

    def _objects(self) -> Iterator[str]:
        """Yield the objects up to the closing bracket, at least one."""
        while True:
            token = self._next()
            if not _NAME.fullmatch(token.partition(".")[0]):
                raise FormulaError(f"{token!r} is no object")
            yield token
            if not self._has(","):
                return self._expect(")")

    def _has(self, token: str) -> bool:
        """Check that a token comes next, and pass it."""
        return self.rest[-1:] == [token] and bool(self.rest.pop())

    def _expect(self, wanted: str) -> None:
        if (token := self._next()) != wanted:
            raise FormulaError(f"{token!r} stands where {wanted!r} should be")

    def _next(self) -> str:
        if not self.rest:
            raise FormulaError("it ends too early")
        return self.rest.pop()


def _is_temporal(found: Formula) -> bool:
    return isinstance(found, Compound) and (found.word == "then" or any(map(_is_temporal, found.parts)))
