"""What a goal's facts hold of: variables with quantities, and the conditions that they quantify."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import scenecypher.db.condition as c

NAME_LENGTH: Final = 64


@dataclass(frozen=True, slots=True)
class Variable:
    """What a name ranges over (`among`, all of one of the classes `kinds`), and how many of these are meant."""

    name: str
    among: tuple[c.Condition, ...]
    quantity: str = "one"
    number: int = 1
    owner: str = ""
    others: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    counted: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """A claim and the variables that it is about; `placed` is the thing that it says to be in or on another."""

    about: frozenset[str]
    claim: c.Condition
    placed: c.Term | None = None


def quantified(
    variables: Sequence[Variable], facts: Sequence[Fact], bound: tuple[Variable, ...]
) -> Iterator[c.Condition]:
    """Yield the conjuncts: each group of facts that share variables, within the quantifiers of these."""
    for names, group in _groups(variables, facts):
        inner = [it for it in variables if it.name in names]
        if not inner:
            yield from (fact.claim for fact in group)
            continue
        first, *rest = inner
        parts = tuple(quantified(rest, group, (*bound, first)))
        among = first.among + tuple(c.Not(c.Same(first.name, it.name)) for it in bound if _differ(first, it))
        owner = next((it for it in bound if it.name == first.owner), None)
        if owner is not None:
            parts = (*parts, _no_other(owner, first, group))
        ways = [(c.HasClass(first.name, kind), *among) for kind in first.kinds] or [among]
        found = tuple(_counted(first, way, parts) for way in ways)
        yield found[0] if len(found) == 1 else c.Or(found)


def _counted(it: Variable, among: tuple[c.Condition, ...], parts: tuple[c.Condition, ...]) -> c.Condition:
    """Return that the parts hold of as many of the things as a variable says."""
    match it.quantity:
        case "all":
            return c.ForAll(it.name, all_of(among), all_of(parts))
        case "no":
            return c.ForAll(it.name, all_of(among), c.Not(all_of(parts)))
        case "at least":
            return c.AtLeast(it.number, it.name, c.And(among + parts))
        case "exactly":
            return c.Exactly(it.number, it.name, c.And(among + parts))
        case "at most":
            return c.Not(c.AtLeast(it.number + 1, it.name, c.And(among + parts)))
        case _:
            return c.Exists(it.name, c.And(among + parts))


def _no_other(owner: Variable, own: Variable, facts: Sequence[Fact]) -> c.Condition:
    """Return the condition that no other thing like `owner` shares what is its `own`."""
    joining = tuple(it.claim for it in facts if it.about == {owner.name, own.name} and not isinstance(it.claim, c.Not))
    other = f"other_{owner.name}"[:NAME_LENGTH]
    alike = tuple(c.bind(part, {owner.name: other}) for part in (*owner.among, *joining))
    return c.Not(c.Exists(other, c.And((*alike, c.Not(c.Same(other, owner.name))))))


def _groups(variables: Sequence[Variable], facts: Sequence[Fact]) -> list[tuple[set[str], list[Fact]]]:
    """Return the facts in groups that share none of the variables, and constrain none of each other's, with these."""
    groups: list[tuple[set[str], list[Fact]]] = []
    for fact in facts:
        names = {it.name for it in variables if it.name in fact.about}
        names |= {it.name for it in variables for one in variables if one.name in names and _differ(it, one)}
        joined = [group for group in groups if group[0] & names]
        merged = (names.union(*(group[0] for group in joined)), [*(it for group in joined for it in group[1]), fact])
        groups = [*(group for group in groups if group not in joined), merged]
    return groups


def _differ(one: Variable, other: Variable) -> bool:
    return one.name in other.others or other.name in one.others


def all_of(parts: tuple[c.Condition, ...]) -> c.Condition:
    """Return the conjunction of parts; a single one is itself."""
    return parts[0] if len(parts) == 1 else c.And(parts)
