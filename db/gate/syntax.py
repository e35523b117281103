"""The parser: it reads the tokens of a query into its tree and refuses whatever might hide a pattern.

It classifies brackets and reads patterns strictly, since any bracket may hide one. The rest of the grammar is left to
the server: a text that passes here may still be invalid Cypher.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, Final

from scenecypher.db.gate import tree, words
from scenecypher.db.gate.cost import MAX_ANY_TYPE_HOPS, MAX_BOUNDED_SEARCH, check_counts, too_much
from scenecypher.db.gate.lexer import Cursor, Token, tokens_of
from scenecypher.db.gate.names import (
    HIDDEN,
    PAST_LABELS,
    hidden_property,
    names_past,
    scoping_property,
    unknown_function,
)
from scenecypher.db.schema import Schema
from scenecypher.errors import QueryRefused

MAX_CHAIN: Final = 40
"""Maximum properties, indexes and labels after one value: some hundred overflow the server's stack."""
MAX_LOGIC_DEPTH: Final = 12  # maximum nested brackets that hold AND, OR or XOR: the server multiplies conditions out
MAX_SUBQUERY_DEPTH: Final = 8
"""Maximum depth of nested sub-queries: 12 are planned in half a second, 16 in five, 20 not within twenty."""
ENDS: Final = frozenset({",", ")", "]", "}", "|", ";", ".."})
POSTFIXES: Final = frozenset({".", "[", ":", "{"})
JOINERS: Final = frozenset({"UNION", "NEXT", "WHEN", "ELSE"})
NAMED: Final = (tree.Variable, tree.Property)
BARE: Final = frozenset({"FINISH", "OPTIONAL"})  # clauses of one word
NEWER: Final = frozenset({"WHEN", "ELSE", "FILTER", "LET"})  # words that only Cypher 25 knows, beside NEXT


@dataclass(frozen=True, slots=True)
class Parsed:
    """A query: its tokens, of which it begins at `first`, its tree and all parts of that, in the order of the text.

    `columns` are the last columns as written, `version` the language that it needs; `searches` that it has a selector
    such as SHORTEST 1, `past` that it names a label of the past.
    """

    tokens: tuple[Token, ...]
    first: int
    query: tree.Query
    parts: tuple[tree.Part, ...]
    columns: tuple[str, ...]
    version: int
    searches: bool
    past: bool


