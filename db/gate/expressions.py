"""The reader of expressions: it bounds their size and steps, and finds the patterns that hide in them."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from scenecypher.db.gate import words
from scenecypher.db.gate.cost import MAX_COLLECTED, MAX_COLLECTED_BYTES, regex_steps, too_much
from scenecypher.db.gate.lexer import Token, integer_of
from scenecypher.db.gate.patterns import OPENING, PUBLIC_PARAMETER, PatternReader, scene_key
from scenecypher.db.gate.realm import HIDDEN
from scenecypher.db.gate.sizes import (
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
from scenecypher.db.gate.unknown_names import hidden_property, unknown_function
from scenecypher.db.schema import ENTITY, SCENE_KEY
from scenecypher.errors import QueryRefused

MAX_CHAIN: Final = 40
"""Maximum properties, indexes and labels after one value: some hundred overflow the server's stack."""
MAX_LIST_DEPTH: Final = 16  # maximum depth of nested lists: the server's type checker doubles its work with each level
MAX_LOGIC_DEPTH: Final = 12  # maximum nested brackets that hold AND, OR or XOR: the server multiplies conditions out
MAX_ROUND_DIGITS: Final = 20  # maximum digits of round()
IN_UTC: Final = "(datetime('1970-01-01T00:00Z') + duration.inSeconds(datetime('1970-01-01T00:00Z'), "
"""Prefix that turns a time of a query into UTC, as all stored ones are: the server takes equal instants of two zones
for unequal. Null stays null, which a map with `timezone` would not take."""
ENDS: Final = frozenset({",", ")", "]", "}", "|", ";", ".."})
NUMBER_ENDS: Final = ENDS | words.CLAUSES | words.LOGIC | words.CASE_WORDS | {"NOT", "IN", "IS", ""}
ORDERED: Final = frozenset({"=", "<>", "<", ">", "<=", ">="})
POSTFIXES: Final = frozenset({".", "[", ":", "{"})


