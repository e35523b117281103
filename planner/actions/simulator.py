"""The simulator: checks an action, optionally corrects it by rule, and commits it in one transaction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, TypedDict
from uuid import uuid4

from typing_extensions import Unpack

from scenecypher.db.graph.delta import Delta
from scenecypher.db.graph.scene import GraphView
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.commit import Committed, Intent, SceneVersion
from scenecypher.db.store.history import Event
from scenecypher.db.store.reference import resolve_reference
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.telemetry import error_type, measure, span, timed
from scenecypher.errors import (
    ActionRefused,
    CommitUnknown,
    RejectedError,
    RuleBroken,
    UnknownReference,
    check_options,
)
from scenecypher.meaning import NO_MEANING, Meaning
from scenecypher.planner.actions import execution
from scenecypher.planner.actions.operator import AGENT, Operator
from scenecypher.planner.actions.ruled import APPROVED, Answer, ApprovalNeeded, asking_rule, under_rules
from scenecypher.planner.actions.text import (
    ActionCall,
    Macro,
    checked_action_id,
    operator_of,
    parse_action,
    reused_id_error,
    unknown_outcome_error,
)
from scenecypher.planner.vocabularies.vocabulary import macros_of, operators_of

TOOL_CALL: Final = "execute_tool"
"""OpenTelemetry's name of what an agent does to its world."""
PERSON: Final = "person"
"""Whom the history names where nobody says whose action it is."""
INSERTED_MARK: Final = "  [inserted: "
"""The separator in the history between an inserted action and the reason of its insertion."""
INSERTED_SUFFIX: Final = ":first-"
"""Between the id of a requested action and the number of an action that was inserted before it."""
MAX_INSERTED: Final = 8
"""Maximum number of corrections before one action; more indicate a loop in the rules."""


@dataclass(frozen=True, slots=True)
class CommittedAction:
    """A committed action; `because` is the reason if a correction inserted it, `seen` what it showed.

    `world_version` is the version of the world that it led to, if it was done by a belief and the world is a scene.
    `action_id` is the id under which it can be repeated, empty for what was no action.
    """

    action: str
    version: int
    delta: Delta
    because: str | None = None
    seen: tuple[str, ...] = ()
    world_version: int | None = None
    action_id: str = field(default="", compare=False)


class Acting(TypedDict, total=False):
    """Who acts and how: `actor` is whom the history names (PERSON), `agent` the acting node's id (the first by id).

    `fix` inserts missing actions. `ask` asks a person where a rule of the house demands it; without it, such an
    action is refused.
    """

    actor: str
    agent: str | None
    fix: bool
    ask: Answer | None


