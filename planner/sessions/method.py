"""Planning methods: small objects that make the next decision from a memory of the turns so far, and their recipes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import reduce
from typing import Any, Final, Literal, Protocol, Self, TypeAlias

from scenecypher.chat.model import Model, Usage
from scenecypher.db.condition import Condition
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.enumerations import Enumerations
from scenecypher.db.store.history import Event
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError, ReplyRejected, did_you_mean
from scenecypher.meaning import NO_MEANING, Meaning
from scenecypher.planner.actions.ruled import AskBack
from scenecypher.planner.actions.simulator import CommittedAction
from scenecypher.planner.symbolic.plan import PlanResult
from scenecypher.planner.symbolic.states import RequiredAction
from scenecypher.retriever.retrieval import Retrieval, SceneReader


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask a question about the scene in words; the session's asker (the retriever) answers."""

    question: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CallTool:
    """Call one of the session's read-only tools, such as ``expand`` with ``{"node_id": "kitchen"}``."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict, hash=False)
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Think:
    """A thought as a turn of its own (ReAct), without any effect; `goal` is the document of the goal that it states."""

    thought: str
    goal: Mapping[str, Any] | None = field(default=None, hash=False)


@dataclass(frozen=True, slots=True)
class Act:
    """Execute an action, such as ``grab(soap_1001)``."""

    action: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Solve:
    """The whole solution: executed action by action, refused actions being skipped, after which the session ends.

    This is the papers' static setting (SG2, section IV-A). If it is not `final`, the first refusal stops it and is fed
    back to the method, which may give another solution: stepwise execution, an addition of ours. In a resumed session
    the first `tried` actions were tried before the interruption, `refused` of them were refused and `done` executed;
    `told` is the feedback on them.
    """

    actions: tuple[str, ...]
    reason: str = ""
    final: bool = True
    tried: int = 0
    refused: int = 0
    done: tuple[str, ...] = ()
    told: str = ""


ANY_OF_THEM: Final = "any"
"""Feedback on a question that a person leaves open."""
AskingBack: TypeAlias = Literal["never", "unclear", "always"]
"""When a person is asked what is meant: where it is open and the candidates differ, or wherever it is open."""


@dataclass(frozen=True, slots=True)
class Done:
    """The instruction is carried out; for a question (NumQ&A) `answer` is the answer."""

    reason: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The instruction can't be carried out; `impossible` if the method says that by nothing it can."""

    reason: str = ""
    impossible: bool = False


Decision: TypeAlias = Ask | CallTool | Think | Act | Solve | AskBack | Done | GiveUp
DECISIONS: Final[Mapping[str, type[Decision]]] = {
    "ask": Ask,
    "call": CallTool,
    "think": Think,
    "act": Act,
    "solve": Solve,
    "ask_back": AskBack,
    "done": Done,
    "give_up": GiveUp,
}
"""Decisions by their words in a session's log."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A decision (None: the reply could not be parsed) and the feedback on it.

    `done` are the executed actions, inserted ones included; `refused` is True if something was refused.
    """

    decision: Decision | None
    feedback: str
    done: tuple[str, ...] = ()
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Memory:
    """All that a method may know: the task, the list of actions, and its turns.

    `schema` is the schema text and `view` the text of the present graph, which the session renews before each decision;
    one of them is empty, by the method's recipe. `opening` is the view before the first decision. `examples` are worked
    ones of the task's own set, by the names of their files, in place of those of the vocabulary.
    """

    instruction: str
    actions: str
    schema: str = ""
    turns: tuple[Turn, ...] = ()
    view: str = ""
    opening: str = ""
    examples: Mapping[str, str] = field(default_factory=dict)

    def remember(
        self, decision: Decision | None, feedback: str, *, done: tuple[str, ...] = (), refused: bool = False
    ) -> Self:
        """Return the memory with another turn."""
        return replace(self, turns=(*self.turns, Turn(decision, feedback, done, refused)))


class Method(Protocol):
    """A planning method; it has no access to the database and asks the session for information."""

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the next decision and its tokens. Raises ReplyRejected if the model's reply can't be used."""
        ...


def decision_document(decision: Decision) -> dict[str, Any]:
    """Return a decision as plain JSON values, its word under ``decision``."""
    word = next(word for word, type_ in DECISIONS.items() if isinstance(decision, type_))
    return {"decision": word, **asdict(decision)}


def decision_from_document(document: Mapping[str, Any]) -> Decision:
    """Return the decision of a document that `decision_document` made. Raises ValidationError (pydantic), KeyError."""
    from pydantic import TypeAdapter

    values = {key: value for key, value in document.items() if key != "decision"}
    found: Decision = TypeAdapter(DECISIONS[str(document["decision"])]).validate_python(values)
    return found


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """Answer of a tool: `text` for the method, and the tokens of its own model requests."""

    text: str
    usage: Usage = field(default_factory=Usage)


Tool: TypeAlias = Callable[[Mapping[str, Any]], ToolAnswer]
"""Function from arguments to an answer; raises RejectedError, worded for the model, for bad arguments."""


def call_tool(tools: Mapping[str, Tool], name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
    """Call one of the tools. Raises RejectedError for an unknown name, and as the tool does."""
    if name not in tools:
        known = ", ".join(tools) or "there are none"
        raise ReplyRejected(f"there is no tool {name[:60]!r}{did_you_mean(name, tuple(tools))}; use {known}")
    return tools[name](arguments)


def argument(arguments: Mapping[str, Any], name: str, *, tool: str) -> str:
    """Return a text or number among a tool's arguments as text. Raises ReplyRejected if it is missing."""
    value = arguments.get(name)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ReplyRejected(f'{tool} takes the argument "{name}", a text; call it with that')
    return str(value)


# --- recipes: methods as data, with their view of the graph, their tools and their ablations

StepWriter: TypeAlias = Callable[[CommittedAction], str]
"""Function that words an executed action for a method, in place of the session's own wording."""


class Asker(Protocol):
    """Answers a method's questions, like the retriever."""

    def ask(self, question: str, scene: SceneInfo) -> Retrieval:
        """Return the answer, or the reason why there is none. Raises RejectedError."""
        ...


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
    it is told only of the actions that SG2's paper lists. `tools` are its tools, `asker` creates what answers its
    questions (None: the retriever) and `step_writer` words its executed actions (None: the session). With `fix`,
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
    tools: Mapping[str, Callable[[SceneAccess, Mapping[str, Any]], ToolAnswer]] = field(default_factory=dict)
    asker: Callable[[SceneAccess], Asker] | None = None
    step_writer: Callable[[SceneAccess, CommittedAction], str] | None = None
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
