"""The context of a method in no scene: what prompts and replies need, and no more."""

from __future__ import annotations

from scenecypher.chat.model import Model
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.enumerations import Enumerations
from scenecypher.planner.sessions.method import MethodContext
from scenecypher.planner.symbolic.plan import PlanResult


def context_of(model: Model, vocabulary: str) -> MethodContext:
    """Return a context without ablations, of an empty scene."""
    return MethodContext(
        model,
        vocabulary,
        frozenset(),
        plan_goal=lambda *_: PlanResult(None, "", nodes=0, seconds=0.0),
        occurring=Enumerations,
        read_all=SceneGraph.of,
        events=tuple,
        why_unreachable=lambda _: "",
        timeout_s=lambda: 1.0,
        max_steps=30,
    )
