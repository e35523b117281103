"""Acting on a belief: check the action there, execute it in the world, then update or correct the belief."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Final
from uuid import uuid4

from scenecypher.db.graph.delta import Delta, SetProperty, apply, compose
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.commit import Intent, LockedPart
from scenecypher.db.store.history import Event, versions_in_effect
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.vocabulary import conventions_of
from scenecypher.errors import ActionRefused, RejectedError, UnknownReference
from scenecypher.planner.actions.operator import Operator
from scenecypher.planner.actions.simulator import INSERTED_MARK, CommittedAction, Simulator, history_text
from scenecypher.planner.actions.text import ActionCall, parse_action
from scenecypher.planner.belief import world_of
from scenecypher.planner.environment import Environment, SceneEnvironment, WorldMismatch
from scenecypher.planner.perception.body import merge_body
from scenecypher.planner.perception.merge import merge
from scenecypher.planner.vocabularies.registry import vocabulary_named

LOOK_ACTIONS: Final = frozenset({"discover_objects", "look_at"})
"""Actions that only observe their argument: the belief is updated by the observation, without effects."""


def can_look(vocabulary: str) -> bool:
    """Check if the vocabulary has actions that reveal something; without them no belief could be confirmed."""
    chosen = vocabulary_named(vocabulary)
    return bool(chosen.looking.revealing or LOOK_ACTIONS & {*chosen.operators})


BELIEF_ID_SUFFIX: Final = ":belief"
SEEN_SUFFIX: Final = ":seen"
"""Suffixes of the belief's events: each adds one to the id of the world's action."""


class BeliefSimulator(Simulator):
    """Simulator that acts in `world` first and then on the belief `scene`; the world may refuse what the belief allows.

    World and belief are two commits; the second has the action's id with the suffix ``:belief``.
    """

    def __init__(
        self,
        store: SceneStore,
        scene: SceneInfo,
        *,
        world: Environment,
        actor: str = "person",
        agent: str | None = None,
        fix: bool = False,
    ) -> None:
        super().__init__(store, scene, actor=actor, agent=agent, fix=fix)
        self._world = world
        self._known: SceneGraph | None = None
        self._version = 0
        self._revealing = vocabulary_named(scene.vocabulary).looking.revealing

    def belief(self) -> SceneGraph:
        """Return the present belief: loaded once, then updated by the events since."""
        if self._known is None:
            snapshot = self._store.load(self.scene.name)
            self._known, self._version = snapshot.graph, snapshot.info.version
        since = self._store.history(self.scene, after=self._version)
        if since:
            self._known = apply(self._known, compose(event.delta for event in since))
            self._version = since[-1].version
        return self._known

    def complete(self, log: Sequence[Event]) -> tuple[CommittedAction, ...]:
        """Apply to the belief the actions that only the world has, after a program ended between the two commits.

        `log` is the world's history. For an action that the belief does not allow, the belief is corrected by a look.
        """
        ids = {event.action_id for event in self._store.history(self.scene)}
        return tuple(step for event in self._missing_halves(log, ids) for step in self._complete_half(event))

    def _missing_halves(self, log: Sequence[Event], ids: Collection[str]) -> Iterator[Event]:
        """Yield this actor's actions in the world, not undone, since the last one that the belief has in full."""
        held, since = versions_in_effect(log), self.scene.world_version or 0
        own = [it for it in log if it.version > since and it.kind == "act" and it.actor == self._actor]
        for event in reversed(own):
            if self._is_complete(event, ids):
                since = event.version
                break
        yield from (event for event in own if event.version > since and event.version in held)

    def _is_complete(self, event: Event, ids: Collection[str]) -> bool:
        reveals = _parse_event(event)[0].name in self._revealing
        return f"{event.action_id}{BELIEF_ID_SUFFIX}" in ids and (
            not reveals or f"{event.action_id}{SEEN_SUFFIX}" in ids
        )

    def _complete_half(self, event: Event) -> Iterator[CommittedAction]:
        call, because = _parse_event(event)
        operator = self.operators[call.name]
        try:
            yield self._update_belief(operator, call, because, action_id=event.action_id)
        except (ActionRefused, UnknownReference) as refusal:
            self._correct_belief(call, refusal, event.action_id)

    def look(self, of: str, *, action: str, action_id: str) -> CommittedAction:
        """Look at a node of the world and commit the change of the belief. Raises UnknownReference."""
        belief = self.belief()
        observation = self._world.observe(of, step=self._version + 1)
        found = merge(belief, observation, vocabulary=self.scene.vocabulary)
        done = self._store.commit(self.scene, found.delta, actor=self._actor, action=action, action_id=action_id)
        return CommittedAction(action, done.version, found.delta, seen=tuple(map(str, found.findings)))

    def _commit(self, operator: Operator, call: ActionCall, because: str | None, intent: Intent) -> CommittedAction:
        self._check(operator, call, expected=intent.expected_version)
        try:
            self._world.execute(str(call), action_id=intent.action_id, because=because)
        except (ActionRefused, UnknownReference) as refusal:
            raise self._correct_belief(call, refusal, intent.action_id) from refusal
        return self._update_belief(operator, call, because, action_id=intent.action_id)

    def _update_belief(
        self, operator: Operator, call: ActionCall, because: str | None, *, action_id: str
    ) -> CommittedAction:
        """Apply an executed action to the belief: its effects, and what it reveals."""
        believed_id = f"{action_id}{BELIEF_ID_SUFFIX}"
        if operator.name in LOOK_ACTIONS:
            seen = self.look(call.arguments[0], action=history_text(call, because), action_id=believed_id)
            return replace(seen, action=str(call), because=because)
        step = super()._commit(operator, call, because, Intent(self._actor, history_text(call, because), believed_id))
        if operator.name not in self._revealing:
            return step
        return self._with_look(step, call.arguments[0], action_id=f"{action_id}{SEEN_SUFFIX}")

    def _with_look(self, step: CommittedAction, of: str, *, action_id: str) -> CommittedAction:
        """Return the step extended by a look; the action is done, so a failed look is only reported."""
        try:
            seen = self.look(of, action=f"see {of}", action_id=action_id)
        except RejectedError as failure:
            return replace(step, seen=(f"{of} was not seen: {failure}",))
        return replace(step, version=seen.version, delta=compose((step.delta, seen.delta)), seen=seen.seen)

    def _decide(self, operator: Operator, call: ActionCall, locked: LockedPart) -> Delta:
        """Return the action's effects; its arguments count as seen from now on."""
        delta = super()._decide(operator, call, locked)
        nodes = (locked.part.nodes[word] for word in dict.fromkeys(call.arguments))
        unseen = [node.id for node in nodes if node.properties.get("seen") is False]
        seen = [SetProperty(id_, "seen", before=False, after=True) for id_ in unseen]
        return Delta.of([*delta.changes, *seen])

    def _check(self, operator: Operator, call: ActionCall, *, expected: int | None) -> None:
        """Check that the belief allows the action at this version; commit nothing. Raises as `_commit` does."""

        def decide(locked: LockedPart) -> Delta:
            self._decide(operator, call, locked)
            raise _RolledBack

        intent = Intent(self._actor, str(call), uuid4().hex, expected)
        try:
            self._store.act(self.scene, self._footprint(operator, call), decide, intent=intent)
        except _RolledBack:
            return

    def _correct_belief(self, call: ActionCall, refusal: RejectedError, action_id: str) -> WorldMismatch:
        """Correct the belief after the world's refusal: the robot's own state, then the places involved, by looks."""
        findings = [*self._correct_own_state(call, f"{action_id}:self")]
        for number, of in enumerate(_places_to_look(self.belief(), call, self.scene.vocabulary)):
            try:
                look = self.look(
                    of, action=f"look at {of}, since {call} was not possible", action_id=f"{action_id}:{number}"
                )
            except UnknownReference:
                continue
            except RejectedError as failure:
                findings.append(f"{of} was not seen: {failure}")
                continue
            findings += look.seen
        return WorldMismatch(str(call), refusal.reasons, tuple(findings))

    def _correct_own_state(self, call: ActionCall, action_id: str) -> tuple[str, ...]:
        """Correct the belief about the robot itself, without a look; return the findings."""
        belief = self.belief()
        agent = self._agent or min(belief.by_kind.get("Agent", ()), default=None)
        body = None if agent is None else self._world.body(agent)
        if body is None:
            return ()
        found = merge_body(belief, body, vocabulary=self.scene.vocabulary)
        if found.delta:
            action = f"notice what {agent} holds and where it is, since {call} was not possible"
            self._store.commit(self.scene, found.delta, actor=self._actor, action=action, action_id=action_id)
        return tuple(map(str, found.findings))


