"""Comparison of one picture's reading, by a model or a simulated observer, with the gold subgraph.

Both functions return the sample's metadata: the fields of a `Similarity`, the ``outcome``, the observed ``parts``, the
``slips`` (counts) and ``mistakes`` (things), ``kept`` (of the things that the pictures can't show, the share that is
still believed; None if there are none), the ``description`` in words, its ``source`` and ``model``, and the ``tokens``
spent.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from scenecypher.chat.model import Model
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
from scenecypher.planner.perception.naming import known_node
from scenecypher.planner.perception.observation import WHOLE, Observation
from scenecypher.planner.perception.picture_set import PictureSet
from scenecypher.planner.perception.truth import Noise, NoisyObserver
from scenecypher.planner.perception.vision import read_pictures


def score_reading(file: ViewFile, model: Model) -> dict[str, Any]:
    """Score a model's reading of a picture; a reply that can't be read counts as having seen nothing."""
    view, metered = file.view, MeteredModel(model)
    known = known_node(belief_before_view(view), view.asset.name, vocabulary=VOCABULARY)
    try:
        reading = read_pictures(metered, PictureSet(file.images(), view.conventions), known, step=STEP)
    except ReplyRejected as error:
        unreadable = _comparison_fields(view, SeenSubgraph()) | asdict(Similarity(0.0, 0.0, exact=False))
        return unreadable | _reply_fields(str(error), metered) | {"outcome": "unreadable"}
    return _comparison_fields(view, _seen(view, reading.observation)) | _reply_fields(reading.description, metered)


def score_simulation(file: ViewFile, *, noise: Noise, seed: int) -> dict[str, Any]:
    """Score a simulated observer's view, with seeded mistakes."""
    view = file.view
    observer = NoisyObserver(GoldObserver(view), seed=seed, classes=view_classes(view), noise=noise)
    seen = observer.observe(view.asset.name, step=STEP)
    return _comparison_fields(view, _seen(view, seen)) | _reply_fields(SIMULATED_OBSERVER, None)


def _seen(view: GoldView, observation: Observation) -> SeenSubgraph:
    """Return the subgraph after a look.

    One that contradicts most of the belief is scored as it was read, though `observe` merges it only with `--accept`.
    No hidden thing counts as lost in that case.
    """
    if observation.extent.kind not in {"doubted", "disputed"}:
        return seen_parts(view, observation)
    return replace(seen_parts(view, replace(observation, extent=WHOLE)), lost=())


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
