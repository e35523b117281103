"""The binder: what is inserted into the model's own text, so that it reads one scene and says the same."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final

from scenecypher.db.gate import tree, words
from scenecypher.db.gate.lexer import Token, integer_of
from scenecypher.db.gate.price import Kinds
from scenecypher.db.gate.syntax import ENDS, Parsed
from scenecypher.db.schema import PAST, Schema

PUBLIC_PARAMETER: Final = "__public"
"""The parameter with the names of properties that a query about the past may read."""
IN_UTC: Final = "(datetime('1970-01-01T00:00Z') + duration.inSeconds(datetime('1970-01-01T00:00Z'), "
"""Prefix that turns a time of a query into UTC, as all stored ones are: the server takes equal instants of two zones
for unequal. Null stays null, which a map with `timezone` would not take."""
MAX_DIGITS: Final = 15  # maximum digits of a number that becomes a parameter; longer ones may exceed its range
MAX_SHARED_LIMIT: Final = 100  # the largest LIMIT that is a parameter, so that queries share a plan
ORDERED: Final = frozenset({"=", "<>", "<", ">", "<=", ">="})
NUMBER_ENDS: Final = ENDS | words.CLAUSES | words.LOGIC | words.CASE_WORDS | {"NOT", "IN", "IS", ""}


@dataclass(slots=True)
class Insertions:
    """Text to insert around tokens, by their index, and the `numbers` that become parameters, as each string does."""

    tokens: tuple[Token, ...]
    past: bool
    schema: Schema
    before: defaultdict[int, str] = field(default_factory=lambda: defaultdict(str))
    after: defaultdict[int, str] = field(default_factory=lambda: defaultdict(str))
    numbers: set[int] = field(default_factory=set)
    asks_public: bool = False

    def bind(self, node: tree.Node, label: str) -> None:
        """Bind a node to the scope, if any, and to a label, if any."""
        if not self.schema.scope:
            return
        labels, properties, scope = node.expression, node.properties, f"{self.schema.scope}: $__scene"
        if label and labels and not labels.is_chained:
            self.before[labels.at] += "("
            self.after[node.head] += f")&{label}"
        elif label:
            self.after[node.head] += f":{label}"
        if properties:
            self.after[properties.at] += f"{scope}, " if properties.entries else scope
        else:
            self.after[node.head] += f" {{{scope}}}"

    def wrap(self, part: tree.Index | tree.Call) -> None:
        """Let an index and keys() reach public keys only, and turn a scene's datetime() into UTC."""
        if isinstance(part, tree.Call) and part.name == "datetime" and self.schema.is_scene:
            self.before[part.at] += IN_UTC
            self.after[part.end] += "))"
        elif not self.schema.scope:
            return
        elif isinstance(part, tree.Index):
            or_number = "toIntegerOrNull(__i) = __i OR " if self.past else ""
            self.after[part.at] += "head([__i IN ["
            self.before[part.end] += f"] WHERE {or_number}{self._is_public('__i')}])"
        elif part.name == "keys":
            self.before[part.at] += "[__k IN "
            self.after[part.end] += f" WHERE {self._is_public('__k')}]"

    def _is_public(self, variable: str) -> str:
        """Return the condition that a key is one that queries may read."""
        self.asks_public |= self.past
        return f"{variable} IN ${PUBLIC_PARAMETER}" if self.past else f"{variable} <> '{self.schema.scope}'"

    def note_compared(self, expression: tree.Expression) -> None:
        """Note a number after a comparison, if it is all of that side and the other is none."""
        for term in expression.terms:
            if isinstance(term, tree.Operator) and term.word in ORDERED:
                before, after = self.tokens[term.at - 1], self.tokens[min(term.at + 2, len(self.tokens) - 1)]
                if (before.kind in {"name", "quoted"} or before.word in {")", "]"}) and after.word in NUMBER_ENDS:
                    self._note(term.at + 1)

    def note_properties(self, properties: tree.Map | None) -> None:
        """Note the numbers among the values of a pattern's properties."""
        for entry in properties.entries if properties else ():
            if isinstance(entry, tree.Expression) and self.tokens[entry.at + 1].word in {",", "}"}:
                self._note(entry.at)

    def note_limit(self) -> None:
        """Note a LIMIT that ends the query: one within it affects the cost of later parts."""
        at = len(self.tokens) - 2 - (self.tokens[-2].word == ";")
        limit, number = self.tokens[at - 1 : at + 1] if at > 0 else (None, None)
        if limit and number and limit.word == "LIMIT" and number.kind == "integer":
            self.numbers |= {at} if 0 < integer_of(number.text) <= MAX_SHARED_LIMIT else set()

    def _note(self, at: int) -> None:
        if self.tokens[at].kind in {"integer", "float"} and len(self.tokens[at].text) <= MAX_DIGITS:
            self.numbers.add(at)


def bind(parsed: Parsed, kinds: Kinds, schema: Schema) -> Insertions:
    """Return what to insert into a query, whose nodes are of these kinds."""
    found = Insertions(parsed.tokens, parsed.past, schema)
    has_long_path = any(
        (isinstance(part, tree.Hop) and part.longest != 1) or (isinstance(part, tree.Group) and part.most != 1)
        for part in parsed.parts
    )
    for part in parsed.parts:
        match part:
            case tree.Node():
                found.bind(part, PAST if kinds.owners.get(part.at) == PAST else schema.member)
                found.note_properties(part.properties)
            case tree.Hop():
                found.note_properties(part.properties)
            case tree.Expression():
                found.note_compared(part)
            case tree.Call() | tree.Index(may_be_key=True):
                found.wrap(part)
            case tree.Project(is_distinct=True, has_all=False) if has_long_path:
                # Neo4j 2026.08.1 drops the DISTINCT after paths of variable length if such paths begin at a node found
                # by its id: `RETURN DISTINCT b.class` gives a row for each `b`. After an UNWIND of one value the
                # planner makes no such assumption about rows.
                found.before[part.at] += f"UNWIND [0] AS __d{part.at} "
    for at in kinds.breaks:
        # Without a break the server joins a search with the MATCH before it, and searches before it knows the ends.
        found.before[at] += "WITH * SKIP 0 "
    found.note_limit()
    return found
