"""What is true of a world: a node and its children, an agent's own state, what it notices of others; and mistakes.

An agent knows without looking what it holds and, if its world provides them, its place and states.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from scenecypher.db.graph.change import nodes_of
from scenecypher.db.graph.delta import Delta
from scenecypher.db.graph.scene import GraphView, Node, Point, Properties, Relation, SceneGraph
from scenecypher.db.schema import HOLDING
from scenecypher.db.vocabulary import conventions_of
from scenecypher.planner.perception.draft import BeliefDraft, MergeResult, relation_text
from scenecypher.planner.perception.observation import Observation, Observer, Sighting
from scenecypher.planner.perception.placing import is_covered
from scenecypher.planner.prompts.layout import TRAITS, SceneLayout, surroundings


def true_observation(world: SceneGraph, of: str, *, step: int, vocabulary: str) -> Observation:
    """Return the true observation of a node in a world: its direct children.

    LookPlanGraph, section VI-B: ground truth adds the nodes connected to the explored one. The contents of a closed
    container are not seen, nor in a place those of its furniture and objects.
    """
    node = world.nodes[of]
    containment = conventions_of(vocabulary).containment
    covers = tuple(type_ for type_ in containment if type_ != "INSIDE" or "closed" not in node.states)
    sightings = dict[str, Sighting]()
    for relation in world.incoming.get(of, ()):
        child = world.nodes[relation.source]
        hidden = is_covered(world, child.id, of, containment=containment)
        if relation.type in covers and child.kind == "Object" and not hidden and child.id not in sightings:
            center = child.properties.get("center")
            sightings[child.id] = Sighting(
                child.name,
                child.class_,
                (relation.type, of),  # the first one, if it has several
                child.states,
                child.affordances,
                child.id,
                position=center if isinstance(center, Point) else None,
                traits=Properties({name: child.properties[name] for name in TRAITS if name in child.properties}),
            )
    return Observation(of, tuple(sightings.values()), step, covers, node.states)


@dataclass(frozen=True, slots=True)
class Noise:
    """Probabilities (0 to 1) that a thing is missed, gets a wrong class, or is left out as one of several alike.

    LookPlanGraph reports these mistakes of vision-language models (section VII-B): repeated things are undercounted,
    and things get wrong names.
    """

    missed: float = 0.1
    mislabelled: float = 0.05
    undercounted: float = 0.3


class NoisyObserver:
    """Simulated observer: another one's sightings, with mistakes that depend on the seed, the node and the step."""

    def __init__(self, observer: Observer, *, seed: int, classes: Sequence[str], noise: Noise | None = None) -> None:
        self._observer, self._seed, self._noise = observer, seed, noise or Noise()
        self._classes = tuple(sorted({*classes}))

    def observe(self, of: str, *, step: int) -> Observation:
        """Return an observation with mistakes. Raises UnknownReference."""
        true = self._observer.observe(of, step=step)
        chance = Random(f"{self._seed}/{of}/{step}")  # noqa: S311 - a simulation
        return replace(true, sightings=tuple(self._with_mistakes(true.sightings, chance)))

    def _with_mistakes(self, sightings: Sequence[Sighting], chance: Random) -> Iterator[Sighting]:
        classes: set[str] = set()
        for sighting in sightings:
            again, roll = sighting.class_ in classes, chance.random()
            classes.add(sighting.class_)
            if roll < self._noise.missed or (again and chance.random() < self._noise.undercounted):
                continue
            others = [class_ for class_ in self._classes if class_ != sighting.class_]
            if others and chance.random() < self._noise.mislabelled:
                class_ = chance.choice(others)
                yield replace(sighting, id=None, name=class_, class_=class_)
            else:
                yield sighting


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
