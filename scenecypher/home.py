"""Home: one scene to query, ask, act in and plan in; its past; and the results of these."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, TypedDict

from typing_extensions import Unpack

from scenecypher.chat.model import Model
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.rules import BrokenRule, Rule, rules_of
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.commit import Committed
from scenecypher.db.store.enumerate import count_graph
from scenecypher.db.store.enumerations import Enumerations
from scenecypher.db.store.history import Event, undone_versions
from scenecypher.db.store.reference import resolve_reference
from scenecypher.db.store.rewind import SceneAt, load_version, past_copy, read_moment, scene_at
from scenecypher.errors import InputError, check_options
from scenecypher.importers import datasets
from scenecypher.planner.actions.ruled import Answer, actions_and_rules
from scenecypher.planner.actions.simulator import PERSON, Acting, CommittedAction, Simulator
from scenecypher.planner.methods import recipe_named
from scenecypher.planner.perception.detections import Detection, Detections, DetectionsFile
from scenecypher.planner.perception.look import CommittedLook, belief_before, merge_look
from scenecypher.planner.perception.naming import known_node
from scenecypher.planner.perception.observation import SeenThing
from scenecypher.planner.rules.house import AddedRules, add_rule, add_set, check_rules, remove_rule
from scenecypher.planner.sessions.budget import SPARE_STEPS, UNASKED_STEPS, Budget
from scenecypher.planner.sessions.events import Acted, Corrected, Finished
from scenecypher.planner.sessions.events import Event as PlanEvent
from scenecypher.planner.sessions.goal_words import read_goal_in
from scenecypher.planner.sessions.method import AskingBack
from scenecypher.planner.sessions.recording import RunRecorder
from scenecypher.planner.sessions.setup import NoModel, SessionSetting, prepare_session
from scenecypher.planner.vocabularies.own_actions import own_goal_in_words
from scenecypher.planner.worlds.belief_simulator import simulator_of
from scenecypher.readable import QueryResult, ReadableHome, Services, home_html
from scenecypher.retriever.past_text import past_text

__all__ = ["Home", "PastHome", "PlanOptions", "PlanOutcome", "QueryResult"]

METHOD: Final = "stepwise"
"""The method of plans that name none."""
ONE_OF: Final = "give either an instruction in words, or a goal (--goal FACTS), or the task of a data set (--task ID)"


class PlanOptions(TypedDict, total=False):
    """Options of `Home.plan`.

    `task` is a task of a data set, by its id, or FOLDER/ID of GraSIF's own files, in place of an instruction; so is
    `goal`, what shall hold, such as ``mug ON shelf; fridge is closed``. Without any of them the goal of the scene's own
    PDDL problem counts. `method` is a name that `scenecypher methods` lists (default ``stepwise``), `ablations` leave
    parts of it out. `belief` says whether to decide by what the robot has seen, `fix` whether to correct actions by
    rule; by default the method decides both. `budget` bounds steps, tokens and seconds. `ask` is asked what is meant
    where an instruction leaves it open (by methods that state a goal): called with a question that has `choices` in
    words, it returns one of them, an id among them, "" for any, or None to stop. With `ask_back` ``always`` it is asked
    also where the choices are alike, with ``never`` not what is meant. Where a rule of the house has a person asked, it
    approves the action by ``do it``, or ``do it: ann`` with a name; any other answer is a no, as is no `ask`.
    """

    task: str | None
    goal: str | None
    method: str
    model: Model | str | None
    ablations: Sequence[str]
    belief: bool | None
    fix: bool | None
    budget: Budget
    ask: Answer | None
    ask_back: AskingBack


@dataclass(frozen=True, slots=True)
class PlanOutcome:
    """The events of a task that was carried out, and its end."""

    events: tuple[PlanEvent, ...]
    end: Finished

    @property
    def is_done(self) -> bool:
        """True if the goal holds in the home; without a goal that can be checked, if the method says it is done."""
        return self.end.is_done

    @property
    def actions(self) -> tuple[str, ...]:
        """The actions that were carried out, corrections included."""
        return tuple(event.action for event in self.events if isinstance(event, Acted | Corrected))


class PastHome(ReadableHome):
    """A home as it was at one version: it can be read, compared and copied, not acted in."""

    def __init__(self, services: Services, then: SceneAt) -> None:
        super().__init__(services, then.scene.name)
        self.version = then.version
        self._then = then
        self._graph: SceneGraph | None = None

    def __repr__(self) -> str:
        return f"<PastHome {self.name!r} at version {self.version}>"

    def _repr_html_(self) -> str:
        """Return counts and a tree of the rooms, for notebooks."""
        return home_html(f"{self.name} at version {self.version}", self.graph)

    @property
    def info(self) -> SceneInfo:
        """The facts of the scene, at this version."""
        return replace(self._then.scene, version=self.version)

    @property
    def graph(self) -> SceneGraph:
        """The whole scene as it was; it is loaded at the first use."""
        if self._graph is None:
            self._graph = load_version(self._services.store.database, self._then).graph
        return self._graph

    @property
    def occurring(self) -> Enumerations:
        """What occurred in the scene, counted in memory: only queries need a copy in the database."""
        return count_graph(self.graph)

    def copy(self, name: str) -> Home:
        """Copy this state under a new name: a home to act in, with an empty history.

        Raises InputError if the name is taken.
        """
        return Home(self._services, self._services.store.copy(self._then.name, name).name)

    def _found(self) -> SceneInfo:
        return past_copy(self._services.store.database, self._then)


class Home(ReadableHome):
    """One scene of the database, by its name. Each method reads or changes the scene as it is at that moment."""

    def __repr__(self) -> str:
        return f"<Home {self.name!r}>"

    def _repr_html_(self) -> str:
        """Return counts and a tree of the rooms, for notebooks."""
        now = self._services.store.now(self.info)
        return home_html(f"{self.name} at version {now.info.version}", now.graph)

    @property
    def info(self) -> SceneInfo:
        """The facts of the scene: vocabulary, role, version, counts at its import."""
        return self._services.store.find(self.name)

    @property
    def graph(self) -> SceneGraph:
        """The whole scene, as it is now, at one version."""
        return self._services.store.now(self.info).graph

    def _found(self) -> SceneInfo:
        return self.info

    # --- acting

    def act(
        self, action: str, *, expected_version: int | None = None, action_id: str | None = None, **how: Unpack[Acting]
    ) -> tuple[CommittedAction, ...]:
        """Carry out an action such as ``grab(cup_2004)``; each step is one transaction, the requested one last.

        `fix` first does, by rule, what the action needs. `agent` is the node that acts, by default the first agent;
        `actor` is whom the history names. With an `action_id` the call is safe to repeat: an action of that id that is
        done already is returned, not done again. `ask` asks a person where a rule of the house demands it, as in
        `PlanOptions`.

        Raises ActionRefused with the unmet requirements, UnknownReference, or ConflictError if the scene is no longer
        at `expected_version`; nothing of the refused action is committed. Raises CommitUnknown if the answer was lost.
        """
        return tuple(self.act_steps(action, expected_version=expected_version, action_id=action_id, **how))

    def act_steps(
        self, action: str, *, expected_version: int | None = None, action_id: str | None = None, **how: Unpack[Acting]
    ) -> Iterator[CommittedAction]:
        """Carry out an action as `act` does, and yield each step once it is committed. Raises as `act` does."""
        return self._simulator(**how).act(action, expected_version=expected_version, action_id=action_id)

    @property
    def actions(self) -> str:
        """The actions that the scene allows, one a line, as a model is shown them, and the rules of the house."""
        return actions_and_rules(self._simulator())

    def observe(
        self,
        of: str,
        things: Sequence[SeenThing],
        *,
        seen: Literal["whole", "part"] = "part",
        accept: bool | None = None,
    ) -> CommittedLook:
        """Merge what a look at `of` showed into the belief about this home, which is made where absent.

        `of` is a room or piece of furniture by its id, name or class. Only if all of it was `seen` are believed things
        absent that are not among `things`. A look that contradicts most of the belief is merged only with `accept`, by
        default as configured. Raises UnknownReference.
        """
        store = self._services.store
        belief = belief_before(store, self.name)
        file = DetectionsFile(
            seen=seen, sightings=[Detection.model_validate(it.model_dump(by_alias=True)) for it in things]
        )
        known = known_node(belief.graph, resolve_reference(belief.graph, of), vocabulary=belief.vocabulary)
        observation = Detections(file, {}).observation(known, step=belief.version + 1)
        chosen = self._services.settings.accept_looks if accept is None else accept
        meaning = self._services.meaning
        return merge_look(store, self.name, belief, observation, accept=chosen, meaning=meaning)

    def history(self, *, after: int = 0, limit: int | None = None) -> list[Event]:
        """Return the events with a version above `after`, oldest first; with `limit` no more than the first ones."""
        return self._services.store.history(self.info, after=after, limit=limit)

    def undone(self, *, after: int = 0) -> frozenset[int]:
        """Return the versions that events with a version above `after` have undone; no changes are read."""
        return undone_versions(self._services.store.database, self.info.key, after=after)

    def undo(self, *, version: int | None = None, to: int | None = None, approved_by: str = "") -> Committed:
        """Undo the latest action that still holds, the one of `version`, or everything after version `to`.

        Raises NothingToUndo, ConflictError if its effects no longer hold, InputError for a version there is not, and
        RuleBroken if it breaks a rule of the house, unless a person approved it.
        """
        return self._services.store.undo(self.info, version=version, to=to, approved_by=approved_by)

    def redo(self, *, approved_by: str = "") -> Committed:
        """Take the latest undo back. Raises NothingToRedo, RuleBroken as `undo` does."""
        return self._services.store.redo(self.info, approved_by=approved_by)

    @property
    def past_schema(self) -> str:
        """The text that a model is shown of what can be queried of the past: events, facts, runs and steps."""
        return past_text(self._services.gate, self.info)

    # --- planning

    def plan(self, instruction: str | None = None, **options: Unpack[PlanOptions]) -> PlanOutcome:
        """Carry out a task: the method decides each step, each action is checked and committed.

        Returns all events once the session has ended. Raises InputError, ModelUnavailable, ServiceError.
        """
        events = tuple(self.plan_events(instruction, **options))
        end = events[-1]
        assert isinstance(end, Finished)  # noqa: S101 - the session's last event
        return PlanOutcome(events, end)

    def plan_events(self, instruction: str | None = None, **options: Unpack[PlanOptions]) -> Generator[PlanEvent]:
        """Carry out a task as `plan` does, and yield each event as it happens; the last one is Finished.

        Every action is a transaction, so that stopping between two events (`close`) leaves nothing half-written; others
        may act between two events.
        """
        return self.begin_plan(instruction, **options)[1]

    def begin_plan(
        self, instruction: str | None = None, **options: Unpack[PlanOptions]
    ) -> tuple[RunRecorder, Generator[PlanEvent]]:
        """Return the events as `plan_events` does, and what keeps them as a run, whose number it has from the first."""
        if sum(it is not None for it in (instruction, options.get("task"), options.get("goal"))) > 1:
            raise InputError(ONE_OF)
        setting = session_setting(self._services, self.info, instruction, options)
        recorder = self._recorder(setting.scene, "plan")
        return recorder, recorder.kept(prepare_session(setting, recipe_named(setting.name)).run())

    # --- rules

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of the house, which no action breaks, in the order in which they were added."""
        return rules_of(self.info.declared).in_force

    def add_rule(self, words: str, *, name: str = "", actor: str = PERSON) -> AddedRules:
        """Add a rule such as ``never knife INSIDE nursery``; without a `name` it gets a number.

        The result has the things that break it already, which stay. Raises InputError for words that are no rule.
        """
        return add_rule(self._services.store, self.name, words, name=name, actor=actor)

    def add_rules(self, set_name: str, *, actor: str = PERSON) -> AddedRules:
        """Take a set of rules, such as ``household-safety``. Raises InputError for an unknown one."""
        return add_set(self._services.store, self.name, set_name, actor=actor)

    def remove_rule(self, name: str, *, actor: str = PERSON) -> Rule:
        """End a rule; return it. Raises InputError if there is none of this name."""
        return remove_rule(self._services.store, self.name, name, actor=actor)

    def check_rules(self) -> tuple[BrokenRule, ...]:
        """Return the rules that the home breaks now, each with the things that do."""
        return check_rules(self._services.store, self.name)

    # --- the past

    def at(self, moment: int | datetime | str) -> PastHome:
        """Return the home as it was at a version or a time, to be read.

        A text is either of them, such as ``2026-11-23T10:15``; a time without zone is the user's. Raises InputError for
        a version or a time that the home does not have.
        """
        then = read_moment(moment, name=f"{self.name}@{moment}") if isinstance(moment, str) else moment
        return PastHome(self._services, scene_at(self._services.store.database, self.info, then))

    def _simulator(self, **how: Unpack[Acting]) -> Simulator:
        services = self._services
        return simulator_of(services.store, self.info, meaning=services.meaning, **how)


