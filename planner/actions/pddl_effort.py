"""Search efforts: how much of a scene is considered, in increasing order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Effort:
    """One search: a `wide` part of the scene, a `pruned` grounding, only the `nearest` actions.

    With `stepwise`, the goal's parts are reached one after another. `share` is a fraction of the remaining time; a
    search with more than `max_actions` ground actions is skipped. With `lifted`, Fast Downward grounds the actions.
    """

    wide: bool
    pruned: bool = True
    nearest: bool = False
    stepwise: bool = False
    share: float = 1.0
    max_actions: float = float("inf")
    lifted: bool = False


SMALL_SCENE_NODES: Final = 40
"""A scene of at most this many nodes is read whole."""

EFFORTS: Final = (
    Effort(wide=False, nearest=True, share=0.4, max_actions=600),
    Effort(wide=False, nearest=True, stepwise=True, share=0.7),
    Effort(wide=True, nearest=True),
    Effort(wide=True),
    Effort(wide=True, pruned=False),
)


UNPRUNED: Final = (Effort(wide=True, pruned=False),)
"""For small scenes whose goals don't name the keys and obstacles on the way, which pruning would drop (BabyAI)."""

OWN: Final = (
    Effort(wide=False, lifted=True, share=0.3),
    Effort(wide=True, lifted=True, share=0.7),
    *UNPRUNED,
)
"""For actions read from PDDL: nothing is known of them by which to prune, and each can be written as PDDL again.

In a scene of over SMALL_SCENE_NODES nodes, what the goal is about is planned on before the whole scene.
"""
