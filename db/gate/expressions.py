"""The reader of expressions: it bounds their size and steps, and finds the patterns that hide in them."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from scenecypher.db.gate.cost import MAX_COLLECTED, MAX_COLLECTED_BYTES, too_much
from scenecypher.db.gate.cursor import OPENING
from scenecypher.db.gate.hints import unknown_function
from scenecypher.db.gate.lexer import Token, integer_of
from scenecypher.db.gate.patterns import PatternReader, scene_key
from scenecypher.db.gate.regexes import regex_steps
from scenecypher.db.gate.sizes import (
    BOOLEAN,
    ITEM_BYTES,
    MAX_KEY_LENGTH,
    NUMBER,
    Size,
    Variables,
    collected,
    either,
    joined,
    list_of,
    returned,
    text_of,
)
from scenecypher.db.gate.words import (
    AGGREGATES,
    ARITHMETIC,
    CASE_WORDS,
    CLAUSES,
    CLOCK_FUNCTIONS,
    COMPARISONS,
    CONSTANTS,
    FUNCTIONS,
    INTEGER_FUNCTIONS,
    LOGIC,
    NAME_OPERATORS,
    NEVER_NAMES,
    OPERATORS,
    PATH_FUNCTIONS,
    PREDICATES,
    RESERVED,
    SCENE_KEY,
    SUBQUERIES,
    TIME_FIELDS,
    words,
)

MAX_CHAIN: Final = 40
"""Maximum properties, indexes and labels after one value: some hundred overflow the server's stack."""
MAX_LIST_DEPTH: Final = 16
"""Maximum depth of nested lists: the server's type checker doubles its work with each level."""
MAX_OPERATORS: Final = 24
"""Maximum operators of arithmetic and concatenation in one expression: with more, planning takes seconds."""
MAX_ROUND_DIGITS: Final = 20
"""Maximum digits of round()."""
ENDS: Final = frozenset({",", ")", "]", "}", "|", ";"})
NUMBER_ENDS: Final = ENDS | CLAUSES | LOGIC | CASE_WORDS | {"NOT", "IN", "IS"}
ORDERED: Final = frozenset({"=", "<>", "<", ">", "<=", ">="})
INTEGER_WORDS: Final = INTEGER_FUNCTIONS | {"+", "-", "*", "/", "%"}
TYPE_STARTS: Final = words("TYPED NFC NFD NFKC NFKD LOCAL ZONED SIGNED ANY TIME")
"""Words of types and forms of text, as after IS, that another word of the same value follows."""
POSTFIXES: Final = frozenset({".", "[", ":", "{"})


