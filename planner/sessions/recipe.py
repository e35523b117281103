"""Recipes: planning methods as data, with their view of the graph, their tools and their ablations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Final, Literal, TypeAlias

from scenecypher.chat.model import Model
from scenecypher.db.condition import Condition
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.enumerations import Enumerations
from scenecypher.db.store.history import Event
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError, did_you_mean
from scenecypher.meaning import NO_MEANING, Meaning
from scenecypher.planner.sessions.method import AskingBack, Method, Tool
from scenecypher.planner.sessions.session import Asker, StepWriter
from scenecypher.planner.symbolic.plan import PlanResult
from scenecypher.planner.symbolic.states import RequiredAction
from scenecypher.retriever.retrieval import SceneReader

Extent: TypeAlias = Literal["nothing", "words", "schema", "memory", "full", "collapsed"]
"""Extent of a method's view: nothing, the scene's words, its schema, LookPlanGraph's memory graph, all, or rooms.

With words, the schema of the memory is the scene's words, and the view where the agents are. With words or (not in
grids) rooms, those actions are listed that the scene affords.
"""

ViewForm: TypeAlias = Literal["text", "json", "lines", "glance"]
"""Form of the view: LookPlanGraph's sentences or JSON document (appendix C), JSON lines, or ALFWorld's words."""


SchemaScope: TypeAlias = Literal["environment", "scene"]
"""Subject of a schema text: any scene of the environment, as in the papers, or this scene, with its classes counted."""


@dataclass(frozen=True, slots=True)
class MethodContext:
    """Inputs for building a method: not the database, only functions that read from it.

    `model` is told what others did since the last decision. `plan_goal` plans for a goal, and for required actions.
    With `fix`, the session first does what stands in an action's way; with `belief`, it acts on what the robot
    believes. `occurring` returns the classes, states and relations that occur in the scene; `timeout_s` returns the
    seconds that an engine may take now. The session ends after `max_steps` decisions. `goal` is the goal of a data
    set's task, if any, and `required_actions` are the actions that it requires in addition. `read_all` reads the scene,
    and `events` its history, newest first. `why_unreachable` says what of a goal no action can bring about. `meaning`
    finds words for the scene's own. `asking` says when a person is asked what is meant.
    """

    model: Model
    vocabulary: str
    ablations: frozenset[Ablation]
    plan_goal: Callable[..., PlanResult]
    occurring: Callable[[], Enumerations]
    read_all: Callable[[], SceneGraph]
    events: Callable[[], Iterable[Event]]
    why_unreachable: Callable[[Condition], str]
    timeout_s: Callable[[], float]
    max_steps: int
    fix: bool = False
    belief: bool = False
    meaning: Meaning = NO_MEANING
    asking: AskingBack = "never"
    goal: Condition | None = None
    required_actions: tuple[RequiredAction, ...] = ()

    @property
    def final(self) -> bool:
        """False if a refused action is fed back, and another solution may follow."""
        return STEPWISE not in self.ablations

    @property
    def examples(self) -> bool:
        """True if the prompt has worked examples."""
        return NO_EXAMPLES not in self.ablations

    @property
    def at_once(self) -> bool:
        """True if the prompt says to ask at once for all that is needed."""
        return ASK_AT_ONCE in self.ablations


@dataclass(frozen=True, slots=True)
class SceneAccess:
    """Read-only access of a tool or an asker to one scene; `schema` is the text of its environment's schema, if used.

    With the scene's own schema it is empty, and the asker writes that.
    """

    store: SceneStore
    scene: SceneInfo
    reader: SceneReader
    model: Model
    schema: str = ""


@dataclass(frozen=True, slots=True)
class Ablation:
    """A part that a method can go without: its `name` for `--ablation`, and `words` for what changes.

    `changes` are fields of the recipe without the part; a method itself finds its ablations in its `MethodContext`.
    """

    name: str
    words: str
    changes: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Recipe:
    """One planning method: `build` creates it, `paper` is its source ("": ours), `words` describe it.

    `schema` is what its schema text is about; without `names`, that of a scene names no node; without `every_action`,
    it is told only of the actions that SG2's paper lists. `tools` create its tools, `asker` creates what answers its
    questions (None: the retriever) and `step_writer` what words its executed actions (None: the session). With `fix`,
    corrections are inserted before an action; with `reprompt`, infeasible actions are fed back; with `belief`, it acts
    on the robot's belief; with `ends_refused`, consecutive refusals end it, which is LookPlanGraph's rule (section
    IV-A) and ours. `model` and `goal` state whether it needs a model and a goal.
    """

    build: Callable[[MethodContext], Method]
    words: str
    paper: str = ""
    extent: Extent = "schema"
    schema: SchemaScope = "scene"
    names: bool = True
    every_action: bool = True
    form: ViewForm = "text"
    priors: bool = True
    named: bool = False
    tools: Mapping[str, Callable[[SceneAccess], Tool]] = field(default_factory=dict)
    asker: Callable[[SceneAccess], Asker] | None = None
    step_writer: Callable[[SceneAccess], StepWriter] | None = None
    model: bool = True
    goal: bool = False
    ends_refused: bool = True
    belief: bool = False
    fix: bool = True
    reprompt: bool = True
    ablations: tuple[Ablation, ...] = ()

    @property
    def sees_schema(self) -> bool:
        """True if the method is shown a schema text."""
        return self.model and self.extent == "schema"

    def ablations_named(self, name: str, switches: Iterable[str]) -> tuple[Ablation, ...]:
        """Return the ablations with these names, of the method called `name`. Raises InputError for an unknown one."""
        known = {ablation.name: ablation for ablation in self.ablations}
        for switch in switches:
            if switch not in known:
                hint, choices = did_you_mean(switch, tuple(known)), ", ".join(known) or "none"
                raise InputError(f"the method {name} has no ablation {switch!r}{hint}; it has {choices}")
        return tuple(known[switch] for switch in switches)

    def without(self, name: str, switches: Iterable[str]) -> Recipe:
        """Return the recipe called `name` with these ablations. Raises InputError for an unknown ablation."""
        return reduce(
            lambda recipe, ablation: replace(recipe, **ablation.changes), self.ablations_named(name, switches), self
        )


STEPWISE: Final = Ablation("stepwise", "ours: a refused action is fed back, and another solution may follow")
NO_EXAMPLES: Final = Ablation("no-examples", "ours: the prompt has no worked examples")
ASK_AT_ONCE: Final = Ablation("ask-at-once", "ours: the prompt says to ask at once for all that is known to be needed")
ALL_ACTIONS: Final = Ablation(
    "all-actions",
    "ours: all actions of the vocabulary are listed, not only those of the paper's action space",
    {"every_action": True},
)
