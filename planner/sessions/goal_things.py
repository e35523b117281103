"""What a goal's facts hold of: things with quantities, and earlier places and states by the scene's history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import scenecypher.db.condition as c
from scenecypher.db.condition import Condition, HasState, Id, Not, Related
from scenecypher.db.graph.change import AddRelation, ChangeList, RemoveRelation, inverse
from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.db.schema import HOLDING
from scenecypher.db.store.history import Event, in_effect
from scenecypher.errors import UnknownReference
from scenecypher.planner.symbolic.parts import CONTAINMENT

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


def earlier_facts(graph: SceneGraph, events: Iterable[Event], node: str, *, by_place: bool) -> tuple[Condition, ...]:
    """Return where a thing was before it was last moved, or its states before one last changed.

    `events` are newest first. A thing in a hand is between two places. Raises UnknownReference if it never was so.
    """
    relations = {*graph.outgoing.get(node, ()), *graph.incoming.get(node, ())}
    states = {*graph.nodes[node].states}
    place, now = _place(graph, node, relations), {*states}
    for event in in_effect(events):
        for change in reversed(event.delta.changes) if event.kind == "act" else ():
            match inverse(change):
                case AddRelation(relation) if node in (relation.source, relation.target):
                    relations.add(relation)
                case RemoveRelation(relation):
                    relations.discard(relation)
                case ChangeList(id=id_, field="states", added=added, removed=removed) if id_ == node:
                    states = states - {*removed} | {*added}
        before = _place(graph, node, relations)
        if by_place and before and before != place:
            return tuple(Related(Id(it.source), it.type, Id(it.target)) for it in before)
        if not by_place and states != now:
            gone = (Not(HasState(Id(node), it)) for it in sorted(now - states))
            return (*(HasState(Id(node), it) for it in sorted(states)), *gone)
    raise UnknownReference(f"{node} never {'was elsewhere' if by_place else 'changed'}: say where it shall be")


def _place(graph: SceneGraph, node: str, relations: Iterable[Relation]) -> tuple[Relation, ...]:
    """Return what a thing is in or on, a room only if there is nothing else; nothing if it is in a hand."""
    known = sorted(it for it in relations if it.source in graph.nodes and it.target in graph.nodes)
    if any(it.type in HOLDING and it.target == node for it in known):
        return ()
    above = [it for it in known if it.source == node and it.type in CONTAINMENT]
    return tuple(it for it in above if graph.nodes[it.target].kind != "Place") or tuple(above)
