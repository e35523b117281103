"""What is seen in a picture, by a model or by a simulated observer, and how it compares with the gold subgraph.

Both give what a sample's metadata has of it: a `Likeness`, the ``outcome``, the ``parts`` that were seen, the
``slips``, the ``description`` in words, and whose words they are at how many tokens.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from scenecypher.chat.model import Model
from scenecypher.errors import ReplyRejected
from scenecypher.evaluation.augmentation_truth import SIMULATED_OBSERVER, GoldObserver, classes_of
from scenecypher.evaluation.heard import Heard
from scenecypher.evaluation.subgraphs import STEP, Likeness, Part, gold_parts, likeness, seen_parts, slips
from scenecypher.evaluation.views import VOCABULARY, Taken, View, belief_of
from scenecypher.planner.perception.naming import known_node
from scenecypher.planner.perception.truth import Noise, NoisyObserver
from scenecypher.planner.perception.vision import read_image


def read(taken: Taken, model: Model) -> dict[str, Any]:
    """What a model makes of a picture. A reply that can't be read has seen nothing, and is counted."""
    view, heard = taken.view, Heard(model)
    known = known_node(belief_of(view), view.asset.name, vocabulary=VOCABULARY)
    try:
        reading = read_image(heard, taken.image(), known, step=STEP)
    except ReplyRejected as error:
        unread = _compared(view, ()) | asdict(Likeness(0.0, 0.0, exact=False))
        return unread | _told(str(error), heard) | {"outcome": "unreadable"}
    return _compared(view, seen_parts(view, reading.observation)) | _told(reading.description, heard)


def simulated(taken: Taken, *, noise: Noise, seed: int) -> dict[str, Any]:
    """What an observer without eyes sees, its mistakes by a seed."""
    view = taken.view
    eyes = NoisyObserver(GoldObserver(view), seed=seed, classes=classes_of(view), noise=noise)
    seen = eyes.observe(view.asset.name, step=STEP)
    return _compared(view, seen_parts(view, seen)) | _told(SIMULATED_OBSERVER, None)


def _compared(view: View, parts: tuple[Part, ...]) -> dict[str, Any]:
    gold = gold_parts(view)
    like = likeness(view.asset.name, gold, parts)
    return asdict(like) | {
        "outcome": "same graph" if like.exact else "another graph",
        "parts": [f"{part.name} {part.relation} {part.parent}" if part.parent else part.name for part in parts],
        "slips": slips(gold, parts),
    }


def _told(words: str, heard: Heard | None) -> dict[str, Any]:
    return {
        "description": words,
        "source": heard.source if heard else "",
        "model": heard.model_name if heard else "",
        "tokens": heard.usage.total_tokens if heard else 0,
    }
