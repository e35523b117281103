"""Goals as text in the language in which they are typed: what its parser reads is written so that it reads it again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product, takewhile

import scenecypher.db.condition as c
from scenecypher.db.store.reference import value_words
from scenecypher.planner.actions.operator import is_static
from scenecypher.planner.sessions.goal_things import Parts
from scenecypher.planner.sessions.goal_words import ANYTHING, is_with_agent


def goal_text(goal: c.Condition) -> str | None:
    """Return a goal as it is typed, such as ``x: all cup; x ON shelf``; None if the language has no words for it.

    That what is taken out of something is put down is left out: the parser adds it.
    """
    writer = _Writer(dict(_ranges(goal)))
    try:
        writer.write(goal, {})
    except _NotSayable:
        return None
    return "; ".join((*writer.things, *writer.facts))


class _NotSayable(ValueError):
    """A condition that the language of goals has no words for."""


@dataclass(frozen=True, slots=True)
class _Quantified:
    """What a quantifier says: of how many things, what these are, and what holds of them."""

    var: str
    quantity: str
    among: Parts
    parts: Parts

    @property
    def class_(self) -> str:
        """The class of the things."""
        match self.among[0]:
            case c.HasClass(x, class_) if x == self.var:
                return class_
            case c.HasKind(x, "Object") if x == self.var:
                return ANYTHING
            case _:
                raise _NotSayable

    @classmethod
    def of(cls, condition: c.Condition, known: Callable[[_Quantified], int]) -> _Quantified | None:
        """Return what a condition says if it is a quantifier; `known` of its parts say what the things are.

        That a thing is not another one says so, too.
        """
        match condition:
            case c.ForAll(var, among, then):
                quantity, parts = ("no", then.part) if isinstance(then, c.Not) else ("all", then)
                return cls(var, quantity, (*c.conjuncts(among),), (*c.conjuncts(parts),))
            case c.Exists(var, where) if not var.startswith("some_"):
                quantity = "one"
            case c.AtLeast(n, var, where):
                quantity = f"{n}"
            case c.Exactly(n, var, where):
                quantity = f"exactly {n}"
            case c.Not(c.AtLeast(n, var, where)):
                quantity = f"at most {n - 1}"
            case _:
                return None
        both = (*c.conjuncts(where),)
        split = known(cls(var, quantity, both, ()))
        what, facts = both[:split], [it for it in both[split:] if not _apart(it, var)]
        return cls(var, quantity, (*what, *(it for it in both[split:] if _apart(it, var))), tuple(facts))


@dataclass(slots=True)
class _Writer:
    """The things and facts that were written so far, and what says what some things are."""

    known: Mapping[str, Parts]
    things: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)

    def write(self, condition: c.Condition, names: Mapping[str, str]) -> None:
        """Add what a condition says; `names` are those of its variables."""
        for clause in _clauses(condition):
            ways = [self._quantified(it) for it in c.disjuncts(clause)]
            first = ways[0] if ways else None
            if first and all(it and it.var == first.var and it.among[1:] == first.among[1:] for it in ways):
                self._write_things(first, names, alike=len(ways) > 1)
            else:
                self.facts.append(_any_of(clause, names))

    def _quantified(self, condition: c.Condition) -> _Quantified | None:
        match condition:
            case c.ForAll(var, among, c.Not(c.AtLeast() as many) as then) if self._is_at_most(var, many):
                return _Quantified(var, "all", (*c.conjuncts(among),), (then,))
            case _:
                return _Quantified.of(condition, self._known)

    def _known(self, it: _Quantified) -> int:
        """Return how many of the first parts say what things are; a class may stand before that of one kind."""
        if among := self.known.get(it.var):
            return len(among) + (it.among[: len(among)] != among)
        of_kind = 1 + sum(isinstance(part, c.HasClass | c.HasKind) for part in it.among[1:2])
        known = len([*takewhile(is_static, it.among)]) if it.quantity.startswith("at most") else of_kind
        return max(1, min(known, len(it.among) - 1))

    def _is_at_most(self, var: str, many: c.AtLeast) -> bool:
        """Check if not so many are said to be at most one less: the parser puts down other things then."""
        if any(map(_owner, c.conjuncts(many.where))):
            return True
        atoms = [it for it in c.atoms_of(many) if isinstance(it, c.Related) and it.type in {"INSIDE", "ON"}]
        return many.var in self.known or (var not in self.known and all(it.source != many.var for it in atoms))

    def _write_things(self, it: _Quantified, names: Mapping[str, str], *, alike: bool = False) -> None:
        if alike:  # the first condition is that of one of the kinds
            it = _Quantified(it.var, it.quantity, it.among[1:], it.parts)
        number = len(self.things)
        names = {**names, it.var: "xyzuvw"[number] if number < len("xyzuvw") else f"x{number}"}
        owners = [names[owner] for part in it.parts if (owner := _owner(part))]
        others = [names[other] for part in it.among if (other := _apart(part, it.var))]
        where = _all_of([part for part in it.among[1:] if not _apart(part, it.var)], names)
        said = [
            f"{names[it.var]}: {it.quantity} {it.class_}",
            " of one kind" if alike else "",
            *(f" for each {owner}" for owner in owners),
            f" other than {', '.join(others)}" if others else "",
            f" where {where}" if where else "",
        ]
        self.things.append("".join(said))
        self.write(c.all_of(tuple(part for part in it.parts if not _owner(part))), names)


def _all_of(parts: list[c.Condition], names: Mapping[str, str]) -> str:
    return " and ".join(_any_of(clause, names) for part in parts for clause in _clauses(part))


def _any_of(clause: c.Condition, names: Mapping[str, str]) -> str:
    nothing = f"not {(x := [*names.values()][-1])} is {x}" if clause == c.NEVER else ""
    return " or ".join(_fact(it, names) for it in c.disjuncts(clause)) or nothing


def _fact(condition: c.Condition, names: Mapping[str, str]) -> str:
    """Return a fact; one of a quantified thing names it by a phrase such as ``all cup``. Raises _NotSayable."""
    match condition:
        case c.Exists("some_agent", c.And((_, c.HeldBy(x, _)))):
            return f"{_named(x, names)} is held"
        case c.Exists(var, c.And((c.HasClass(_, class_), c.Related(x, type_)))) if var.startswith("some_"):
            return f"{_named(x, names)} {type_} {class_}"
        case c.Not(part) if not isinstance(part, c.AtLeast):
            return f"not {_fact(part, names)}"
        case c.Or((c.PropertyEquals(x, key), *_) as ways) if all(isinstance(it, c.PropertyEquals) for it in ways):
            values = (value_words(it.value)[-1] for it in ways if isinstance(it, c.PropertyEquals))
            return f"{_named(x, names)} has {key} {'|'.join(values)}"
        case c.HasState() | c.Same() | c.PropertyEquals() | c.HasClass() | c.HasKind() | c.Related():
            return _atom(condition, names)
    it = _Quantified.of(condition, lambda it: len(it.among) - 1)
    if it is None or len(it.parts) != 1:
        raise _NotSayable
    where = _all_of([*it.among[1:]], {it.var: "it"})
    phrase = f"{it.quantity} {it.class_}" + (f" (where {where})" if where else "")
    return _fact(it.parts[0], {**names, it.var: phrase})


def _atom(atom: c.Atom, names: Mapping[str, str]) -> str:
    x = _named(c.terms(atom)[0], names)
    match atom:
        case c.HasState(_, state):
            return f"{x} is {state}"
        case c.Same(_, y):
            return f"{x} is {_named(y, names)}"
        case c.PropertyEquals(_, key, value):
            return f"{x} has {key} {value_words(value)[-1]}"
        case c.HasClass(_, class_):
            return f"{x} has class {class_}"
        case c.Related(_, type_, y):
            return f"{x} {type_} {_named(y, names)}"
        case _:
            return f"{x} is {ANYTHING}"


def _named(term: c.Term, names: Mapping[str, str]) -> str:
    return term.id if isinstance(term, c.Id) else names[term]


def _clauses(condition: c.Condition) -> Iterator[c.Condition]:
    """Yield what must hold, each a fact or alternatives; what the parser adds is left out."""
    match condition:
        case c.Not(part) | c.ForAll(then=c.Not(part)) if _is_put_down(part):
            return
        case c.And(parts):
            for part in parts:
                yield from _clauses(part)
        case c.Not(c.Not() | c.And() | c.Or() as part):
            yield from _clauses(_denied(part))
        case c.Or(parts):
            yield from _alternatives(parts)
        case _:
            yield condition


def _denied(part: c.Not | c.And | c.Or) -> c.Condition:
    """Return the opposite of a condition, as one of its parts' opposites."""
    if isinstance(part, c.Not):
        return part.part
    return (c.Or if isinstance(part, c.And) else c.And)(tuple(map(c.Not, part.parts)))


