"""The merge of an observation into the belief: new, confirmed, moved, absent, changed; one Delta, explained.

LookPlanGraph, sections IV-B and IV-D: what was believed at a place that is looked at and is not seen there is removed
from it, what is seen is added; nothing that was not looked at is touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

from scenecypher.db.graph.delta import Delta, apply, diff
from scenecypher.db.graph.scene import Node, Point, Properties, Relation, SceneGraph
from scenecypher.db.schema import HOLDING, VOCABULARIES
from scenecypher.errors import UnknownReference, did_you_mean
from scenecypher.planner.perception.draft import SEEN, BeliefDraft, relation_text
from scenecypher.planner.perception.matching import match_sightings
from scenecypher.planner.perception.moving import gained_relations
from scenecypher.planner.perception.observation import Observation, Sighting
from scenecypher.planner.perception.placing import Placement, is_covered, placements

FindingKind: TypeAlias = Literal["new", "confirmed", "moved", "absent", "changed", "unplaced"]

OPPOSITE_STATES: Final = {"open": "closed", "closed": "open", "on": "off", "off": "on"}
"""What a state rules out."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What an observation says of one node (its id; of what is unplaced the name that was seen), and why, in words."""

    kind: FindingKind
    node: str
    words: str

    def __str__(self) -> str:
        return f"{self.node} is {self.kind}: {self.words}"


@dataclass(frozen=True, slots=True)
class MergeResult:
    """What an observation changes in a belief: `delta` is reversible as any other; `findings` explain it."""

    delta: Delta
    findings: tuple[Finding, ...]


def merge(belief: SceneGraph, observation: Observation, *, vocabulary: str) -> MergeResult:
    """Bring `belief` up to date with what was seen. Raises UnknownReference where it lacks what was looked at."""
    of = belief.nodes.get(observation.of)
    if of is None:
        msg = f"no node {observation.of!r} is in the belief{did_you_mean(observation.of, tuple(belief.nodes))}"
        raise UnknownReference(msg)
    placed = placements(observation, of)
    known = match_sightings(belief, observation, placed, containment=VOCABULARIES[vocabulary].containment)
    draft = _ObservationDraft(belief, vocabulary, observation)
    draft.see_itself(of)
    for placing in placed:
        draft.see(placing, known.get(placing.number))
    draft.miss({placing.number for placing in placed})
    return MergeResult(draft.delta(), tuple(draft.findings))


def merge_all(belief: SceneGraph, observations: Iterable[Observation], *, vocabulary: str) -> MergeResult:
    """Several things looked at in one go, such as all that one picture shows: one Delta. Raises UnknownReference."""
    after, findings = belief, list[Finding]()
    for observation in observations:
        found = merge(after, observation, vocabulary=vocabulary)
        after = apply(after, found.delta)
        findings += found.findings
    return MergeResult(diff(belief, after), tuple(findings))