def session_setting(
    services: Services, scene: SceneInfo, instruction: str | None, options: PlanOptions
) -> SessionSetting:
    """Return the setting of a session: for an instruction, a goal, a data set's task, or else the scene's own goal.

    Raises InputError.
    """
    from scenecypher.importers.grasif_folder import find_pair, is_folder

    check_options(options, PlanOptions.__annotations__)
    if instruction is not None and not instruction.strip():
        raise InputError("the INSTRUCTION is empty; write what shall be done")
    name, method = options.get("task"), options.get("method", METHOD)
    recipe = recipe_named(method)
    path, task = Path(name or ""), None
    if name is not None:
        task = find_pair(path).task if is_folder(path.parent) else datasets.task(name)[1]
    usual = Budget(task.budget + SPARE_STEPS) if task else Budget() if recipe.model else Budget(UNASKED_STEPS)
    goal = task.goal if task is not None and task.has_graph_goal else None
    if (wanted := options.get("goal")) is not None:
        goal, instruction = read_goal_in(services.store, scene, wanted), instruction or wanted
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
        method,
        goal=goal,
        required_actions=task.action_goals if task is not None else (),
        model=services.model(options.get("model")) if recipe.model else NoModel(),
        ablations=tuple(options.get("ablations", ())),
        budget=options.get("budget", usual),
        belief=options.get("belief"),
        fix=options.get("fix"),
        answer=options.get("ask"),
        asking=options.get("ask_back"),
        engine_timeout_s=services.settings.engine_timeout_s,
        meaning=services.meaning,
    )
