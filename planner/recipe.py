"""What a planning method is made of, as data: who decides, what it is shown, what it may call, and its ablations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, TypeAlias

from scenecypher.chat.model import Model
from scenecypher.db.condition import Condition
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.enumerations import Enumerations
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError, did_you_mean
from scenecypher.planner.actions.pddl_deeds import Deed
from scenecypher.planner.actions.pddl_planner import Planned
from scenecypher.planner.method import Method
from scenecypher.planner.session import Asker, StepWriter
from scenecypher.planner.toolbox import Tool
from scenecypher.retriever.reader import SceneReader

Extent: TypeAlias = Literal["nothing", "schema", "memory", "full", "collapsed"]
"""What a method is shown of the graph: nothing, its schema, LookPlanGraph's memory graph, all, or expanded rooms."""

ViewForm: TypeAlias = Literal["text", "json", "lines", "glance"]
"""LookPlanGraph's sentences, its JSON document (appendix C), a line of JSON a node and a link, or ALFWorld's glance."""


class GoalPlanner(Protocol):
    """Plans for a goal from the scene as it is now, and for actions that are to be done besides."""

    def __call__(self, goal: Condition, deeds: tuple[Deed, ...] = ()) -> Planned:
        """The plan, or why there is none."""
        ...


@dataclass(frozen=True, slots=True)
class MethodContext:
    """What a method is made from: no database, but functions that look for it.

    `occurring` is what occurs in the scene, its classes, states and relations; `timeout_s` says how many seconds an
    engine may take now. `goal` is that of a data set's task, where there is one, and `deeds` the actions that it asks
    for besides.
    """

    model: Model
    vocabulary: str
    ablations: frozenset[str]
    planning: GoalPlanner
    occurring: Callable[[], Enumerations]
    timeout_s: Callable[[], float]
    goal: Condition | None = None
    deeds: tuple[Deed, ...] = ()


@dataclass(frozen=True, slots=True)
class SceneAccess:
    """What a tool or an asker works on: one scene, which it only reads."""

    store: SceneStore
    scene: SceneInfo
    reader: SceneReader
    model: Model


@dataclass(frozen=True, slots=True)
class Ablation:
    """What a switch changes in a recipe (None: nothing); what else it does, the method does by its name."""

    words: str
    extent: Extent | None = None
    form: ViewForm | None = None
    priors: bool | None = None
    fix: bool | None = None
    reprompt: bool | None = None
    asker: Callable[[SceneAccess], Asker] | None = None


@dataclass(frozen=True, slots=True)
class Recipe:
    """One method: `build` makes what decides, `paper` says where it is from ("" : ours), `words` what it does.

    `tools` makes what it may call; `asker` what answers its questions (None: the retriever); `tell` what tells it of
    its actions (None: the session). `fix` is whether a rule does first what stands in the way, `reprompt` whether it
    is told that an action was infeasible. `belief` is whether it decides by what the robot believes.
    """

    build: Callable[[MethodContext], Method]
    words: str
    paper: str = ""
    extent: Extent = "schema"
    form: ViewForm = "text"
    priors: bool = True
    tools: Mapping[str, Callable[[SceneAccess], Tool]] = field(default_factory=dict)
    asker: Callable[[SceneAccess], Asker] | None = None
    tell: Callable[[SceneAccess], StepWriter] | None = None
    model: bool = True
    goal: bool = False
    belief: bool = False
    fix: bool = True
    reprompt: bool = True
    ablations: Mapping[str, Ablation] = field(default_factory=dict)

    def without(self, name: str, switches: tuple[str, ...]) -> Recipe:
        """The recipe, called `name`, with these ablations. Raises InputError for one that it does not have."""
        recipe = self
        for switch in switches:
            if switch not in self.ablations:
                hint = did_you_mean(switch, tuple(self.ablations))
                known = ", ".join(self.ablations) or "none"
                raise InputError(f"the method {name} has no ablation {switch!r}{hint}; it has {known}")
            recipe = _apply_ablation(recipe, self.ablations[switch])
        return recipe


def _apply_ablation(recipe: Recipe, ablation: Ablation) -> Recipe:
    return replace(
        recipe,
        extent=recipe.extent if ablation.extent is None else ablation.extent,
        form=recipe.form if ablation.form is None else ablation.form,
        priors=recipe.priors if ablation.priors is None else ablation.priors,
        fix=recipe.fix if ablation.fix is None else ablation.fix,
        reprompt=recipe.reprompt if ablation.reprompt is None else ablation.reprompt,
        asker=ablation.asker or recipe.asker,
    )
