"""Conditions as PDDL: what never changes is evaluated, and all that is no single fact is a derived predicate."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, TypeAlias

import scenecypher.db.condition as c
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.schema import HOLDING
from scenecypher.planner.actions.operator import Choose, is_static, variables_of
from scenecypher.planner.symbolic import expressions as pddl

RESERVED: Final = ("and", "or", "not", "imply", "when", "exists", "forall", "either", "object")
_BREAK: Final = re.compile(r"[^a-z0-9_]+")


@dataclass(frozen=True, slots=True)
class Chosen:
    """A variable that an operator chooses, with the terms of the variables that it knew before."""

    choice: Choose
    scope: Scope


Scope: TypeAlias = Mapping[str, str | c.Id | Chosen]
"""The PDDL variable, the node or the choice that each variable of a condition stands for; none if it is unbound."""


@dataclass(slots=True)
class Names:
    """Gives each key a name that PDDL allows, none twice."""

    by_key: dict[Any, str] = field(default_factory=dict)
    _used: set[str] = field(default_factory=lambda: {*RESERVED})

    def of(self, key: object, text: str) -> str:
        """Return the name of a key, made of `text` at first."""
        if key not in self.by_key:
            name = _BREAK.sub("_", text.casefold()).strip("_") or "x"
            found = unused_name(name if name[0].isalpha() else f"x_{name}", self._used)
            self._used.add(found)
            self.by_key[key] = found
        return self.by_key[key]


def unused_name(name: str, used: Iterable[str]) -> str:
    """Return the name, with a number if it is used already."""
    taken = {*used}
    numbered = (f"{name}_{number}" for number in range(2, len(taken) + 3))
    return next(it for it in (name, *numbered) if it not in taken)


@dataclass(slots=True)
class ConditionWriter:
    """Writes conditions on a graph, and collects the predicates that they need.

    `parents` are the types of relations of which each node has one at most, all together.
    """

    graph: SceneGraph
    parents: frozenset[str] = frozenset()
    derived: dict[object, tuple[pddl.Expression, pddl.Expression]] = field(default_factory=dict)
    """Head and body of each derived predicate."""
    _facts: dict[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    _predicates: Names = field(default_factory=Names)
    _objects: Names = field(default_factory=Names)
    _true_of: dict[object, tuple[str, ...]] = field(default_factory=dict)
    _ids: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        self._ids = tuple(sorted(self.graph.nodes))

    @property
    def objects(self) -> Mapping[str, str]:
        """The nodes by their names in PDDL."""
        return {self.object(node): node for node in self._ids}

    def facts(self) -> Iterator[pddl.Expression]:
        """Yield the facts that hold at first, of all predicates."""
        for key, name in self._predicates.by_key.items():
            found: Iterable[tuple[str, ...]]
            match key:
                case "state", state:
                    found = [(node.id,) for node in self.graph.nodes.values() if state in node.states]
                case "relation", type_:
                    found = [(it.source, it.target) for it in self.graph.relations if it.type == type_]
                case _:
                    found = self._facts.get(name, ())
            yield from ((name, *map(self.object, ends)) for ends in sorted(found))

    def object(self, node: str) -> str:
        """Return the name of a node."""
        return self._objects.of(node, node)

    def state(self, state: str, x: str | c.Id) -> pddl.Expression:
        """Return that a node is in a state."""
        return self._atom(self._predicates.of(("state", state), f"is_{state}"), x)

    def relation(self, type_: str, x: str | c.Id, y: str | c.Id) -> pddl.Expression:
        """Return that a node has a relation to another."""
        return self._atom(self._predicates.of(("relation", type_), type_), x, y)

    def _atom(self, predicate: str, *ends: str | c.Id) -> pddl.Expression:
        if any(isinstance(it, c.Id) and it.id not in self.graph.nodes for it in ends):
            return pddl.FALSE
        return (predicate, *(self.object(it.id) if isinstance(it, c.Id) else it for it in ends))

    # --- conditions

    def read(self, condition: c.Condition, scope: Scope) -> pddl.Expression:
        """Return a condition as an expression."""
        known = self._evaluated(condition, scope) if is_static(condition) else None
        if known is not None:
            return known
        match condition:
            case c.And():
                return pddl.all_of(self._parts(condition, scope))
            case c.Or(parts):
                return pddl.any_of(self.read(part, scope) for part in parts)
            case c.Not(part):
                return pddl.negated(self.read(part, scope))
            case c.Exists() | c.ForAll() | c.AtLeast() | c.Exactly():
                return self._quantified(condition, scope)
            case _:
                return self._read_atom(condition, scope)

    def _quantified(self, condition: c.Quantifier, scope: Scope) -> pddl.Expression:
        match condition:
            case c.Exists(var, where):
                return self._some(var, where, scope)
            case c.ForAll(var, where, then):
                return pddl.negated(self._some(var, c.And((where, c.Not(then))), scope))
            case c.AtLeast(n, var, where):
                return self._at_least(n, var, where, scope)
            case c.Exactly(n, var, where):
                more = self._at_least(n + 1, var, where, scope)
                return pddl.all_of((self._at_least(n, var, where, scope), pddl.negated(more)))

    def _parts(self, condition: c.And, scope: Scope) -> Iterator[pddl.Expression]:
        """Yield the parts of a conjunction; a path leads only to what the rest allows at its end."""
        parts = [*c.conjuncts(condition)]
        for part in parts:
            if isinstance(part, c.Within) and isinstance(scope.get(str(part.y)), str):
                guard = [it for it in parts if is_static(it) and variables_of(it) == {part.y}]
                yield self._read_atom(part, scope, guard=c.And(tuple(guard)))
            else:
                yield self.read(part, scope)

    def _some(self, var: str, where: c.Condition, scope: Scope) -> pddl.Expression:
        same = self._same(var, where, scope)
        if same is not None:
            return self.read(where, {**scope, var: same})
        term = self.fresh(var, scope)
        return pddl.some(term, self.read(where, {**scope, var: term}))

    def _same(self, var: str, where: c.Condition, scope: Scope) -> str | c.Id | None:
        """Return the only node that a condition on `var` allows: it says which."""
        for part in c.conjuncts(where):
            if isinstance(part, c.Same) and var in (part.x, part.y) and part.x != part.y:
                other = part.y if part.x == var else part.x
                found = other if isinstance(other, c.Id) else scope.get(other)
                if isinstance(found, str) or (isinstance(found, c.Id) and found.id in self.graph.nodes):
                    return found
        return None

    def fresh(self, var: str, scope: Scope) -> str:
        """Return a PDDL variable for a variable that a quantifier binds."""
        return unused_name(f"?{var.casefold()}", (it for it in scope.values() if isinstance(it, str)))

    def _read_atom(  # noqa: PLR0911 - a row a form
        self, atom: c.Atom, scope: Scope, *, guard: c.Condition = c.ALWAYS
    ) -> pddl.Expression:
        ends = [it if isinstance(it, c.Id) else scope.get(it) for it in c.terms(atom)]
        chosen = next((it for it in ends if isinstance(it, Chosen)), None)
        if chosen is not None:
            return self._of_chosen(atom, chosen, scope)
        bound = [it for it in ends if it is not None and not isinstance(it, Chosen)]
        if len(bound) < len(ends):
            return pddl.FALSE
        match atom:
            case c.HasState():
                return self.state(atom.state, *bound)
            case c.Related():
                return self.relation(atom.type, *bound)
            case c.HeldBy():
                return pddl.any_of(self.relation(type_, bound[1], bound[0]) for type_ in HOLDING)
            case c.Same():
                return self._atom("=", *bound)
            case c.Within():
                return self._atom(self._within(atom, guard), *bound)
        raise AssertionError(atom)  # others never change

    # --- what never changes

    def _evaluated(self, condition: c.Condition, scope: Scope) -> pddl.Expression | None:
        """Return a condition that never changes as a constant, or a predicate of the variable that it leaves open.

        None if it leaves several open, or mentions a choice.
        """
        terms = {name: scope[name] for name in variables_of(condition) if name in scope}
        variables = {term for term in terms.values() if isinstance(term, str)}
        if len(variables) > 1 or any(isinstance(term, Chosen) for term in terms.values()):
            return None
        known = {name: term.id for name, term in terms.items() if isinstance(term, c.Id)}
        if not variables:
            return pddl.TRUE if c.evaluate(condition, self.graph, known) else pddl.FALSE
        open_ = [name for name, term in terms.items() if isinstance(term, str)]
        return self._one_of(self._nodes(condition, open_, known), *variables)

    def _nodes(self, condition: c.Condition, open_: Iterable[str], known: Mapping[str, str]) -> tuple[str, ...]:
        key = (condition, *sorted(open_), *sorted(known.items()))
        if key not in self._true_of:
            found = (x for x in self._ids if c.evaluate(condition, self.graph, {**known, **dict.fromkeys(open_, x)}))
            self._true_of[key] = tuple(found)
        return self._true_of[key]

    def _one_of(self, nodes: tuple[str, ...], variable: str) -> pddl.Expression:
        if len(nodes) in (0, len(self.graph.nodes)):
            return pddl.TRUE if nodes else pddl.FALSE
        name = self._predicates.of(("nodes", nodes), "fits")
        self._facts[name] = tuple((node,) for node in nodes)
        return (name, variable)

    # --- choices

    def _of_chosen(self, atom: c.Atom, chosen: Chosen, scope: Scope) -> pddl.Expression:
        """Return an atom about a choice: it is true of the node that is chosen, and false if there is none."""
        var = chosen.choice.var
        if isinstance(atom, c.Same):
            if atom.x == atom.y:
                return pddl.any_of(self._some(var, among, chosen.scope) for among in chosen.choice.among)
            other = atom.y if atom.x == var else atom.x
            term = other if isinstance(other, c.Id) else scope.get(other)
            if not isinstance(term, Chosen):
                return pddl.FALSE if term is None else self.is_chosen(chosen, term)
        term = self.fresh(var, scope)
        return pddl.some(term, pddl.all_of((self.is_chosen(chosen, term), self.read(atom, {**scope, var: term}))))

    def is_chosen(self, chosen: Chosen, term: str | c.Id) -> pddl.Expression:
        """Return that a node is the choice: the first by id of those of the first alternative that has any."""
        var, among = chosen.choice.var, chosen.choice.among
        if isinstance(term, c.Id) and term.id not in self.graph.nodes:
            return pddl.FALSE
        children = {self._child(it, var) for it in among}
        if len(children) == 1 and None not in children:
            return pddl.any_of(self.read(it, {**chosen.scope, var: term}) for it in among)
        ways: list[pddl.Expression] = []
        earlier: list[pddl.Expression] = []
        for it in among:
            first = pddl.negated(self._before(var, it, chosen.scope, term))
            ways.append(pddl.all_of((self.read(it, {**chosen.scope, var: term}), first, *earlier)))
            earlier.append(pddl.negated(self._some(var, it, chosen.scope)))
        return pddl.any_of(ways)

    def _child(self, where: c.Condition, var: str) -> c.Term | None:
        """Return the node that a condition says to be in, on or held by `var`, which it is of one node at most."""
        for part in c.conjuncts(where):
            if isinstance(part, c.Related) and part.type in self.parents:
                child, parent = c.terms(part)[:: -1 if part.type in HOLDING else 1]
                if parent == var != child:
                    return child
        return None

    # --- counting, in the order of the ids

    def _at_least(self, least: int, var: str, where: c.Condition, scope: Scope) -> pddl.Expression:
        nodes = self._candidates(var, where)
        if least <= 1:
            return self._some(var, where, scope) if least else pddl.TRUE
        if least > len(nodes):
            return pddl.FALSE
        return self._up_to(least, var, where, scope, c.Id(nodes[-1]))

    def _before(self, var: str, where: c.Condition, scope: Scope, term: str | c.Id) -> pddl.Expression:
        """Return that a condition is true of a node before another."""
        nodes = self._candidates(var, where)
        if len(nodes) <= 1 or self._same(var, where, scope) is not None:
            return pddl.FALSE
        earlier = self.fresh("earlier", {**scope, var: term})
        return pddl.some(
            earlier, pddl.all_of((self._next(nodes, earlier, term), self._up_to(1, var, where, scope, earlier)))
        )

    def _candidates(self, var: str, where: c.Condition) -> tuple[str, ...]:
        """Return the nodes of which a condition may be true, by id."""
        about = tuple(part for part in c.conjuncts(where) if is_static(part) and variables_of(part) == {var})
        return self._nodes(c.And(about), (var,), {})

    def _next(self, nodes: tuple[str, ...], one: str, other: str | c.Id) -> pddl.Expression:
        name = self._predicates.of(("next", nodes), "next")
        self._facts[name] = tuple(pairwise(nodes))
        return self._atom(name, one, other)

    def _up_to(self, least: int, var: str, where: c.Condition, scope: Scope, last: str | c.Id) -> pddl.Expression:
        """Return that a condition is true of at least so many of the nodes up to the `last`."""
        nodes = self._candidates(var, where)
        it = self.fresh(var, scope)
        true = self.read(where, {**scope, var: it})
        others = tuple(name for name in pddl.free_variables(true) if name != it)
        names = pddl.canonical_names(true, first=(*others, it))
        key = ("count", least, pddl.renamed(true, names), nodes)
        name = self._predicates.of(key, f"first_{least}")
        if key not in self.derived:
            arguments = (*(names[other] for other in others), names[it])
            counts = [("count", number, *key[2:]) for number in range(least, 0, -1)]
            for count in counts:
                self.derived[count] = (self._predicates.of(count, f"first_{count[1]}"), *arguments), pddl.FALSE
            for count in reversed(counts):
                self.derived[count] = self.derived[count][0], self._counting(count, names[it])
        return self._atom(name, *others, last)

    def _counting(self, key: tuple[Any, ...], it: str) -> pddl.Expression:
        """Return the body of `_up_to`: so many before this node, or one less and this one."""
        _, least, true, nodes = key
        head, _ = self.derived[key]
        before = (*head[:-1], "?before")
        one_before = self._next(nodes, "?before", it)
        if least > 1:
            fewer, _ = self.derived["count", least - 1, true, nodes]
            true = pddl.all_of((true, pddl.some("?before", pddl.all_of((one_before, (fewer[0], *before[1:]))))))
        return pddl.any_of((self.literal(true, denied=True), pddl.some("?before", pddl.all_of((one_before, before)))))

    # --- derived predicates

    def _within(self, atom: c.Within, guard: c.Condition) -> str:
        """Return the derived predicate of a path to a node that the guard is true of."""
        at_end = self.read(guard, {str(atom.y): "?y"})
        key = ("within", atom.types, at_end)
        name = self._predicates.of(key, "within")
        if key not in self.derived:
            first = self.literal(pddl.any_of(self.relation(type_, "?x", "?y") for type_ in atom.types), denied=True)
            step = pddl.any_of(self.relation(type_, "?x", "?between") for type_ in atom.types)
            further = self.literal(pddl.all_of((step, (name, "?between", "?y"))), denied=True)
            ways = pddl.any_of((first, pddl.some("?between", further)))
            self.derived[key] = (name, "?x", "?y"), pddl.all_of((at_end, ways))
        return name

    def literals(self, part: pddl.Expression) -> pddl.Expression:
        """Return an expression as a conjunction of literals."""
        return pddl.all_of(map(self.literal, part[1:] if part[0] == "and" else (part,)))

    def literal(self, part: pddl.Expression, *, denied: bool = False) -> pddl.Expression:
        """Return an expression as an atom or its negation, over a derived predicate if it is none.

        So disjunctions are not multiplied out with each other, nor what is `denied`, of which heuristics need the
        opposite.
        """
        if part in (pddl.TRUE, pddl.FALSE) or part[0] not in pddl.CONNECTIVES:
            return part
        if part[0] == "not":
            return pddl.negated(self.literal(part[1], denied=not denied))
        free = pddl.free_variables(part)
        names = pddl.canonical_names(part, first=free)
        key = (denied, pddl.renamed(part, names))
        name = self._predicates.of(key, "unmet" if denied else "met")
        if key not in self.derived:
            self.derived[key] = (name, *(names[it] for it in free)), self._body(key[1], denied=denied)
        return (name, *free)

    def _body(self, part: pddl.Expression, *, denied: bool) -> pddl.Expression:
        if part[0] == "exists":
            return ("exists", part[1], self._joined(part[2], denied=denied))
        return (part[0], *(self.literal(it, denied=denied) for it in part[1:]))

    def _joined(self, part: pddl.Expression, *, denied: bool) -> pddl.Expression:
        """Return the inside of an existential: literals, of which one may change if it is denied."""
        if part[0] != "and":
            return self.literal(part, denied=denied)
        found = [self.literal(it, denied=denied) for it in part[1:]]
        is_simple = not denied or sum(not self._is_fixed(it) for it in found) <= 1
        return ("and", *found) if is_simple else self.literal(part, denied=denied)

    def _is_fixed(self, literal: pddl.Expression) -> bool:
        atom = literal[1] if literal[0] == "not" else literal
        return atom[0] == "=" or atom[0] in self._facts
