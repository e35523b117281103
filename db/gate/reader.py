"""The parser: one pass over the tokens that binds every node pattern to the scene and records the names used.

It classifies brackets and parses patterns strictly, since any bracket may hide a pattern. The rest of the grammar is
left to the server: a text that passes here may still be invalid Cypher.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Final, NoReturn

from scenecypher.db.gate.hints import unknown_function
from scenecypher.db.gate.lexer import Token, integer_of
from scenecypher.db.gate.syntax import CASE, Hop, NameUse, Part, Reading, Search, UseKind
from scenecypher.db.gate.words import (
    CLAUSES,
    FUNCTIONS,
    INTEGER_FUNCTIONS,
    MATCH_MODES,
    PATH_FUNCTIONS,
    PREDICATES,
    REFUSED_WORDS,
    RESERVED,
    SCENE_KEY,
    SELECTORS,
    SUBQUERIES,
    TYPE_WORDS,
    VALUE_WORDS,
)
from scenecypher.errors import QueryRefused

LABEL: Final = "Entity"
SCOPE: Final = f"{SCENE_KEY}: $__{SCENE_KEY}"
MAX_SHARED_LIMIT: Final = 100
"""The largest LIMIT that is a parameter, so that queries share a plan."""
MAX_DIGITS: Final = 15
"""Maximum digits of a number that becomes a parameter; longer ones may exceed its range."""
MAX_CHAIN: Final = 40
"""Maximum properties, indexes and labels after one value: some hundred overflow the server's stack."""
VERSIONS: Final = {"5": 5, "25": 25}
OPENING: Final = {"(": ")", "[": "]", "{": "}"}
ENDS: Final = frozenset({",", ")", "]", "}", "|", ";"})
COMPARISONS: Final = frozenset({"=", "<>", "<", ">", "<=", ">="})
OPERATOR_MARKS: Final = frozenset({"+", "||", "-", "*", "/", "%", "^", ".."}) | COMPARISONS
LOGIC: Final = frozenset({"AND", "OR", "XOR", "NOT", "IN", "IS", "DISTINCT"})
MATCHERS: Final = frozenset({"CONTAINS", "STARTS", "ENDS"})
CASE_WORDS: Final = frozenset({"WHEN", "THEN", "ELSE", "END"})
COMPARISON_ENDS: Final = CLAUSES | LOGIC | CASE_WORDS
NEVER_NAMES: Final = frozenset({"WHERE", "AS", "WITH"})


