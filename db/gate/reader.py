"""The reader: one pass over the tokens that binds every node pattern to the scene and bounds the cost of the query.

It classifies brackets and parses patterns strictly, since any bracket may hide a pattern. The rest of the grammar is
left to the server: a text that passes here may still be invalid Cypher. No tree is built: each part of the text is
reduced to the size of its value as it is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from scenecypher.db.gate.cost import Cost, Rows, too_much
from scenecypher.db.gate.expressions import ExpressionReader
from scenecypher.db.gate.lexer import Token, integer_of
from scenecypher.db.gate.paths import Node, Path
from scenecypher.db.gate.patterns import Reading
from scenecypher.db.gate.sizes import Size, Variables, either
from scenecypher.db.gate.words import MATCH_MODES, MATCHED, REFUSED_WORDS
from scenecypher.errors import QueryRefused

VERSIONS: Final = {"5": 5, "25": 25}
MAX_SHARED_LIMIT: Final = 100
"""The largest LIMIT that is a parameter, so that queries share a plan."""
MAX_SUBQUERY_DEPTH: Final = 8
"""Maximum depth of nested sub-queries: 12 are planned in half a second, 16 in five, 20 not within twenty."""
JOINERS: Final = frozenset({"UNION", "NEXT", "WHEN", "ELSE"})


class Reader(ExpressionReader):
    """Reader of one text. Raises QueryRefused for syntax that might hide a pattern and for what is never allowed."""

    level = 0
    distinct: tuple[int, ...] = ()

    def read(self) -> tuple[Reading, Cost]:
        """Read the whole text; return its insertions and its cost. Raises QueryRefused."""
        self._version()
        first = self.reading.first = self.at
        columns = self.query()
        self.skip(";")
        if self.next_token.kind != "end":
            code = "statements" if self.last_token.text == ";" else "syntax"
            self.refuse("the query should end here", code=code, hint="write one query, and nothing after it")
        if self.at == first:
            self.refuse("the query is empty", hint="write MATCH … RETURN …")
        self._check_brackets()
        self._work_around_distinct()
        return self.reading, self.meter.total(columns.values())

    def _version(self) -> None:
        if self.next_token.word != "CYPHER":
            return
        version = VERSIONS.get(self.peek().text)
        if version is None or self.is_next("=", offset=2):
            self.refuse("options can't be set", code="option", hint="leave out CYPHER and what follows it")
        self.reading.version = version
        self.at += 2

    def _check_brackets(self) -> None:
        """Refuse a bracket beside a relation that was not read as a node or a group."""
        opened = {closing: opening for opening, closing in self.closing.items()}
        for index, opening in enumerate(self.tokens):
            self.at = index
            if opening.text != "(" or self.at in self.pattern_brackets:
                continue
            tail = self.at - 1 - (self.at > 1 and [t.text for t in self.tokens[self.at - 2 : self.at]] == ["-", ">"])
            end = self.tokens[tail - 1] if tail > 0 and self.tokens[tail].text == "-" else None
            detail = opened.get(tail - 1, 0)
            if end and (end.text == "-" or (end.text == "]" and self.tokens[detail - 1].text == "-")):
                self.refuse("this reads like a pattern", hint="put blanks and brackets around -, or write a pattern")

    def _work_around_distinct(self) -> None:
        """Insert an UNWIND of one value before each DISTINCT after paths of variable length, so that it works.

        Neo4j 2026.08.1 drops the DISTINCT if such paths begin at a node found by its id: `RETURN DISTINCT b.class`
        gives a row for each `b`. After an UNWIND the planner makes no such assumption about rows.
        """
        for index in self.distinct if any(hop.longest != 1 for hop in self.paths.hops) else ():
            self.reading.insert_before(index, f"UNWIND [0] AS __d{index} ")

    # --- queries

    def query(self, *, is_call: bool = False) -> Variables:
        """Read clauses, and branches joined by UNION, NEXT or WHEN; return the columns.

        A query in CALL without a list of names knows those outside only if it begins with WITH.
        """
        self.level += 1
        if self.level > MAX_SUBQUERY_DEPTH + 1:
            message = f"sub-queries nest more than {MAX_SUBQUERY_DEPTH} deep"
            raise too_much("{", message, "ask in steps", code="nesting")
        around, compared = self.variables, self.compared
        given, start, rows = around, 1.0, 0.0
        columns = Variables()
        joiner = "first"
        while joiner:
            if joiner == "NEXT":
                given, start, rows, columns = columns, rows, 0.0, Variables()
            is_blind = is_call and given is around and self.next_token.word != "WITH"
            self.variables = Variables() if is_blind else dict(given)
            self.meter.rows = Rows(start)
            found = self._branch()
            rows += self.meter.rows.every
            names = {**columns, **found}
            columns = {name: either(*(one[name] for one in (columns, found) if name in one)) for name in names}
            joiner = self._joiner()
        self.meter.rows.every = rows
        self.level -= 1
        self.variables, self.compared = around, compared
        return columns

    def _joiner(self) -> str:
        """Move past what joins two branches; return it."""
        word = self.next_token.word if self.next_token.word in JOINERS else ""
        self.at += word in {"UNION", "NEXT"}
        if word == "UNION" and not self.skip("ALL"):
            self.skip("DISTINCT")
        elif word == "NEXT":
            self.reading.version = 25
            if self.level == 1:
                self.reading.columns = None
        return word

    def _branch(self) -> Variables:
        columns: Variables | None = None
        if self.next_token.word in {"WHEN", "ELSE"}:
            self.reading.version = 25
            if self.take().word == "WHEN":
                self.expression()
                self.expect("THEN")
            if self.is_next("{"):
                with self.meter.subquery(is_clause=True):
                    columns = self.subquery()
                self._name_columns(columns)
                return columns
        first = self.at
        while self.next_token.word in CLAUSES_READ:
            columns = CLAUSES_READ[self.next_token.word](self, self.take()) or Variables()
            self.meter.clause()
        ends = self.next_token.kind == "end" or self.is_next("}", ";") or self.next_token.word in JOINERS
        if self.at == first or not ends:
            if self.next_token.word in REFUSED_WORDS:
                code, hint = REFUSED_WORDS[self.next_token.word]
                raise QueryRefused(
                    code, f"{self.next_token.word} is not allowed", piece=self.next_token.text, hint=hint
                )
            self.refuse("a clause such as MATCH, WITH or RETURN should stand here")
        return columns or Variables()

    def _name_columns(self, names: Iterable[str]) -> None:
        """Record the columns of the whole query, which are those of its first branch."""
        if self.level == 1 and self.reading.columns is None:
            self.reading.columns = tuple(names)

    def subquery(self, *, is_call: bool = False) -> Variables:
        """Read `{…}`: a whole query, or patterns and a WHERE; return its columns."""
        self.expect("{")
        if (
            self.next_token.word in CLAUSES_READ
            or self.next_token.word in REFUSED_WORDS
            or self.next_token.word == "WHEN"
        ):
            columns = self.query(is_call=is_call)
        else:
            columns = Variables()
            with self.inner_scope():
                self._match_patterns()
        self.expect("}")
        return columns

    # --- clauses

    def match(self, _: Token) -> None:
        """Read MATCH."""
        if self.next_token.word in MATCH_MODES and self.peek().word in MATCHED:
            self.reading.version = 25
            self.at += 2
        self._match_patterns()

    def _match_patterns(self) -> None:
        known, paths, hinted = set(self.variables), list[Path](), list[str]()
        while not paths or self.skip(","):
            paths.append(self.pattern())
            nodes = [part.name for part in paths[-1] if isinstance(part, Node) and part.name]
            if nodes and not known & set(nodes):
                hinted.append(nodes[0])
        self.reading.hinted += ((self.at - 1, name) for name in hinted)
        first = self.at
        self.where()
        self.meter.multiply(self.paths.unconnected(paths, self.tokens[first + 1 : self.at], known))

    def optional(self, token: Token) -> None:
        """Read OPTIONAL MATCH or OPTIONAL CALL."""
        if self.skip("CALL"):
            self.call(token)
        else:
            self.expect("MATCH")
            self.match(token)

    def unwind(self, _: Token) -> None:
        """Read UNWIND."""
        value = self.expression()
        self.expect("AS")
        expected = value.items if value.number < math.inf else min(value.items, self.paths.nodes)
        self.meter.unwind(value.items, expected)
        self.variables[self.take_name()] = value.element

    def with_(self, token: Token) -> None:
        """Read WITH."""
        columns, _ = self._project(token)
        self.where()
        self.variables = columns

    def return_(self, token: Token) -> Variables:
        """Read RETURN."""
        columns, names = self._project(token)
        self._name_columns(names)
        limit, number = self.tokens[self.at - 2 : self.at]
        is_last = self.level == 1 and (self.next_token.kind == "end" or self.is_next(";"))
        # Only a LIMIT that ends the query becomes a parameter: one within it affects the cost of later parts.
        is_number = limit.word == "LIMIT" and number.kind == "integer"
        if is_last and is_number and 0 < integer_of(number.text) <= MAX_SHARED_LIMIT:
            self.reading.numbers.add(self.at - 1)
        return columns

    def order(self, _: Token) -> None:
        """Read ORDER BY, SKIP or LIMIT as a clause of its own."""
        self.at -= 1
        self._order()

    def call(self, _: Token) -> None:
        """Read CALL of a sub-query; procedures are refused."""
        with self.inner_scope():
            is_open = not self.skip("(")
            if not is_open:
                self._imports()
            if not self.is_next("{"):
                hint = "read the scene with MATCH … RETURN …"
                self.refuse("procedures can't be called", code="procedure", hint=hint)
            with self.meter.subquery(is_clause=True):
                columns = self.subquery(is_call=is_open)
        if self.next_token.word == "IN":
            self.refuse("a query is one transaction", code="write", hint="leave IN TRANSACTIONS out")
        self.variables.update(columns)

    def _imports(self) -> None:
        """Read the names in `CALL (x, y)`, or `*`; only these are known inside."""
        names = set[str]()
        while not self.skip(")"):
            if self.skip("*"):
                names |= self.variables.keys()
            elif not self.skip(","):
                names.add(self.take_name())
        self.variables = {name: size for name, size in self.variables.items() if name in names}

    def filter(self, _: Token) -> None:
        """Read FILTER, a WHERE of its own."""
        self.reading.version = 25
        self.skip("WHERE")
        self.expression()

    def let(self, _: Token) -> None:
        """Read LET."""
        self.reading.version = 25
        is_first = True
        while is_first or self.skip(","):
            is_first = False
            name = self.take_name()
            self.expect("=")
            self.variables[name] = self.expression()

    def finish(self, _: Token) -> None:
        """Read FINISH, which ends a query without columns."""

    def _project(self, token: Token) -> tuple[Variables, tuple[str, ...]]:
        """Read the items of WITH or RETURN, and ORDER BY, SKIP and LIMIT; return the columns and the items' names."""
        distinct, star = self.skip("DISTINCT"), self.skip("*")
        if distinct and not star:
            self.distinct += (self.at - 2,)
        columns = dict(self.variables) if star else Variables()
        names, keys, self.compared = list[str](), [Size()], ()
        while self.skip(",") if names or star else True:
            first, compared = self.next_token, self.compared
            value = self.expression()
            names.append(self.take_name() if self.skip("AS") else self.text[first.start : self.last_token.end])
            columns[names[-1]] = value
            keys += [value] if self.compared == compared else []
        if self.compared or distinct:
            self.meter.sort([*keys, *self.compared], token)
        if self.compared and len(keys) == 1:
            self.meter.rows = Rows()
        self.variables = {**self.variables, **columns}
        self._order()
        return columns, tuple(names)

    def _order(self) -> None:
        """Read ORDER BY, SKIP and LIMIT."""
        while self.next_token.word in {"ORDER", "SKIP", "OFFSET", "LIMIT"}:
            token = self.take()
            if token.word != "ORDER":
                most = self.expression().number
                self.meter.limit(most if token.word == "LIMIT" else math.inf)
                continue
            self.expect("BY")
            keys: list[Size] = []
            while not keys or self.skip(","):
                keys.append(self.expression())
                self.at += self.next_token.word in {"ASC", "ASCENDING", "DESC", "DESCENDING"}
            self.meter.sort(keys, token)


CLAUSES_READ: Final[Mapping[str, Callable[[Reader, Token], Variables | None]]] = {
    "MATCH": Reader.match,
    "OPTIONAL": Reader.optional,
    "UNWIND": Reader.unwind,
    "WITH": Reader.with_,
    "RETURN": Reader.return_,
    "CALL": Reader.call,
    "FILTER": Reader.filter,
    "LET": Reader.let,
    "FINISH": Reader.finish,
    **dict.fromkeys(("ORDER", "SKIP", "OFFSET", "LIMIT"), Reader.order),
}
