"""What is seen in a picture, by a model or by a simulated observer, and how it compares with the gold subgraph.

Both give what a sample's metadata has of it: a `Likeness`, the ``outcome``, the ``parts`` that were seen, the
``slips``, the ``description`` in words, and whose words they are at how many tokens.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from scenecypher.chat.model import Model
from scenecypher.errors import ReplyRejected
from scenecypher.evaluation.augmentation_gold import SIMULATED_OBSERVER, GoldObserver, view_classes
from scenecypher.evaluation.metered_model import MeteredModel
from scenecypher.evaluation.subgraphs import (
    STEP,
    Similarity,
    SubgraphNode,
    count_mistakes,
    gold_parts,
    measure_similarity,
    seen_parts,
)
from scenecypher.evaluation.views import VOCABULARY, GoldView, ViewFile, initial_belief
from scenecypher.planner.perception.naming import known_of
from scenecypher.planner.perception.truth import Noise, NoisyObserver
from scenecypher.planner.perception.vision import read_image


def score_reading(taken: ViewFile, model: Model) -> dict[str, Any]:
    """What a model makes of a picture. A reply that can't be read has seen nothing, and is counted."""
    view, heard = taken.view, MeteredModel(model)
    known = known_of(initial_belief(view), view.asset.name, vocabulary=VOCABULARY)
    try:
        reading = read_image(heard, taken.image(), known, step=STEP)
    except ReplyRejected as error:
        unread = _comparison_fields(view, ()) | asdict(Similarity(0.0, 0.0, exact=False))
        return unread | _reply_fields(str(error), heard) | {"outcome": "unreadable"}
    return _comparison_fields(view, seen_parts(view, reading.observation)) | _reply_fields(reading.description, heard)


def score_simulation(taken: ViewFile, *, noise: Noise, seed: int) -> dict[str, Any]:
    """What an observer without eyes sees, its mistakes by a seed."""
    view = taken.view
    eyes = NoisyObserver(GoldObserver(view), seed=seed, classes=view_classes(view), noise=noise)
    seen = eyes.observe(view.asset.name, step=STEP)
    return _comparison_fields(view, seen_parts(view, seen)) | _reply_fields(SIMULATED_OBSERVER, None)


def _comparison_fields(view: GoldView, parts: tuple[SubgraphNode, ...]) -> dict[str, Any]:
    gold = gold_parts(view)
    like = measure_similarity(view.asset.name, gold, parts)
    return asdict(like) | {
        "outcome": "same graph" if like.exact else "another graph",
        "parts": [f"{part.name} {part.relation} {part.parent}" if part.parent else part.name for part in parts],
        "slips": count_mistakes(gold, parts),
    }


def _reply_fields(words: str, heard: MeteredModel | None) -> dict[str, Any]:
    return {
        "description": words,
        "source": heard.source if heard else "",
        "model": heard.model_name if heard else "",
        "tokens": heard.usage.total_tokens if heard else 0,
    }
