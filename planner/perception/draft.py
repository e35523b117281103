"""Mutable draft of a belief for merging, the evidence that its confidence is made of, and what a merge finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

from scenecypher.db.graph.delta import Delta, SetProperty, diff
from scenecypher.db.graph.scene import GraphView, Node, Properties, Relation, SceneGraph
from scenecypher.db.schema import HOLDING
from scenecypher.errors import RejectedError
from scenecypher.planner.perception.observation import Extent, ExtentKind
from scenecypher.planner.perception.placing import PLACED, Moves

FindingKind: TypeAlias = Literal[
    "new", "confirmed", "moved", "absent", "changed", "unplaced", "missed", "doubted", "partial", "unseen"
]
SEEN: Final = "seen"
"""Property of a node: True if it was seen at its believed place."""
CONFIDENCE: Final = "confidence"
"""Property of a node: how sure it is that the node is at its believed place, from 0 to 1."""
LEAST: Final = 0.3
"""Confidence below which a sighting is told, but not merged, and a thing that was not seen is absent."""
MOST: Final = 0.99
"""Confidence that pictures alone can give."""
INFERRED: Final = 0.75
"""Factor of a sighting's confidence for each thing that was inferred: its support, or what it is."""
OVERLOOKED: Final = 0.1
"""Chance that a look at the whole of a place misses a thing that is there."""
PRIOR: Final = 0.5
"""Confidence of a belief that nobody has confirmed, where a look misses the thing."""
MAX_NEW: Final = 50
"""New things in one look beyond which they are doubted."""
ADVICE: Final = "look again, or accept it (--accept, or SCENECYPHER_ACCEPT_LOOKS=true)"


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
    """Result of a merge: the `delta` of the belief, and the `findings` that explain it.

    `unplaced` are the numbers of sightings whose place is unclear. `believed` counts the things that the observation
    would have shown if they were where they are believed, `vanished` are those of them that a look at the whole did
    not show. `recognised` counts things that were seen where they are believed, `new` the new ones.
    """

    delta: Delta
    findings: tuple[Finding, ...]
    unplaced: tuple[int, ...] = ()
    believed: int = 0
    vanished: tuple[str, ...] = ()
    recognised: int = 0
    new: int = 0

    @property
    def doubtful_extent(self) -> Extent | None:
        """Return the extent of an observation that contradicts most of the belief, or is all too new; else None."""
        kind: ExtentKind = "disputed" if self.recognised else "doubted"
        if self.most_vanished:
            why = f"{len(self.vanished)} of {self.believed} were not seen: {', '.join(self.vanished)}"
            return Extent(kind, "most of what is believed there is gone", why)
        return Extent(kind, "too much is new", f"{self.new} things are new") if self.new > MAX_NEW else None

    @property
    def most_vanished(self) -> bool:
        """Return True if most of what was believed there is gone, and not just one thing."""
        return len(self.vanished) > 1 and 2 * len(self.vanished) > self.believed


def was_partial(feedback: str, node: str) -> bool:
    """Check if the feedback on a look tells that it showed only a part of a node."""
    return f"{node} is partial: " in feedback


def extent_words(extent: Extent) -> str:
    """Return what was seen of a node and what was merged, unless the whole was seen."""
    why = f" ({extent.why})" if extent.why else ""
    match extent.kind:
        case "part":
            return f"only a part of it was seen{f': {extent.part}' if extent.part else ''}{why}"
        case "disputed":
            return f"{extent.part}{why}: what was seen was merged, but not very many new things; {ADVICE}"
        case "nothing":
            return f"it could not be made out{why}: nothing was merged; take another picture"
        case "elsewhere":
            return f"another place was seen{why}: nothing was merged; take a picture of this one"
        case _:
            return f"{extent.part}{why}: nothing was merged; {ADVICE}"


def agreeing(before: float, seen: float) -> float:
    """Return the confidence after a thing was seen again where it is believed: 1 - (1 - before)(1 - seen)."""
    most = max(before, seen, MOST)
    return round(min(1 - (1 - before) * (1 - seen), most), 4)


def disagreeing(before: float) -> float:
    """Return the confidence after a whole look missed a thing: Bayes's rule with the chance of overlooking it."""
    there = min(before, MOST) * OVERLOOKED
    return round(there / (there + 1 - min(before, MOST)), 4)


class Unchanged(RejectedError):
    """Raised to roll back a commit that would change nothing; never leaves what commits a look.

    As a refusal, it is decided again if what is kept in memory was older.
    """


def only_renews(delta: Delta, *, seen_at: int | None = None) -> bool:
    """Check if a Delta says no more than that things (last seen at `seen_at`, if given) were seen again, as before."""
    renewed = (it for it in delta.changes if isinstance(it, SetProperty) and it.key == "last_seen")
    return sum(seen_at in {None, it.before} for it in renewed) == len(delta)


