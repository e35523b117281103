"""What sort of mistake a refused action was, told apart as the Embodied Agent Interface's evaluator tells them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal, TypeAlias, assert_never

from scenecypher.db.condition import Condition, evaluate
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.errors import UnknownReference
from scenecypher.planner.actions.execution import Infeasible, UnmetRequirement
from scenecypher.planner.actions.operator import Fault

Mistake: TypeAlias = Literal["wrong_order", "missing_step", "affordance", "unseen_object", "additional_step"]
"""Done too late or too early, something left out, not possible with this thing, no such thing, or needless."""

SKIPPABLE: Final[Mistake] = "additional_step"
"""The mistake that does not end a plan: the step is left out and the plan goes on."""

MISTAKE_OF_FAULT: Final[Mapping[Fault, Mistake]] = {
    "missing": "missing_step",
    "affordance": "affordance",
    "already": SKIPPABLE,
}


def mistake_of(refusal: Infeasible | UnknownReference, history: Iterable[SceneGraph]) -> Mistake:
    """The sort of mistake; `history` holds the graphs from the beginning of the plan up to the one it was refused on.

    The first requirement that is unmet decides. A missing step whose listed conditions each held at some time of the
    history came in the wrong order.
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
    """Whether each of the requirement's conditions held once, not necessarily at the same time."""
    open_: list[Condition] = [*unmet.requirement.held_earlier]
    if not open_:
        return False
    for graph in history:
        open_ = [condition for condition in open_ if not evaluate(condition, graph, unmet.bindings)]
        if not open_:
            return True
    return False
