"""Comparison of one picture's reading, by a model or a simulated observer, with the gold subgraph.

Both functions return the sample's metadata: the fields of a `Similarity`, the ``outcome``, the observed ``parts``, the
``slips`` (counts) and ``mistakes`` (things), ``kept`` (of the things that the pictures can't show, the share that is
still believed; None if there are none), the ``description`` in words, its ``source`` and ``model``, and the ``tokens``
spent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from scenecypher.chat.model import Model
from scenecypher.db.graph.delta import apply
from scenecypher.errors import ReplyRejected
from scenecypher.evaluation.augmentation_gold import SIMULATED_OBSERVER, GoldObserver, view_classes
from scenecypher.evaluation.metered_model import MeteredModel
from scenecypher.evaluation.subgraphs import (
    STEP,
    SeenSubgraph,
    Similarity,
    find_mistakes,
    gold_parts,
    measure_similarity,
    seen_parts,
)
from scenecypher.evaluation.views import VOCABULARY, GoldView, ViewFile, belief_before_view
from scenecypher.planner.perception.footage import PictureSet
from scenecypher.planner.perception.merge import merge
from scenecypher.planner.perception.naming import known_node
from scenecypher.planner.perception.observation import WHOLE, Observation
from scenecypher.planner.perception.truth import Noise, NoisyObserver
from scenecypher.planner.perception.vision import read_pictures


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
        unreadable = _comparison_fields(view, SeenSubgraph()) | asdict(Similarity(0.0, 0.0, exact=False))
        return unreadable | _reply_fields(str(error), metered) | {"outcome": "unreadable"}
    return _comparison_fields(view, _seen(view, seen)) | _reply_fields("\n".join(words), metered)


def score_simulation(file: ViewFile, *, noise: Noise, seed: int) -> dict[str, Any]:
    """Score a simulated observer's view, with seeded mistakes."""
    view, seen = file.view, list[Observation]()
    for number, one in enumerate(file.in_turn):
        gold = GoldObserver(one.view)
        observer = NoisyObserver(gold, seed=seed + number, classes=view_classes(view), noise=noise)
        seen.append(observer.observe(one.view.asset.name, step=STEP + number))
    return _comparison_fields(view, _seen(view, seen)) | _reply_fields(SIMULATED_OBSERVER, None)


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


def _reply_fields(words: str, metered: MeteredModel | None) -> dict[str, Any]:
    return {
        "description": words,
        "source": metered.source if metered else "",
        "model": metered.model_name if metered else "",
        "tokens": metered.usage.total_tokens if metered else 0,
    }
