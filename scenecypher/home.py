"""Home: one scene to query, ask, act in and plan in; its past; and the results of these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypedDict

from typing_extensions import Unpack

from scenecypher.chat.model import Model
from scenecypher.db.gate import Gate
from scenecypher.db.graph.delta import Delta, diff
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.commit import Committed
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.history import Event
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.store.values import JsonValue
from scenecypher.errors import InputError
from scenecypher.importers import datasets
from scenecypher.meaning import Meaning
from scenecypher.planner.actions.simulator import CommittedAction
from scenecypher.planner.belief_simulator import simulator_of
from scenecypher.planner.budget import SPARE_STEPS, Budget
from scenecypher.planner.events import Acted, Corrected, Finished
from scenecypher.planner.events import Event as PlanEvent
from scenecypher.planner.goal_words import read_goal_in
from scenecypher.planner.methods import recipe_named
from scenecypher.planner.own_actions import own_goal_in_words
from scenecypher.planner.staging import NoModel, SessionSetting, prepare_session
from scenecypher.retriever.reader import SceneReader
from scenecypher.retriever.retrieval import Retrieval
from scenecypher.retriever.retriever import Options, Retriever
from scenecypher.retriever.schema_text import schema_text
from scenecypher.settings import Settings

ONE_OF: Final = "give either an instruction in words, or a goal, or the task of a data set"


class Services(Protocol):
    """What a home needs of the database that it is in."""

    store: SceneStore
    settings: Settings
    enumerator: Enumerator
    meaning: Meaning

    @property
    def gate(self) -> Gate:
        """The gate to the database."""
        ...

    def reader(self, name: str) -> SceneReader:
        """Return the gated reader of a scene."""
        ...

    def model(self, chosen: Model | str | None = None) -> Model:
        """Return the model for the `model` argument of a method, None for the usual model."""
        ...


class PlanOptions(TypedDict, total=False):
    """Options of `Home.plan`.

    `task` is a task of a data set, by its id, in place of an instruction; so is `goal`, what shall hold, such as ``mug
    ON shelf; fridge is closed``. Without any of them the goal of the scene's own PDDL problem counts. `method` is a
    name that `scenecypher methods` lists (default ``stepwise``), `ablations` leave parts of it out. `belief` says
    whether to decide by what the robot has seen, `fix` whether to correct actions by rule; by default the method
    decides both. `budget` bounds steps, tokens and seconds.
    """

    task: str | None
    goal: str | None
    method: str
    model: Model | str | None
    ablations: Sequence[str]
    belief: bool | None
    fix: bool | None
    budget: Budget


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The rows of a query at one version of the scene; `truncated` says why there are no more, if there are."""

    columns: tuple[str, ...]
    rows: tuple[tuple[JsonValue, ...], ...]
    truncated: str | None
    version: int
    seconds: float

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[JsonValue, ...]]:
        return iter(self.rows)

    def _repr_html_(self) -> str:
        """Return a table, for notebooks."""
        from scenecypher.notebook import table_html

        return table_html(self.columns, self.rows, truncated=self.truncated)


@dataclass(frozen=True, slots=True)
class PlanOutcome:
    """The events of a task that was carried out, and its end."""

    events: tuple[PlanEvent, ...]
    end: Finished

    @property
    def is_done(self) -> bool:
        """True if the method ended the session with the task done."""
        return self.end.outcome == "done"

    @property
    def actions(self) -> tuple[str, ...]:
        """The actions that were carried out, corrections included."""
        return tuple(event.action for event in self.events if isinstance(event, Acted | Corrected))


@dataclass(frozen=True, slots=True, repr=False)
class PastHome:
    """A home as it was at one version; it can be looked at, not acted in."""

    name: str
    version: int
    graph: SceneGraph

    def __repr__(self) -> str:
        return f"<PastHome {self.name!r} at version {self.version}>"

    def diff(self, other: Home | PastHome | SceneGraph) -> Delta:
        """Return the changes that lead from this version to `other`."""
        return diff(self.graph, _graph_of(other))

    def _repr_html_(self) -> str:
        """Return counts and a tree of the rooms, for notebooks."""
        from scenecypher.notebook import home_html

        return home_html(f"{self.name} at version {self.version}", self.graph)


