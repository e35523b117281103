"""What a robot knows without looking: its own state, and what others do in its room.

Its state are held objects and, if its world provides them, its place and states.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from scenecypher.db.graph.change import nodes_of
from scenecypher.db.graph.delta import Delta
from scenecypher.db.graph.scene import GraphView, Node, Relation
from scenecypher.db.schema import HOLDING
from scenecypher.db.vocabulary import conventions_of
from scenecypher.planner.perception.draft import BeliefDraft, MergeResult, relation_text
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
    draft = BeliefDraft(belief, vocabulary)
    _merge_held(draft, body)
    _merge_own(draft, body)
    return draft.result()


def _merge_held(draft: BeliefDraft, body: Body) -> None:
    """Remove objects that the agent is wrongly believed to hold, and add the missing ones."""
    held = {thing.id for _, thing in body.held}
    for thing_id in draft.belief.targets(body.agent, *HOLDING):
        if thing_id not in held:
            draft.mark_absent(thing_id)
            draft.tell("absent", thing_id, f"believed held by {body.agent}, which does not hold it")
    for type_, thing in body.held:
        if not draft.belief.has(body.agent, type_, thing.id):
            is_known = thing.id in draft.nodes
            draft.nodes.setdefault(thing.id, thing)
            draft.remove_from_place(thing.id)
            draft.mark_seen(thing.id)
            draft.relations.add(Relation(body.agent, type_, thing.id))
            draft.tell("moved" if is_known else "new", thing.id, f"held by {body.agent}")


def _merge_own(draft: BeliefDraft, body: Body) -> None:
    """Correct the agent's place and states."""
    agent, node = body.agent, draft.nodes[body.agent]
    believed = {it for it in draft.belief.outgoing.get(agent, ()) if it.type in draft.moves.containment}
    places = {Relation(agent, *place) for place in body.places or () if place[1] in draft.nodes}
    if places and places != believed:
        draft.remove_from_place(agent)
        draft.relations |= places
        now = " and ".join(relation_text(it.type, it.target) for it in sorted(places))
        draft.tell("moved", agent, f"it is {now}, believed {draft.place_text(agent)}")
    if body.states is not None and body.states != node.states:
        draft.nodes[agent] = replace(draft.nodes[agent], states=body.states)
        draft.tell("changed", agent, f"it is {', '.join(body.states) or 'in no special state'}")


def witnessed_nodes(world: GraphView, vocabulary: str, delta: Delta) -> tuple[str, ...]:
    """Return the changed nodes in the room of the world's agent, as it is now; the agent itself among them."""
    changed = tuple(dict.fromkeys(it for change in delta.changes for it in nodes_of(change)))
    layout = SceneLayout(surroundings(world, touched=changed), vocabulary)
    return tuple(
        it for it in changed if it == layout.agent or (it in layout.graph and layout.room_of(it) == layout.here)
    )
