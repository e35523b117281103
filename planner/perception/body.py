"""What a robot knows of itself without looking: what it holds and, where its world tells it, where it is and how."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.schema import HOLDING, VOCABULARIES
from scenecypher.db.store.footprint import PatternRead, ReadPlan, RelationPattern
from scenecypher.planner.perception.draft import Draft, phrase
from scenecypher.planner.perception.merge import Finding, Merge
from scenecypher.planner.perception.observation import Support


@dataclass(frozen=True, slots=True)
class Body:
    """An agent as its world has it: the things that it holds, each with the relation's type.

    What it is in or on, and its states, are None where the world does not tell them.
    """

    agent: str
    held: tuple[tuple[str, Node], ...]
    places: tuple[Support, ...] | None = None
    states: tuple[str, ...] | None = None


def body_reads(vocabulary: str) -> ReadPlan:
    """What is read of a world's scene for `body_of`."""
    hop = RelationPattern("agent", (*HOLDING, *VOCABULARIES[vocabulary].containment), "x")
    return ReadPlan(("agent",), (PatternRead((hop,), rows=(hop,), whole=("x",)),))


def body_of(part: SceneGraph, agent: str) -> Body:
    """The body of an agent of `part`, which is what `body_reads` read."""
    own = sorted(part.outgoing.get(agent, ()))
    held = tuple((it.type, part.nodes[it.target]) for it in own if it.type in HOLDING)
    places = tuple((it.type, it.target) for it in own if it.type not in HOLDING)
    return Body(agent, held, places, part.nodes[agent].states)


def merge_body(belief: SceneGraph, body: Body, *, vocabulary: str) -> Merge:
    """Bring what is believed of an agent of `belief` up to date with what it knows of itself."""
    draft = _Draft(belief, vocabulary, body)
    findings = [*draft.let_go(), *draft.take(), *draft.move(), *draft.restate()]
    return Merge(draft.delta(), tuple(findings))


@dataclass(slots=True)
class _Draft(Draft):
    """The belief as it comes to be, of one thing after the other."""

    body: Body

    def let_go(self) -> Iterator[Finding]:
        """What it is believed to hold, and does not."""
        held = {thing.id for _, thing in self.body.held}
        for thing in self.belief.targets(self.body.agent, *HOLDING):
            if thing not in held:
                self.take_away(thing)
                self.mark(thing, seen=False)
                yield Finding("absent", thing, f"believed held by {self.body.agent}, which does not hold it")

    def take(self) -> Iterator[Finding]:
        """What it holds, and is not believed to."""
        for type_, thing in self.body.held:
            relation = Relation(self.body.agent, type_, thing.id)
            if relation not in self.belief.relations:
                new = thing.id not in self.nodes
                self.nodes.setdefault(thing.id, thing)
                self.take_away(thing.id)
                self.mark(thing.id, seen=True)
                self.relations.add(relation)
                yield Finding("new" if new else "moved", thing.id, f"held by {self.body.agent}")

    def move(self) -> Iterator[Finding]:
        """Where it is."""
        agent, kinds = self.body.agent, VOCABULARIES[self.vocabulary].containment
        believed = {it for it in self.belief.outgoing.get(agent, ()) if it.type in kinds}
        places = {Relation(agent, *place) for place in self.body.places or () if place[1] in self.nodes}
        if places and places != believed:
            self.take_away(agent)
            self.relations |= places
            yield Finding("moved", agent, f"it is {_where(places)}, believed {_where(believed) or 'nowhere'}")

    def restate(self) -> Iterator[Finding]:
        """Its states."""
        node, states = self.nodes[self.body.agent], self.body.states
        if states is not None and states != node.states:
            self.nodes[node.id] = replace(node, states=states)
            yield Finding("changed", node.id, f"it is {', '.join(states) or 'in no special state'}")


def _where(places: set[Relation]) -> str:
    return " and ".join(phrase(it.type, it.target) for it in sorted(places))
