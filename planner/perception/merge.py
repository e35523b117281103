"""Merge of an observation into the belief, as one Delta with findings (new, confirmed, moved, absent, changed).

LookPlanGraph, sections IV-B and IV-D: objects that are believed at the observed place but not seen are removed from it,
and seen objects are added; everything that was not observed stays unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from scenecypher.db.graph.delta import apply, diff
from scenecypher.db.graph.scene import GraphView, Node, Relation, SceneGraph, closure
from scenecypher.db.vocabulary import conventions_of
from scenecypher.errors import UnknownReference, did_you_mean
from scenecypher.meaning import NO_MEANING, Meaning
from scenecypher.planner.perception.draft import (
    INFERRED,
    LEAST,
    MAX_NEW,
    BeliefDraft,
    MergeResult,
    extent_words,
    relation_text,
)
from scenecypher.planner.perception.matching import Matching, is_unnamed
from scenecypher.planner.perception.new_things import ASSUMED, NewThings, assumed_of
from scenecypher.planner.perception.observation import Observation, Sighting
from scenecypher.planner.perception.placing import Placement, cell_of, fixtures_of, is_covered, is_shut_in, placements
from scenecypher.planner.perception.wording import NUMBERED, compact, is_of_class, normal_form
from scenecypher.planner.vocabularies.vocabulary import ToldStates, believable_states


def merge(
    belief: GraphView, observation: Observation, *, vocabulary: str, accept: bool = False, meaning: Meaning = NO_MEANING
) -> MergeResult:
    """Merge an observation into `belief`. Raises UnknownReference if it lacks the observed node.

    With `accept`, what a look at the whole does not show is absent, however often it was seen there before. By
    `meaning` a couch that is seen is the sofa that is believed there.
    """
    of = belief.nodes.get(observation.of)
    if of is None:
        msg = f"no node {observation.of!r} is in the belief{did_you_mean(observation.of, tuple(belief.nodes))}"
        raise UnknownReference(msg)
    extent = observation.extent
    if not extent.is_usable:
        unseen = BeliefDraft(belief, vocabulary)
        unseen.tell("unseen", of.id, extent_words(extent))
        return unseen.result()
    placed = placements(observation, belief, vocabulary=vocabulary)
    known = Matching(belief, observation, conventions_of(vocabulary).containment, meaning)
    known.match(placed)
    new = sum(placement.number not in known.nodes for placement in placed)
    is_crowded = extent.kind == "disputed" and new > MAX_NEW
    draft = ObservationDraft(belief, vocabulary, observation, known, is_crowded=is_crowded, is_accepted=accept)
    if not extent.is_whole:
        draft.tell("partial" if extent.kind == "part" else "doubted", of.id, extent_words(extent))
    for note in observation.notes:
        draft.tell("doubted", of.id, note)
    draft.merge_states(of.id, observation.states)
    for placement in placed:
        draft.merge_sighting(placement)
    draft.merge_unplaced({placement.number for placement in placed})
    draft.merge_absences()
    return replace(
        draft.result(),
        unplaced=tuple(draft.unplaced),
        believed=draft.believed,
        vanished=tuple(draft.vanished),
        recognised=len(draft.recognised),
        new=draft.new,
    )


def merge_checked(
    belief: GraphView, observation: Observation, *, vocabulary: str, accept: bool, meaning: Meaning = NO_MEANING
) -> MergeResult:
    """Merge an observation; only what was seen of one that contradicts most of the belief. Raises as `merge` does."""
    found = merge(belief, observation, vocabulary=vocabulary, accept=accept, meaning=meaning)
    if accept or found.doubtful_extent is None:
        return found
    return merge(belief, replace(observation, extent=found.doubtful_extent), vocabulary=vocabulary, meaning=meaning)


def merge_all(belief: SceneGraph, observations: Iterable[Observation], *, vocabulary: str) -> MergeResult:
    """Merge several observations, such as those of one picture, into one Delta. Raises UnknownReference."""
    after, found = belief, list[MergeResult]()
    for observation in observations:
        found.append(merge(after, observation, vocabulary=vocabulary))
        after = apply(after, found[-1].delta)
    return MergeResult(diff(belief, after), tuple(it for one in found for it in one.findings))


@dataclass(slots=True)
class ObservationDraft(BeliefDraft):
    """Draft of a belief into which an observation is merged; `ids` are the nodes of sightings, by number.

    With `is_crowded`, new things are counted and not merged; with `is_accepted`, earlier looks count for nothing.
    """

    observation: Observation
    known: Matching
    is_crowded: bool
    is_accepted: bool
    ids: dict[int, str] = field(default_factory=dict)
    unplaced: list[int] = field(default_factory=list)
    believed: int = 0
    vanished: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    recognised: set[str] = field(default_factory=set)
    new: int = 0
    new_things: NewThings | None = None
    fixtures: tuple[Node, ...] = ()

    def __post_init__(self) -> None:
        BeliefDraft.__post_init__(self)
        fixtures = fixtures_of(self.belief, self.observation.of, vocabulary=self.vocabulary)
        self.fixtures = tuple(map(self.belief.nodes.__getitem__, fixtures))

    def merge_sighting(self, placement: Placement) -> None:
        """Merge one placed sighting, unless it is too uncertain or of something fixed."""
        number, seen = placement.number, self.observation.sightings[placement.number]
        known = self._recognised(number)
        support = placement.support if isinstance(placement.support, str) else self.ids.get(placement.support)
        inferred = placement.inferred + (number in self.known.guessed)
        confidence = round(seen.confidence * INFERRED**inferred, 4)
        self.seen |= set() if support is None else {support}
        if known is None and self._merge_fixture(number, seen):
            return
        if support is None or confidence < LEAST:
            words = f"seen, but it or its place is too uncertain ({confidence} of 1): not merged"
            self.tell("unplaced", seen.name, words)
        elif known is not None and self._is_on(support, known):
            self.tell("unplaced", seen.name, f"seen on or in {support}, which is believed on or in it: not merged")
        elif known is not None:
            is_again = self._merge_known(known, seen, (placement.type, support))
            self._note_sighting(number, known, confidence, is_again=is_again)
        else:
            self.new += 1
            if not self.is_crowded:
                self._note_sighting(number, self._add_new(number, (placement.type, support)), confidence)

    def _recognised(self, number: int) -> str | None:
        """Return the believed node of a sighting, if any; one that is visible where it is believed is recognised."""
        known = self.known.nodes.get(number)
        if known is not None:
            self.seen.add(known)
            self.recognised |= {known} if self._is_visible_below(known) else set()
        return known

    def _add_new(self, number: int, relation: tuple[str, str]) -> str:
        """Add the thing of a sighting that matches no believed one; return its id."""
        seen, twin = self.observation.sightings[number], self.known.twins.get(number)
        self.new_things = self.new_things or NewThings(self.nodes, vocabulary=self.vocabulary)
        node = self.new_things.add(seen)
        self.nodes[node.id] = node
        self._place(node.id, relation)
        other = f"; {twin} was seen {self.place_text(twin)} a moment ago, so it is another one" if twin else ""
        words = f"seen {relation_text(*relation)} for the first time{other}"
        self.tell("new", node.id, words + self._told_as(node.id, seen))
        self.merge_states(node.id, seen.states)
        return node.id

    def _told_as(self, node_id: str, seen: Sighting) -> str:
        """Return the word by which a thing was told, if that is another id or another class."""
        node = self.nodes[node_id]
        is_own = seen.id or compact(seen.name) in {compact(node.id), compact(node.name)}
        is_class = is_unnamed(seen) and compact(seen.class_) == compact(node.class_)
        return "" if is_own or (is_class and not NUMBERED.search(seen.name)) else f", told as {seen.name!r}"

    def merge_unplaced(self, placed: set[int]) -> None:
        """Merge sightings without a place: what is believed here stays where it is, all else is only told."""
        for number, seen in enumerate(self.observation.sightings):
            if number in placed:
                continue
            known = self._recognised(number)
            if known in self.recognised and known is not None:
                self.tell("confirmed", known, f"seen, where it is believed: {self.place_text(known)}")
                self.merge_states(known, seen.states)
                self._note_sighting(number, known, round(seen.confidence * INFERRED, 4), is_again=True)
            elif known is not None or not self._merge_fixture(number, seen):
                self.unplaced.append(number)
                self.tell("unplaced", seen.name, f"seen, but not on or in {self.observation.of}: not merged")

    def merge_absences(self) -> None:
        """Remove believed objects that were not seen, if the whole was seen; else believe less in them."""
        for node_id in self._believed_here():
            self.believed += 1
            if node_id in self.seen:
                continue
            was = f"believed {self.place_text(node_id)}, not seen"
            if self.observation.extent.is_whole:
                self._merge_absence(node_id, was)
            elif self.observation.extent.kind == "disputed":
                self.tell("doubted", node_id, f"{was} there: it is kept")
            else:
                self.tell("missed", node_id, f"{was}, but only a part was: it is kept")

    def _merge_absence(self, node_id: str, was: str) -> None:
        """Remove a thing that a whole look did not show, unless it was seen there more often than not by now."""
        self.vanished.append(node_id)
        is_evidence = self.observation.partial_states and not self.is_accepted
        if is_evidence and self.weaken(node_id):
            self.tell("doubted", node_id, f"{was} there, but before: it is kept until it is missed again")
        else:
            self.mark_absent(node_id)
            self.tell("absent", node_id, f"{was} there")

    def _merge_known(self, node_id: str, seen: Sighting, relation: tuple[str, str]) -> bool:
        """Merge a sighting of a believed thing; return True if it is where it is believed."""
        words, was = f"seen {relation_text(*relation)}", self.place_text(node_id)
        is_as_believed = Relation(node_id, *relation) in self.relations
        is_vague = seen.id is None and self.nodes[relation[1]].kind == "Place"
        is_again = is_as_believed or (is_vague and self._is_visible_below(node_id))
        if is_as_believed:
            self.tell("confirmed", node_id, f"{words}, as believed{self._told_as(node_id, seen)}")
        elif is_again:
            self.tell("confirmed", node_id, f"{words}, where it is believed {was}")
        else:
            self.remove_from_place(node_id)
            self._place(node_id, relation)
            self.tell("moved", node_id, f"{words}, believed {was}{self._told_as(node_id, seen)}")
        self.merge_states(node_id, seen.states)
        return is_again

    def _merge_fixture(self, number: int, seen: Sighting) -> bool:
        """Merge the states of a room's furniture or door if the sighting is of one; return False if it is not."""
        named = [it for it in self.fixtures if compact(seen.name) in {compact(it.id), compact(it.name)}]
        found = named or [it for it in self.fixtures if is_of_class(seen.name, it.class_)]
        for node in found if len(found) == 1 else ():
            self.ids[number] = node.id
            self.merge_states(node.id, seen.states)
        return bool(found)

    def _is_on(self, upper: str, lower: str) -> bool:
        """Check if a node is on or in another one; what the observed one is on is never taken for a seen thing."""
        return upper != self.observation.of and lower in {upper, *closure(upper, self.supports_of)}

    def _is_visible_below(self, node_id: str) -> bool:
        """Check if a node is believed on or in the observed one, and not inside something closed there."""
        belief, of, kinds = self.belief, self.observation.of, self.moves.containment
        return of in belief.reached(node_id, *kinds) and not is_shut_in(belief, node_id, of=of, containment=kinds)

    def merge_states(self, node_id: str, states: tuple[str, ...] | None) -> None:
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
        if after.states != node.states and node_id in self.belief:
            changes = [f"it is {state}" for state in after.states if state not in node.states]
            changes += [f"it is no longer {state}" for state in node.states if state not in after.states]
            self.tell("changed", node_id, ", ".join(changes))
        if told.doubted:
            words = f"it can't be {' and '.join(told.doubted)} as far as is known: not merged"
            self.tell("doubted", node_id, words)

    def _note_sighting(self, number: int, node_id: str, confidence: float, *, is_again: bool = False) -> None:
        """Note that and where a node was seen, by a sighting."""
        seen, self.ids[number] = self.observation.sightings[number], node_id
        self.mark_seen(node_id, confidence=confidence, is_again=is_again)
        facts = {**seen.traits, "last_seen": self.observation.step}
        self.set_facts(node_id, facts if seen.position is None else {**facts, "center": seen.position})

    def _believed_here(self) -> Iterator[str]:
        """Yield believed objects that the observation covers."""
        look = self.observation
        for node_id in sorted({*self.belief.sources(look.of, *look.covers)} if look.covers else ()):
            node = self.belief.nodes[node_id]
            hidden = is_covered(self.belief, node_id, look.of, containment=self.moves.containment)
            is_known = look.classes is None or normal_form(node.class_) in look.classes
            is_in_view = look.cells is None or cell_of(node) in look.cells
            if node.kind == "Object" and is_known and not hidden and is_in_view:
                yield node_id

    def _place(self, node_id: str, relation: tuple[str, str]) -> None:
        placed, contents = Relation(node_id, *relation), self.contents_of(node_id) if node_id in self.belief else ()
        self.relations |= {*self.moves.gained(placed, room_of=self.observation.of, contents=contents)}
        self.placed.setdefault(node_id, set()).add(placed.target)
