"""Reading expressions: every bracket is known for what it is, since a pattern may hide in any of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from scenecypher.db.gate.hints import no_function
from scenecypher.db.gate.lexer import Token
from scenecypher.db.gate.lists import Lists
from scenecypher.db.gate.reading import Call, Join, Search
from scenecypher.db.gate.words import (
    CLAUSES,
    FUNCTIONS,
    OPERATORS,
    PATH_FUNCTIONS,
    PREDICATES,
    REFUSED,
    SCALARS,
    SCENE_KEY,
    SUBQUERIES,
    VALUES,
)

ENDS: Final = frozenset({",", ")", "]", "}", "|", ";"})
COMPARED: Final = frozenset({"=", "<>", "<", ">", "<=", ">="})
PLAIN: Final = frozenset({"-", "*", "/", "%", "^", "..", "::"}) | COMPARED
COMPARED_ENDS: Final = CLAUSES | frozenset({"AND", "OR", "XOR", "WHEN", "THEN", "ELSE", "END"})


class Expressions(Lists, ABC):
    """The part of the reader that reads expressions. Patterns and sub-queries are read by those who derive."""

    clause = 0

    @abstractmethod
    def chain(self, *, free: bool) -> None:
        """Read nodes and relations; `free`: where groups may stand too."""

    @abstractmethod
    def search(self, sort: Search) -> None:
        """Read the path that a shortest-path search looks for."""

    @abstractmethod
    def subquery(self) -> None:
        """Read `{…}` after EXISTS, COUNT or COLLECT."""

    def expression(self) -> None:
        """Read up to a comma, a closing bracket, a bar or a clause, none of which is taken."""
        first, cases = self.at, 0
        while not self._ended() or (cases and self.is_mark(",")):
            token = self.take()
            cases += (token.word == "CASE") - (token.word == "END")
            if token.kind == "name":
                self._word(token)
            elif token.kind == "quoted":
                self._quoted(token)
            elif token.kind == "mark" and token.text != ",":
                self._mark(token)
        if self.at == first:
            self.refuse("a value should stand here")

    def _ended(self) -> bool:
        token = self.here
        return token.kind == "end" or (token.kind == "mark" and token.text in ENDS) or token.word in CLAUSES

    def _after_value(self) -> bool:
        """Whether a value stands before the token just taken."""
        token = self.tokens[self.at - 2]
        if token.kind == "mark":
            return token.text in {")", "]", "}"}
        return token.word not in OPERATORS and token.word not in CLAUSES

    # --- words

    def _word(self, token: Token) -> None:
        if token.word in OPERATORS:
            if token.word in {"STARTS", "ENDS"} and not self.take_word("WITH"):
                self.refuse("WITH should stand here")
        elif token.word in SUBQUERIES and self.is_mark("{"):
            self.subquery()
        elif token.word in REFUSED:
            self.at -= 1
            code, hint = REFUSED[token.word]
            self.refuse(f"{token.word} can't stand here", code=code, hint=hint)
        elif token.word not in VALUES:
            self._name(token)

    def _name(self, token: Token) -> None:
        dotted = self.dotted()
        if dotted:
            self._call(token, f"{token.value}.{dotted}")
        elif self.is_mark("("):
            self._call(token, token.value)
        else:
            self._variable(token)

    def _quoted(self, token: Token) -> None:
        if self.is_mark("("):
            self.refuse("a function's name stands in backticks", hint="write it without")
        self._variable(token)

    def _variable(self, token: Token) -> None:
        if self.is_mark("{"):
            self.projection()
        elif self.around and not self.is_mark(".", "[", ":") and not self._is_asked_only():
            self.reading.repeated.append(token)

    def _is_asked_only(self) -> bool:
        """Whether the variable just taken stands as in `x IN list` or `size(list)`, which cost little."""
        before, call = self.tokens[self.at - 2], self.tokens[self.at - 3]
        return before.word == "IN" or (before.text == "(" and call.value.lower() in SCALARS and self.is_mark(")"))

    # --- marks

    def _mark(self, token: Token) -> None:
        if token.text in MARKS:
            MARKS[token.text](self)
        elif token.text in COMPARED:
            self._compared()
        elif token.text not in PLAIN:
            self.at -= 1
            self.refuse(f"`{token.text}` can't stand here")

    def parenthesis(self) -> None:
        """Read `(…)`: a node, if a relation follows it, else an expression."""
        opening = self.at - 1
        if self.is_arrow(self.closing[opening] + 1):
            self.at = opening
            self.chain(free=False)
            return
        self.expression()
        self.expect(")")

    def is_arrow(self, index: int) -> bool:
        """Whether a relation begins here: `-[`, `--(`, `-->`, `--+(`, `<-[`, `<--`."""
        marks = [token.text if token.kind == "mark" else "" for token in self.tokens[index : index + 4]] + [""]
        if marks[:1] == ["<"]:
            marks = marks[1:]
        if marks[:2] == ["-", "["]:
            return True
        return marks[:2] == ["-", "-"] and marks[2:3] != [""]

    def bracket(self) -> None:
        """Read `[…]`: an index after a value, else a list."""
        if self._after_value():
            self.index()
        else:
            self.elements()

    def dot(self) -> None:
        """Read a property after its dot."""
        self.used_property()
        if self.is_mark("("):
            self.refuse("there is no such function", code="function", hint="call functions by their names")

    def colon(self) -> None:
        """Read the labels after a colon."""
        self.labels("either", bars=False)

    def join(self) -> None:
        """Note a + and what stands on either side of it, since it may make text longer."""
        self.reading.joins.append(Join(self.clause, self._side(self.tokens[self.at - 2], -4), self._side(self.here, 0)))

    def _side(self, near: Token, first: int) -> str | None:
        """What stands on one side of a +: `n.name` as its property, a literal as "", anything else as None."""
        if near.kind in {"string", "integer", "float"}:
            return ""
        before, dot, name, after = (self.tokens[(self.at + first + offset) % len(self.tokens)] for offset in range(4))
        if before.kind == name.kind == "name" and dot.text == "." and after.text not in {"(", "[", "."}:
            return name.value
        return None

    def regex(self) -> None:
        """Note the regular expression after `=~`, which must be a plain string."""
        if self.here.kind != "string" or self.peek().text in {"+", "||", "[", "."}:
            self.refuse("after =~ a plain string must stand", code="regex", hint="write a literal such as '.*cup.*'")
        self.reading.patterns.append(self.here)

    def _compared(self) -> None:
        """Note the number after a comparison's mark, where it is the whole of that side and the other is no number."""
        before, after = self.tokens[self.at - 2], self.peek()
        ends = after.kind == "end" or (after.kind == "mark" and after.text in ENDS) or after.word in COMPARED_ENDS
        if ends and (before.kind in {"name", "quoted"} or before.text in {")", "]"}):
            self.number()

    # --- calls

    def _call(self, token: Token, name: str) -> None:
        opening = self.expect("(")
        closing = self.closing[opening]
        lowered, used = name.lower(), len(self.reading.uses)
        if lowered not in FUNCTIONS:
            raise no_function(name)
        if token.word in PATH_FUNCTIONS:
            self.search("function")
        elif lowered in PREDICATES and self.is_name() and self.peek().word == "IN":
            self._predicate()
        else:
            self._arguments()
        self.expect(")")
        if self.is_arrow(self.at):
            self.refuse(
                "this reads like a pattern", hint="write a pattern's nodes as (variable), or put blanks around -"
            )
        if lowered == "keys":
            self.reading.insert_before(opening - 1, "[__k IN ")
            self.reading.insert_after(closing, f" WHERE __k <> '{SCENE_KEY}']")
        if lowered == "coalesce":
            self.reading.uses[used:] = [replace(use, tested=True) for use in self.reading.uses[used:]]
        self.reading.calls.append(Call(lowered, token, self._split(opening, closing)))

    def _predicate(self) -> None:
        self.at += 2
        self.around.append(self.loop_over(")"))
        if self.take_word("WHERE"):
            self.expression()
        self.around.pop()

    def _arguments(self) -> None:
        while not self.is_mark(")"):
            self.expression()
            if not self.take_mark(",") and not self.is_mark(")"):
                self.refuse("the call should end here")

    def _split(self, opening: int, closing: int) -> tuple[tuple[Token, ...], ...]:
        """The arguments between these brackets."""
        arguments: list[tuple[Token, ...]] = []
        first = at = opening + 1
        while at < closing:
            if self.tokens[at].kind == "mark" and self.tokens[at].text == ",":
                arguments.append(self.tokens[first:at])
                first = at + 1
            at = self.closing.get(at, at) + 1
        if closing > opening + 1:
            arguments.append(self.tokens[first:closing])
        return tuple(arguments)


MARKS: Final[Mapping[str, Callable[[Expressions], None]]] = {
    "(": Expressions.parenthesis,
    "[": Expressions.bracket,
    "{": Expressions.entries,
    ".": Expressions.dot,
    ":": Expressions.colon,
    "+": Expressions.join,
    "||": Expressions.join,
    "=~": Expressions.regex,
}
"""What is read after a mark inside an expression."""