def _alternatives(parts: tuple[c.Condition, ...]) -> Iterator[c.Condition]:
    """Yield what must hold so that one of the parts does; what holds of each of several nodes is said of each."""
    nodes = [*map(_node_of, parts)]
    if all(nodes) and len({*nodes}) == len(nodes) > 1:
        same = [next(c.conjuncts(it)) for it in parts]
        yield c.Or(tuple(same))
        for it, part in zip(same, parts, strict=True):
            yield from _clauses(c.Or((c.Not(it), c.And((*c.conjuncts(part),)[1:]))))
        return
    for ways in product(*(tuple(_clauses(part)) for part in parts)):
        yield c.any_of(tuple(it for way in ways for it in c.disjuncts(way)))


def _node_of(part: c.Condition) -> str:
    """Return the node of which an alternative is; "" if it does not begin with that a thing is a node."""
    match part:
        case c.And((c.Same(_, c.Id(node)), _, *_)):
            return node
        case _:
            return ""


def _ranges(condition: c.Condition) -> Iterator[tuple[str, Parts]]:
    """Yield what says what things are of which some must not be in a hand, by their variables."""
    match condition:
        case c.ForAll(var, among, c.Not(part)) if _is_put_down(part):
            yield var, (*c.conjuncts(among),)
        case _:
            for part in c.children(condition):
                yield from _ranges(part)


def _is_put_down(condition: c.Condition) -> bool:
    match condition:
        case c.Exists("some_agent", c.And((_, c.Or((c.HeldBy(x, _), _))))):
            return condition == is_with_agent(x)
        case _:
            return False


def _apart(condition: c.Condition, var: str) -> str:
    """Return the variable from whose thing that of `var` must differ; "" if a condition says something else."""
    match condition:
        case c.Not(c.Same(x, str(other))) if x == var != other:
            return other
        case _:
            return ""


def _owner(condition: c.Condition) -> str:
    """Return the variable of the thing whose own another one is; "" if a condition says something else."""
    match condition:
        case c.Not(c.Exists(var, c.And((*_, c.Not(c.Same(_, str(owner))))))) if var == f"other_{owner}"[:64]:
            return owner
        case _:
            return ""