@dataclass(slots=True)
class BeliefDraft:
    """Draft of a new belief: a mutable copy of the nodes and relations of `belief`."""

    belief: GraphView
    vocabulary: str
    nodes: dict[str, Node] = field(init=False)
    relations: set[Relation] = field(init=False)
    placed: dict[str, set[str]] = field(init=False, default_factory=dict)
    moves: Moves = field(init=False)
    findings: list[Finding] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.nodes, self.relations = dict(self.belief.nodes), set(self.belief.in_order())
        self.moves = Moves(self.belief, self.vocabulary)

    def delta(self) -> Delta:
        """Return the changes so far; only changed nodes and the ends of changed relations are compared."""
        before = {*self.belief.in_order()}
        removed, added = before - self.relations, self.relations - before
        ends = {end for it in removed | added for end in (it.source, it.target)}
        touched = ends | {id_ for id_, node in self.nodes.items() if self.belief.nodes.get(id_) is not node}
        old = [self.belief.nodes[it] for it in sorted(touched) if it in self.belief]
        return diff(SceneGraph.of(old, removed), SceneGraph.of([self.nodes[it] for it in sorted(touched)], added))

    def result(self) -> MergeResult:
        """Return the changes and findings so far."""
        return MergeResult(self.delta(), tuple(self.findings))

    def tell(self, kind: FindingKind, node: str, words: str) -> None:
        """Add a finding."""
        self.findings.append(Finding(kind, node, words))

    def supports_of(self, node_id: str) -> set[str]:
        """Return what a node is on or in by what is merged so far."""
        kinds = self.moves.containment
        believed = (it for it in self.belief.outgoing.get(node_id, ()) if it.type in kinds and it in self.relations)
        return {it.target for it in believed} | self.placed.get(node_id, set())

    def contents_of(self, node_id: str) -> set[str]:
        """Return the objects on or in a node that are not placed elsewhere by what is merged so far."""
        return self.moves.contents(node_id) - self.placed.keys()

    def remove_from_place(self, node_id: str) -> None:
        """Remove a node from its believed place, with what depends on that; its contents stay on or in it."""
        contents = self.contents_of(node_id)
        self.relations -= self.moves.lost(node_id, contents)
        self.placed.pop(node_id, None)
        for it in (node_id, *contents):
            facts = self.nodes[it].properties
            if PLACED & facts.keys():
                kept = Properties({name: value for name, value in facts.items() if name not in PLACED})
                self.nodes[it] = replace(self.nodes[it], properties=kept)

    def confidence_of(self, node_id: str) -> float:
        """Return how sure the belief is of a thing's place by looks so far; 0 if nobody has seen it there."""
        facts = self.nodes[node_id].properties
        known = facts.get(CONFIDENCE, 1.0)
        return float(known) if facts.get(SEEN) is True and isinstance(known, int | float) else 0.0

    def mark_seen(self, node_id: str, *, confidence: float = 1.0, is_again: bool = False) -> None:
        """Note that a node was seen where it is believed; `is_again` if it was believed there before."""
        sure = agreeing(self.confidence_of(node_id), confidence) if is_again else confidence
        self.set_facts(node_id, {SEEN: True, CONFIDENCE: sure})

    def weaken(self, node_id: str) -> bool:
        """Believe less that a node is where it is believed; return False if it is unlikely by now, without a change."""
        left = disagreeing(self.confidence_of(node_id) or PRIOR)
        self.set_facts(node_id, {CONFIDENCE: left} if left >= LEAST else {})
        return left >= LEAST

    def mark_absent(self, node_id: str) -> None:
        """Note that a node is not where it was believed, and remove it from there."""
        self.remove_from_place(node_id)
        self.set_facts(node_id, {SEEN: False, CONFIDENCE: 0.0})

    def place_text(self, node_id: str) -> str:
        """Return where a node is believed to be, in words."""
        inside = [it for it in self.belief.outgoing.get(node_id, ()) if it.type in self.moves.containment]
        places = [relation_text(it.type, it.target) for it in inside]
        places += [f"held by {it}" for it in self.belief.sources(node_id, *HOLDING)]
        return " and ".join(places) or "nowhere"

    def set_facts(self, node_id: str, facts: Mapping[str, object]) -> None:
        """Set properties of a node."""
        node = self.nodes[node_id]
        self.nodes[node_id] = replace(node, properties=Properties({**node.properties, **facts}))


def relation_text(type_: str, target: str) -> str:
    """Return a relation as words, such as ``on table_1``."""
    return f"{type_.lower().replace('_', ' ')} {target}"
