"""What a robot knows without looking: its own state, and what others do in its room.

Its state are held objects and, if its world provides them, its place and states.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from scenecypher.db.graph.change import nodes_of
from scenecypher.db.graph.delta import Delta
from scenecypher.db.graph.scene import GraphView, Node, Relation
from scenecypher.db.schema import HOLDING
from scenecypher.db.vocabulary import conventions_of
from scenecypher.planner.perception.draft import BeliefDraft, Finding, MergeResult, relation_text
from scenecypher.planner.prompts.layout import SceneLayout, surroundings


@dataclass(frozen=True, slots=True)
class Body:
    """An agent's true state: the held objects, each with the type of its relation.

    Places (containers and supports) and states are None if the world does not provide them.
    """

    agent: str
    held: tuple[tuple[str, Node], ...]
    places: tuple[tuple[str, str], ...] | None = None
    states: tuple[str, ...] | None = None


def body_of(world: GraphView, agent: str, *, vocabulary: str) -> Body:
    """Return the body of an agent of `world`."""
    own = sorted(world.outgoing.get(agent, ()))
    held = tuple((it.type, world.nodes[it.target]) for it in own if it.type in HOLDING)
    places = tuple((it.type, it.target) for it in own if it.type in conventions_of(vocabulary).containment)
    return Body(agent, held, places, world.nodes[agent].states)


def merge_body(belief: GraphView, body: Body, *, vocabulary: str) -> MergeResult:
    """Update an agent in `belief` by its own state."""
    draft = _BodyDraft(belief, vocabulary, body)
    findings = [*draft.merge_released(), *draft.merge_held(), *draft.merge_place(), *draft.merge_states()]
    return MergeResult(draft.delta(), tuple(findings))


@dataclass(slots=True)
class _BodyDraft(BeliefDraft):
    """Draft of a belief into which a body is merged."""

    body: Body

    def merge_released(self) -> Iterator[Finding]:
        """Remove objects that the agent is wrongly believed to hold."""
        held = {thing.id for _, thing in self.body.held}
        for thing in self.belief.targets(self.body.agent, *HOLDING):
            if thing not in held:
                self.mark_absent(thing)
                yield Finding("absent", thing, f"believed held by {self.body.agent}, which does not hold it")

    def merge_held(self) -> Iterator[Finding]:
        """Add held objects that are missing in the belief."""
        for type_, thing in self.body.held:
            relation = Relation(self.body.agent, type_, thing.id)
            if not self.belief.has(self.body.agent, type_, thing.id):
                new = thing.id not in self.nodes
                self.nodes.setdefault(thing.id, thing)
                self.remove_from_place(thing.id)
                self.mark_seen(thing.id)
                self.relations.add(relation)
                yield Finding("new" if new else "moved", thing.id, f"held by {self.body.agent}")

    def merge_place(self) -> Iterator[Finding]:
        """Correct the agent's place."""
        agent, kinds = self.body.agent, self.moves.containment
        believed = {it for it in self.belief.outgoing.get(agent, ()) if it.type in kinds}
        places = {Relation(agent, *place) for place in self.body.places or () if place[1] in self.nodes}
        if places and places != believed:
            self.remove_from_place(agent)
            self.relations |= places
            words = f"it is {_places_text(places)}, believed {_places_text(believed) or 'nowhere'}"
            yield Finding("moved", agent, words)

    def merge_states(self) -> Iterator[Finding]:
        """Correct the agent's states."""
        node, states = self.nodes[self.body.agent], self.body.states
        if states is not None and states != node.states:
            self.nodes[node.id] = replace(node, states=states)
            yield Finding("changed", node.id, f"it is {', '.join(states) or 'in no special state'}")


def _places_text(places: set[Relation]) -> str:
    return " and ".join(relation_text(it.type, it.target) for it in sorted(places))


def witnessed_nodes(world: GraphView, vocabulary: str, delta: Delta) -> tuple[str, ...]:
    """Return the changed nodes in the room of the world's agent, as it is now; the agent itself among them."""
    changed = tuple(dict.fromkeys(it for change in delta.changes for it in nodes_of(change)))
    layout = SceneLayout(surroundings(world, touched=changed), vocabulary)
    return tuple(
        it for it in changed if it == layout.agent or (it in layout.graph and layout.room_of(it) == layout.here)
    )