class Home:
    """One scene of the database, by its name. Each method reads or changes the scene as it is at that moment.

    Every method raises SceneNotFound once the scene is deleted, and ServiceError if the database fails.
    """

    def __init__(self, services: Services, name: str) -> None:
        self.name, self._services = name, services

    def __repr__(self) -> str:
        return f"<Home {self.name!r}>"

    def _repr_html_(self) -> str:
        """Return counts and a tree of the rooms, for notebooks."""
        from scenecypher.notebook import home_html

        now = self._services.store.load(self.name)
        return home_html(f"{self.name} at version {now.info.version}", now.graph)

    # --- looking

    @property
    def info(self) -> SceneInfo:
        """The facts of the scene: vocabulary, role, version, counts at its import."""
        return self._services.store.find(self.name)

    @property
    def graph(self) -> SceneGraph:
        """The whole scene, loaded at one version."""
        return self._services.store.load(self.name).graph

    def tree(self, of: str | None = None, *, everything: bool = False) -> str:
        """Return rooms, furniture and things as text, a line each: what is where, what is held, states in brackets.

        `of` is a room or thing by its id, name or class, with what is in and on it. Walls and floors with nothing in or
        on them are left off, unless `everything` is asked for. Raises UnknownReference.
        """
        from scenecypher.db.store.reference import resolve_reference
        from scenecypher.tree import SceneTree

        now = self._services.store.load(self.name)
        node = None if of is None else resolve_reference(self._services.store.database, now.info, of)
        return "\n".join(SceneTree(now.graph, shell=everything).lines(node))

    @property
    def schema(self) -> str:
        """The text that a model is shown of the scene: what occurs in it, never the graph."""
        info = self.info
        return schema_text(self._services.enumerator.of(info), "", vocabulary=info.vocabulary)

    def query(self, cypher: str) -> QueryResult:
        """Run a reading query. It reads this scene only, changes nothing and has a bounded cost.

        Raises QueryRefused, with a hint how to repair the query.
        """
        answer = self._services.reader(self.name).run(cypher)
        rows = tuple(tuple(row) for row in answer.rows)
        return QueryResult(tuple(answer.columns), rows, answer.truncated, answer.version, answer.seconds)

    def ask(self, question: str, *, model: Model | str | None = None, options: Options | None = None) -> Retrieval:
        """Ask a question in words: a model writes Cypher, the gate scopes it, the database answers.

        Returns the answer in a sentence with its rows, its Cypher and all attempts; `options` with the verifier ``off``
        save the call for the sentence. Raises InputError for an empty question,
        ModelUnavailable.
        """
        services = self._services
        chosen = options or Options(verifier="words")
        retriever = Retriever(services.model(model), services.gate, services.enumerator, chosen, services.meaning)
        return retriever.ask(question, self.info)

    # --- acting

    def act(
        self,
        action: str,
        *,
        agent: str | None = None,
        fix: bool = False,
        expected_version: int | None = None,
        action_id: str | None = None,
    ) -> tuple[CommittedAction, ...]:
        """Carry out an action such as ``grab(cup_2004)``; each step is one transaction, the requested one last.

        `fix` first does, by rule, what the action needs. `agent` is who acts, by default the first agent. With an
        `action_id` the call is safe to repeat: an action of that id that is done already is returned, not done again.

        Raises ActionRefused with the unmet requirements, UnknownReference, or ConflictError if the scene is no longer
        at `expected_version`; nothing of the refused action is committed. Raises CommitUnknown if the answer was lost.
        """
        services = self._services
        simulator = simulator_of(services.store, self.info, agent=agent, fix=fix, meaning=services.meaning)
        return tuple(simulator.act(action, expected_version=expected_version, action_id=action_id))

    def history(self, *, after: int = 0) -> list[Event]:
        """Return the events with a version above `after`, oldest first."""
        return self._services.store.history(self.info, after=after)

    def undo(self, *, version: int | None = None, to: int | None = None) -> Committed:
        """Undo the latest action that still holds, the one of `version`, or everything after version `to`.

        Raises NothingToUndo, ConflictError if its effects no longer hold, InputError for a version there is not.
        """
        return self._services.store.undo(self.info, version=version, to=to)

    def redo(self) -> Committed:
        """Take the latest undo back. Raises NothingToRedo."""
        return self._services.store.redo(self.info)

    # --- planning

    def plan(self, instruction: str | None = None, **options: Unpack[PlanOptions]) -> PlanOutcome:
        """Carry out a task: the method decides each step, each action is checked and committed.

        Returns all events once the session has ended. Raises InputError, ModelUnavailable, ServiceError.
        """
        events = tuple(self.plan_events(instruction, **options))
        end = events[-1]
        assert isinstance(end, Finished)  # noqa: S101 - the session's last event
        return PlanOutcome(events, end)

    def plan_events(self, instruction: str | None = None, **options: Unpack[PlanOptions]) -> Iterator[PlanEvent]:
        """Carry out a task as `plan` does, and yield each event as it happens; the last one is Finished.

        Every action is a transaction, so that stopping between two events leaves nothing half-written.
        """
        if sum(it is not None for it in (instruction, options.get("task"), options.get("goal"))) > 1:
            raise InputError(ONE_OF)
        recipe = recipe_named(options.get("method", "stepwise"))
        return prepare_session(self._setting(instruction, options, needs_model=recipe.model), recipe).run()

    # --- the past

    def at(self, version: int) -> PastHome:
        """Return the home as it was at a version. Raises InputError for a version that it never had."""
        return PastHome(self.name, version, self._services.store.as_of(self.name, version))

    def diff(self, other: Home | PastHome | SceneGraph) -> Delta:
        """Return the changes that lead from this home, as it is now, to `other`."""
        return diff(self.graph, _graph_of(other))

    def _setting(self, instruction: str | None, options: PlanOptions, *, needs_model: bool) -> SessionSetting:
        name = options.get("task")
        task = datasets.task(name)[1] if name is not None else None
        services, scene = self._services, self.info
        goal = task.goal if task is not None and task.has_graph_goal else None
        if (wanted := options.get("goal")) is not None:
            goal, instruction = read_goal_in(services.store.database, scene, wanted), wanted
        elif instruction is None and task is None:
            own = own_goal_in_words(services.store, scene)
            if own is None:
                raise InputError(ONE_OF)
            goal, instruction = own
        return SessionSetting(
            services.store,
            services.gate,
            scene,
            instruction or (task.instruction if task else ""),
            options.get("method", "stepwise"),
            goal=goal,
            required_actions=task.action_goals if task is not None else (),
            model=services.model(options.get("model")) if needs_model else NoModel(),
            ablations=tuple(options.get("ablations", ())),
            budget=options.get("budget", Budget(task.budget + SPARE_STEPS) if task else Budget()),
            belief=options.get("belief"),
            fix=options.get("fix"),
            engine_timeout_s=services.settings.engine_timeout_s,
            meaning=services.meaning,
        )


def _graph_of(other: Home | PastHome | SceneGraph) -> SceneGraph:
    return other if isinstance(other, SceneGraph) else other.graph
