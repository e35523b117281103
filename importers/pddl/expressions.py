"""Expressions of PDDL as conditions, and as text with places for variables."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final

import scenecypher.db.condition as c
from scenecypher.importers.pddl.domain_data import ACTING, FactForm
from scenecypher.importers.pddl.naming import DomainTypes
from scenecypher.importers.pddl.syntax import Expression, Form, PddlFile, Word, typed_names

_BREAK: Final = re.compile(r"[^A-Za-z0-9_]")
CONNECTIVES: Final[Mapping[str, Callable[..., c.Condition]]] = {
    "and": lambda *parts: c.all_of(parts),
    "or": lambda *parts: c.any_of(parts),
    "not": c.Not,
    "imply": lambda first, second: c.Or((c.Not(first), second)),
}
QUANTIFIERS: Final = frozenset({"exists", "forall"})
PARTS: Final[Mapping[str, int]] = {"not": 1, "imply": 2, "=": 2, "exists": 2, "forall": 2, "when": 2}
"""The numbers of parts of expressions that have as many."""


class ExpressionReader:
    """Reads the expressions of one action or goal about `objects`; `names` gives the variable of each PDDL name."""

    def __init__(
        self, source: PddlFile, types: DomainTypes, forms: Mapping[str, FactForm], objects: Collection[str]
    ) -> None:
        self._source, self._types, self._forms, self._objects = source, types, forms, objects
        self.names: dict[str, str] = {}

    def bind(self, name: str, var: str | None = None) -> str:
        """Return a new variable for a parameter or quantified variable such as ``?x``; `var` if given."""
        self.names[name] = var or self._fresh(identifier(name))
        return self.names[name]

    def bind_all(self, given: Expression) -> list[tuple[str, c.Condition]]:
        """Return a new variable for each of a typed list, with the condition that a node is of its type."""
        if not isinstance(given, Form):
            self._source.fail(given.line, "variables such as (?x - cup) should stand here")
        typed = [(name.text, self._types.tree.check(types)) for name, types in typed_names(given.items)]
        return [(var, self._types.is_of(var, types)) for name, types in typed for var in [self.bind(name)]]

    def _fresh(self, name: str) -> str:
        used = {*self.names.values(), ACTING}
        return next(it for it in (name, *(f"{name}_{number}" for number in range(2, 1_000))) if it not in used)

    def parts(self, item: Form) -> tuple[Expression, ...]:
        """Return the parts of an expression. Raises DocumentError if they are too many or too few."""
        wanted = PARTS.get(item.head, len(item.rest))
        if len(item.rest) != wanted:
            self._source.fail(item.line, f"({item.head} …) has {len(item.rest)} parts; give it {wanted}")
        return item.rest

    def condition(self, item: Expression) -> c.Condition:
        """Return an expression as a condition. Raises DocumentError for what is none."""
        if not isinstance(item, Form) or (item.items and not item.head):
            self._source.fail(item.line, "a condition such as (on ?x ?y) should stand here")
        if not item.items:
            return c.ALWAYS
        parts = self.parts(item)
        if item.head in CONNECTIVES:
            return CONNECTIVES[item.head](*map(self.condition, parts))
        if item.head in QUANTIFIERS:
            return self._quantified(item.head, *parts)
        terms = tuple(map(self.term, parts))
        if item.head == "=":
            return c.Same(*terms)
        if item.head not in self._forms:
            self._source.fail(item.line, f"({item.head} …) is no condition; leave this part out")
        return self._forms[item.head].condition(terms)

    def _quantified(self, head: str, variables: Expression, body: Expression) -> c.Condition:
        outer = dict(self.names)
        bound = self.bind_all(variables)
        inner = self.condition(body)
        for var, of_type in reversed(bound):
            inner = c.ForAll(var, of_type, inner) if head == "forall" else c.Exists(var, c.And((of_type, inner)))
        self.names = outer
        return inner

    def term(self, item: Expression) -> c.Term:
        """Return the variable of a parameter or quantified variable, or the id of an object."""
        name = item.text if isinstance(item, Word) else f"({item.head} …)"
        if name in self.names:
            return self.names[name]
        if name.startswith("?"):
            self._source.check(
                name, self.names, item.line, f"{name} is no parameter, and not quantified", "; declare it"
            )
        then = f"; declare it, or write ?{name}"
        self._source.check(name, self._objects, item.line, f"no object is called {name}", then)
        return c.Id(self._types.node_named(name))

    def text(self, item: Expression) -> str:
        """Return an expression as PDDL, with ``{x}`` for the node of a variable."""
        if isinstance(item, Word):
            return f"{{{self.names[item.text]}}}" if item.text in self.names else _escaped(item.text)
        if item.head in QUANTIFIERS:
            variables, body = item.rest
            given = typed_names(variables.items) if isinstance(variables, Form) else ()
            return f"({item.head} ({' '.join(_escaped(name.text) for name, _ in given)}) {self.text(body)})"
        return f"({' '.join(map(self.text, item.items))})"


def _escaped(text: str) -> str:
    """Return text for a message in which braces stand for variables."""
    return text.replace("{", "{{").replace("}", "}}")


def identifier(name: str) -> str:
    """Return a name of PDDL as an identifier: ``from_room``."""
    name = _BREAK.sub("_", name.removeprefix("?"))[:60]
    return name if name[:1].isalpha() else f"n_{name}"


def conjuncts_of(item: Expression) -> Iterator[Expression]:
    """Yield the conjuncts of an expression, nested ones flattened."""
    if isinstance(item, Form) and (item.head == "and" or not item.items):
        for part in item.rest:
            yield from conjuncts_of(part)
    else:
        yield item