class ActionSimulator(ABC):
    """Acts on one scene, wherever that is kept. `pick_node` selects a node if an operator's choice has several."""

    def __init__(
        self, scene: SceneInfo, *, pick_node: execution.NodePicker = execution.lowest_id, **how: Unpack[Acting]
    ) -> None:
        check_options(how, Acting.__annotations__)
        self.scene, self.fix, self._pick_node = scene, how.get("fix", False), pick_node
        self._ask, self._asks = how.get("ask"), True
        self._approved: dict[str, str] = {}
        self.operators: Mapping[str, Operator] = operators_of(scene.vocabulary)
        self.macros: Mapping[str, Macro] = macros_of(scene.vocabulary)
        self._actor, self._agent = how.get("actor", PERSON), how.get("agent")

    @abstractmethod
    def _commit(self, operator: Operator, call: ActionCall, because: str | None, intent: Intent) -> CommittedAction:
        """Commit one action as one change. Raises _UnresolvedWords for words that are no ids, or ActionRefused."""

    @abstractmethod
    def _event_of(self, action_id: str) -> Event | None:
        """Return the event of an action, None if it was not committed."""

    @abstractmethod
    def _resolve(self, word: str) -> str:
        """Return the id of the node that a word means. Raises UnknownReference."""

    @abstractmethod
    def _graph(self) -> GraphView:
        """Return the scene as it is now."""

    def act(
        self, text: str, *, expected_version: int | None = None, action_id: str | None = None, is_new: bool = False
    ) -> Iterator[CommittedAction]:
        """Carry out an action such as ``grab(soap_1001)``; yield each committed action, the requested one last.

        With `expected_version`, commit only if nobody else has changed the scene since that version. `action_id` makes
        the call safe to repeat: the requested action has this id, those inserted before it have ids made of it, and
        what is committed already is yielded again. An id that `is_new` is not looked up.

        A macro is carried out as its steps, of which the last counts as the requested one; with `fix`, each is
        corrected like any other action. Raises ActionRefused (Infeasible with the unmet requirements), UnknownReference
        ConflictError (another version), or InputError if the id belongs to another action. Nothing of the failed action
        is committed; actions inserted before it remain. CommitUnknown names the id with which to repeat the action.
        """
        call = parse_action(text)
        at = _Progress(expected_version, checked_action_id(uuid4().hex if action_id is None else action_id))
        if action_id is not None and not is_new:
            for before in self._committed_of(call, at):
                yield before
                if before.because is None:
                    return
        try:
            if call.name in self.macros:
                yield from self._act_macro(call, self.macros[call.name], at)
            else:
                yield from self._act_corrected(call, None, set(), at)
        except CommitUnknown as error:
            raise unknown_outcome_error(at.requested, error) from error

    def act_once(self, text: str, *, action_id: str, because: str | None = None) -> CommittedAction:
        """Carry out one action without correction; repeating it with the same `action_id` is a no-op.

        `because` is the reason if a correction made elsewhere inserted it. Raises ActionRefused, UnknownReference, or
        InputError if the id belongs to another action.
        """
        return self._perform(parse_action(text), because, action_id=action_id)

    def _act_macro(self, call: ActionCall, macro: Macro, at: _Progress) -> Iterator[CommittedAction]:
        """Carry out the steps of a macro; steps before the last are skipped if their effect holds already.

        An unknown reference is refused before any step is committed.
        """
        steps = macro.steps(call)
        words = dict.fromkeys(word for step in steps for word in step.arguments)
        ids = {word: self._resolve(word) for word in words}
        *earlier, last = (ActionCall(step.name, tuple(ids[word] for word in step.arguments)) for step in steps)
        for step in earlier:
            try:
                yield from self._act_corrected(step, f"{call} asks for it", set(), at)
            except execution.Infeasible as refusal:
                if any(part.requirement.fault != "already" for part in refusal.unmet):
                    raise
        yield from self._act_corrected(last, None, set(), at)

    def _act_corrected(
        self, call: ActionCall, because: str | None, inserted: set[ActionCall], at: _Progress
    ) -> Iterator[CommittedAction]:
        while True:
            try:
                yield at.record(self._perform(call, because, action_id=at.id_of(because), expected=at.version))
            except execution.Infeasible as refusal:
                remedy = self._remedy(refusal)
                if remedy is None or remedy in inserted or len(inserted) == MAX_INSERTED:
                    raise self._with_choices(refusal) from refusal.__cause__
                refused = refusal.unmet
            else:
                return
            inserted.add(remedy)
            try:
                yield from self._act_corrected(remedy, refused[0].fact, inserted, at)
            except execution.Infeasible as nested:
                raise execution.Infeasible(str(call), (*refused, *nested.unmet)) from nested
            except RuleBroken as nested:
                why = (f"{nested.action}: {reason}" for reason in nested.reasons)
                raise RuleBroken(str(call), [*(part.fact for part in refused), *why]) from nested

    def _perform(
        self, call: ActionCall, because: str | None, *, action_id: str, expected: int | None = None
    ) -> CommittedAction:
        about = {
            "gen_ai.operation.name": TOOL_CALL,
            "gen_ai.tool.name": call.name,
            "scenecypher.scene": self.scene.name,
        }
        told = {**about, "gen_ai.tool.type": "function", "gen_ai.tool.call.id": action_id}
        with timed("scenecypher.action.duration", about), span(f"{TOOL_CALL} {call.name}", told) as current:
            try:
                step = self._performed(call, because, action_id=action_id, expected=expected)
            except RejectedError as refused:
                measure("scenecypher.refusals", 1, {**about, "error.type": error_type(refused)})
                raise
            current.note({"scenecypher.version": step.version, "scenecypher.changes": len(step.delta)})
        measure("scenecypher.actions", 1, {**about, "scenecypher.inserted": because is not None})
        return step

    def _performed(
        self, call: ActionCall, because: str | None, *, action_id: str, expected: int | None
    ) -> CommittedAction:
        operator = operator_of(call, self.operators, self.macros)
        intent = Intent(self._actor, history_text(call, because), action_id, expected, counted=True)
        try:
            return self._approved_commit(operator, call, because, intent)
        except _UnresolvedWords as unresolved:
            ids = tuple(self._resolve(word) if word in unresolved.words else word for word in call.arguments)
        resolved = ActionCall(call.name, ids)
        try:
            again = replace(intent, action=history_text(resolved, because))
            return self._approved_commit(operator, resolved, because, again)
        except _UnresolvedWords as unresolved:
            msg = f"{', '.join(unresolved.words)} went away meanwhile; look at the scene again"
            raise UnknownReference(msg) from unresolved

    def _approved_commit(
        self, operator: Operator, call: ActionCall, because: str | None, intent: Intent
    ) -> CommittedAction:
        """Commit one action as `_commit` does; ask a person, outside of any transaction, where a rule demands it."""
        self._approved = {}
        while True:
            try:
                return self._commit(operator, call, because, replace(intent, approved_by=self._approved_by))
            except ApprovalNeeded as needed:
                if self._ask is None:
                    raise
                said, _, name = (self._ask(needed.question) or "").partition(": ")
                if said != APPROVED:
                    raise RuleBroken(str(call), [f"{needed.asks}; it was not approved"]) from needed
                self._approved[needed.rule.name] = name or PERSON

    @property
    def _approved_by(self) -> str:
        """Who approved the present action, by names; empty if nobody was asked."""
        return ", ".join(dict.fromkeys(self._approved.values()))

    def _committed_of(self, call: ActionCall, at: _Progress) -> Iterator[CommittedAction]:
        """Yield what was committed under an id: what was inserted, then the action. Raises InputError for another."""
        requested = self._event_of(at.requested)
        if requested is not None:
            last = self.macros[call.name].steps(call)[-1] if call.name in self.macros else call
            self._check_same(last, requested, at.requested)
        while (event := self._event_of(at.next_inserted)) is not None:
            yield at.record(self._committed_as(event, at.next_inserted))
        if requested is not None:
            yield self._committed_as(requested, at.requested)

    def _committed_as(self, event: Event, action_id: str) -> CommittedAction:
        """Return the action of an event, which has this id."""
        action, because = action_of(event)
        return CommittedAction(str(action), event.version, event.delta, because, action_id=action_id)

    def _check_same(self, call: ActionCall, event: Event, action_id: str) -> None:
        """Raise InputError if the action committed as `event` is another one."""
        before = str(action_of(event)[0])
        if before != str(call) and before != str(ActionCall(call.name, tuple(map(self._resolve, call.arguments)))):
            raise reused_id_error(action_id, before)

    def _decide(self, operator: Operator, call: ActionCall, at: SceneVersion) -> Delta:
        repairing = self.operators.values() if self.fix else ()
        bindings, bound = self._bind(operator, call, at), under_rules(operator, at.rules, repairing)
        delta = execution.simulate(bound, at.graph, bindings, action=str(call), pick_node=self._pick_node)
        if self._asks and (rule := asking_rule(operator, at.rules, at.graph, bindings, self._approved)):
            raise ApprovalNeeded(str(call), rule)
        return delta

    def _bind(self, operator: Operator, call: ActionCall, at: SceneVersion) -> dict[str, str]:
        """Return ids by variable. Raises _UnresolvedWords for words that are no ids, ActionRefused without an agent."""
        if at.agent is None:
            agents = ", ".join(sorted(at.graph.by_kind.get("Agent", ())))
            unknown_agent = f"there is no agent {self._agent!r} here; name one of {agents}"
            no_agent = execution.NO_AGENT.replace("NAME", self.scene.name)
            raise ActionRefused(str(call), [unknown_agent if self._agent and agents else no_agent])
        self._agent = at.agent
        unresolved = tuple(word for word in call.arguments if word not in at.graph)
        if unresolved:
            raise _UnresolvedWords(unresolved)
        names = (parameter.name for parameter in operator.parameters)
        return {AGENT: at.agent, **dict(zip(names, call.arguments, strict=True))}

    def _remedy(self, refusal: execution.Infeasible) -> ActionCall | None:
        """Return the action to insert first; None if no rule helps with one of the unmet requirements."""
        if not self.fix or any(part.requirement.repair is None for part in refusal.unmet):
            return None
        unmet = refusal.unmet[0]
        repair = unmet.requirement.repair
        if unmet.remedy or repair is None:
            return unmet.remedy
        return execution.repair_call(repair, execution.bind_choices(repair.choose, self._graph(), unmet.bindings))

    def _with_choices(self, refusal: execution.Infeasible) -> execution.Infeasible:
        """Return a refusal that names the remedies to choose from, if its first one is such."""
        unmet, *others = refusal.unmet
        repair = unmet.requirement.repair
        if repair is None or not repair.tells_choices or unmet.remedy is not None:
            return refusal
        choices = execution.repair_choices(repair, self._graph(), unmet.bindings)
        return execution.Infeasible(refusal.action, (replace(unmet, choices=choices), *others)) if choices else refusal