class Reader:
    """Parser of one text. Raises QueryRefused for syntax that might hide a pattern and for what is never allowed."""

    def __init__(self, text: str, tokens: tuple[Token, ...], *, nesting: int, names: frozenset[str]) -> None:
        self.text, self.tokens, self.at, self.names = text, tokens, 0, names
        self.closing = _brackets(tokens, nesting)
        self.reading = Reading(tokens, Part("query", tokens[0]))
        self.level = 0
        self.search: Search = ""
        self.pattern_brackets: set[int] = set()
        self.distinct: list[int] = []
        self.known: set[str] = set()

    # --- the cursor

    @property
    def next_token(self) -> Token:
        """The next token."""
        return self.tokens[self.at]

    def peek(self, offset: int = 1) -> Token:
        """Return the token `offset` further on, or the last."""
        return self.tokens[min(self.at + offset, len(self.tokens) - 1)]

    def take(self) -> Token:
        """Move past the next token and return it."""
        token = self.next_token
        self.at += token.kind != "end"
        return token

    def is_mark(self, *texts: str, offset: int = 0) -> bool:
        """Check for one of these marks."""
        token = self.peek(offset)
        return token.kind == "mark" and token.text in texts

    def take_mark(self, *texts: str) -> bool:
        """Move past one of these marks, if it is next."""
        found = self.is_mark(*texts)
        self.at += found
        return found

    def expect(self, text: str) -> None:
        """Move past this mark, or refuse."""
        if not self.take_mark(text):
            self.refuse(f"`{text}` should stand here")

    def take_word(self, *words: str) -> bool:
        """Move past these words, if all of them are next."""
        found = all(self.peek(offset).word == word for offset, word in enumerate(words))
        self.at += len(words) * found
        return found

    def take_name(self) -> str:
        """Move past a variable's name, which most keywords may be; refuse anything else."""
        if self.next_token.kind not in {"name", "quoted"} or self.next_token.word in NEVER_NAMES:
            self.refuse("a name should stand here", hint="keywords can't be names")
        return self.take().value

    def refuse(self, message: str, *, hint: str = "", code: str = "syntax") -> NoReturn:
        """Refuse the text at the next token; a keyword that may be meant as a name gets a hint."""
        token = self.next_token
        piece = token.text or "the end"
        rest = self.text[token.start : token.start + 30].split("\n")[0]
        if not hint and RESERVED & {token.word, self.tokens[self.at - 1].word}:
            word = token.text if token.word in RESERVED else self.tokens[self.at - 1].text
            hint = f"`{word}` is a keyword: use another name"
        raise QueryRefused(
            code, f"can't read the query at `{rest or piece}`: {message}", piece=piece, hint=hint or "rewrite this part"
        )

    # --- queries

    def read(self) -> Reading:
        """Read the whole text. Raises QueryRefused."""
        self._version()
        first = self.reading.first = self.at
        self.reading.query = self.query()
        self.take_mark(";")
        if self.next_token.kind != "end":
            code = "statements" if self.tokens[self.at - 1].text == ";" else "syntax"
            self.refuse("the query should end here", code=code, hint="write one query, and nothing after it")
        if self.at == first:
            self.refuse("the query is empty", hint="write MATCH … RETURN …")
        self._check_brackets()
        self._work_around_distinct(self.reading.query)
        return self.reading

    def _version(self) -> None:
        if self.next_token.word != "CYPHER":
            return
        version = VERSIONS.get(self.peek().text)
        if version is None or self.is_mark("=", offset=2):
            self.refuse("options can't be set", code="option", hint="leave out CYPHER and what follows it")
        self.reading.version = version
        self.at += 2

    def _check_brackets(self) -> None:
        """Refuse a bracket beside a relation that was not read as a node or a group."""
        opened = {closing: opening for opening, closing in self.closing.items()}
        for index, opening in enumerate(self.tokens):
            self.at = index
            if opening.kind != "mark" or opening.text != "(" or self.at in self.pattern_brackets:
                continue
            tail = self.at - 1 - (self.at > 1 and [t.text for t in self.tokens[self.at - 2 : self.at]] == ["-", ">"])
            end = self.tokens[tail - 1] if tail > 0 and self.tokens[tail].text == "-" else None
            detail = opened.get(tail - 1, 0)
            if end and (end.text == "-" or (end.text == "]" and self.tokens[detail - 1].text == "-")):
                self.refuse("this reads like a pattern", hint="put blanks and brackets around -, or write a pattern")

    def _work_around_distinct(self, query: Part) -> None:
        """Insert an UNWIND of one value before each DISTINCT after paths of variable length, so that it works.

        Neo4j 2026.08.1 drops the DISTINCT if such paths begin at a node found by its id: `RETURN DISTINCT b.class`
        gives a row for each `b`. After an UNWIND the planner makes no such assumption about rows.
        """
        if any(isinstance(part, Hop) and part.longest != 1 for part in query):
            for index in self.distinct:
                self.reading.insert_before(index, f"UNWIND [0] AS __d{index} ")

    def query(self) -> Part:
        """Read clauses, and branches joined by UNION, NEXT or WHEN."""
        token, branches = self.next_token, [self._branch("")]
        while self.next_token.word in {"UNION", "NEXT", "WHEN", "ELSE"}:
            joiner = self.next_token.word
            if joiner in {"UNION", "NEXT"}:
                self.take()
            if joiner == "UNION" and not self.take_word("ALL"):
                self.take_word("DISTINCT")
            elif joiner == "NEXT":
                self.reading.version = 25
                if self.level == 0:
                    self.reading.columns = None
            branches.append(self._branch(joiner))
        return Part("query", token, parts=tuple(branches))

    def _branch(self, joiner: str) -> Part:
        token, clauses = self.next_token, []
        if self.next_token.word in {"WHEN", "ELSE"}:
            self.reading.version = 25
            if self.take().word == "WHEN":
                clauses.append(Part("filter", token, parts=(self.expression(),)))
                if not self.take_word("THEN"):
                    self.refuse("THEN should stand here")
            if self.take_mark("{"):
                query = self.query()
                self.expect("}")
                return Part("branch", token, joiner, (*clauses, Part("call", token, parts=(query,))))
        while self.next_token.word in CLAUSE:
            clauses.append(CLAUSE[self.next_token.word](self, self.take()))
        if not clauses or not (
            self.next_token.kind == "end"
            or self.is_mark("}", ";")
            or self.next_token.word in {"UNION", "NEXT", "WHEN", "ELSE"}
        ):
            self._refuse_word()
            self.refuse("a clause such as MATCH, WITH or RETURN should stand here")
        return Part("branch", token, joiner, tuple(clauses))

    def _refuse_word(self) -> None:
        if self.next_token.word in REFUSED_WORDS:
            code, hint = REFUSED_WORDS[self.next_token.word]
            raise QueryRefused(code, f"{self.next_token.word} is not allowed", piece=self.next_token.text, hint=hint)

    def subquery(self) -> Part:
        """Read `{…}`: a whole query, or patterns and a WHERE."""
        token = self.next_token
        self.expect("{")
        self.level += 1
        if self.next_token.word in CLAUSE or self.next_token.word in REFUSED_WORDS or self.next_token.word == "WHEN":
            query = self.query()
        else:
            match = Part("match", token, parts=(*self.paths(), *self._where()))
            query = Part("query", token, parts=(Part("branch", token, parts=(match,)),))
        self.expect("}")
        self.level -= 1
        return query

    # --- clauses

    def match(self, token: Token) -> Part:
        """Read MATCH."""
        for words in MATCH_MODES:
            if self.take_word(*words):
                self.reading.version = 25
        paths = self.paths()
        for path in paths:
            nodes = [part.name for part in path.parts if part.kind == "node" and part.name]
            if nodes and not self.known & set(nodes):
                self.reading.hinted.append((self.at - 1, nodes[0]))
        self.known |= {part.name for path in paths for part in path}
        return Part("match", token, parts=(*paths, *self._where()))

    def optional(self, token: Token) -> Part:
        """Read OPTIONAL MATCH or OPTIONAL CALL."""
        if self.take_word("CALL"):
            return self.call(token)
        if not self.take_word("MATCH"):
            self.refuse("MATCH should stand here")
        return replace(self.match(token), name="OPTIONAL")

    def unwind(self, token: Token) -> Part:
        """Read UNWIND."""
        value = self.expression()
        if not self.take_word("AS"):
            self.refuse("AS and a name should stand here")
        return Part("unwind", token, self.take_name(), (value,))

    def with_(self, token: Token) -> Part:
        """Read WITH."""
        items = self._items(token)
        return replace(items, kind="with", parts=(*items.parts, *self._order(), *self._where()))

    def return_(self, token: Token) -> Part:
        """Read RETURN; the columns of the whole query are those of its first."""
        items = self._items(token)
        if self.level == 0 and self.reading.columns is None:
            self.reading.columns = tuple(item.name for item in items.parts)
        items = replace(items, parts=(*items.parts, *self._order()))
        limit, number = self.tokens[self.at - 2 : self.at]
        is_last = self.level == 0 and (self.next_token.kind == "end" or self.is_mark(";"))
        # Only a LIMIT that ends the query becomes a parameter: one within it affects the cost of later parts.
        if (
            is_last
            and limit.word == "LIMIT"
            and number.kind == "integer"
            and 0 < integer_of(number.text) <= MAX_SHARED_LIMIT
        ):
            self.reading.numbers.add(self.at - 1)
        return items

    def order(self, token: Token) -> Part:
        """Read ORDER BY, SKIP or LIMIT as a clause of its own."""
        self.at -= 1
        return Part("with", token, parts=self._order(), words=("*",))

    def call(self, token: Token) -> Part:
        """Read CALL of a sub-query; procedures are refused."""
        if self.take_mark("("):
            while not self.take_mark(")"):
                if not self.take_mark("*", ","):
                    self.take_name()
        if not self.is_mark("{"):
            self.refuse("procedures can't be called", code="procedure", hint="read the scene with MATCH … RETURN …")
        query = self.subquery()
        if self.next_token.word == "IN":
            self.refuse("a query is one transaction", code="write", hint="leave IN TRANSACTIONS out")
        return Part("call", token, parts=(query,))

    def filter(self, token: Token) -> Part:
        """Read FILTER, a WHERE of its own."""
        self.reading.version = 25
        self.take_word("WHERE")
        return Part("filter", token, parts=(self.expression(),))

    def let(self, token: Token) -> Part:
        """Read LET."""
        self.reading.version = 25
        items: list[Part] = []
        while not items or self.take_mark(","):
            first, name = self.next_token, self.take_name()
            self.expect("=")
            items.append(Part("item", first, name, (self.expression(),)))
        return Part("with", token, parts=tuple(items), words=("*",))

    def finish(self, token: Token) -> Part:
        """Read FINISH, which ends a query without columns."""
        return Part("return", token)

    def _where(self) -> tuple[Part, ...]:
        token = self.next_token
        return (Part("where", token, parts=(self.expression(),)),) if self.take_word("WHERE") else ()

    def _items(self, token: Token) -> Part:
        """Read the items of WITH or RETURN; `*` is a word of the part, not an item."""
        distinct = self.take_word("DISTINCT")
        star = self.take_mark("*")
        if distinct and not star:
            self.distinct.append(self.at - 2)
        items = [] if star else [self._item()]
        while self.take_mark(","):
            items.append(self._item())
        words = ("*",) * star + ("DISTINCT",) * distinct
        return Part("return", token, parts=tuple(items), words=words)

    def _item(self) -> Part:
        first = self.next_token
        value = self.expression()
        last = self.tokens[self.at - 1]
        name = self.take_name() if self.take_word("AS") else self.text[first.start : last.end]
        return Part("item", first, name, (value,))

    def _order(self) -> tuple[Part, ...]:
        found = []
        while self.next_token.word in {"ORDER", "SKIP", "OFFSET", "LIMIT"}:
            token = self.take()
            if token.word == "ORDER" and not self.take_word("BY"):
                self.refuse("BY should stand here")
            found.append(Part(token.word.lower(), token, parts=(self.expression(),)))
            self._direction()
            while token.word == "ORDER" and self.take_mark(","):
                found.append(Part("order", token, parts=(self.expression(),)))
                self._direction()
        return tuple(found)

    def _direction(self) -> None:
        self.at += self.next_token.word in {"ASC", "ASCENDING", "DESC", "DESCENDING"}

    # --- expressions

    def expression(self) -> Part:
        """Read up to a comma, a closing bracket, a bar, a clause or a word of CASE, and stop before it."""
        first, parts = self.next_token, list[Part]()
        while not self._is_at_end(parts):
            token = self.take()
            if token.kind == "mark":
                self._read_mark(token, parts)
            elif token.kind == "name":
                parts.append(self._read_word(token, after_value=_is_value(parts)))
            elif token.kind == "quoted":
                if self.is_mark("("):
                    self.refuse("a function's name stands in backticks", hint="write it without")
                parts.append(Part("variable", token, token.value))
            else:
                parts.append(Part(token.kind, token))
        if not parts:
            self.refuse("a value should stand here")
        return Part("expression", first, parts=tuple(parts))

    def _is_at_end(self, parts: list[Part]) -> bool:
        token = self.next_token
        if token.kind == "end" or (token.kind == "mark" and token.text in ENDS) or token.word in NEVER_NAMES:
            return True
        return _is_value(parts) and (token.word in CLAUSES or token.word in CASE_WORDS)

    def _read_word(self, token: Token, *, after_value: bool) -> Part:
        word = token.word
        if word in LOGIC or (word in MATCHERS and (after_value or self.next_token.word == "WITH")):
            if word in {"STARTS", "ENDS"} and not self.take_word("WITH"):
                self.refuse("WITH should stand here")
            return Part("operator", token, word)
        if word == "CASE" and not self.is_mark(".", ",", ")", "]"):
            return self._case(token)
        if word in VALUE_WORDS - {"END"}:
            return Part("constant", token)
        if word in SUBQUERIES and self.is_mark("{"):
            return Part("subquery", token, word, (self.subquery(),))
        if word in REFUSED_WORDS and (
            self.is_mark("(", "{") or (self.next_token.value and self.next_token.word not in COMPARISON_ENDS)
        ):
            self.at -= 1
            code, hint = REFUSED_WORDS[word]
            self.refuse(f"{word} can't stand here", code=code, hint=hint)
        return self._call(token, self._dotted(token))

    def _case(self, token: Token) -> Part:
        parts = [] if self.next_token.word == "WHEN" else [self.expression()]
        while not self.take_word("END"):
            if not (self.take_mark(",") or self.take_word("WHEN") or self.take_word("THEN") or self.take_word("ELSE")):
                self.refuse("END should stand here")
            value = self.expression()
            if not _is_value(list(value.parts[:1])):
                value = replace(value, parts=(Part("variable", token, CASE), *value.parts))
            parts.append(value)
        return Part("case", token, parts=tuple(parts))

    def _dotted(self, token: Token) -> str:
        """Move past the rest of a function's name after its first dot, if a call with such a name is next."""
        offset = 0
        while self.is_mark(".", offset=offset) and self.peek(offset + 1).kind == "name":
            offset += 2
        if offset == 0 or not self.is_mark("(", offset=offset):
            return token.value
        parts = [self.peek(part).value for part in range(1, offset, 2)]
        self.at += offset
        return ".".join([token.value, *parts])

    def _read_mark(self, token: Token, parts: list[Part]) -> None:
        mark, after_value = token.text, _is_value(parts)
        if mark == "(":
            parts.append(self._parenthesis(token))
        elif mark == "[" and not after_value:
            parts.append(self._list(token))
        elif mark == "{":
            projected = parts.pop() if after_value and parts[-1].kind == "variable" else None
            parts.append(self._map(token, of=projected))
        elif mark in {".", "[", ":"} and after_value:
            parts[-1] = self._postfix(token, parts[-1])
        elif mark == "::":
            parts.append(self._type(token))
        elif mark == "=~":
            parts += [Part("operator", token, mark), self._regex()]
        elif mark in OPERATOR_MARKS:
            self._note_compared_number(token)
            parts.append(Part("operator", token, mark))
        else:
            self.at -= 1
            self.refuse(f"`{mark}` can't stand here")

    def _parenthesis(self, token: Token) -> Part:
        opening = self.at - 1
        if self.is_arrow(self.closing[opening] + 1):
            self.at = opening
            return self.chain(token, free=False)
        value = self.expression()
        self.expect(")")
        return value

    def _postfix(self, token: Token, base: Part) -> Part:
        depth, under = 1, base
        while under.kind in {"property", "index", "labels"}:
            depth, under = depth + 1, under.parts[0]
        if depth > MAX_CHAIN:
            raise QueryRefused(
                "nesting", f"more than {MAX_CHAIN} properties or indexes of one value", hint="ask in steps"
            )
        if token.text == "[":
            return self._index(base)
        if token.text == ":":
            self.labels("either", bars=False)
            return Part("labels", token, parts=(base,))
        name = self._property()
        if self.is_mark("("):
            self.refuse("there is no such function", code="function", hint="call functions by their names")
        return Part("property", token, name, (base,))

    def _type(self, token: Token) -> Part:
        """Move past a type after `::`."""
        while self.next_token.word in TYPE_WORDS or (
            self.is_mark("<", ">", "|") and TYPE_WORDS & {self.tokens[self.at - 1].word, self.peek().word}
        ):
            self.take()
        return Part("constant", token)

    def _regex(self) -> Part:
        """Read a regular expression: a literal, or literals joined by +."""
        first = self.next_token
        texts = [self.next_token.value]
        while self.next_token.kind == "string" and self.is_mark("+", offset=1):
            self.at += 2
            texts.append(self.next_token.value)
        if self.next_token.kind != "string" or self.is_mark("+", "||", "[", ".", offset=1):
            self.refuse("after =~ a plain string must stand", code="regex", hint="write a literal such as '.*cup.*'")
        self.take()
        return Part("regex", first, "".join(texts))

    def _note_compared_number(self, token: Token) -> None:
        """Record the number after a comparison, if it is all of that side and the other side is no number."""
        before, after = self.tokens[self.at - 2], self.peek()
        ends = after.kind == "end" or (after.kind == "mark" and after.text in ENDS) or after.word in COMPARISON_ENDS
        is_value = before.kind in {"name", "quoted"} or before.text in {")", "]"}
        if token.text in COMPARISONS and ends and is_value:
            self._note_number()

    def _note_number(self) -> None:
        """Record a number that is next: a parameter in its place has the same meaning and cost."""
        if self.next_token.kind in {"integer", "float"} and len(self.next_token.text) <= MAX_DIGITS:
            self.reading.numbers.add(self.at)

    # --- calls

    def _call(self, token: Token, name: str) -> Part:
        if not self.is_mark("("):
            return Part("variable", token, name)
        opening, lowered, used = self.at, name.lower(), len(self.reading.uses)
        if lowered not in FUNCTIONS:
            raise unknown_function(name)
        self.take()
        if token.word in PATH_FUNCTIONS:
            parts: tuple[Part, ...] = (self._path_in_search("function", token),)
        elif lowered in PREDICATES and self.peek().word == "IN":
            parts = self._loop()
        else:
            parts = self._arguments()
        self.expect(")")
        if self.is_arrow(self.at):
            self.refuse("this reads like a pattern", hint="write nodes as (variable), or put blanks around -")
        if lowered == "keys":
            self.reading.insert_before(opening - 1, "[__k IN ")
            self.reading.insert_after(self.at - 1, f" WHERE __k <> '{SCENE_KEY}']")
        if lowered == "coalesce":
            self.reading.uses[used:] = [replace(use, may_be_absent=True) for use in self.reading.uses[used:]]
        kind = "loop" if lowered in PREDICATES and parts and parts[0].kind == "variable" else "call"
        return Part(kind, token, lowered, parts)

    def _arguments(self) -> tuple[Part, ...]:
        parts = []
        while not self.is_mark(")"):
            if self.take_mark("*"):
                continue
            if self.take_word("DISTINCT"):
                parts.append(Part("constant", self.tokens[self.at - 1], "DISTINCT"))
            parts.append(self.expression())
            if not self.take_mark(",") and not self.is_mark(")"):
                self.refuse("the call should end here")
        return tuple(parts)

    def _loop(self) -> tuple[Part, ...]:
        """Read `x IN list WHERE … | …`: the variable, the list, then the rest."""
        variable = Part("variable", self.next_token, self.take_name())
        self.take()
        return (variable, self.expression(), *self._rest_of_loop())

    def _rest_of_loop(self) -> Iterable[Part]:
        yield from self._where()
        if self.take_mark("|"):
            yield self.expression()

    # --- lists and maps

    def _list(self, token: Token) -> Part:
        """Read a list, a list comprehension or a pattern comprehension; the bracket is taken."""
        if self.peek().word == "IN" and self.next_token.kind in {"name", "quoted"}:
            parts, kind = self._loop(), "loop"
        else:
            if (
                self.next_token.kind in {"name", "quoted"}
                and self.is_mark("=", offset=1)
                and self.is_mark("(", offset=2)
            ):
                self.at += 2
            found = [] if self.is_mark("]") else [self.expression()]
            kind = "gather" if self.next_token.word == "WHERE" or self.is_mark("|") else "list"
            found += self._rest_of_loop()
            while self.take_mark(","):
                found.append(self.expression())
            parts = tuple(found)
        if not self.take_mark("]"):
            self.refuse("the list should end here")
        return Part(kind, token, "", parts)

    def _map(self, token: Token, *, of: Part | None) -> Part:
        """Read a map, or a projection of a value such as `n {.name, room: p.name}`; the brace is taken."""
        entries = []
        while not self.take_mark("}"):
            entries.append(self._entry(of))
            if not self.take_mark(",") and not self.is_mark("}"):
                self.refuse("the map should end here")
        return Part("map", token, "", tuple(entries))

    def _entry(self, of: Part | None) -> Part:
        token = self.next_token
        if of and self.take_mark("."):
            if self.take_mark("*"):
                return Part("entry", token, "*", (of,))
            name = self._property()
            return Part("entry", token, name, (Part("property", token, name, (of,)),))
        name = self._key().value
        self.reading.defined.add(name)
        if of and not self.is_mark(":"):
            return Part("entry", token, name, (Part("variable", token, name),))
        self.expect(":")
        return Part("entry", token, name, (self.expression(),))

    def _index(self, base: Part) -> Part:
        """Read the index in `x[…]`; the bracket is taken. The index can't reach the scene's key."""
        opening, closing = self.at - 1, self.closing[self.at - 1]
        inside = self.tokens[self.at : closing]
        if any(token.kind == "string" and token.value == SCENE_KEY for token in inside):
            raise scene_key()
        if not self._is_number_or_slice(self.at, closing) and [token.kind for token in inside] != ["string"]:
            self.reading.insert_after(opening, "head([__i IN [")
            self.reading.insert_before(closing, f"] WHERE __i <> '{SCENE_KEY}'])")
        value = self.expression()
        self.expect("]")
        return Part("index", self.tokens[opening], "", (base, value))

    def _is_number_or_slice(self, at: int, end: int) -> bool:
        """Check that the tokens from `at` to `end` can only make a whole number or a slice."""
        number = True
        while at < end:
            token = self.tokens[at]
            if token.text == "..":
                return True
            if token.word in INTEGER_FUNCTIONS and self.tokens[at + 1].text == "(":
                at = self.closing[at + 1]
            elif token.text in {"(", "["}:
                at, number = self.closing[at], False
            elif token.kind != "integer" and token.text not in {"+", "-", "*", "/", "%"}:
                number = False
            at += 1
        return number

    # --- names of the registry

    def _key(self) -> Token:
        """Move past the key of a map or a property's name, which may be a keyword but not the scene's key."""
        if self.next_token.kind not in {"name", "quoted"}:
            self.refuse("a property's name should stand here")
        if self.next_token.value == SCENE_KEY:
            raise scene_key()
        return self.take()

    def _property(self) -> str:
        token = self._key()
        may_be_absent = self.next_token.word == "IS" and "NULL" in {self.peek().word, self.peek(2).word}
        self.reading.uses.append(NameUse("property", token, token.value, may_be_absent=may_be_absent))
        return token.value

    def labels(self, kind: UseKind, *, bars: bool = True) -> bool:
        """Read a label expression; return True if it chains labels by colons."""
        chained = False
        while True:
            while self.take_mark("!"):
                pass
            if self.take_mark("("):
                self.pattern_brackets.add(self.at - 1)
                self.labels(kind, bars=bars)
                self.expect(")")
            elif not self.take_mark("%"):
                if self.next_token.kind not in {"name", "quoted"}:
                    self.refuse("a label or a relation type should stand here")
                token = self.take()
                self.reading.uses.append(NameUse(kind, token, token.value))
            if self.is_mark(":") and kind != "relation_type":
                chained = True
            elif not self.is_mark("&") and not (self.is_mark("|") and (bars or self._is_label_ahead())):
                return chained
            self.take()
            self.take_mark(":")

    def _is_label_ahead(self) -> bool:
        """Check what follows a bar in an expression: in `[n IN list WHERE n:Door | n.name]` it ends the label."""
        ahead = 1
        while self.is_mark("!", "(", ":", offset=ahead):
            ahead += 1
        return self.peek(ahead).value in self.names and not self.is_mark(".", "(", offset=ahead + 1)

    # --- patterns

    def paths(self) -> tuple[Part, ...]:
        """Read patterns separated by commas, as after MATCH."""
        found = [self._path()]
        while self.take_mark(","):
            found.append(self._path())
        return tuple(found)

    def _path(self) -> Part:
        token, name = self.next_token, ""
        if self.next_token.kind in {"name", "quoted"} and self.is_mark("=", offset=1):
            name = self.take_name()
            self.take()
        selected = self._selector()
        if self.next_token.word in PATH_FUNCTIONS and self.is_mark("(", offset=1):
            self.at += 2
            path = self._path_in_search("function", token)
            self.expect(")")
        else:
            path = self._path_in_search("selector" if selected else "", token)
        return replace(path, name=name)

    def _path_in_search(self, search: Search, token: Token) -> Part:
        around, self.search = self.search, search
        path = self.chain(token, free=True)
        self.search = around
        return path

    def _selector(self) -> bool:
        """Move past ALL SHORTEST, SHORTEST 3 PATHS and the like; return True for a search."""
        first = self.at
        while self.next_token.word in SELECTORS or (self.at > first and self.next_token.kind == "integer"):
            token = self.take()
            if token.kind == "integer":
                self.reading.selected.append(integer_of(token.text))
        return any(token.word in {"SHORTEST", "ANY"} for token in self.tokens[first : self.at])

    def chain(self, token: Token, *, free: bool) -> Part:
        """Read nodes joined by relations; with `free`, groups are allowed too."""
        parts = [*self._node_or_group(free=free)]
        while True:
            if self.is_arrow(self.at):
                parts += [self._relation(), *self._node_or_group(free=free)]
            elif free and self.is_mark("("):
                parts += self._node_or_group(free=free)
            else:
                return Part("path", token, parts=tuple(parts))

    def is_arrow(self, index: int) -> bool:
        """Check for a relation at `index`: `-[`, `--(`, `-->`, `--+(`, `<-[`, `<--`."""
        marks = [token.text if token.kind == "mark" else "" for token in self.tokens[index : index + 4]] + [""]
        if marks[:1] == ["<"]:
            marks = marks[1:]
        return marks[:2] == ["-", "["] or (marks[:2] == ["-", "-"] and marks[2:3] != [""])

    def _node_or_group(self, *, free: bool) -> tuple[Part, ...]:
        """Read a node, or a group `((a)-[:ON]->(b) WHERE …){1,3}`, whose hops repeat."""
        if not self.is_mark("("):
            self.refuse("a node such as (n:Object) should stand here")
        self.pattern_brackets.add(self.at)
        token = self.take()
        if not (free and (self.is_mark("(") or self.is_mark("=", offset=1))):
            return (self._node(token),)
        self.at += 2 * self.is_mark("=", offset=1)
        parts = (*self.chain(token, free=True).parts, *self._where())
        self.expect(")")
        times = self._quantifier()
        repeated = (_repeated(part, times) if isinstance(part, Hop) else part for part in parts)
        return (*repeated, *(Part("several", part.token, part.name) for part in parts if part.name))

    def _variable(self) -> str:
        """Move past the variable of a node or a relation, if one is next."""
        ends = self.is_mark(":", ")", "{", "]", "*", offset=1) or self.peek().word in {"IS", "WHERE"}
        is_name = self.next_token.kind == "quoted" or (
            self.next_token.kind == "name" and self.next_token.word not in NEVER_NAMES | {"IS"}
        )
        return self.take().value if is_name and ends else ""

    def _node(self, token: Token) -> Part:
        name, first = self._variable(), self.at
        if not self.take_mark(":") and not self.take_word("IS"):
            self.reading.insert_after(self.at - 1, f":{LABEL}")
        else:
            first += 1
            if self.labels("label"):
                self.reading.insert_after(self.at - 1, f":{LABEL}")
            else:
                self.reading.insert_before(first, "(")
                self.reading.insert_after(self.at - 1, f")&{LABEL}")
        said = self.tokens[first : self.at]
        labels = () if {"!", "|", "%"} & {one.text for one in said} else tuple(one.value for one in said if one.value)
        entries: tuple[Part, ...] = ()
        if self.take_mark("{"):
            self.reading.insert_after(self.at - 1, SCOPE if self.is_mark("}") else f"{SCOPE}, ")
            entries = self._properties()
        else:
            self.reading.insert_after(self.at - 1, f" {{{SCOPE}}}")
        where = self._where()
        self.expect(")")
        return Part("node", token, name, (*entries, *where), labels)

    def _properties(self) -> tuple[Part, ...]:
        """Read the map of a node or a relation; the brace is taken."""
        entries = []
        while not self.take_mark("}"):
            token, name = self.next_token, self._property()
            self.expect(":")
            if self.is_mark(",", "}", offset=1):
                self._note_number()
            entries.append(Part("entry", token, name, (self.expression(),)))
            if not self.take_mark(",") and not self.is_mark("}"):
                self.refuse("the map should end here")
        return tuple(entries)

    def _relation(self) -> Hop:
        token, first, used = self.next_token, self.at, len(self.reading.uses)
        backward = self.take_mark("<")
        self.expect("-")
        name = ""
        longest: int | None = 1
        parts: tuple[Part, ...] = ()
        types: tuple[str, ...] = ()
        is_exact = True
        if self.take_mark("["):
            name = self._variable()
            if self.take_mark(":") or self.take_word("IS"):
                self.labels("relation_type")
                types = tuple(use.name for use in self.reading.uses[used:])
                is_exact = not any(one.text in {"!", "%"} for one in self.tokens[first : self.at])
            longest = self._length_bound() if self.take_mark("*") else 1
            parts = self._properties() if self.take_mark("{") else ()
            parts += self._where()
            self.expect("]")
        self.expect("-")
        direction = self.take_mark(">") - backward
        hop = Hop("hop", token, name, parts, types, is_exact and bool(types), direction, longest, self.search)
        return _repeated(hop, self._quantifier())

    def _length_bound(self) -> int | None:
        """Read `1..4` after `*`; return the upper bound, None if unbounded."""
        low = self._integer()
        return self._integer() if self.take_mark("..") else low

    def _quantifier(self) -> int | None:
        """Read `{1,3}`, `+` or `*`, if it is next; return the maximum repetitions, None if unbounded."""
        if self.take_mark("+", "*"):
            return None
        if not self.take_mark("{"):
            return 1
        high = self._integer()
        if self.take_mark(","):
            high = self._integer()
        self.expect("}")
        return high

    def _integer(self) -> int | None:
        return integer_of(self.take().text) if self.next_token.kind == "integer" else None


