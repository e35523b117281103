"""Reading lists, maps and what stands in `x[…]`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

from scenecypher.db.gate.lexer import Token
from scenecypher.db.gate.names import Names, scene_key
from scenecypher.db.gate.reading import Loop, Source
from scenecypher.db.gate.words import CLAUSES, SCENE_KEY

COUNTS: Final = frozenset({"SIZE", "LENGTH", "COUNT", "TOINTEGER"})
"""Functions whose value is a whole number, so that `list[size(list) - 1]` can be no property's name."""
ITEMS: Final[dict[Source, int]] = {"property": 10, "call": 30, "other": 1_000}
"""How many items a list is taken to have, by where it comes from; literals and ranges are counted."""
DIGITS: Final = 15
"""Longer numbers may be beyond what a parameter holds."""
SHORT: Final = frozenset({"NODES", "RELATIONSHIPS", "LABELS", "KEYS"})
"""Functions that make short lists."""


class Lists(Names, ABC):
    """The part of the reader that reads brackets and braces."""

    def __init__(self, text: str, tokens: tuple[Token, ...], *, nesting: int, names: frozenset[str]) -> None:
        super().__init__(text, tokens, nesting=nesting, names=names)
        self.around: list[tuple[Source, int]] = []

    @abstractmethod
    def expression(self) -> None:
        """Read up to a comma, a closing bracket, a bar or a clause, none of which is taken."""

    # --- lists

    def elements(self) -> None:
        """Read a list, a list comprehension or a pattern comprehension; the bracket is taken."""
        if not (self.is_name() and self.peek().word == "IN"):
            self._rest_of_elements()
            return
        self.at += 2
        with_loop = self.loop_over("]")
        self.around.append(with_loop)
        self._rest_of_elements()
        self.around.pop()

    def _rest_of_elements(self) -> None:
        while not self.take_mark("]"):
            if self.is_mark(",", "|") or self.here.word == "WHERE":
                self.take()
            else:
                self.expression()
            if self.here.word in CLAUSES - {"WHERE"} or self.is_mark(")", "}", ";"):
                self.refuse("the list should end here")

    def loop_over(self, closing: str) -> tuple[Source, int]:
        """Read the list that a loop goes through, and note it."""
        first = self.at
        self.expression()
        if not self.is_mark("|", closing, ",") and self.here.word != "WHERE":
            self.refuse("the list should end here")
        source, items = self.source(first)
        self.reading.loops.append(Loop(self.tokens[first], source, items, tuple(self.around)))
        return source, items

    def source(self, first: int) -> tuple[Source, int]:
        """Where a list comes from, and how many items it may have, from its tokens up to here."""
        tokens = self.tokens[first : self.at]
        texts = [token.text for token in tokens]
        if texts[0] == "[" and self.closing[first] == self.at - 1 and "|" not in texts and tokens[2].word != "IN":
            return "literal", 1 + texts.count(",")
        if len(tokens) == 3 and texts[1] == ".":
            return "property", ITEMS["property"]
        if texts[1:2] == ["("] and self.closing[first + 1] == self.at - 1:
            if tokens[0].word == "RANGE" and all(token.kind in {"integer", "mark"} for token in tokens[2:]):
                return "range", 101
            if tokens[0].word in SHORT:
                return "call", ITEMS["call"]
        return "other", ITEMS["other"]

    # --- maps

    def entries(self, *, properties: bool = False) -> None:
        """Read a map's entries; the brace is taken. Those of a pattern are `properties`, any other defines names."""
        while not self.take_mark("}"):
            if properties:
                self.used_property()
            else:
                self.reading.defined.add(self.key().value)
            self.expect(":")
            if properties and self.peek().text in {",", "}"}:
                self.number()
            self.expression()
            self._entry_ends()

    def number(self) -> None:
        """Note the number that stands here, if one does: a parameter in its place means the same and costs the same."""
        if self.here.kind in {"integer", "float"} and len(self.here.text) <= DIGITS:
            self.reading.numbers.add(self.at)

    def projection(self) -> None:
        """Read a map projection such as `n {.name, room: p.name}`."""
        self.expect("{")
        while not self.take_mark("}"):
            if not self.take_mark("."):
                self.reading.defined.add(self.key().value)
                if self.take_mark(":"):
                    self.expression()
            elif not self.take_mark("*"):
                self.used_property()
            self._entry_ends()

    def _entry_ends(self) -> None:
        if not self.take_mark(",") and not self.is_mark("}"):
            self.refuse("the map should end here")

    # --- x[…]

    def index(self) -> None:
        """Read what stands in `x[…]`; the bracket is taken. It is never a way to the scene's key."""
        opening, closing = self.at - 1, self.closing[self.at - 1]
        inside = self.tokens[self.at : closing]
        if any(token.kind == "string" and token.value == SCENE_KEY for token in inside):
            raise scene_key()
        if not self._is_number_or_slice(self.at, closing) and [token.kind for token in inside] != ["string"]:
            self.reading.insert_after(opening, "head([__i IN [")
            self.reading.insert_before(closing, f"] WHERE __i <> '{SCENE_KEY}'])")
        while not self.take_mark("]"):
            if self.take_mark(".."):
                continue
            self.expression()
            if not self.is_mark("]", ".."):
                self.refuse("the index should end here")

    def _is_number_or_slice(self, at: int, end: int) -> bool:
        """Whether tokens from `at` to `end` can only make a whole number or a slice."""
        number = True
        while at < end:
            token = self.tokens[at]
            if token.text == "..":
                return True
            if token.word in COUNTS and self.tokens[at + 1].text == "(":
                at = self.closing[at + 1]
            elif token.text in {"(", "["}:
                at, number = self.closing[at], False
            elif token.kind != "integer" and token.text not in {"+", "-", "*", "/", "%"}:
                number = False
            at += 1
        return number