class Simulator(ActionSimulator):
    """Acts on one scene of the database: each action is a transaction.

    With `ids_only`, words that are no ids are refused, without a word of what the scene holds.
    """

    def __init__(
        self,
        store: SceneStore,
        scene: SceneInfo,
        *,
        pick_node: execution.NodePicker = execution.lowest_id,
        meaning: Meaning = NO_MEANING,
        ids_only: bool = False,
        **how: Unpack[Acting],
    ) -> None:
        super().__init__(scene, pick_node=pick_node, **how)
        self._store, self._meaning, self.ids_only = store, meaning, ids_only

    def notice_others(self) -> tuple[Event, ...]:
        """Return the acts of others that the acting node notices outside the scene's own history: none in a world."""
        return ()

    def is_told(self, event: Event) -> bool:
        """Check if an event of the scene's history is told to a method, if somebody else is its author."""
        del event
        return True

    def _commit(self, operator: Operator, call: ActionCall, because: str | None, intent: Intent) -> CommittedAction:
        """Commit one action in one transaction."""
        decide = partial(self._decide, operator, call)
        done: Committed = self._store.change(self.scene, decide, agent=self._agent, intent=intent)
        event = self._store.event(self.scene, intent.action_id) if done.repeated else None
        if event is not None:
            self._check_same(call, event, intent.action_id)
        self.scene = replace(self.scene, version=max(done.version, self.scene.version))
        return CommittedAction(str(call), done.version, done.delta, because, action_id=intent.action_id)

    def _event_of(self, action_id: str) -> Event | None:
        return self._store.event(self.scene, action_id)

    def _resolve(self, word: str) -> str:
        if self.ids_only and word not in self._graph():
            raise UnknownReference(f"there is no node with the id {word[:100]!r}; name nodes by their ids alone")
        try:
            return resolve_reference(self._graph(), word)
        except UnknownReference as error:
            raise self._meaning.explained(error) from None

    def _graph(self) -> GraphView:
        return self._store.now(self.scene).graph