@dataclass(slots=True)
class _ObservationDraft(BeliefDraft):
    """The belief as it comes to be, one sighting after the other."""

    observation: Observation
    ids: dict[int, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def see_itself(self, of: Node) -> None:
        """What was looked at: its own states."""
        self._restate(of.id, self.observation.states)

    def see(self, placing: Placement, known: str | None) -> None:
        """One thing that was seen in or on something."""
        seen = self.observation.sightings[placing.number]
        support = self.observation.of if placing.under is None else self.ids[placing.under]
        relation = (placing.type, support)
        if known is None:
            known = self._free_id(seen)
            self.nodes[known] = Node(known, "Object", seen.name, seen.class_, seen.states or (), seen.affordances)
            self._put(known, relation)
            self._tell("new", known, f"seen {relation_text(*relation)} for the first time")
        else:
            self._see_again(known, seen, relation)
        self.ids[placing.number] = known
        self.nodes[known] = self._noted(self.nodes[known], seen)

    def miss(self, placed: set[int]) -> None:
        """What was seen but can't be placed, and what was believed here and not seen."""
        for number, seen in enumerate(self.observation.sightings):
            if number not in placed:
                self._tell("unplaced", seen.name, f"seen, but not on or in {self.observation.of}: not merged")
        for node_id in self._believed_here():
            if node_id not in self.ids.values():
                was = self._where(node_id)
                self.take_away(node_id)
                self.mark(node_id, seen=False)
                self._tell("absent", node_id, f"believed {was}, not seen there")

    def _see_again(self, node_id: str, seen: Sighting, relation: tuple[str, str]) -> None:
        if Relation(node_id, *relation) in self.relations:
            self._tell("confirmed", node_id, f"seen {relation_text(*relation)}, as believed")
        else:
            was = self._where(node_id)
            self.take_away(node_id)
            self._put(node_id, relation)
            self._tell("moved", node_id, f"seen {relation_text(*relation)}, believed {was}")
        self._restate(node_id, seen.states)

    def _restate(self, node_id: str, states: tuple[str, ...] | None) -> None:
        """Note the states of a node that were seen, if any."""
        node = self.nodes[node_id]
        if states is None:
            return
        if self.observation.partial_states:
            states = (*states, *({*node.states} - {OPPOSITE_STATES.get(state) for state in states}))
        self.nodes[node_id] = replace(node, states=states)
        if self.nodes[node_id].states != node.states:
            self._tell("changed", node_id, _difference(node.states, self.nodes[node_id].states))

    def _noted(self, node: Node, seen: Sighting) -> Node:
        facts: dict[str, object] = {**node.properties, **seen.traits, SEEN: True, "confidence": seen.confidence}
        facts["last_seen"] = self.observation.step
        if seen.position is not None:
            facts["center"] = seen.position
        return replace(node, properties=Properties(facts))

    def _believed_here(self) -> Iterator[str]:
        """Movable things that the look would have shown, had they been there."""
        of, covers = self.observation.of, self.observation.covers
        for node_id in sorted({*self.belief.sources(of, *covers)} if covers else ()):
            node = self.belief.nodes[node_id]
            hidden = is_covered(self.belief, node_id, of, containment=self._containment)
            if node.kind == "Object" and not hidden and self._in_view(node):
                yield node_id

    def _in_view(self, node: Node) -> bool:
        center, cells = node.properties.get("center"), self.observation.cells
        return cells is None or (isinstance(center, Point) and (round(center.x), round(center.y)) in cells)

    def _put(self, node_id: str, relation: tuple[str, str]) -> None:
        placed = Relation(node_id, *relation)
        room_of, vocabulary = self.observation.of, self.vocabulary
        self.relations |= {*gained_relations(self.belief, placed, room_of=room_of, vocabulary=vocabulary)}

    def _where(self, node_id: str) -> str:
        inside = [it for it in self.belief.outgoing.get(node_id, ()) if it.type in self._containment]
        told = [relation_text(it.type, it.target) for it in inside]
        told += [f"held by {it.source}" for it in self.belief.incoming.get(node_id, ()) if it.type in HOLDING]
        return " and ".join(told) or "nowhere"

    def _free_id(self, seen: Sighting) -> str:
        """Its own id or name, where that is one word and not taken; else its class with a number."""
        words = (name for name in (seen.id, seen.name) if name is not None and len(name.split()) == 1)
        wanted = [name for name in words if name not in self.nodes]
        number = 1
        while not wanted:
            name = f"{seen.class_}_{number}"
            wanted, number = [name] if name not in self.nodes else [], number + 1
        return wanted[0]

    def _tell(self, kind: FindingKind, node: str, words: str) -> None:
        self.findings.append(Finding(kind, node, words))

    @property
    def _containment(self) -> tuple[str, ...]:
        return VOCABULARIES[self.vocabulary].containment


def _difference(before: tuple[str, ...], after: tuple[str, ...]) -> str:
    told = [f"it is {state}" for state in after if state not in before]
    told += [f"it is no longer {state}" for state in before if state not in after]
    return ", ".join(told)