class Parser(Cursor):
    """Parser of one text about a graph of this schema."""

    def __init__(self, text: str, tokens: tuple[Token, ...], nesting: int, schema: Schema) -> None:
        super().__init__(text, tokens, nesting=nesting)
        self.past, self.scope = schema.is_scene and names_past(tokens), schema.scope
        self.has_vectors = bool(schema.vectors)
        self.names = schema.labels | schema.relation_types | (PAST_LABELS if self.past else set())
        self.version, self.searches = 5, False
        self.columns: tuple[str, ...] | None = None
        self.level, self.blocks, self.logic_depth = 0, 0, 0

    def parse(self) -> Parsed:
        """Read the whole text. Raises QueryRefused for syntax that might hide a pattern and for what is forbidden."""
        if self.skip("CYPHER"):
            if self.take().text not in {"5", "25"} or self.is_next("="):
                self.refuse("options can't be set", code="option", hint="leave out CYPHER and what follows it")
            self.version = int(self.last_token.text)
        first = self.at
        if self.is_next(";") or self.tokens[first].kind == "end":
            self.refuse("the query is empty", hint="write MATCH … RETURN …")
        query = self.query()
        self.skip(";")
        if self.next_token.kind != "end":
            code = "statements" if self.last_token.text == ";" else "syntax"
            self.refuse("the query should end here", code=code, hint="write one query, and nothing after it")
        return Parsed(
            self.tokens, first, query, tuple(query.walk()), self.columns or (), self.version, self.searches, self.past
        )

    # --- names

    def key(self) -> str:
        """Move past the key of a map or a property's name, which may be a keyword but not the scoping property."""
        if self.next_token.kind not in {"name", "quoted"}:
            self.refuse("a property's name should stand here")
        if self.next_token.value == self.scope:
            raise scoping_property(self.scope)
        return self.take().value

    def property_name(self) -> tree.Property:
        """Move past the name of a property."""
        at, name = self.at, self.key()
        return tree.Property(at, name, self.next_token.word == "IS" and "NULL" in {self.peek().word, self.peek(2).word})

    def labels(self, kind: tree.NameKind, *, bars: bool = True) -> tree.Labels:
        """Read an expression of labels or of relation types, after its colon."""
        first = self.at
        is_chained = self._label_expression(kind, bars=bars)
        said = self.tokens[first : self.at]
        marks = frozenset(token.word for token in said if token.kind == "mark")
        return tree.Labels(first, kind, tuple(token.value for token in said if token.value), marks, is_chained)

    def _label_expression(self, kind: tree.NameKind, *, bars: bool) -> bool:
        """Move past a label expression; return True if it chains labels by colons."""
        is_chained = False
        while True:
            while self.skip("!"):
                pass
            if self.skip("("):
                self._label_expression(kind, bars=bars)
                self.expect(")")
            elif not self.skip("%"):
                if self.next_token.kind not in {"name", "quoted"}:
                    self.refuse("a label or a relation type should stand here")
                self.take()
            if self.is_next(":") and kind != "relation_type":
                is_chained = True
            elif not self.is_next("&") and not (self.is_next("|") and (bars or self._is_label_ahead())):
                return is_chained
            self.take()
            self.skip(":")

    def _is_label_ahead(self) -> bool:
        """Check what follows a bar in an expression: in `[n IN list WHERE n:Door | n.name]` it ends the label."""
        ahead = 1
        while self.is_next("!", "(", ":", offset=ahead):
            ahead += 1
        return self.peek(ahead).value in self.names and not self.is_next(".", "(", offset=ahead + 1)

    # --- patterns

    def pattern(self) -> tree.Path:
        """Read one pattern of MATCH, with its name, selector or function."""
        at, name = self.at, ""
        if self.is_name() and self.is_next("=", offset=1):
            name = self.take_name()
            self.take()
        if self.is_next(*words.PATH_FUNCTIONS) and self.is_next("(", offset=1):
            return replace(self._path_function(self.take()), name=name)
        found = self._selector()
        return tree.Path(at, name, self._links(), found, MAX_BOUNDED_SEARCH if found else MAX_ANY_TYPE_HOPS)

    def _path_function(self, function: Token) -> tree.Path:
        """Read what follows shortestPath or allShortestPaths."""
        at = self.at
        self.expect("(")
        path = tree.Path(at, "", self._links(), math.inf if function.word.startswith("ALL") else 1.0, math.inf)
        self.expect(")")
        return path

    def _selector(self) -> float:
        """Move past ALL SHORTEST, SHORTEST 3 PATHS and the like; return how many paths they find, 0 for all."""
        most, said = 1.0, set[str]()
        while self.next_token.word in words.SELECTORS or (said and self.next_token.kind == "integer"):
            most = max(most, float(self.take_integer() or 1))
            said.add(self.next_token.word)
            self.at += self.next_token.word in words.SELECTORS
        if said & {"SHORTEST", "ANY"}:
            self.searches = True
            return math.inf if said & {"ALL", "GROUP", "GROUPS"} else most
        return 0.0

    def _links(self, *, free: bool = True) -> tuple[tree.Link, ...]:
        """Read nodes joined by relations; with `free`, groups are allowed."""
        links: list[tree.Link] = [self._node_or_group(free=free)]
        while True:
            if self.is_arrow(self.at):
                links += [self._relation(), self._node_or_group(free=free)]
            elif free and self.is_next("("):
                links.append(self._node_or_group(free=free))
            else:
                return tuple(links)

    def _node_or_group(self, *, free: bool) -> tree.Node | tree.Group:
        """Read a node, or a group `((a)-[:ON]->(b) WHERE …){1,3}`."""
        at = self.at
        if not self.skip("("):
            self.refuse("a node such as (n:Object) should stand here")
        if not (free and (self.is_next("(") or self.is_next("=", offset=1))):
            name = self._variable()
            labels = self.labels("label") if self.skip(":", "IS") else None
            head, properties = self.at - 1, self._properties()
            if labels is not None and properties is None and self.next_token.kind == "name":
                self._refuse_spaced(head)
            where = self.where()
            self.expect(")")
            return tree.Node(at, name, labels, head, properties, where)
        self.at += 2 * self.is_next("=", offset=1)
        links, where = self._links(), self.where()
        self.expect(")")
        return tree.Group(at, links, where, *self._quantifier())

    def _refuse_spaced(self, first: int) -> None:
        """Refuse a label of several words, unless what follows it is WHERE."""
        until = self.at
        while self.tokens[until].kind == "name" and self.tokens[until].word != "WHERE":
            until += 1
        said = " ".join(token.text for token in self.tokens[first:until])
        if until > self.at:
            meant = said.lower().replace(" ", "_")
            hint = f"a class stands in the map, ({{class: {meant!r}}}); a label of several words in backticks"
            self.refuse(f"a label is one word, not `{said}`", hint=hint)

    def _variable(self) -> str:
        """Move past the variable of a node or a relation, if one is next."""
        ends = self.is_next(":", ")", "{", "]", "*", offset=1) or self.peek().word in {"IS", "WHERE"}
        return self.take().value if self.is_name() and ends and self.next_token.word != "IS" else ""

    def _properties(self) -> tree.Map | None:
        """Read the map of a node or a relation, if one is next."""
        at, found = self.at, list[tree.Part]()
        if not self.skip("{"):
            return None
        while not self.skip("}"):
            found.append(self.property_name())
            self.expect(":")
            found.append(self.expression())
            self._separator("}", "the map should end here")
        return tree.Map(at, tuple(found))

    def _relation(self) -> tree.Hop:
        at, name, labels, properties, where, length = self.at, "", None, None, None, None
        backward = self.skip("<")
        self.expect("-")
        if self.skip("["):
            name = self._variable()
            labels = self.labels("relation_type") if self.skip(":", "IS") else None
            length = self._bounds("..") if self.skip("*") else None
            properties, where = self._properties(), self.where()
            self.expect("]")
        self.expect("-")
        direction = self.skip(">") - backward
        is_single = length is None and not self.is_next("+", "*", "{")
        (least, most), times = length or (1.0, 1.0), self._quantifier()
        longest, shortest = most * times[1], least * times[0]
        return tree.Hop(at, name, labels, properties, where, direction, longest, shortest, is_single)

    def _quantifier(self) -> tuple[float, float]:
        """Read `{1,3}`, `+` or `*`, if it is next; return the minimum and maximum repetitions."""
        if self.skip("+", "*"):
            return 1.0, math.inf
        if not self.skip("{"):
            return 1.0, 1.0
        bounds = self._bounds(",")
        self.expect("}")
        return bounds

    def _bounds(self, mark: str) -> tuple[float, float]:
        """Read `1..4`, `..4`, `2..` or `3`; return both bounds, each at least 1."""
        least = most = self.take_integer()
        if self.skip(mark):
            most = self.take_integer()
        return max(1.0, least or 1), math.inf if most is None else max(1.0, most)

    # --- expressions

    def where(self) -> tree.Expression | None:
        """Read WHERE and its condition, if it is next."""
        return self.expression() if self.skip("WHERE") else None

    def expression(self, *, is_compared: bool = False) -> tree.Expression:
        """Read up to a comma, a closing bracket, a bar, a clause or a word of CASE.

        If a value before it `is_compared`, as after `CASE x WHEN`, it may begin with an operator.
        """
        start, terms, after_value = self.at, list[tree.Part](), is_compared
        outer, self.logic_depth = self.logic_depth, 0
        while not self._is_at_end(after_value=after_value and self.at > start):
            if self._is_operator(after_value=after_value):
                terms.append(self._operator())
                after_value = self.last_token.kind == "string"  # of a regular expression
            else:
                terms.append(self._chain(self._value()))
                after_value = True
        if self.at == start:
            self.refuse("a value should stand here")
        has_logic = any(isinstance(term, tree.Operator) and term.word in words.LOGIC for term in terms)
        depth = self.logic_depth + has_logic
        self.logic_depth = max(outer, depth)
        if depth > MAX_LOGIC_DEPTH:
            raise too_much("OR", f"`OR` nested more than {MAX_LOGIC_DEPTH} deep")
        return tree.Expression(start, tuple(terms))

    def _is_at_end(self, *, after_value: bool) -> bool:
        token, is_type = self.next_token, self.last_token.word in words.TYPE_STARTS
        if token.kind == "end" or token.word in ENDS or token.word in words.NEVER_NAMES:
            return True
        is_in_type = is_type and token.kind == "name" and token.word not in words.RESERVED
        return after_value and token.word not in words.OPERATORS and token.word not in POSTFIXES and not is_in_type

    def _is_operator(self, *, after_value: bool) -> bool:
        is_name = self.is_next(*words.NAME_OPERATORS) and not after_value and not self.is_next("WITH", offset=1)
        return self.next_token.word in words.OPERATORS and not is_name

    def _operator(self) -> tree.Operator:
        at, token, regex = self.at, self.take(), ""
        if token.word in {"STARTS", "ENDS"}:
            self.expect("WITH")
        if token.word == "=~":
            regex = self._regex()
        return tree.Operator(at, token.word, regex)

    def _regex(self) -> str:
        """Read a regular expression: a literal, or literals joined by +."""
        regex = self.next_token.value
        while self.next_token.kind == "string" and self.is_next("+", offset=1):
            self.at += 2
            regex += self.next_token.value
        if self.next_token.kind != "string" or self.is_next("+", "||", "[", ".", offset=1):
            self.refuse("after =~ a plain string must stand", code="regex", hint="write a literal such as '.*cup.*'")
        self.take()
        return regex

    def _chain(self, base: tree.Part) -> tree.Part:
        """Read what follows a value: properties, indexes, labels and projections."""
        steps: list[tree.Part] = []
        while self.is_next(*POSTFIXES):
            token = self.take()
            if len(steps) == MAX_CHAIN:
                raise too_much(token.text, f"more than {MAX_CHAIN} properties or indexes of one value", code="nesting")
            match token.word:
                case "[":
                    steps.append(self._index())
                case "{":
                    steps.append(self._map(is_projection=True))
                case ":":
                    steps.append(self.labels("either", bars=False))
                case _:
                    steps.append(self.property_name())
                    if self.is_next("("):
                        named = (base, *steps)
                        raise unknown_function(".".join(it.name for it in named if isinstance(it, NAMED)))
        return tree.Chain(base.at, base, tuple(steps)) if steps else base

    def _value(self) -> tree.Part:
        at, token = self.at, self.take()
        if token.kind == "quoted":
            if self.is_next("("):
                self.refuse("a function's name stands in backticks", hint="write it without")
            return tree.Variable(at, token.value)
        match token.word:
            case "(":
                return self._parenthesis()
            case "[":
                return self._list()
            case "{":
                return self._map()
            case "CASE" if not self.is_next(".", ",", ")", "]"):
                return self._case()
        if token.kind == "mark":
            self.at -= 1
            self.refuse(f"`{token.text}` can't stand here", hint=words.FOREIGN.get(token.word, "rewrite this part"))
        return tree.Constant(at, token) if token.kind != "name" or token.word in words.CONSTANTS else self._word(token)

    def _word(self, token: Token) -> tree.Part:
        """Read a variable, a call or a sub-query, whose first word was taken."""
        at, name = self.at - 1, token.value
        if token.word in words.SUBQUERIES and self.is_next("{"):
            return tree.Subquery(at, token.word, None, self.subquery())
        if self.is_next(".") and self.is_next("(", offset=2):
            name += f".{self.peek().value}"
            self.at += 2
        return self._call(at, token, name) if self.is_next("(") else tree.Variable(at, name)

    def _case(self) -> tree.Case:
        """Read CASE up to its END; a WHEN may begin with an operator, as in `CASE x WHEN > 3`."""
        at, values = self.at - 1, list[tree.Expression]()
        subject = None if self.is_next("WHEN") else self.expression()
        while not self.skip("END"):
            if not self.skip("WHEN", "THEN", "ELSE", ","):
                self.refuse("END should stand here")
            values.append(self.expression(is_compared=subject is not None and self.last_token.word in {"WHEN", ","}))
        return tree.Case(at, subject, tuple(values))

    def _parenthesis(self) -> tree.Expression | tree.Path:
        opening = self.at - 1
        if self.is_arrow(self.closing[opening] + 1):
            self.at = opening
            return tree.Path(opening, "", self._links(free=False), 0.0, MAX_ANY_TYPE_HOPS)
        value = self.expression()
        self.expect(")")
        return tree.Expression(opening, value.terms)

    def _index(self) -> tree.Index:
        """Read the index in `x[…]`, which can't reach the scoping property."""
        opening, closing = self.at - 1, self.closing[self.at - 1]
        inside = self.tokens[self.at : closing]
        is_size = self.is_next("SIZE") and self.is_next("(", offset=1)
        rest = self.tokens[self.closing[self.at + 1] + 1 : closing] if is_size else inside
        keys = [token.value for token in inside if token.kind == "string" and token.value]
        if self.scope in keys:
            raise scoping_property(self.scope)
        if self.past and not HIDDEN.isdisjoint(keys):
            raise hidden_property(next(key for key in keys if key in HIDDEN))
        bounds = [] if self.is_next("..") else [self.expression()]
        is_slice = self.skip("..")
        if is_slice and not self.is_next("]"):
            bounds.append(self.expression())
        self.expect("]")
        is_number = all(token.kind == "integer" or token.word in {"+", "-"} for token in rest)
        may_be_key = not is_slice and not is_number and [token.kind for token in inside] != ["string"]
        return tree.Index(opening, closing, tuple(bounds), is_slice, may_be_key)

    def _list(self) -> tree.Part:
        """Read a list, a list comprehension or a pattern comprehension; the bracket is taken."""
        at, start = self.at - 1, self.at + 2 * self.is_next("=", offset=1)
        found: tree.Part
        if self.is_name() and self.is_next("IN", offset=1):
            found = self._loop(at)
        elif self.tokens[start].word == "(" and self.is_arrow(self.closing[start] + 1):
            path, where = self.pattern(), self.where()
            self.expect("|")
            found = tree.Loop(at, "", path, where, self.expression())
        else:
            items: list[tree.Expression] = []
            while not self.is_next("]") and (not items or self.skip(",")):
                items.append(self.expression())
            found = tree.Listed(at, tuple(items))
        if not self.skip("]"):
            self.refuse("the list should end here")
        return found

    def _loop(self, at: int) -> tree.Loop:
        """Read `x IN list WHERE … | …`."""
        name = self.take_name()
        self.expect("IN")
        return tree.Loop(at, name, self.expression(), self.where(), self.expression() if self.skip("|") else None)

    def _map(self, *, is_projection: bool = False) -> tree.Map:
        """Read a map, or a projection such as `n {.name, room: p.name}`; the brace is taken."""
        at, found, has_all = self.at - 1, list[tree.Part](), False
        while not self.skip("}"):
            if is_projection and self.skip("."):
                if self.skip("*"):
                    has_all = True
                else:
                    found.append(self.property_name())
            else:
                found.append(self._item(is_projection=is_projection))
            self._separator("}", "the map should end here")
        return tree.Map(at, tuple(found), has_all)

    def _item(self, *, is_projection: bool) -> tree.Item:
        at, name = self.at, self.key()
        if self.past and name in HIDDEN:
            raise hidden_property(name)
        if is_projection and not self.is_next(":"):
            return tree.Item(at, tree.Variable(at, name), name)
        self.expect(":")
        return tree.Item(at, self.expression(), name)

    def _call(self, at: int, token: Token, name: str) -> tree.Call:
        lowered, arguments, is_distinct = name.lower(), list[tree.Part](), False
        if lowered not in words.FUNCTIONS and not (self.has_vectors and lowered == words.SIMILARITY):
            raise unknown_function(name)
        if token.word in words.PATH_FUNCTIONS:
            arguments.append(self._path_function(token))
        else:
            self.take()
            is_distinct = self._arguments(lowered, arguments)
            self.expect(")")
        if self.is_arrow(self.at):
            self.refuse("this reads like a pattern", hint="write nodes as (variable), or put blanks around -")
        return tree.Call(at, lowered, tuple(arguments), is_distinct, self.at - 1)

    def _arguments(self, name: str, found: list[tree.Part]) -> bool:
        """Read the arguments of a function; return True if DISTINCT stands among them."""
        if name in words.PREDICATES and self.is_next("IN", offset=1):
            found.append(self._loop(self.at))
            return False
        is_distinct = False
        while not self.is_next(")"):
            is_distinct |= self.skip("DISTINCT")
            if not self.skip("*"):
                found.append(self.expression())
            self._separator(")", "the call should end here", is_needed=name != "trim")
        return is_distinct

    def _separator(self, closing: str, message: str, *, is_needed: bool = True) -> None:
        """Move past a comma, or refuse anything but the closing bracket."""
        if not self.skip(",") and not self.is_next(closing) and is_needed:
            self.refuse(message)

    # --- queries

    def query(self) -> tree.Query:
        """Read clauses, and branches joined by UNION, NEXT or WHEN."""
        at, branches, joiner = self.at, list[tree.Branch](), "first"
        self.level += 1
        if self.level > MAX_SUBQUERY_DEPTH + 1:
            raise too_much("{", f"sub-queries nest more than {MAX_SUBQUERY_DEPTH} deep", code="nesting")
        while joiner:
            branches.append(self._branch(joiner))
            joiner = self._joiner()
        self.level -= 1
        return tree.Query(at, tuple(branches))

    def _joiner(self) -> str:
        """Move past what joins two branches; return it."""
        word = self.next_token.word if self.next_token.word in JOINERS else ""
        if self.skip("UNION"):
            self.skip("ALL", "DISTINCT")
        elif self.skip("NEXT"):
            self.version = 25
            self.columns = None if self.level == 1 + self.blocks else self.columns
        return word

    def _branch(self, joiner: str) -> tree.Branch:
        at, condition, clauses = self.at, None, list[tree.Part]()
        self._note_version()
        if self.skip("WHEN"):
            condition = self.expression()
            self.expect("THEN")
        if (self.skip("ELSE") or condition) and self.is_next("{"):
            self.blocks += 1
            block = self.subquery()
            self.blocks -= 1
            return tree.Branch(at, joiner, condition, block, ())
        while self.next_token.word in self.clauses:
            self._note_version()
            clauses.append(self.clauses[self.next_token.word](self, self.take()))
        if not clauses or not (self.next_token.kind == "end" or self.is_next("}", ";", *JOINERS)):
            self._refuse_clause()
        return tree.Branch(at, joiner, condition, None, tuple(clauses))

    def _refuse_clause(self) -> None:
        token = self.next_token
        if token.word in words.REFUSED_WORDS:
            code, hint = words.REFUSED_WORDS[token.word]
            raise QueryRefused(code, f"{token.word} is not allowed", piece=token.text, hint=hint)
        if token.word == "WHERE":
            hint = "put it before RETURN, or keep the values with WITH … WHERE … RETURN"
            self.refuse("WHERE can't stand here, after what it should filter", hint=hint)
        hint = words.FOREIGN.get(token.word, "rewrite this part")
        self.refuse("a clause such as MATCH, WITH or RETURN should stand here", hint=hint)

    def _note_version(self) -> None:
        """Ask for the newer language if what is next is new in it."""
        if self.next_token.word in NEWER:
            self.version = 25

    def subquery(self) -> tree.Query | tree.Match:
        """Read `{…}`: a whole query, or patterns and a WHERE."""
        self.expect("{")
        is_query = self.is_next("WHEN", *self.clauses, *words.REFUSED_WORDS)
        found = self.query() if is_query else self._match(self.last_token)
        if self.is_next("AND", "OR", "XOR"):
            word = self.next_token.word
            self.refuse("patterns are joined by commas", hint=f"write EXISTS {{ … }} {word} EXISTS {{ … }}")
        self.expect("}")
        return found

    # --- clauses

    def _match(self, _: Token) -> tree.Match:
        at = self.at - 1
        if self.is_next(*words.MATCH_MODES) and self.is_next(*words.MATCHED, offset=1):
            self.version = 25
            self.at += 2
        paths = [self.pattern()]
        while self.skip(","):
            paths.append(self.pattern())
        return tree.Match(at, tuple(paths), self.at - 1, self.where())

    def _project(self, token: Token) -> tree.Project:
        """Read WITH or RETURN, its items, and ORDER BY, SKIP and LIMIT."""
        at, items, order = self.at - 1, list[tree.Item](), list[tree.Clause]()
        is_distinct, has_all = self.skip("DISTINCT"), self.skip("*")
        while self.skip(",") if items or has_all else True:
            items.append(self._named(token.word))
        while self.is_next("ORDER", "SKIP", "OFFSET", "LIMIT"):
            order.append(self._clause(self.take()))
        if token.word == "RETURN" and self.level == 1 + self.blocks and self.columns is None:
            self.columns = tuple(item.name for item in items)
        where = self.where() if token.word == "WITH" else None
        return tree.Project(at, is_distinct, has_all, tuple(items), tuple(order), where)

    def _clause(self, token: Token) -> tree.Clause:
        """Read a clause of expressions, or a word alone: FINISH, or OPTIONAL before MATCH or CALL."""
        at, items = self.at - 1, list[tree.Item]()
        if token.word == "ORDER":
            self.expect("BY")
        elif token.word == "FILTER":
            self.skip("WHERE")
        while token.word not in BARE and (not items or (token.word in {"ORDER", "LET"} and self.skip(","))):
            items.append(self._named(token.word))
        return tree.Clause(at, token.word, tuple(items))

    def _named(self, clause: str) -> tree.Item:
        """Read an expression and the name that it gets in such a clause, if any."""
        first, name = self.at, ""
        if clause == "LET":
            name = self.take_name()
            self.expect("=")
        value = self.expression()
        if clause == "UNWIND":
            self.expect("AS")
            name = self.take_name()
        elif clause == "ORDER":
            self.skip("ASC", "ASCENDING", "DESC", "DESCENDING")
        elif clause in {"WITH", "RETURN"}:
            written = self.text[self.tokens[first].start : self.last_token.end]
            name = self.take_name() if self.skip("AS") else written
        return tree.Item(first, value, name)

    def _call_subquery(self, token: Token) -> tree.Subquery:
        """Read CALL of a sub-query, whose list of names or `*` says what is known inside; procedures are refused."""
        at, names, is_listed = self.at - 1, list[str](), self.skip("(")
        while is_listed and not self.skip(")"):
            names.append("*" if self.skip("*") else self.take_name())
            self.skip(",")
        if not self.is_next("{"):
            hint = "read with MATCH … RETURN …"
            self.refuse("procedures can't be called", code="procedure", hint=hint)
        body = self.subquery()
        if self.is_next("IN"):
            self.refuse("a query is one transaction", code="write", hint="leave IN TRANSACTIONS out")
        return tree.Subquery(at, token.word, tuple(names) if is_listed else None, body)

    clauses: ClassVar[Mapping[str, Callable[[Parser, Token], tree.Part]]] = {
        "MATCH": _match,
        **dict.fromkeys(("WITH", "RETURN"), _project),
        "CALL": _call_subquery,
        **dict.fromkeys(("UNWIND", "LET", "ORDER", "SKIP", "OFFSET", "LIMIT", "FILTER", *BARE), _clause),
    }


@lru_cache(maxsize=64)
def parse(cypher: str, nesting: int, schema: Schema) -> Parsed:
    """Return the tree of a text, which askers of one moment share. Raises QueryRefused."""
    return parse_with(cypher, {}, nesting, schema)


def parse_with(cypher: str, parameters: Mapping[str, object], nesting: int, schema: Schema) -> Parsed:
    """Return the tree of a text with the values of its parameters in it. Raises QueryRefused."""
    tokens = tokens_of(cypher, parameters)
    check_counts(tokens)
    return Parser(cypher, tokens, nesting, schema).parse()