def _places_to_look(belief: SceneGraph, call: ActionCall, vocabulary: str) -> tuple[str, ...]:
    """Return the nodes worth a look: each argument, and what it is believed to be in or on.

    Rooms are left out, since a look at one shows little; in a grid a room shows everything, so there its doors are
    added.
    """
    containment = conventions_of(vocabulary).containment
    near = [end for it in call.arguments for end in (it, *belief.targets(it, *containment)) if end in belief]
    rooms = [it for it in near if belief.nodes[it].kind == "Place"]
    if vocabulary_named(vocabulary).looking.whole_rooms:
        near += [door for room in rooms for door in belief.targets(room, "CONNECTS")]
        rooms = []
    return tuple(dict.fromkeys(it for it in near if it not in rooms))


def _parse_event(event: Event) -> tuple[ActionCall, str | None]:
    """Return the action of an event, and the reason if a correction inserted it."""
    action, inserted, because = event.action.partition(INSERTED_MARK)
    return parse_action(action), because.removesuffix("]") if inserted else None


class _RolledBack(Exception):
    """Raised to roll a check back when the precondition holds; never leaves this module."""


def simulator_of(store: SceneStore, scene: SceneInfo, *, agent: str | None = None, fix: bool = False) -> Simulator:
    """Return what acts in a scene for a person; in a belief, what acts by it in its world.

    Raises SceneNotFound if the world of a belief is gone.
    """
    if scene.role != "belief":
        return Simulator(store, scene, agent=agent, fix=fix)
    world = SceneEnvironment(store, world_of(store, scene), actor="person", agent=agent)
    return BeliefSimulator(store, scene, world=world, agent=agent, fix=fix)