def history_text(call: ActionCall, because: str | None) -> str:
    """Return an action as the history stores it."""
    return str(call) if because is None else f"{call}{INSERTED_MARK}{because}]"


def action_of(event: Event) -> tuple[ActionCall, str | None]:
    """Return the action of an event, and the reason if a correction inserted it."""
    action, inserted, because = event.action.partition(INSERTED_MARK)
    return parse_action(action), because.removesuffix("]") if inserted else None


@dataclass(slots=True)
class _Progress:
    """The version that the scene must still have, which our own actions advance (None: any), and the actions' ids.

    `inserted` is the number of actions that were inserted before the `requested` one.
    """

    version: int | None
    requested: str
    inserted: int = 0

    @property
    def next_inserted(self) -> str:
        """The id of the next action that is inserted before the requested one."""
        return f"{self.requested}{INSERTED_SUFFIX}{self.inserted + 1}"

    def id_of(self, because: str | None) -> str:
        """Return the id of the requested action, or of the next one that is inserted for the reason `because`."""
        return self.requested if because is None else self.next_inserted

    def record(self, step: CommittedAction) -> CommittedAction:
        if self.version is not None:
            self.version = step.version
        self.inserted += step.because is not None
        return step


class _UnresolvedWords(RejectedError):
    """Arguments that are no ids: nothing is committed. Never leaves this module."""

    def __init__(self, words: tuple[str, ...]) -> None:
        super().__init__(words)
        self.words = words
