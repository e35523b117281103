"""Draft of a belief into which an observation is merged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from scenecypher.db.graph.scene import Node, Point, Relation
from scenecypher.db.schema import HOLDING
from scenecypher.planner.perception.assumptions import assumed_of
from scenecypher.planner.perception.draft import CONFIDENCE, SEEN, BeliefDraft, relation_text
from scenecypher.planner.perception.evidence import INFERRED, LEAST, PRIOR, agreeing, disagreeing
from scenecypher.planner.perception.findings import Finding, FindingKind
from scenecypher.planner.perception.matching import Matches, is_unnamed
from scenecypher.planner.perception.new_things import ASSUMED, NewThings
from scenecypher.planner.perception.observation import Observation, Sighting
from scenecypher.planner.perception.placing import Placement, fixtures_of, is_covered, is_shut_in
from scenecypher.planner.perception.wording import NUMBERED, is_of_class, normal_form
from scenecypher.planner.vocabularies.states import ToldStates, believable_states


@dataclass(slots=True)
class ObservationDraft(BeliefDraft):
    """Draft of a belief into which an observation is merged; `ids` are the nodes of sightings, by number.

    With `is_crowded`, new things are counted and not merged; with `is_accepted`, earlier looks count for nothing.
    """

    observation: Observation
    known: Matches
    ids: dict[int, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    unplaced: list[int] = field(default_factory=list)
    believed: list[str] = field(default_factory=list)
    vanished: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    recognised: set[str] = field(default_factory=set)
    new: int = 0
    is_crowded: bool = False
    is_accepted: bool = False
    new_things: NewThings | None = None
    fixtures: tuple[Node, ...] = ()

    def __post_init__(self) -> None:
        BeliefDraft.__post_init__(self)
        fixtures = fixtures_of(self.belief, self.observation.of, vocabulary=self.vocabulary)
        self.fixtures = tuple(map(self.belief.nodes.__getitem__, fixtures))

    def merge_own_states(self, of: Node) -> None:
        """Merge the states of the observed node itself."""
        self._merge_states(of.id, self.observation.states)

    def merge_sighting(self, placement: Placement) -> None:
        """Merge one placed sighting, unless it is too uncertain or of something fixed."""
        number, seen = placement.number, self.observation.sightings[placement.number]
        known = self.known.nodes.get(number)
        support = placement.support if isinstance(placement.support, str) else self.ids.get(placement.support)
        inferred = placement.inferred + (number in self.known.guessed)
        confidence = round(seen.confidence * INFERRED**inferred, 4)
        self.seen |= {it for it in (known, support) if it is not None}
        if known is not None and self._is_visible_below(known):
            self.recognised.add(known)
        if known is None and self._merge_fixture(number, seen):
            return
        if support is None or confidence < LEAST:
            self._tell_unplaced(number, f"seen, but it or its place is too uncertain ({confidence} of 1): not merged")
            return
        relation = (placement.type, support)
        if known is not None and self._is_on(support, known):
            self._tell_unplaced(number, f"seen on or in {support}, which is believed on or in it: not merged")
            return
        if known is None:
            self.new += 1
            if self.is_crowded:
                return
            self.new_things = self.new_things or NewThings(self.nodes, vocabulary=self.vocabulary)
            node = self.new_things.add(seen)
            self.nodes[node.id] = node
            self._place(node.id, relation)
            words = f"seen {relation_text(*relation)} for the first time{self._twin(number)}"
            self._add_finding("new", node.id, words + self._told_as(node.id, seen))
            self._merge_states(node.id, seen.states, is_new=True)
            known, is_again = node.id, False
        else:
            is_again = self._merge_known(known, seen, relation)
        self.ids[number] = known
        self.seen.add(known)
        self._note_sighting(known, seen, confidence, is_again=is_again)

    def _twin(self, number: int) -> str:
        """Return why a thing was not taken for one of its class."""
        twin = self.known.twins.get(number)
        return f"; {twin} was seen {self._place_text(twin)} a moment ago, so it is another one" if twin else ""

    def _told_as(self, node_id: str, seen: Sighting) -> str:
        """Return the word by which a thing was told, if that is another id or another class."""
        node = self.nodes[node_id]
        is_own = seen.id or normal_form(seen.name) in {normal_form(node.id), normal_form(node.name)}
        is_class = is_unnamed(seen) and normal_form(seen.class_) == normal_form(node.class_)
        return "" if is_own or (is_class and not NUMBERED.search(seen.name)) else f", told as {seen.name!r}"

    def merge_unplaced(self, placed: set[int]) -> None:
        """Merge sightings without a place: what is believed here stays where it is, all else is only told."""
        for number, seen in enumerate(self.observation.sightings):
            if number in placed:
                continue
            known = self.known.nodes.get(number)
            self.seen |= {known} if known is not None else set()
            if known is not None and self._is_visible_below(known):
                self.recognised.add(known)
                words = f"seen, where it is believed: {self._place_text(known)}"
                self._add_finding("confirmed", known, words)
                self._merge_states(known, seen.states)
                self._note_sighting(known, seen, round(seen.confidence * INFERRED, 4), is_again=True)
            elif known is not None or not self._merge_fixture(number, seen):
                self.unplaced.append(number)
                self._tell_unplaced(number, f"seen, but not on or in {self.observation.of}: not merged")

    def merge_absences(self) -> None:
        """Remove believed objects that were not seen, if the whole was seen; else believe less in them."""
        self.believed += self._believed_here()
        for node_id in self.believed:
            if node_id in self.seen:
                continue
            was = self._place_text(node_id)
            if self.observation.extent.is_whole:
                self._merge_absence(node_id, was)
            elif self.observation.extent.kind == "disputed":
                self._add_finding("doubted", node_id, f"believed {was}, not seen there: it is kept")
            else:
                self._add_finding("missed", node_id, f"believed {was}, not seen, but only a part was: it is kept")

    def _merge_absence(self, node_id: str, was: str) -> None:
        """Remove a thing that a whole look did not show, unless it was seen there more often than not by now."""
        self.vanished.append(node_id)
        is_evidence = self.observation.partial_states and not self.is_accepted
        left = disagreeing(self._confidence(node_id) or PRIOR) if is_evidence else 0.0
        if left < LEAST:
            self.mark_absent(node_id)
            self._add_finding("absent", node_id, f"believed {was}, not seen there")
        else:
            self.set_facts(node_id, {CONFIDENCE: left})
            words = f"believed {was}, not seen there, but before: it is kept until it is missed again"
            self._add_finding("doubted", node_id, words)

    def _confidence(self, node_id: str) -> float:
        """Return how sure the belief is of a thing's place by looks so far; 0 if nobody has seen it there."""
        facts = self.nodes[node_id].properties
        known = facts.get(CONFIDENCE, 1.0)
        return float(known) if facts.get(SEEN) is True and isinstance(known, int | float) else 0.0

    def _merge_known(self, node_id: str, seen: Sighting, relation: tuple[str, str]) -> bool:
        """Merge a sighting of a believed thing; return True if it is where it is believed."""
        is_again = True
        is_vague = seen.id is None and self.nodes[relation[1]].kind == "Place"
        if Relation(node_id, *relation) in self.relations:
            words = f"seen {relation_text(*relation)}, as believed"
            self._add_finding("confirmed", node_id, words + self._told_as(node_id, seen))
        elif is_vague and self._is_visible_below(node_id):
            words = f"seen {relation_text(*relation)}, where it is believed {self._place_text(node_id)}"
            self._add_finding("confirmed", node_id, words)
        else:
            was, is_again = self._place_text(node_id), False
            self.remove_from_place(node_id)
            self._place(node_id, relation)
            words = f"seen {relation_text(*relation)}, believed {was}"
            self._add_finding("moved", node_id, words + self._told_as(node_id, seen))
        self._merge_states(node_id, seen.states)
        return is_again

    def _merge_fixture(self, number: int, seen: Sighting) -> bool:
        """Merge the states of a room's furniture or door if the sighting is of one; return False if it is not."""
        named = [it for it in self.fixtures if normal_form(seen.name) in {normal_form(it.id), normal_form(it.name)}]
        found = named or [it for it in self.fixtures if is_of_class(seen.name, it.class_)]
        for node in found if len(found) == 1 else ():
            self.ids[number] = node.id
            self._merge_states(node.id, seen.states)
        return bool(found)

    def _is_on(self, upper: str, lower: str) -> bool:
        """Check if a node is on or in another one by what is merged so far."""
        if upper == self.observation.of:
            return False  # what it is on or in is never taken for a thing that was seen
        reached, waiting = {upper}, [upper]
        while waiting:
            here = waiting.pop()
            above = self.supports_of(here)
            waiting += above - reached
            reached |= above
        return lower in reached

    def _is_visible_below(self, node_id: str) -> bool:
        """Check if a node is believed on or in the observed one, and not inside something closed."""
        is_below = self.observation.of in self.belief.reached(node_id, *self.moves.containment)
        return is_below and not is_shut_in(self.belief, node_id, containment=self.moves.containment)

    def _merge_states(self, node_id: str, states: tuple[str, ...] | None, *, is_new: bool = False) -> None:
        """Merge the seen states of a node, if any; those that it can't have are only told."""
        if states is None:
            return
        node, told = self.nodes[node_id], ToldStates(states)
        if self.observation.partial_states:
            alike = (self.nodes[it] for it in self.belief.by_class.get(node.class_, ()))
            is_stated = any({*it.affordances} - {*assumed_of(it)} for it in (node, *alike))
            told = believable_states(node, states, vocabulary=self.vocabulary, is_stated=is_stated)
        affordances = (*node.affordances, *told.shown)
        self.nodes[node_id] = after = replace(node, states=told.states, affordances=affordances)
        if told.shown:
            self.set_facts(node_id, {ASSUMED: tuple(sorted({*assumed_of(node), *told.shown}))})
        if after.states != node.states and not is_new:
            self._add_finding("changed", node_id, _difference(node.states, after.states))
        if told.doubted:
            words = f"it can't be {' and '.join(told.doubted)} as far as is known: not merged"
            self._add_finding("doubted", node_id, words)

    def _note_sighting(self, node_id: str, seen: Sighting, confidence: float, *, is_again: bool) -> None:
        confidence = agreeing(self._confidence(node_id), confidence) if is_again else confidence
        facts: dict[str, object] = {
            **seen.traits,
            SEEN: True,
            CONFIDENCE: confidence,
            "last_seen": self.observation.step,
        }
        if seen.position is not None:
            facts["center"] = seen.position
        self.set_facts(node_id, facts)

    def _believed_here(self) -> Iterator[str]:
        """Yield believed objects that the observation covers."""
        classes = self.observation.classes
        of, covers = self.observation.of, self.observation.covers
        for node_id in sorted({*self.belief.sources(of, *covers)} if covers else ()):
            node = self.belief.nodes[node_id]
            hidden = is_covered(self.belief, node_id, of, containment=self.moves.containment)
            is_known = classes is None or normal_form(node.class_) in classes
            if node.kind == "Object" and is_known and not hidden and self._in_view(node):
                yield node_id

    def _in_view(self, node: Node) -> bool:
        center, cells = node.properties.get("center"), self.observation.cells
        return cells is None or (isinstance(center, Point) and (round(center.x), round(center.y)) in cells)

    def _place(self, node_id: str, relation: tuple[str, str]) -> None:
        placed, contents = Relation(node_id, *relation), self.contents_of(node_id) if node_id in self.belief else ()
        self.relations |= {*self.moves.gained(placed, room_of=self.observation.of, contents=contents)}
        self.placed.setdefault(node_id, set()).add(placed.target)

    def _place_text(self, node_id: str) -> str:
        inside = [it for it in self.belief.outgoing.get(node_id, ()) if it.type in self.moves.containment]
        places = [relation_text(it.type, it.target) for it in inside]
        places += [f"held by {it.source}" for it in self.belief.incoming.get(node_id, ()) if it.type in HOLDING]
        return " and ".join(places) or "nowhere"

    def _tell_unplaced(self, number: int, words: str) -> None:
        self._add_finding("unplaced", self.observation.sightings[number].name, words)

    def _add_finding(self, kind: FindingKind, node: str, words: str) -> None:
        self.findings.append(Finding(kind, node, words))


def _difference(before: tuple[str, ...], after: tuple[str, ...]) -> str:
    changes = [f"it is {state}" for state in after if state not in before]
    changes += [f"it is no longer {state}" for state in before if state not in after]
    return ", ".join(changes)
