"""Merge of an observation into the belief, as one Delta with findings (new, confirmed, moved, absent, changed).

LookPlanGraph, sections IV-B and IV-D: objects that are believed at the observed place but not seen are removed from it,
and seen objects are added; everything that was not observed stays unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

from scenecypher.db.graph.delta import Delta, apply, diff
from scenecypher.db.graph.scene import GraphView, Node, Point, Properties, Relation, SceneGraph
from scenecypher.db.schema import HOLDING
from scenecypher.db.vocabulary import conventions_of
from scenecypher.errors import UnknownReference, did_you_mean
from scenecypher.planner.perception.draft import SEEN, BeliefDraft, relation_text
from scenecypher.planner.perception.matching import match_sightings
from scenecypher.planner.perception.moving import gained_relations
from scenecypher.planner.perception.observation import Extent, Observation, Sighting
from scenecypher.planner.perception.placing import Placement, is_covered, placements

FindingKind: TypeAlias = Literal["new", "confirmed", "moved", "absent", "changed", "unplaced", "missed", "unseen"]

OPPOSITE_STATES: Final = {"open": "closed", "closed": "open", "on": "off", "off": "on"}
"""State that each state excludes."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Finding about one node (its id; if unplaced, the seen name), with an explanation."""

    kind: FindingKind
    node: str
    words: str

    def __str__(self) -> str:
        return f"{self.node} is {self.kind}: {self.words}"


@dataclass(frozen=True, slots=True)
class MergeResult:
    """Result of a merge: the `delta` of the belief, and the `findings` that explain it."""

    delta: Delta
    findings: tuple[Finding, ...]


def merge(belief: GraphView, observation: Observation, *, vocabulary: str) -> MergeResult:
    """Merge an observation into `belief`. Raises UnknownReference if it lacks the observed node."""
    of = belief.nodes.get(observation.of)
    if of is None:
        msg = f"no node {observation.of!r} is in the belief{did_you_mean(observation.of, tuple(belief.nodes))}"
        raise UnknownReference(msg)
    if not observation.extent.is_usable:
        return MergeResult(Delta(), (Finding("unseen", of.id, _unseen_words(observation.extent)),))
    placed = placements(observation, of)
    known = match_sightings(belief, observation, placed, containment=conventions_of(vocabulary).containment)
    draft = _ObservationDraft(belief, vocabulary, observation)
    draft.merge_own_states(of)
    for placement in placed:
        draft.merge_sighting(placement, known.get(placement.number))
    draft.merge_absences({placement.number for placement in placed})
    return MergeResult(draft.delta(), tuple(draft.findings))


def merge_all(belief: SceneGraph, observations: Iterable[Observation], *, vocabulary: str) -> MergeResult:
    """Merge several observations, such as those of one picture, into one Delta. Raises UnknownReference."""
    after, findings = belief, list[Finding]()
    for observation in observations:
        found = merge(after, observation, vocabulary=vocabulary)
        after = apply(after, found.delta)
        findings += found.findings
    return MergeResult(diff(belief, after), tuple(findings))


