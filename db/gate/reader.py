"""The reader: one pass over the tokens that binds every node pattern to the scene and bounds the cost of the query.

It classifies brackets and parses patterns strictly, since any bracket may hide a pattern. The rest of the grammar is
left to the server: a text that passes here may still be invalid Cypher. No tree is built: each part of the text is
reduced to the size of its value as it is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Final

from scenecypher.db.gate.cost import Cost, too_much
from scenecypher.db.gate.expressions import ExpressionReader
from scenecypher.db.gate.lexer import Token, integer_of
from scenecypher.db.gate.paths import Node
from scenecypher.db.gate.patterns import Reading
from scenecypher.db.gate.sizes import Size, Variables, either
from scenecypher.db.gate.words import MATCH_MODES, MATCHED, REFUSED_WORDS
from scenecypher.db.schema import PAST
from scenecypher.errors import QueryRefused

MAX_SHARED_LIMIT: Final = 100  # the largest LIMIT that is a parameter, so that queries share a plan
MAX_SUBQUERY_DEPTH: Final = 8
"""Maximum depth of nested sub-queries: 12 are planned in half a second, 16 in five, 20 not within twenty."""
JOINERS: Final = frozenset({"UNION", "NEXT", "WHEN", "ELSE"})
NEWER: Final = frozenset({"WHEN", "ELSE", "FILTER", "LET"})  # words that only Cypher 25 knows, beside NEXT


class Reader(ExpressionReader):
    """Reader of one text. Raises QueryRefused for syntax that might hide a pattern and for what is never allowed."""

    level = 0
    distinct: tuple[int, ...] = ()

    def read(self) -> tuple[Reading, Cost]:
        """Read the whole text; return its insertions and its cost. Raises QueryRefused."""
        if self.skip("CYPHER"):
            if self.take().text not in {"5", "25"} or self.is_next("="):
                self.refuse("options can't be set", code="option", hint="leave out CYPHER and what follows it")
            self.reading.version = int(self.last_token.text)
        first = self.reading.first = self.at
        columns = self.query()
        self.skip(";")
        if self.next_token.kind != "end":
            code = "statements" if self.last_token.text == ";" else "syntax"
            self.refuse("the query should end here", code=code, hint="write one query, and nothing after it")
        if self.at == first:
            self.refuse("the query is empty", hint="write MATCH … RETURN …")
        self._work_around_distinct()
        return self.reading, self.meter.total(columns.values())

    def _work_around_distinct(self) -> None:
        """Insert an UNWIND of one value before each DISTINCT after paths of variable length, so that it works.

        Neo4j 2026.08.1 drops the DISTINCT if such paths begin at a node found by its id: `RETURN DISTINCT b.class`
        gives a row for each `b`. After an UNWIND the planner makes no such assumption about rows.
        """
        for index in self.distinct if any(hop.longest != 1 for hop in self.paths.hops) else ():
            self.reading.before[index].append(f"UNWIND [0] AS __d{index} ")

    # --- queries

    def query(self, *, is_call: bool = False) -> Variables:
        """Read clauses, and branches joined by UNION, NEXT or WHEN; return the columns.

        A query in CALL without a list of names knows those outside only if it begins with WITH.
        """
        self.level += 1
        if self.level > MAX_SUBQUERY_DEPTH + 1:
            raise too_much("{", f"sub-queries nest more than {MAX_SUBQUERY_DEPTH} deep", code="nesting")
        around, compared = self.variables, self.compared
        given, start, rows, columns, joiner = around, 1.0, 0.0, Variables(), "first"
        while joiner:
            if joiner == "NEXT":
                given, start, rows, columns = columns, rows, 0.0, Variables()
            is_blind = is_call and given is around and not self.is_next("WITH")
            self.variables = Variables() if is_blind else dict(given)
            self.meter.rows = start
            found = self._branch()
            rows += self.meter.rows
            columns |= {name: either(size, columns.get(name, size)) for name, size in found.items()}
            joiner = self._joiner()
        self.meter.rows = rows
        self.level -= 1
        self.variables, self.compared = around, compared
        return columns

    def _joiner(self) -> str:
        """Move past what joins two branches; return it."""
        word = self.next_token.word if self.next_token.word in JOINERS else ""
        if self.skip("UNION"):
            self.skip("ALL", "DISTINCT")
        elif self.skip("NEXT"):
            self.reading.version = 25
            self.reading.columns = None if self.level == 1 else self.reading.columns
        return word

    def _branch(self) -> Variables:
        columns: Variables | None = None
        self._note_version()
        if self.skip("WHEN"):
            self.expression()
            self.expect("THEN")
        if (self.skip("ELSE") or self.last_token.word == "THEN") and self.is_next("{"):
            with self.meter.subquery(is_clause=True):
                columns = self.subquery()
            self._name_columns(tuple(columns))
            return columns
        first, last = self.at, ""
        while self.next_token.word in self.clauses:
            self._note_version()
            word = self.next_token.word
            if word == last == "MATCH" and self.variables and self._is_search():
                # Without a break the server joins both, and searches before it knows the ends.
                self.reading.before[self.at].append("WITH * SKIP 0 ")
            columns = self.clauses[word](self, self.take()) or Variables()
            last = word
            self.meter.clause()
        if self.at == first or not (self.next_token.kind == "end" or self.is_next("}", ";", *JOINERS)):
            if self.next_token.word in REFUSED_WORDS:
                code, hint = REFUSED_WORDS[self.next_token.word]
                message = f"{self.next_token.word} is not allowed"
                raise QueryRefused(code, message, piece=self.next_token.text, hint=hint)
            self.refuse("a clause such as MATCH, WITH or RETURN should stand here")
        return columns or Variables()

    def _is_search(self) -> bool:
        """Check for a MATCH of the shortest paths, or of any."""
        at = 3 if self.is_next("=", offset=2) else 1
        return self.is_next("SHORTEST", "ANY", offset=at) or (
            self.is_next("ALL", offset=at) and self.is_next("SHORTEST", offset=at + 1)
        )

    def _note_version(self) -> None:
        """Ask for the newer language if what is next is new in it."""
        if self.next_token.word in NEWER:
            self.reading.version = 25

    def _name_columns(self, names: tuple[str, ...]) -> None:
        """Record the columns of the whole query, which are those of its first branch."""
        if self.level == 1 and self.reading.columns is None:
            self.reading.columns = names

    def subquery(self, *, is_call: bool = False) -> Variables:
        """Read `{…}`: a whole query, or patterns and a WHERE; return its columns."""
        self.expect("{")
        columns = Variables()
        if self.is_next("WHEN", *self.clauses, *REFUSED_WORDS):
            columns = self.query(is_call=is_call)
        else:
            with self.inner_scope():
                self._match(self.last_token)
        self.expect("}")
        return columns

    # --- clauses

    def _match(self, _: Token) -> None:
        """Read MATCH, or patterns and a WHERE without it."""
        if self.is_next(*MATCH_MODES) and self.is_next(*MATCHED, offset=1):
            self.reading.version = 25
            self.at += 2
        known, hinted, every, is_first = set(self.variables), list[Node](), list[Node](), True
        while is_first or self.skip(","):
            is_first = False
            nodes = [part for part in self.pattern() if isinstance(part, Node) and part.name]
            unknown = [node for node in nodes if node.name not in known]
            # The past has few nodes at first: the server then scans all of them rather than begin at what it knows.
            hinted += [node for node in unknown if len(unknown) == len(nodes) or node.bound_by == PAST][:1]
            every += [node for node in unknown if node.bound_by == PAST and node not in hinted]
        self.reading.hinted += ((self.at - 1, node.name, node.bound_by) for node in hinted)
        self.reading.hinted_too += ((self.at - 1, node.name, node.bound_by) for node in every)
        self.where()

    def _unwind(self, _: Token) -> None:
        value = self.expression()
        self.expect("AS")
        self.meter.rows *= max(1.0, value.items)
        self.variables[self.take_name()] = value.element

    def _with(self, token: Token) -> None:
        columns, _ = self._project(token)
        self.where()
        self.variables = columns

    def _return(self, token: Token) -> Variables:
        columns, names = self._project(token)
        self._name_columns(names)
        # Only a LIMIT that ends the query becomes a parameter: one within it affects the cost of later parts.
        limit, number = self.tokens[self.at - 2 : self.at]
        is_last = self.level == 1 and (self.next_token.kind == "end" or self.is_next(";"))
        is_number = limit.word == "LIMIT" and number.kind == "integer"
        if is_last and is_number and 0 < integer_of(number.text) <= MAX_SHARED_LIMIT:
            self.reading.numbers.add(self.at - 1)
        return columns

    def _order(self, token: Token) -> None:
        if token.word != "ORDER":
            most = self.expression().number
            self.meter.rows = min(self.meter.rows, max(1.0, most) if token.word == "LIMIT" else math.inf)
            return
        self.expect("BY")
        keys: list[Size] = []
        while not keys or self.skip(","):
            keys.append(self.expression())
            self.skip("ASC", "ASCENDING", "DESC", "DESCENDING")
        self.meter.sort(keys, token)

    def _call_subquery(self, _: Token) -> None:
        """Read CALL of a sub-query, whose list of names or `*` says what is known inside; procedures are refused."""
        with self.inner_scope():
            is_open = not self.skip("(")
            if not is_open:
                names = set[str]()
                while not self.skip(")"):
                    names |= self.variables.keys() if self.skip("*") else {self.take_name()}
                    self.skip(",")
                self.variables = {name: size for name, size in self.variables.items() if name in names}
            if not self.is_next("{"):
                hint = "read the scene with MATCH … RETURN …"
                self.refuse("procedures can't be called", code="procedure", hint=hint)
            with self.meter.subquery(is_clause=True):
                columns = self.subquery(is_call=is_open)
        if self.is_next("IN"):
            self.refuse("a query is one transaction", code="write", hint="leave IN TRANSACTIONS out")
        self.variables.update(columns)

    def _filter(self, _: Token) -> None:
        self.skip("WHERE")
        self.expression()

    def _let(self, _: Token) -> None:
        is_first = True
        while is_first or self.skip(","):
            is_first = False
            name = self.take_name()
            self.expect("=")
            self.variables[name] = self.expression()

    def _bare(self, _: Token) -> None:
        """Read a word alone: FINISH, or OPTIONAL before MATCH or CALL."""

    def _project(self, token: Token) -> tuple[Variables, tuple[str, ...]]:
        """Read the items of WITH or RETURN, and ORDER BY, SKIP and LIMIT; return the columns and the items' names."""
        distinct, star = self.skip("DISTINCT"), self.skip("*")
        if distinct and not star:
            self.distinct += (self.at - 2,)
        columns = dict(self.variables) if star else Variables()
        names, keys, told, self.compared = list[str](), Variables(), set[str](), ()
        while self.skip(",") if names or star else True:
            first, compared = self.at, self.compared
            value = self.expression()
            item = self.tokens[first : self.at]
            names.append(self.take_name() if self.skip("AS") else self.text[item[0].start : item[-1].end])
            columns[names[-1]] = value
            if self.compared == compared:
                keys[names[-1]] = value
                told |= self._told_by(item, names[-1])
        if self.compared or distinct:
            once = [value for value in keys.values() if value.groups is not None and value.groups <= told]
            self.meter.sort([Size(), *(it for it in keys.values() if it not in once), *self.compared], token, once=once)
        if self.compared and not keys:
            self.meter.rows = 1.0
        groups = None if star else frozenset(keys)
        for name in names:
            size = columns[name]
            is_same = size.groups is not None and size.groups <= told
            known = (size.groups if is_same else None) if name in keys else groups
            columns[name] = replace(size, groups=known if size.each else None)
        self.variables = {**self.variables, **columns}
        while self.is_next("ORDER", "SKIP", "OFFSET", "LIMIT"):
            self._order(self.take())
        return columns, tuple(names)

    def _told_by(self, item: Sequence[Token], name: str) -> set[str]:
        """Return the variable that an item of WITH or RETURN names as it is, or by the id of its node; else nothing."""
        variable = item[0].value
        known = self.variables.get(variable)
        is_node = known is not None and known.has_nodes and not known.each and not self.reading.past
        is_id = is_node and [it.value or it.word for it in item[1:]] == [".", "id"]
        is_itself = known is not None and len(item) == 1 and name == variable
        return {variable} if is_id or is_itself else set()

    clauses: ClassVar[Mapping[str, Callable[[Reader, Token], Variables | None]]] = {
        "MATCH": _match,
        "UNWIND": _unwind,
        "WITH": _with,
        "RETURN": _return,
        "CALL": _call_subquery,
        "FILTER": _filter,
        "LET": _let,
        **dict.fromkeys(("OPTIONAL", "FINISH"), _bare),
        **dict.fromkeys(("ORDER", "SKIP", "OFFSET", "LIMIT"), _order),
    }
