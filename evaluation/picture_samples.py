"""Comparison of one picture's reading, by a model or a simulated observer, with the gold subgraph.

Both functions return the sample's metadata: the fields of a `Similarity`, the ``outcome``, the observed ``parts``, the
``slips`` (counts) and ``mistakes`` (things), ``kept`` (of the things that the pictures can't show, the share that is
still believed; None if there are none), the ``description`` in words, its ``source`` and ``model``, and the ``tokens``
spent. The gold subgraph is also the observation of a perfect observer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from scenecypher.chat.model import Model
from scenecypher.db.graph.delta import apply
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.vocabulary import conventions_of
from scenecypher.errors import ReplyRejected
from scenecypher.evaluation.replies import MeteredModel
from scenecypher.evaluation.views import VOCABULARY, GoldView, ViewFile, belief_before_view, class_from_name
from scenecypher.planner.perception.footage import PictureSet
from scenecypher.planner.perception.merge import merge, merge_all
from scenecypher.planner.perception.naming import known_node
from scenecypher.planner.perception.observation import WHOLE, Extent, Observation, Sighting
from scenecypher.planner.perception.truth import Noise, NoisyObserver
from scenecypher.planner.perception.vision import EXTENTS, read_pictures

STEP: Final = 1
CONTAINMENT: Final = conventions_of(VOCABULARY).containment


@dataclass(frozen=True, slots=True)
class SubgraphNode:
    """Thing below an asset; `parent` is None if the thing was seen but not placed, `states` are those that count."""

    name: str
    class_: str
    relation: str = ""
    parent: str | None = None
    states: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Similarity:
    """Comparison of two subgraphs: F1 of nodes and of edges (0 to 1), and whether they are the same tree."""

    nodes: float
    edges: float
    exact: bool


@dataclass(frozen=True, slots=True)
class SeenSubgraph:
    """Subgraph below the asset after a look: its `parts`, and the hidden things that the look made absent."""

    parts: tuple[SubgraphNode, ...] = ()
    lost: tuple[str, ...] = ()


def gold_parts(view: GoldView) -> tuple[SubgraphNode, ...]:
    """Return the nodes that the belief should have below the asset: the gold ones, and those that nobody could see."""
    return tuple(
        SubgraphNode(it.name, it.class_name.casefold(), it.relation, it.related_to, tuple(sorted(it.states)))
        for it in (*view.gold, *view.kept)
    )


def seen_parts(view: GoldView, *observations: Observation) -> SeenSubgraph:
    """Return the subgraph after merging the observations into the belief in turn, things without a place included.

    Its parts are the seen things and those believed things that the looks left in place: all of them, or, if the last
    one saw the whole, the hidden ones only, since the gold leaves out what is shut in. States count if the gold has
    any. Raises UnknownReference if an observation is of another node.
    """
    belief = belief_before_view(view)
    found = merge_all(belief, observations, vocabulary=VOCABULARY)
    after = apply(belief, found.delta)
    is_whole = observations[-1].extent.is_whole
    counted = {it.name for it in (view.kept if is_whole else view.priors)}
    has_states = any(it.states for it in view.gold)
    placed = tuple(it if has_states else replace(it, states=()) for it in _parts(after, counted))
    loose = (SubgraphNode(it.node, class_from_name(it.node)) for it in found.findings if it.kind == "unplaced")
    names = {part.name for part in placed}
    return SeenSubgraph((*placed, *loose), tuple(it.name for it in view.kept if it.name not in names))


def measure_similarity(asset: str, gold: Sequence[SubgraphNode], seen: Sequence[SubgraphNode]) -> Similarity:
    """Compare `seen` with `gold`."""
    exact = all(part.parent is not None for part in seen) and _form(asset, gold) == _form(asset, seen)
    nodes = f1((part.class_ for part in gold), (part.class_ for part in seen))
    return Similarity(nodes, f1(_edges(asset, gold), _edges(asset, seen)), exact)


def find_mistakes(gold: Sequence[SubgraphNode], seen: SeenSubgraph) -> dict[str, tuple[str, ...]]:
    """Return the classes of missed and invented things, one each, and the names of lost ones.

    A misnamed thing is missed and invented. A thing that the pictures can't show is lost if it is no longer believed
    there; it is not counted as missed as well.
    """
    lost = Counter(class_from_name(name) for name in seen.lost)
    expected, observed = Counter(part.class_ for part in gold), Counter(part.class_ for part in seen.parts)
    missed, invented = expected - observed - lost, observed - expected
    found = {
        "missed": tuple(sorted(missed.elements())),
        "invented": tuple(sorted(invented.elements())),
        "lost": seen.lost,
    }
    return {kind: things for kind, things in found.items() if things}


def f1(gold: Iterable[Hashable], seen: Iterable[Hashable]) -> float:
    """Return the harmonic mean of precision and recall of two multisets; 1 if both are empty."""
    wanted, found = Counter(gold), Counter(seen)
    right, all_ = (wanted & found).total(), wanted.total() + found.total()
    return 2 * right / all_ if all_ else 1.0


def _parts(after: SceneGraph, counted: set[str]) -> Iterable[SubgraphNode]:
    """Yield the things that were seen, and of the others those that count."""
    for node in after.nodes.values():
        is_seen = node.properties.get("last_seen") is not None
        if node.kind == "Object" and (is_seen or node.id in counted):
            for relation in after.outgoing.get(node.id, ()):
                if relation.type in CONTAINMENT:
                    yield SubgraphNode(node.id, node.class_.casefold(), relation.type, relation.target, node.states)


def _edges(asset: str, parts: Sequence[SubgraphNode]) -> Iterable[tuple[str, str, str]]:
    classes = {part.name: part.class_ for part in parts} | {asset: ""}
    for part in parts:
        if part.parent is not None:
            yield part.class_, part.relation, classes.get(part.parent, part.parent)


def _form(asset: str, parts: Sequence[SubgraphNode]) -> str:
    """Return a canonical text of the trees below the assets, equal if only numbers of interchangeable things differ."""
    below = defaultdict[str | None, list[SubgraphNode]](list)
    for part in parts:
        below[part.parent].append(part)
    others = {it.parent for it in parts if it.parent is not None} - {it.name for it in parts} - {asset}
    roots = (asset, *sorted(others))
    order = [SubgraphNode(it, "") for it in roots]
    for part in order:
        order += below[part.name]
    forms: dict[str, str] = {}
    for part in reversed(order):
        within = sorted(f"{child.relation} {forms[child.name]}" for child in below[part.name])
        forms[part.name] = f"{part.class_!r}{'+'.join(part.states)}({','.join(within)})"
    return " ".join(f"{it}: {forms[it]}" for it in roots)


SIMULATED_OBSERVER: Final = "simulated observer"
GOLD: Final = Noise(0.0, 0.0, 0.0)
"""An observer without mistakes."""


@dataclass(frozen=True, slots=True)
class GoldObserver:
    """Observer that sees the whole gold subgraph in one look."""

    view: GoldView

    def observe(self, of: str, *, step: int) -> Observation:
        """Return the gold subgraph as an observation, for any node."""
        sightings = tuple(
            Sighting(it.name, it.class_name, (it.relation, it.related_to), tuple(it.states) or None)
            for it in self.view.gold
        )
        extent = Extent(EXTENTS[self.view.seen], self.view.part, self.view.reason)
        return Observation(of, sightings, step, ("INSIDE", "ON"), partial_states=True, extent=extent)


def score_reading(file: ViewFile, model: Model) -> dict[str, Any]:
    """Score a model's reading of a picture; a reply that can't be read counts as having seen nothing."""
    view, metered = file.view, MeteredModel(model)
    belief, seen, words = belief_before_view(view), list[Observation](), list[str]()
    try:
        for step, one in enumerate(file.in_turn, STEP):
            known = known_node(belief, one.view.asset.name, vocabulary=VOCABULARY)
            reading = read_pictures(metered, PictureSet(one.images(), view.conventions), known, step=step)
            belief = apply(belief, merge(belief, _as_read(reading.observation), vocabulary=VOCABULARY).delta)
            seen.append(reading.observation)
            words.append(reading.description)
    except ReplyRejected as error:
        unreadable = asdict(Similarity(0.0, 0.0, exact=False)) | {"outcome": "unreadable"}
        found, words = _comparison_fields(view, SeenSubgraph()) | unreadable, [str(error)]
    else:
        found = _comparison_fields(view, _seen(view, seen))
    return found | {"description": "\n".join(words)} | metered.cost


def score_simulation(file: ViewFile, *, noise: Noise, seed: int) -> dict[str, Any]:
    """Score a simulated observer's view, with seeded mistakes; without any it is the gold, of whole pictures."""
    view, seen = file.view, list[Observation]()
    known = {node.class_ for node in belief_before_view(view).nodes.values()}
    classes = tuple(sorted(known | {it.class_name for it in view.gold}))
    for number, one in enumerate(file.in_turn):
        if noise == GOLD:
            one.images()
        observer = NoisyObserver(GoldObserver(one.view), seed=seed + number, classes=classes, noise=noise)
        seen.append(observer.observe(one.view.asset.name, step=STEP + number))
    return _comparison_fields(view, _seen(view, seen)) | {"description": SIMULATED_OBSERVER}


def _seen(view: GoldView, observations: Sequence[Observation]) -> SeenSubgraph:
    """Return the subgraph after looks.

    One that contradicts most of the belief is scored as it was read, though `observe` merges it only with `--accept`.
    No hidden thing counts as lost in that case.
    """
    read = [*map(_as_read, observations)]
    found = seen_parts(view, *read)
    return found if read == [*observations] else replace(found, lost=())


def _as_read(observation: Observation) -> Observation:
    is_doubted = observation.extent.kind in {"doubted", "disputed"}
    return replace(observation, extent=WHOLE) if is_doubted else observation


def _comparison_fields(view: GoldView, seen: SeenSubgraph) -> dict[str, Any]:
    gold, kept = gold_parts(view), view.kept
    similarity = measure_similarity(view.asset.name, gold, seen.parts)
    mistakes = find_mistakes(gold, seen)
    return asdict(similarity) | {
        "outcome": "same graph" if similarity.exact else "another graph",
        "parts": [f"{part.name} {part.relation} {part.parent}" if part.parent else part.name for part in seen.parts],
        "slips": {kind: len(things) for kind, things in mistakes.items()},
        "mistakes": mistakes,
        "kept": 1 - len(seen.lost) / len(kept) if kept else None,
    }