class ExpressionReader(PatternReader):
    """Reader of expressions. `compared` are the values that the aggregations of the clause compare."""

    compared: tuple[Size, ...] = ()

    @abstractmethod
    def subquery(self) -> Variables:
        """Read `{…}`: a whole query, or patterns and a WHERE; return its columns."""

    def expression(self, first: Size | None = None) -> Size:
        """Read up to a comma, a closing bracket, a bar, a clause or a word of CASE; return the value's size.

        Precedence is left to the server. `first` is the value after CASE, which a WHEN may begin to compare.
        """
        start, is_boolean, after_value, chain = self.at, False, False, 0
        sizes = [first] if first else []
        operators: list[tuple[Token, int]] = []
        while not self._is_at_end(after_value=after_value):
            token = self.take()
            if self._is_operator(token, after_value=after_value or (first is not None and self.at == start + 1)):
                after_value = token.word == "=~"
                is_boolean |= token.word not in ARITHMETIC
                if token.word in LOGIC:
                    self._combine(sizes, operators)
                    sizes, operators = [], []
                elif token.word == "=~":
                    self._regex(joined(sizes))
                else:
                    self._note_compared_number(token)
                    operators.append((token, len(sizes)))
            elif after_value and token.word in POSTFIXES:
                chain += 1
                if chain > MAX_CHAIN:
                    message = f"more than {MAX_CHAIN} properties or indexes of one value"
                    raise too_much(token.text, message, "ask in steps", code="nesting")
                sizes[-1] = self._postfix(token, sizes[-1])
            else:
                sizes.append(self._value(token))
                after_value, chain = True, 0
        if self.at == start:
            self.refuse("a value should stand here")
        size = self._combine(sizes, operators)
        return BOOLEAN if is_boolean else size

    def _is_at_end(self, *, after_value: bool) -> bool:
        token = self.next_token
        if token.kind == "end" or token.word in ENDS or token.word in NEVER_NAMES:
            return True
        is_in_type = token.kind == "name" and token.word not in RESERVED and self.last_token.word in TYPE_STARTS
        return after_value and token.word not in OPERATORS and token.word not in POSTFIXES and not is_in_type

    # --- operators

    def _is_operator(self, token: Token, *, after_value: bool) -> bool:
        if token.word not in OPERATORS or not (after_value or token.word not in NAME_OPERATORS or self.is_next("WITH")):
            return False
        if token.word in {"STARTS", "ENDS"}:
            self.expect("WITH")
        return True

    def _combine(self, sizes: Sequence[Size], operators: Sequence[tuple[Token, int]]) -> Size:
        """Count operators, each with the number of values before it; return the bounds of their result."""
        for token, at in operators:
            if token.word in COMPARISONS:
                left, right = joined(sizes[:at]), joined(sizes[at:])
                read = {"IN": right.bytes, "CONTAINS": left.text * right.text}
                self.meter.read(read.get(token.word, min(left.bytes, right.bytes)), token)
        size = sizes[0] if len(sizes) == 1 else joined(sizes)
        arithmetic = [token for token, _ in operators if token.word in ARITHMETIC]
        if len(arithmetic) > MAX_OPERATORS:
            raise too_much("+", "too many + in the query", "return the parts as columns of their own")
        if arithmetic:
            copied = ITEM_BYTES * size.items if size.each else size.bytes
            size = self.meter.build(size, (len(arithmetic) + 1) * copied, arithmetic[0])
        if any(token.word in {"/", "^"} for token in arithmetic):
            size = replace(size, number=math.inf)
        if size.depth > MAX_LIST_DEPTH:
            raise too_much("[", f"lists and maps nest more than {MAX_LIST_DEPTH} deep", "return flat lists")
        return size

    def _regex(self, text: Size) -> None:
        """Read a regular expression: a literal, or literals joined by +."""
        first = self.next_token
        regex = first.value
        while self.next_token.kind == "string" and self.is_next("+", offset=1):
            self.at += 2
            regex += self.next_token.value
        if self.next_token.kind != "string" or self.is_next("+", "||", "[", ".", offset=1):
            self.refuse("after =~ a plain string must stand", code="regex", hint="write a literal such as '.*cup.*'")
        self.take()
        self.meter.read(regex_steps(regex, text.text), first)

    def _note_compared_number(self, operator: Token) -> None:
        """Record the number after a comparison, if it is all of that side and the other side is no number."""
        before, after = self.tokens[self.at - 2], self.peek()
        ends = after.kind == "end" or after.word in NUMBER_ENDS
        if operator.word in ORDERED and ends and (before.kind in {"name", "quoted"} or before.word in {")", "]"}):
            self.note_number()

    # --- values

    def _value(self, token: Token) -> Size:
        """Read a value whose first token was taken."""
        self.meter.spend(1, token)
        if token.kind == "mark" and token.word not in OPENING:
            self.at -= 1
            self.refuse(f"`{token.text}` can't stand here")
        if token.kind == "quoted" and self.is_next("("):
            self.refuse("a function's name stands in backticks", hint="write it without")
        match token.kind:
            case "string":
                return text_of(len(token.value.encode()))
            case "integer" | "float":
                return replace(NUMBER, number=float(integer_of(token.text)) if token.kind == "integer" else math.inf)
            case "quoted":
                return self._variable_size(token.value)
            case "mark":
                return {"(": self._parenthesis, "[": self._list, "{": self._map}[token.word](token)
            case _:
                return self._word(token)

    def _variable_size(self, name: str) -> Size:
        return self.variables.get(name, self.paths.anything)

    def _word(self, token: Token) -> Size:
        if token.word == "CASE" and not self.is_next(".", ",", ")", "]"):
            return self._case()
        if token.word in CONSTANTS:
            return BOOLEAN
        if token.word in SUBQUERIES and self.is_next("{"):
            with self.meter.subquery():
                columns, rows = self.subquery(), self.meter.rows
            if token.word == "COLLECT":
                return list_of(either(*columns.values()), min(MAX_COLLECTED, rows.every))
            return replace(NUMBER, number=rows.every) if token.word == "COUNT" else BOOLEAN
        name = token.value
        if self.is_next(".") and self.is_next("(", offset=2):
            name += f".{self.peek().value}"
            self.at += 2
        return self._call(token, name) if self.is_next("(") else self._variable_size(name)

    def _case(self) -> Size:
        """Read CASE up to its END; a WHEN may begin with an operator, as in `CASE x WHEN > 3`."""
        first = None if self.is_next("WHEN") else self.expression()
        sizes = [first] if first else []
        while not self.skip("END"):
            if not self.skip("WHEN", "THEN", "ELSE", ","):
                self.refuse("END should stand here")
            sizes.append(self.expression(first if self.last_token.word in {"WHEN", ","} else None))
        return either(*sizes)

    def _parenthesis(self, _: Token) -> Size:
        opening = self.at - 1
        if self.is_arrow(self.closing[opening] + 1):
            self.at = opening
            with self.inner_scope():
                self.paths.add(self.chain(free=False))
            return BOOLEAN
        size = self.expression()
        self.expect(")")
        return size

    def _postfix(self, token: Token, base: Size) -> Size:
        """Read a property, an index, labels or a projection after a value; the first mark is taken."""
        match token.word:
            case "[":
                return self._index(base)
            case "{":
                return self._map(token, base)
            case ":":
                self.labels("either", bars=False)
                return BOOLEAN
        size = self._property(base, self.property_name())
        if self.is_next("("):
            self.refuse("there is no such function", code="function", hint="call functions by their names")
        return size

    def _property(self, base: Size, name: str) -> Size:
        found = [base.element] * bool(base.each) + [self.paths.property(name)] * base.has_nodes
        return either(*found) if found else NUMBER

    def _index(self, base: Size) -> Size:
        """Read the index in `x[…]`; the bracket is taken. The index can't reach the scene's key."""
        opening, closing = self.at - 1, self.closing[self.at - 1]
        inside = self.tokens[self.at : closing]
        if any(token.kind == "string" and token.value == SCENE_KEY for token in inside):
            raise scene_key()
        outside_brackets = self._outside_brackets(self.at, closing)
        is_slice = any(token.word == ".." for token in outside_brackets)
        is_number = all(token.kind == "integer" or token.word in INTEGER_WORDS for token in outside_brackets)
        if not is_slice and not is_number and [token.kind for token in inside] != ["string"]:
            self.reading.insert_after(opening, "head([__i IN [")
            self.reading.insert_before(closing, f"] WHERE __i <> '{SCENE_KEY}'])")
        self.expression()
        self.expect("]")
        if is_slice:
            return self.meter.build(base, ITEM_BYTES * base.items, self.tokens[opening])
        return either(base.element, *([self.paths.anything] if base.has_nodes or not base.each else []))

    def _outside_brackets(self, at: int, end: int) -> list[Token]:
        """Return the tokens from `at` to `end` with each call of a function as one, without what stands in it."""
        found: list[Token] = []
        while at < end:
            token = self.tokens[at]
            is_call = token.kind == "name" and self.tokens[at + 1].word == "("
            found.append(token if is_call or token.kind != "name" else replace(token, word=""))
            at = self.closing.get(at + is_call, at) + 1
        return found

    # --- lists and maps

    def _list(self, token: Token) -> Size:
        """Read a list, a list comprehension or a pattern comprehension; the bracket is taken."""
        if self.is_name() and self.is_next("IN", offset=1):
            listed, body = self._loop()
            size = list_of(body or listed.element, listed.items)
            self.meter.build(size, size.bytes if body else ITEM_BYTES * size.items, token)
        elif self._is_pattern_ahead():
            size = self._pattern_comprehension()
        else:
            found: list[Size] = []
            while not self.is_next("]") and (not found or self.skip(",")):
                found.append(self.expression())
            size = collected(found)
            self.meter.build(size, ITEM_BYTES * size.items, token)
        if not self.skip("]"):
            self.refuse("the list should end here")
        return size

    def _is_pattern_ahead(self) -> bool:
        start = self.at + 2 * self.is_next("=", offset=1)
        return self.tokens[start].word == "(" and self.is_arrow(self.closing[start] + 1)

    def _loop(self) -> tuple[Size, Size | None]:
        """Read `x IN list WHERE … | …`; return the sizes of the list and of what follows the bar."""
        name = self.take_name()
        self.expect("IN")
        first, listed = self.next_token, self.expression()
        with self.inner_scope(), self.meter.loop(first, listed.items):
            self.variables[name] = listed.element
            self.where()
            body = self.expression() if self.skip("|") else None
            self.meter.spend(1, first)
        return listed, body

    def _predicate(self) -> Size:
        self._loop()
        return BOOLEAN

    def _pattern_comprehension(self) -> Size:
        """Read `(a)-->(b) WHERE … | …`; the store is read row by row, so its rows count no steps."""
        with self.inner_scope(), self.meter.subquery():
            self.pattern()
            self.where()
            self.expect("|")
            return list_of(self.expression(), min(MAX_COLLECTED, self.meter.rows.every))

    def _map(self, _: Token, base: Size | None = None) -> Size:
        """Read a map, or a projection of `base` such as `n {.name, room: p.name}`; the brace is taken."""
        sizes: list[Size] = []
        every: list[Size] = []
        while not self.skip("}"):
            if base and self.skip("."):
                if self.skip("*"):
                    every = [self.paths.properties, *([base] if base.each else [])]
                else:
                    sizes.append(self._property(base, self.property_name()))
            else:
                name = self.key()
                self.reading.defined.add(name)
                if not base or self.is_next(":"):
                    self.expect(":")
                    sizes.append(self.expression())
                else:
                    sizes.append(self._variable_size(name))
            if not self.skip(",") and not self.is_next("}"):
                self.refuse("the map should end here")
        size = collected(sizes, key_bytes=MAX_KEY_LENGTH)
        return joined([size, either(*every)]) if every else size

    # --- calls

    def _call(self, token: Token, name: str) -> Size:
        opening, lowered, used = self.at, name.lower(), len(self.reading.uses)
        if lowered not in FUNCTIONS:
            raise unknown_function(name)
        if token.word in PATH_FUNCTIONS:
            with self.inner_scope():
                size = self.path_size(self.path_function(token))
        else:
            self.take()
            is_loop = lowered in PREDICATES and self.is_next("IN", offset=1)
            size = self._predicate() if is_loop else self._arguments(token, lowered)
            self.expect(")")
        if self.is_arrow(self.at):
            self.refuse("this reads like a pattern", hint="write nodes as (variable), or put blanks around -")
        if lowered == "keys":
            self.reading.insert_before(opening - 1, "[__k IN ")
            self.reading.insert_after(self.at - 1, f" WHERE __k <> '{SCENE_KEY}']")
        if lowered == "coalesce":
            self.reading.uses[used:] = [replace(use, may_be_absent=True) for use in self.reading.uses[used:]]
        return size

    def _arguments(self, token: Token, name: str) -> Size:
        """Read the arguments of a function; return the size of its value."""
        first, sizes, is_distinct = self.at, list[Size](), False
        while not self.is_next(")"):
            is_distinct |= self.skip("DISTINCT")
            sizes += [] if self.skip("*") else [self.expression()]
            if not self.skip(",") and not self.is_next(")") and name != "trim":
                self.refuse("the call should end here")
        self.meter.read(sum(size.bytes for size in sizes), token)
        if name in AGGREGATES:
            return self._aggregated(name, sizes, is_distinct=is_distinct)
        if name == "range":
            return self._range(sizes, token)
        if name in CLOCK_FUNCTIONS and _reads_clock(self.tokens[first : self.at], sizes):
            raise too_much(token.text, f"{name}() tells the time", "a scene has no clock", code="function")
        if name == "round" and len(sizes) > 1 and sizes[1].number > MAX_ROUND_DIGITS:
            raise too_much("round", f"round() takes 0 to {MAX_ROUND_DIGITS} digits", "write such as round(x, 2)")
        if name in {"keys", "labels", "properties"}:
            return either(self.paths.properties, *(size for size in sizes if size.each))
        size = self.paths.entity if name in {"startnode", "endnode"} else returned(name, sizes)
        return self.meter.build(size, 0 if size.each and name != "split" else size.bytes, token)

    def _aggregated(self, name: str, sizes: list[Size], *, is_distinct: bool) -> Size:
        self.compared += (Size(), *(sizes if is_distinct or name in {"min", "max"} else ()))
        rows = self.meter.rows.every
        if name == "count":
            return replace(NUMBER, number=rows)
        if name != "collect" or not sizes:
            return returned(name, sizes)
        most = self.paths.nodes if is_distinct and sizes[0] == self.paths.entity else MAX_COLLECTED
        size = list_of(sizes[0], min(rows, most))
        return size if size.has_nodes else replace(size, wire=min(size.wire, MAX_COLLECTED_BYTES))

    def _range(self, sizes: list[Size], token: Token) -> Size:
        """Return the size of a list of whole numbers, whose length follows from its bounds."""
        items = sum(size.number for size in sizes[:2]) + 1
        if items > self.limits.steps:
            hint = "write such as range(0, size(list) - 1)"
            raise too_much("range", "range() takes whole numbers, size() or length()", hint)
        self.meter.spend(items, token)
        return list_of(replace(NUMBER, number=items), items)


def _reads_clock(arguments: Sequence[Token], sizes: Sequence[Size]) -> bool:
    """Check for arguments that read the clock: none, or a map that may fix no time."""
    marks = [token.word for token in arguments]
    if marks[:1] != ["{"] or marks.count("{") > 1:
        return not sizes or (len(marks) == 1 and sizes[0].each is not None)
    return not TIME_FIELDS & {token.value.lower() for token, after in pairwise(arguments) if after.word == ":"}