class ExpressionReader(PatternReader):
    """Reader of expressions. `compared` are the values that the aggregations of the clause compare."""

    compared: tuple[Size, ...] = ()
    logic_depth = 0

    @abstractmethod
    def subquery(self) -> Variables:
        """Read `{…}`: a whole query, or patterns and a WHERE; return its columns."""

    def expression(self, first: Size | None = None) -> Size:
        """Read up to a comma, a closing bracket, a bar, a clause or a word of CASE; return the value's size.

        Precedence is left to the server. `first` is the value after CASE, which a WHEN may begin to compare.
        """
        start, after_value, chain, said = self.at, False, 0, set[str]()
        sizes, operators = [first] if first else [], list[Token]()
        outer, self.logic_depth = self.logic_depth, 0
        while not self._is_at_end(after_value=after_value):
            token = self.take()
            if self._is_operator(token, after_value=after_value or (first is not None and self.at == start + 1)):
                after_value = token.word == "=~"
                if after_value:
                    self._regex(joined(sizes))
                said.add(token.word)
                operators.append(token)
                if token.word in words.LOGIC:
                    self._combine(sizes, operators)
                    sizes, operators = [], []
            elif after_value and token.word in POSTFIXES:
                chain += 1
                sizes[-1] = self._postfix(token, sizes[-1], chain)
            else:
                sizes.append(self._value(token))
                after_value, chain = True, 0
        if self.at == start:
            self.refuse("a value should stand here")
        self._check_depth(outer, has_logic=bool(said & words.LOGIC))
        size = self._combine(sizes, operators)
        return size if said <= words.ARITHMETIC else NUMBER

    def _is_at_end(self, *, after_value: bool) -> bool:
        token, is_type = self.next_token, self.last_token.word in words.TYPE_STARTS
        if token.kind == "end" or token.word in ENDS or token.word in words.NEVER_NAMES:
            return True
        is_in_type = is_type and token.kind == "name" and token.word not in words.RESERVED
        return after_value and token.word not in words.OPERATORS and token.word not in POSTFIXES and not is_in_type

    def _check_depth(self, outer: int, *, has_logic: bool) -> None:
        """Refuse conditions that nest too deep; note the depth for what stands around."""
        depth = self.logic_depth + has_logic
        self.logic_depth = max(outer, depth)
        if depth > MAX_LOGIC_DEPTH:
            raise too_much("OR", f"`OR` nested more than {MAX_LOGIC_DEPTH} deep")

    # --- operators

    def _is_operator(self, token: Token, *, after_value: bool) -> bool:
        """Check for an operator; note a number after a comparison, if it is all of that side and the other is none."""
        is_name = token.word in words.NAME_OPERATORS and not after_value and not self.is_next("WITH")
        if token.word not in words.OPERATORS or is_name:
            return False
        if token.word in {"STARTS", "ENDS"}:
            self.expect("WITH")
        before = self.tokens[self.at - 2]
        is_value = before.kind in {"name", "quoted"} or before.word in {")", "]"}
        if token.word in ORDERED and is_value and self.peek().word in NUMBER_ENDS:
            self.note_number()
        return True

    def _combine(self, sizes: Sequence[Size], operators: Sequence[Token]) -> Size:
        """Count each operator as one that reads all the values; return the bounds of what they make."""
        size = joined(sizes)
        for token in operators:
            self.meter.spend(token, read=size.text * size.text / 4 if token.word == "CONTAINS" else size.bytes)
        arithmetic = [token for token in operators if token.word in words.ARITHMETIC]
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
        self.meter.spend(first, read=regex_steps(regex, text.text))

    # --- values

    def _value(self, token: Token) -> Size:
        """Read a value whose first token was taken."""
        self.meter.spend(token, steps=1)
        if token.kind == "mark" and token.word not in OPENING:
            self.at -= 1
            self.refuse(f"`{token.text}` can't stand here")
        if token.kind == "quoted" and self.is_next("("):
            self.refuse("a function's name stands in backticks", hint="write it without")
        match token.kind:
            case "string":
                return text_of(len(token.value.encode()))
            case "integer":
                return replace(NUMBER, number=float(integer_of(token.text)))
            case "float":
                return NUMBER
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
        if token.word in words.CONSTANTS:
            return NUMBER
        if token.word in words.SUBQUERIES and self.is_next("{"):
            with self.meter.subquery():
                columns, rows = self.subquery(), self.meter.rows
            if token.word == "COLLECT":
                return list_of(either(*columns.values()), min(MAX_COLLECTED, rows))
            return replace(NUMBER, number=rows)
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
            return NUMBER
        size = self.expression()
        self.expect(")")
        return size

    def _postfix(self, token: Token, base: Size, chain: int) -> Size:
        """Read a property, an index, labels or a projection after a value; the first mark is taken."""
        if chain > MAX_CHAIN:
            raise too_much(token.text, f"more than {MAX_CHAIN} properties or indexes of one value", code="nesting")
        match token.word:
            case "[":
                return self._index(base)
            case "{":
                return self._map(token, base)
            case ":":
                self.labels("either", bars=False)
                return NUMBER
        size = self._property(base, self.property_name(self.owner_of(base)))
        if self.is_next("("):
            self.refuse("there is no such function", code="function", hint="call functions by their names")
        return size

    def _property(self, base: Size, name: str) -> Size:
        found = [base.element] * bool(base.each) + [self.paths.property(name)] * base.has_nodes
        return either(*found or [NUMBER])

    def _index(self, base: Size) -> Size:
        """Read the index in `x[…]`; the bracket is taken. The index can't reach the scene's key."""
        opening, closing = self.at - 1, self.closing[self.at - 1]
        inside = self.tokens[self.at : closing]
        is_size = self.is_next("SIZE") and self.is_next("(", offset=1)
        rest = self.tokens[self.closing[self.at + 1] + 1 : closing] if is_size else inside
        if any(token.kind == "string" and token.value == SCENE_KEY for token in inside):
            raise scene_key()
        if self.reading.past and any(token.kind == "string" and token.value in HIDDEN for token in inside):
            raise hidden_property(next(token.value for token in inside if token.value in HIDDEN))
        if not self.is_next(".."):
            self.expression()
        if self.skip(".."):
            if not self.is_next("]"):
                self.expression()
            self.expect("]")
            return self.meter.build(base, ITEM_BYTES * base.items, self.tokens[opening])
        is_number = all(token.kind == "integer" or token.word in {"+", "-"} for token in rest)
        if not is_number and [token.kind for token in inside] != ["string"]:
            self.reading.after[opening].append("head([__i IN [")
            or_number = "toIntegerOrNull(__i) = __i OR " if self.reading.past else ""
            self.reading.before[closing].append(f"] WHERE {or_number}{self._is_public('__i')}])")
        self.expect("]")
        return either(base.element, *([self.paths.anything] if base.has_nodes or not base.each else []))

    def _is_public(self, variable: str) -> str:
        """Return the condition that a key is one that queries may read."""
        if not self.reading.past:
            return f"{variable} <> '{SCENE_KEY}'"
        self.reading.asks_public = True
        return f"{variable} IN ${PUBLIC_PARAMETER}"

    def _check_whole(self, base: Size, piece: str) -> None:
        """Refuse the map of all properties of what may be a node of the past, of which some are hidden."""
        if self.reading.past and self.owner_of(base) != ENTITY:
            hint = "return the node itself, or name the properties"
            raise QueryRefused("property", "not all properties of the past can be read", piece=piece, hint=hint)

    # --- lists and maps

    def _list(self, token: Token) -> Size:
        """Read a list, a list comprehension or a pattern comprehension; the bracket is taken."""
        start = self.at + 2 * self.is_next("=", offset=1)
        if self.is_name() and self.is_next("IN", offset=1):
            listed, body = self._loop()
            size = list_of(body or listed.element, listed.items)
            self.meter.build(size, size.bytes if body else ITEM_BYTES * size.items, token)
        elif self.tokens[start].word == "(" and self.is_arrow(self.closing[start] + 1):
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

    def _loop(self) -> tuple[Size, Size | None]:
        """Read `x IN list WHERE … | …`; return the sizes of the list and of what follows the bar."""
        name = self.take_name()
        self.expect("IN")
        first, listed = self.next_token, self.expression()
        with self.inner_scope(), self.meter.loop(first, listed.items):
            self.variables[name] = listed.element
            self.where()
            body = self.expression() if self.skip("|") else None
            self.meter.spend(first, steps=1)
        return listed, body

    def _pattern_comprehension(self) -> Size:
        """Read `(a)-->(b) WHERE … | …`; the store is read row by row, so its rows count no steps."""
        with self.inner_scope(), self.meter.subquery():
            self.pattern()
            self.where()
            self.expect("|")
            return list_of(self.expression(), min(MAX_COLLECTED, self.meter.rows))

    def _map(self, _: Token, base: Size | None = None) -> Size:
        """Read a map, or a projection of `base` such as `n {.name, room: p.name}`; the brace is taken."""
        sizes: list[Size] = []
        every: list[Size] = []
        while not self.skip("}"):
            if base and self.skip("."):
                if self.skip("*"):
                    self._check_whole(base, "*")
                    every = [self.paths.properties, *([base] if base.each else [])]
                else:
                    sizes.append(self._property(base, self.property_name(self.owner_of(base))))
            else:
                name = self.key()
                if self.reading.past and name in HIDDEN:
                    raise hidden_property(name)
                self.reading.defined.add(name)
                is_variable = base is not None and not self.is_next(":")
                if not is_variable:
                    self.expect(":")
                sizes.append(self._variable_size(name) if is_variable else self.expression())
            if not self.skip(",") and not self.is_next("}"):
                self.refuse("the map should end here")
        size = collected(sizes, key_bytes=MAX_KEY_LENGTH)
        return joined([size, either(*every)]) if every else size

    # --- calls

    def _call(self, token: Token, name: str) -> Size:
        opening, lowered, used = self.at, name.lower(), len(self.reading.uses)
        if lowered not in words.FUNCTIONS:
            raise unknown_function(name)
        if token.word in words.PATH_FUNCTIONS:
            with self.inner_scope():
                size = self.path_size(self.path_function(token))
        else:
            self.take()
            size = self._arguments(token, lowered)
            self.expect(")")
        if self.is_arrow(self.at):
            self.refuse("this reads like a pattern", hint="write nodes as (variable), or put blanks around -")
        self._wrap_call(opening - 1, lowered)
        if lowered == "coalesce":
            self.reading.uses[used:] = [replace(use, may_be_absent=True) for use in self.reading.uses[used:]]
        return size

    def _wrap_call(self, first: int, name: str) -> None:
        """Let `keys` list public keys only, and turn a `datetime` into UTC; the call ends at the last token."""
        if name == "keys":
            self.reading.before[first].append("[__k IN ")
            self.reading.after[self.at - 1].append(f" WHERE {self._is_public('__k')}]")
        if name == "datetime":
            self.reading.before[first].append(IN_UTC)
            self.reading.after[self.at - 1].append("))")

    def _arguments(self, token: Token, name: str) -> Size:
        """Read the arguments of a function; return the size of its value."""
        if name in words.PREDICATES and self.is_next("IN", offset=1):
            self._loop()
            return NUMBER
        sizes, is_distinct = list[Size](), False
        while not self.is_next(")"):
            is_distinct |= self.skip("DISTINCT")
            sizes += [] if self.skip("*") else [self.expression()]
            if not self.skip(",") and not self.is_next(")") and name != "trim":
                self.refuse("the call should end here")
        self.meter.spend(token, read=sum(size.bytes for size in sizes))
        if name == "round" and len(sizes) > 1 and sizes[1].number > MAX_ROUND_DIGITS:
            raise too_much("round", f"round() takes 0 to {MAX_ROUND_DIGITS} digits", "write such as round(x, 2)")
        self._check_clock(token, name, sizes)
        if name in words.AGGREGATES:
            return self._aggregated(name, sizes, is_distinct=is_distinct)
        if name == "range":
            return self._range(sizes, token)
        if name in {"keys", "labels", "properties"}:
            return self._described(token, sizes)
        size = returned(name, sizes)
        return self.meter.build(size, 0 if size.each and name != "split" else size.bytes, token)

    def _described(self, function: Token, sizes: list[Size]) -> Size:
        """Return the size of what a function tells of a node: its labels, its keys or all its properties."""
        if function.word == "PROPERTIES" and sizes:
            self._check_whole(sizes[0], function.text)
        return either(self.paths.properties, *(size for size in sizes if size.each))

    def _check_clock(self, function: Token, name: str, sizes: Sequence[Size]) -> None:
        """Refuse a function of time without arguments, or of what may be a map without a field that says a time."""
        if name not in words.CLOCK_FUNCTIONS or (sizes and not sizes[0].each):
            return
        if not self._is_map_of_time(self.tokens.index(function) + 2):
            hint = "a scene has no clock: give it a text, or a map with its fields such as {year: 2026, month: 3}"
            raise too_much(function.text, f"{name}() may tell the present time", hint, code="function")

    def _is_map_of_time(self, opening: int) -> bool:
        """Check that the argument is a map written in place, one key of which says a time."""
        closing = self.closing.get(opening, -1)
        if self.tokens[opening].word != "{" or closing + 1 != self.at:
            return False
        at = opening + 1
        while at < closing:
            if self.tokens[at].value.lower() in words.TIME_FIELDS and self.tokens[at + 1].word == ":":
                return True
            while self.tokens[at].word != "," and at < closing:
                at = self.closing.get(at, at) + 1
            at += 1
        return False

    def _aggregated(self, name: str, sizes: list[Size], *, is_distinct: bool) -> Size:
        self.compared += (Size(), *(sizes if is_distinct or name in {"min", "max"} else ()))
        rows = self.meter.rows
        if name == "count":
            return replace(NUMBER, number=rows)
        if name != "collect" or not sizes:
            return returned(name, sizes)
        most = self.paths.nodes if is_distinct and self.owner_of(sizes[0]) else MAX_COLLECTED
        size = list_of(sizes[0], min(rows, most))
        return size if size.has_nodes else replace(size, wire=min(size.wire, MAX_COLLECTED_BYTES))

    def _range(self, sizes: list[Size], token: Token) -> Size:
        """Return the size of a list of whole numbers, whose length follows from its bounds."""
        items = sum(size.number for size in sizes[:2]) + 1
        if items > self.limits.steps:
            hint = "write such as range(0, size(list) - 1)"
            raise too_much("range", "range() takes whole numbers, size() or length()", hint)
        self.meter.spend(token, steps=items)
        return list_of(replace(NUMBER, number=items), items)
