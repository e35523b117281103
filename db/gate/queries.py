"""Reading whole queries: clauses, sub-queries and unions, and nothing that is not in the table of clauses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from scenecypher.db.gate.lexer import Token
from scenecypher.db.gate.patterns import Patterns
from scenecypher.db.gate.reading import Loop, Reading
from scenecypher.db.gate.words import LISTING, MODES, REFUSED, SCALARS
from scenecypher.errors import QueryRefused

SHOWN: Final = 100
"""The largest LIMIT that shares its plan with others."""
VERSIONS: Final = {"5": 5, "25": 25}


class Queries(Patterns):
    """The reader of a whole text."""

    level = 0

    def __init__(self, text: str, tokens: tuple[Token, ...], *, nesting: int, names: frozenset[str]) -> None:
        super().__init__(text, tokens, nesting=nesting, names=names)
        self.distinct: list[int] = []

    def read(self) -> Reading:
        """Everything there is to know of the text. Raises QueryRefused where it is not understood."""
        self._version()
        first = self.at
        self._query()
        self.take_mark(";")
        if self.here.kind != "end":
            code = "statements" if self.tokens[self.at - 1].text == ";" else "syntax"
            self.refuse("the query should end here", code=code, hint="write one query, and nothing after it")
        if self.at == first:
            self.refuse("the query is empty", hint="write MATCH … RETURN …")
        self.reading.first = first
        self._keep_distinct()
        return self.reading

    def _keep_distinct(self) -> None:
        """Let DISTINCT be what it says after paths of any length.

        Neo4j 2026.08.1 drops it where such paths begin at the one node of an id, and gives `RETURN DISTINCT b.class` as
        often as there is a `b`. Before an UNWIND, if only of one thing, it forgets what it thinks it knows of rows.
        """
        if any(hop.longest != 1 for hop in self.reading.hops):
            for index in self.distinct:
                self.reading.insert_before(index, f"UNWIND [0] AS __d{index} ")

    def _version(self) -> None:
        if self.here.word != "CYPHER":
            return
        version = VERSIONS.get(self.peek().text)
        if version is None or self.peek(2).text == "=":
            self.refuse("options can't be set", code="option", hint="leave out CYPHER and what follows it")
        self.reading.version = version
        self.at += 2

    def _query(self) -> None:
        self._clauses()
        while self.here.word in {"UNION", "NEXT"}:
            if self.take().word == "NEXT":
                self.reading.version = 25
                if self.level == 0:
                    self.reading.columns = None
            elif not self.take_word("ALL"):
                self.take_word("DISTINCT")
            self._clauses()

    def _clauses(self) -> None:
        first = self.at
        while self.here.word in CLAUSE:
            self.clause += 1
            CLAUSE[self.here.word](self, self.take())
        if self.at == first or not (self._at_end() or self.here.word in {"UNION", "NEXT"}):
            self._refuse_clause()

    def _at_end(self) -> bool:
        return self.here.kind == "end" or self.is_mark("}", ";")

    def _refuse_clause(self) -> None:
        word = self.here.word
        if word in REFUSED:
            code, hint = REFUSED[word]
            raise QueryRefused(code, f"{word} is not allowed", piece=self.here.text, hint=hint)
        self.refuse("a clause such as MATCH, WITH or RETURN should stand here")

    # --- clauses

    def match(self, _: Token) -> None:
        """Read MATCH."""
        for words in MODES:
            if self.take_word(*words):
                self.reading.version = 25
        self.paths()
        self._where()

    def optional(self, _: Token) -> None:
        """Read OPTIONAL MATCH or OPTIONAL CALL."""
        if self.take_word("MATCH"):
            self.match(self.here)
        elif self.take_word("CALL"):
            self.call(self.here)
        else:
            self.refuse("MATCH should stand here")

    def unwind(self, _: Token) -> None:
        """Read UNWIND."""
        first = self.at
        self.expression()
        source, items = self.source(first)
        self.reading.unwinds.append(Loop(self.tokens[first], source, items))
        if not self.take_word("AS"):
            self.refuse("AS and a name should stand here")
        self.name("a name")

    def with_(self, _: Token) -> None:
        """Read WITH."""
        self._items()
        self._order()
        self._where()

    def return_(self, _: Token) -> None:
        """Read RETURN; the columns of the whole query are those of its first."""
        columns = self._items()
        if self.level == 0 and self.reading.columns is None:
            self.reading.columns = columns
        self._order()
        self._last_limit()

    def order(self, _: Token) -> None:
        """Read ORDER BY, SKIP or LIMIT where it is a clause of its own."""
        self.at -= 1
        self._order()

    def call(self, _: Token) -> None:
        """Read CALL of a sub-query; procedures are refused."""
        if self.is_mark("("):
            self._imports()
        if not self.is_mark("{"):
            self.refuse("procedures can't be called", code="procedure", hint="read the scene with MATCH … RETURN …")
        self.subquery()
        if self.here.word == "IN":
            self.refuse("a query is one transaction", code="write", hint="leave IN TRANSACTIONS out")

    def filter(self, _: Token) -> None:
        """Read FILTER, a WHERE of its own."""
        self.reading.version = 25
        self.take_word("WHERE")
        self.expression()

    def let(self, _: Token) -> None:
        """Read LET."""
        self.reading.version = 25
        while True:
            self.name("a name")
            self.expect("=")
            self.expression()
            if not self.take_mark(","):
                return

    # --- their parts

    def _where(self) -> None:
        if self.take_word("WHERE"):
            self.expression()

    def _imports(self) -> None:
        self.expect("(")
        while not self.take_mark(")"):
            if not self.take_mark("*"):
                self.name("a variable")
            if not self.take_mark(",") and not self.is_mark(")"):
                self.refuse("the variables should end here")

    def _items(self) -> tuple[str, ...]:
        """Read what WITH or RETURN gives; the columns' names, without those that `*` stands for."""
        if self.take_word("DISTINCT") and not self.is_mark("*"):
            self.distinct.append(self.at - 2)
        columns = [] if self.take_mark("*") else [self._item()]
        while self.take_mark(","):
            columns.append(self._item())
        return tuple(columns)

    def _item(self) -> str:
        first, last = self.at, self.at
        self.expression()
        last = self.at - 1
        if not self.take_word("AS"):
            return self.text[self.tokens[first].start : self.tokens[last].end]
        name = self.name("a name").value
        if self._makes_list(first, last):
            self.reading.lists.add(name)
        return name

    def _makes_list(self, first: int, last: int) -> bool:
        """Whether the value of these tokens may be a long list."""
        tokens = self.tokens[first : last + 1]
        if tokens[0].value.lower() in SCALARS and self.closing.get(first + 1) == last:
            return False
        if tokens[-1].text == "]" and tokens[0].text != "[":
            return False
        return any(
            token.text == "[" or token.value.lower() in LISTING or token.value in self.reading.lists for token in tokens
        )

    def _order(self) -> None:
        if self.take_word("ORDER"):
            if not self.take_word("BY"):
                self.refuse("BY should stand here")
            self._sort_key()
            while self.take_mark(","):
                self._sort_key()
        while self.here.word in {"SKIP", "OFFSET", "LIMIT"}:
            self.take()
            self.expression()

    def _last_limit(self) -> None:
        """Note the number of a LIMIT that ends the whole query; one within it decides what later parts may cost."""
        limit, number = self.tokens[self.at - 2 : self.at]
        is_last = self.level == 0 and (self.here.kind == "end" or self.is_mark(";"))
        if is_last and limit.word == "LIMIT" and number.kind == "integer" and 0 < int(number.text[:9]) <= SHOWN:
            self.reading.numbers.add(self.at - 1)

    def _sort_key(self) -> None:
        self.expression()
        if self.here.word in {"ASC", "ASCENDING", "DESC", "DESCENDING"}:
            self.take()

    # --- sub-queries

    def subquery(self) -> None:
        """Read `{…}`: a whole query, or patterns and a WHERE."""
        self.expect("{")
        self.level += 1
        self.reading.levels = max(self.reading.levels, self.level)
        around, self.around = self.around, list(self.around)
        if self.here.word in CLAUSE or self.here.word in REFUSED:
            self._query()
        else:
            self.clause += 1
            self.paths()
            self._where()
        self.expect("}")
        self.around = around
        self.level -= 1


CLAUSE: Final[dict[str, Callable[[Queries, Token], None]]] = {
    "MATCH": Queries.match,
    "OPTIONAL": Queries.optional,
    "UNWIND": Queries.unwind,
    "WITH": Queries.with_,
    "RETURN": Queries.return_,
    "CALL": Queries.call,
    "FILTER": Queries.filter,
    "LET": Queries.let,
    **dict.fromkeys(("ORDER", "SKIP", "OFFSET", "LIMIT"), Queries.order),
}
