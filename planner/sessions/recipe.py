"""Recipes: planning methods as data, with their view of the graph, their tools and their ablations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, TypeAlias

from scenecypher.chat.model import Model
from scenecypher.db.condition import Condition
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.enumerations import Enumerations
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError, did_you_mean
from scenecypher.meaning import NO_MEANING, Meaning
from scenecypher.planner.sessions.method import Method
from scenecypher.planner.sessions.session import Asker, StepWriter
from scenecypher.planner.sessions.toolbox import Tool
from scenecypher.planner.symbolic.plan import PlanResult
from scenecypher.planner.symbolic.required_actions import RequiredAction
from scenecypher.retriever.reader import SceneReader

Extent: TypeAlias = Literal["nothing", "words", "schema", "memory", "full", "collapsed"]
"""Extent of a method's view: nothing, the scene's words, its schema, LookPlanGraph's memory graph, all, or rooms.

With words, the schema of the memory is the scene's words, the view where the agents are, and of the actions those
are listed that the scene affords.
"""

ViewForm: TypeAlias = Literal["text", "json", "lines", "glance"]
"""Form of the view: LookPlanGraph's sentences or JSON document (appendix C), JSON lines, or ALFWorld's words."""


class GoalPlanner(Protocol):
    """Function that plans from the present scene for a goal and for required actions."""

    def __call__(self, goal: Condition, required_actions: tuple[RequiredAction, ...] = ()) -> PlanResult:
        """Return the plan, or the reason why there is none."""
        ...


@dataclass(frozen=True, slots=True)
class MethodContext:
    """Inputs for building a method: not the database, only functions that read from it.

    `model` is told what others did since the last decision. With `fix`, the session first does what stands in an
    action's way; with `belief`, it acts on what the robot believes. `occurring` returns the classes, states and
    relations that occur in the scene; `timeout_s` returns the seconds that an engine may take now. The session ends
    after `max_steps` decisions. `goal` is the goal of a data set's task, if any, and `required_actions` are the actions
    that it requires in addition. `read_part` reads the part of the scene that a goal is about, `read_all` all of it.
    `why_unreachable` says what of a goal no action can bring about. `meaning` finds words for the scene's own.
    """

    model: Model
    vocabulary: str
    ablations: frozenset[str]
    plan_goal: GoalPlanner
    occurring: Callable[[], Enumerations]
    read_part: Callable[[Condition], SceneGraph]
    read_all: Callable[[], SceneGraph]
    why_unreachable: Callable[[Condition], str]
    timeout_s: Callable[[], float]
    max_steps: int
    fix: bool = False
    belief: bool = False
    meaning: Meaning = NO_MEANING
    goal: Condition | None = None
    required_actions: tuple[RequiredAction, ...] = ()


@dataclass(frozen=True, slots=True)
class SceneAccess:
    """Read-only access of a tool or an asker to one scene."""

    store: SceneStore
    scene: SceneInfo
    reader: SceneReader
    model: Model


@dataclass(frozen=True, slots=True)
class Ablation:
    """Changes of a recipe by a switch (None: no change); the method itself may read the switch by its name."""

    words: str
    extent: Extent | None = None
    every_action: bool | None = None
    form: ViewForm | None = None
    priors: bool | None = None
    fix: bool | None = None
    reprompt: bool | None = None
    asker: Callable[[SceneAccess], Asker] | None = None


@dataclass(frozen=True, slots=True)
class Recipe:
    """One planning method: `build` creates it, `paper` is its source ("": ours), `words` describe it.

    Without `names`, its schema text names no node; without `every_action`, it is told only of the actions that SG2's
    paper lists. `tools` create its tools, `asker` creates what answers its questions (None: the retriever) and
    `step_writer` what words its executed actions (None: the session). With `fix`, corrections are inserted before an
    action; with `reprompt`, infeasible actions are fed back; with `belief`, it acts on the robot's belief. `model` and
    `goal` state whether it needs a model and a goal.
    """

    build: Callable[[MethodContext], Method]
    words: str
    paper: str = ""
    extent: Extent = "schema"
    names: bool = True
    every_action: bool = True
    form: ViewForm = "text"
    priors: bool = True
    tools: Mapping[str, Callable[[SceneAccess], Tool]] = field(default_factory=dict)
    asker: Callable[[SceneAccess], Asker] | None = None
    step_writer: Callable[[SceneAccess], StepWriter] | None = None
    model: bool = True
    goal: bool = False
    belief: bool = False
    fix: bool = True
    reprompt: bool = True
    ablations: Mapping[str, Ablation] = field(default_factory=dict)

    def without(self, name: str, switches: tuple[str, ...]) -> Recipe:
        """Return the recipe called `name` with these ablations. Raises InputError for an unknown ablation."""
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
        every_action=recipe.every_action if ablation.every_action is None else ablation.every_action,
        form=recipe.form if ablation.form is None else ablation.form,
        priors=recipe.priors if ablation.priors is None else ablation.priors,
        fix=recipe.fix if ablation.fix is None else ablation.fix,
        reprompt=recipe.reprompt if ablation.reprompt is None else ablation.reprompt,
        asker=ablation.asker or recipe.asker,
    )
