"""How much is looked at when a plan is sought: little at first, then more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is looked at: a `wide` part of the scene, a `thrifty` grounding, the `nearest` actions only.

    With `stepwise` the parts of the goal are brought about one after the other. `share` is of the time that is left;
    more than `most` ground actions are not tried.
    """

    wide: bool
    pruned: bool = True
    nearest: bool = False
    stepwise: bool = False
    share: float = 1.0
    max_actions: float = float("inf")


EFFORTS: Final = (
    Effort(wide=False, nearest=True, share=0.4, max_actions=600),
    Effort(wide=False, nearest=True, stepwise=True, share=0.7),
    Effort(wide=True, nearest=True),
    Effort(wide=True),
    Effort(wide=True, pruned=False),
)


UNPRUNED: Final = (Effort(wide=True, pruned=False),)
"""For BabyAI, whose levels are small, and whose keys and hurdles are in no goal: a thrifty grounding misses them."""


def efforts_of(vocabulary: str) -> Sequence[Effort]:
    """What is tried one after the other."""
    return UNPRUNED if vocabulary == "babyai" else EFFORTS