@dataclass(slots=True)
class _ObservationDraft(BeliefDraft):
    """Draft of a belief into which an observation is merged."""

    observation: Observation
    ids: dict[int, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def merge_own_states(self, of: Node) -> None:
        """Merge the states of the observed node itself."""
        self._merge_states(of.id, self.observation.states)

    def merge_sighting(self, placement: Placement, known: str | None) -> None:
        """Merge one placed sighting; `known` is its believed node, None for a new one."""
        seen = self.observation.sightings[placement.number]
        support = self.observation.of if placement.support is None else self.ids[placement.support]
        relation = (placement.type, support)
        if known is None:
            known = self._free_id(seen)
            self.nodes[known] = Node(known, "Object", seen.name, seen.class_, seen.states or (), seen.affordances)
            self._place(known, relation)
            self._add_finding("new", known, f"seen {relation_text(*relation)} for the first time")
        else:
            self._merge_known(known, seen, relation)
        self.ids[placement.number] = known
        self.nodes[known] = self._with_sighting(self.nodes[known], seen)

    def merge_absences(self, placed: set[int]) -> None:
        """Note sightings without a place, and remove believed objects that were not seen."""
        for number, seen in enumerate(self.observation.sightings):
            if number not in placed:
                self._add_finding("unplaced", seen.name, f"seen, but not on or in {self.observation.of}: not merged")
        for node_id in self._believed_here():
            if node_id in self.ids.values():
                continue
            was = self._place_text(node_id)
            if self.observation.extent.is_whole:
                self.remove_from_place(node_id)
                self.mark_seen(node_id, seen=False)
                self._add_finding("absent", node_id, f"believed {was}, not seen there")
            else:
                self._add_finding("missed", node_id, f"believed {was}, not seen, but only a part was: it is kept")

    def _merge_known(self, node_id: str, seen: Sighting, relation: tuple[str, str]) -> None:
        if Relation(node_id, *relation) in self.relations:
            self._add_finding("confirmed", node_id, f"seen {relation_text(*relation)}, as believed")
        else:
            was = self._place_text(node_id)
            self.remove_from_place(node_id)
            self._place(node_id, relation)
            self._add_finding("moved", node_id, f"seen {relation_text(*relation)}, believed {was}")
        self._merge_states(node_id, seen.states)

    def _merge_states(self, node_id: str, states: tuple[str, ...] | None) -> None:
        """Merge the seen states of a node, if any."""
        node = self.nodes[node_id]
        if states is None:
            return
        if self.observation.partial_states:
            states = (*states, *({*node.states} - {OPPOSITE_STATES.get(state) for state in states}))
        self.nodes[node_id] = replace(node, states=states)
        if self.nodes[node_id].states != node.states:
            self._add_finding("changed", node_id, _difference(node.states, self.nodes[node_id].states))

    def _with_sighting(self, node: Node, seen: Sighting) -> Node:
        facts: dict[str, object] = {**node.properties, **seen.traits, SEEN: True, "confidence": seen.confidence}
        facts["last_seen"] = self.observation.step
        if seen.position is not None:
            facts["center"] = seen.position
        return replace(node, properties=Properties(facts))

    def _believed_here(self) -> Iterator[str]:
        """Yield believed objects that the observation covers."""
        of, covers = self.observation.of, self.observation.covers
        for node_id in sorted({*self.belief.sources(of, *covers)} if covers else ()):
            node = self.belief.nodes[node_id]
            hidden = is_covered(self.belief, node_id, of, containment=self._containment)
            if node.kind == "Object" and not hidden and self._in_view(node):
                yield node_id

    def _in_view(self, node: Node) -> bool:
        center, cells = node.properties.get("center"), self.observation.cells
        return cells is None or (isinstance(center, Point) and (round(center.x), round(center.y)) in cells)

    def _place(self, node_id: str, relation: tuple[str, str]) -> None:
        placed = Relation(node_id, *relation)
        room_of, vocabulary = self.observation.of, self.vocabulary
        self.relations |= {*gained_relations(self.belief, placed, room_of=room_of, vocabulary=vocabulary)}

    def _place_text(self, node_id: str) -> str:
        inside = [it for it in self.belief.outgoing.get(node_id, ()) if it.type in self._containment]
        places = [relation_text(it.type, it.target) for it in inside]
        places += [f"held by {it.source}" for it in self.belief.incoming.get(node_id, ()) if it.type in HOLDING]
        return " and ".join(places) or "nowhere"

    def _free_id(self, seen: Sighting) -> str:
        """Return an unused id: the sighting's id or name if it is one word, else its class with a number."""
        words = (name for name in (seen.id, seen.name) if name is not None and len(name.split()) == 1)
        free = [name for name in words if name not in self.nodes]
        number = 1
        while not free:
            name = f"{seen.class_}_{number}"
            free, number = [name] if name not in self.nodes else [], number + 1
        return free[0]

    def _add_finding(self, kind: FindingKind, node: str, words: str) -> None:
        self.findings.append(Finding(kind, node, words))

    @property
    def _containment(self) -> tuple[str, ...]:
        return conventions_of(self.vocabulary).containment


def _unseen_words(extent: Extent) -> str:
    causes = {"nothing": "it could not be made out", "elsewhere": "another place was seen"}
    cause = causes.get(extent.kind, "what was seen contradicts most of the belief")
    return f"{cause}{f' ({extent.why})' if extent.why else ''}: nothing was merged"


def _difference(before: tuple[str, ...], after: tuple[str, ...]) -> str:
    changes = [f"it is {state}" for state in after if state not in before]
    changes += [f"it is no longer {state}" for state in before if state not in after]
    return ", ".join(changes)
