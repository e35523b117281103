"""Kinds of mistakes of refused actions, as the Embodied Agent Interface's evaluator distinguishes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal, TypeAlias, assert_never

from scenecypher.db.condition import Condition, evaluate
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.errors import UnknownReference
from scenecypher.planner.actions.execution import Infeasible, UnmetRequirement
from scenecypher.planner.actions.operator import Fault

Mistake: TypeAlias = Literal["wrong_order", "missing_step", "affordance", "unseen_object", "additional_step"]
"""Wrong time, a missing step, not possible with this object, unknown object, or needless."""

SKIPPABLE: Final[Mistake] = "additional_step"
"""The mistake that does not end a plan: the step is skipped and the plan continues."""

MISTAKE_OF_FAULT: Final[Mapping[Fault, Mistake]] = {
    "missing": "missing_step",
    "affordance": "affordance",
    "already": SKIPPABLE,
}


def mistake_of(refusal: Infeasible | UnknownReference, history: Iterable[SceneGraph]) -> Mistake:
    """Return the kind of mistake; `history` holds the graphs from the plan's start up to the refusal.

    The first unmet requirement decides. A missing step counts as a wrong order if each condition of `held_earlier` held
    at some time in the history.
    """
    match refusal:
        case UnknownReference():
            return "unseen_object"
        case Infeasible():
            first = refusal.unmet[0]
            mistake = MISTAKE_OF_FAULT[first.requirement.fault]
            return "wrong_order" if mistake == "missing_step" and _was_met(first, history) else mistake
        case _:
            assert_never(refusal)


def _was_met(unmet: UnmetRequirement, history: Iterable[SceneGraph]) -> bool:
    """Return whether each condition of `held_earlier` held at some time, not necessarily at the same time."""
    remaining: list[Condition] = [*unmet.requirement.held_earlier]
    if not remaining:
        return False
    for graph in history:
        remaining = [condition for condition in remaining if not evaluate(condition, graph, unmet.bindings)]
        if not remaining:
            return True
    return False