def _is_value(parts: list[Part]) -> bool:
    return bool(parts) and parts[-1].kind != "operator"


def _repeated(hop: Hop, times: int | None) -> Hop:
    return replace(hop, longest=None if times is None or hop.longest is None else hop.longest * times)


def scene_key() -> QueryRefused:
    """Return the refusal of a text that names the scene's key."""
    hint = "leave it out: a query sees one scene only"
    return QueryRefused("scene_key", f"a query can't name the property `{SCENE_KEY}`", piece=SCENE_KEY, hint=hint)


def _brackets(tokens: tuple[Token, ...], nesting: int) -> dict[int, int]:
    """Return for each opening bracket the index of the one that closes it."""
    closing: dict[int, int] = {}
    stack: list[int] = []
    for index, token in enumerate(tokens):
        if token.kind != "mark":
            continue
        if token.text in OPENING:
            stack.append(index)
            if len(stack) > nesting:
                raise QueryRefused("nesting", f"brackets nest more than {nesting} deep", hint="write a simpler query")
        elif token.text in OPENING.values():
            if not stack or OPENING[tokens[stack[-1]].text] != token.text:
                raise QueryRefused(
                    "syntax", f"no bracket opens this `{token.text}`", piece=token.text, hint="check the brackets"
                )
            closing[stack.pop()] = index
    if stack:
        piece = tokens[stack[-1]].text
        raise QueryRefused("syntax", f"nothing closes this `{piece}`", piece=piece, hint="check the brackets")
    return closing


CLAUSE: Final[Mapping[str, Callable[[Reader, Token], Part]]] = {
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
