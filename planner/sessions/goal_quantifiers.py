"""What a goal's facts hold of: things with quantities, and the conditions that they quantify."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import scenecypher.db.condition as c
from scenecypher.errors import UnknownReference

Parts: TypeAlias = tuple[c.Condition, ...]
NAME_LENGTH: Final = 64
NO_LEAST: Final = frozenset({"all", "no", "at most"})
"""Quantities that hold of no things, too."""


@dataclass(frozen=True, slots=True)
class Things:
    """What a name ranges over (`among`, all of one of the classes `kinds`), and how many of these are meant."""

    name: str
    among: Parts
    quantity: str = "one"
    number: int = 1
    owner: str = ""
    kinds: tuple[str, ...] = ()

    @property
    def about(self) -> frozenset[str]:
        """Its name, and those that it depends on."""
        return c.free_variables(c.And(self.among)) | {self.name, self.owner}

    def having(self, parts: Parts) -> c.Condition:
        """Return that the parts hold of as many of the things as it says."""
        ways = [(c.HasClass(self.name, kind), *self.among) for kind in self.kinds] or [self.among]
        return c.any_of(tuple(self._counted(among, parts) for among in ways))

    def _counted(self, among: Parts, parts: Parts) -> c.Condition:
        name, both = self.name, c.And((*among, *parts))
        match self.quantity:
            case "all":
                return c.ForAll(name, c.all_of(among), c.all_of(parts))
            case "no":
                return c.ForAll(name, c.all_of(among), c.Not(c.all_of(parts)))
            case "at least":
                return c.AtLeast(self.number, name, both)
            case "exactly":
                return c.Exactly(self.number, name, both)
            case "at most":
                return c.Not(c.AtLeast(self.number + 1, name, both))
            case _:
                return c.Exists(name, both)


def quantified(things: Sequence[Things], facts: Parts) -> Iterator[c.Condition]:
    """Yield the conjuncts: the facts about none of the things, then those that share things, within quantifiers.

    Outermost is that of `one` thing, which is the same for all others.
    """
    names, linked = frozenset(it.name for it in things), list[frozenset[str]]()
    for about in (*(it.about for it in things), *map(c.free_variables, facts)):
        joined = [it for it in linked if it & about]
        linked = [*(it for it in linked if it not in joined), (about & names).union(*joined)]
    yield from (it for it in facts if not c.free_variables(it) & names)
    for group in linked:
        if inner := tuple(it for it in facts if c.free_variables(it) & group):
            among = [it for it in things if it.name in group]
            first = min(among, key=lambda it: (len(it.about & group), it.quantity != "one"))
            yield first.having((*quantified([it for it in among if it is not first], inner),))


def no_other(owner: Things, own: Things, facts: Parts) -> c.Condition:
    """Return the condition that no other thing like `owner` shares what is its `own`, by the facts that join the two.

    Raises UnknownReference if none does.
    """
    joining = [it for it in facts if {owner.name, own.name} <= c.free_variables(it) and not isinstance(it, c.Not)]
    if not joining:
        raise UnknownReference(f"no fact joins {own.name!r} and {owner.name!r}: state the relation of the two")
    other = f"other_{owner.name}"[:NAME_LENGTH]
    alike = tuple(c.bind(part, {owner.name: other}) for part in (*owner.among, *joining))
    return c.Not(c.Exists(other, c.And((*alike, c.Not(c.Same(other, owner.name))))))
