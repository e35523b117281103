"""Acting on a belief: validated there, executed in the world, then committed to the belief, or the belief mended."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final
from uuid import uuid4

from scenecypher.db.graph.delta import Delta, SetProperty, apply, compose
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.schema import VOCABULARIES, family
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.commit import Intent, LockedPart
from scenecypher.db.store.history import Event, versions_in_effect
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import ActionRefused, RejectedError, UnknownReference
from scenecypher.planner.actions.operator import Operator
from scenecypher.planner.actions.simulator import INSERTED, Simulator, Step, noted
from scenecypher.planner.actions.text import Call, parse
from scenecypher.planner.actions.vocabularies import operators_of
from scenecypher.planner.environment import Disagreed, Environment
from scenecypher.planner.perception.body import merge_body
from scenecypher.planner.perception.merge import merge

LOOKS: Final = frozenset({"discover_objects", "look_at"})
"""Actions that are nothing but a look at their argument: the belief gets what was seen, and no effects."""

REVEALING: Final[Mapping[str, frozenset[str]]] = {"virtualhome": frozenset({"find", "open"})}
"""Actions after which their argument is looked at too, by vocabulary: in GraSIF looking is an action of its own."""


def can_look(vocabulary: str) -> bool:
    """Whether the vocabulary has actions that show something: without them a belief could never be confirmed."""
    return family(vocabulary) in REVEALING or bool(LOOKS & {*operators_of(vocabulary)})


BELIEF: Final = ":belief"
SEEN: Final = ":seen"
"""What the belief's events add to the id of the world's action."""


class Believing(Simulator):
    """Acts on the belief `scene`, and first in `world`, which may refuse what the belief lets be.

    World and belief are two commits, the second under the action's id with ``:belief``.
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
        self._revealing = REVEALING.get(family(scene.vocabulary), frozenset())

    def belief(self) -> SceneGraph:
        """The belief as it is now: read once, and then brought up to date by what happened since."""
        if self._known is None:
            snapshot = self._store.load(self.scene.name)
            self._known, self._version = snapshot.graph, snapshot.info.version
        since = self._store.history(self.scene, after=self._version)
        if since:
            self._known = apply(self._known, compose(event.delta for event in since))
            self._version = since[-1].version
        return self._known

    def complete(self, log: Sequence[Event]) -> tuple[Step, ...]:
        """Do to the belief what was done to the world alone, when a program ended between the two: the missing halves.

        `log` is the world's history. What the belief does not let be is looked at instead.
        """
        ids = {event.action_id for event in self._store.history(self.scene)}
        return tuple(step for event in self._halves(log, ids) for step in self._completed(event))

    def _halves(self, log: Sequence[Event], ids: Collection[str]) -> Iterator[Event]:
        """What this actor did in the world since the last that the belief knows whole, and that still holds."""
        held, since = versions_in_effect(log), self.scene.world_version or 0
        own = [it for it in log if it.version > since and it.kind == "act" and it.actor == self._actor]
        for event in reversed(own):
            if self._is_whole(event, ids):
                since = event.version
                break
        yield from (event for event in own if event.version > since and event.version in held)

    def _is_whole(self, event: Event, ids: Collection[str]) -> bool:
        reveals = _noted(event)[0].name in self._revealing
        return f"{event.action_id}{BELIEF}" in ids and (not reveals or f"{event.action_id}{SEEN}" in ids)

    def _completed(self, event: Event) -> Iterator[Step]:
        call, because = _noted(event)
        operator = self.operators[call.name]
        try:
            yield self._learn(operator, call, because, action_id=event.action_id)
        except (ActionRefused, UnknownReference) as refusal:
            self._mended(call, refusal, event.action_id)

    def look(self, of: str, *, action: str, action_id: str) -> Step:
        """Look at a node of the world and commit what that changes in the belief. Raises UnknownReference."""
        belief = self.belief()
        observation = self._world.observe(of, step=self._version + 1)
        found = merge(belief, observation, vocabulary=self.scene.vocabulary)
        done = self._store.commit(self.scene, found.delta, actor=self._actor, action=action, action_id=action_id)
        return Step(action, done.version, found.delta, seen=tuple(map(str, found.findings)))

    def _commit(self, operator: Operator, call: Call, because: str | None, intent: Intent) -> Step:
        self._check(operator, call, expected=intent.expected_version)
        try:
            self._world.execute(str(call), action_id=intent.action_id, because=because)
        except (ActionRefused, UnknownReference) as refusal:
            raise self._mended(call, refusal, intent.action_id) from refusal
        return self._learn(operator, call, because, action_id=intent.action_id)

    def _learn(self, operator: Operator, call: Call, because: str | None, *, action_id: str) -> Step:
        """The second half of an action that the world let be: what it does to the belief, and what it shows."""
        believed_id = f"{action_id}{BELIEF}"
        if operator.name in LOOKS:
            seen = self.look(call.arguments[0], action=noted(call, because), action_id=believed_id)
            return replace(seen, action=str(call), because=because)
        step = super()._commit(operator, call, because, Intent(self._actor, noted(call, because), believed_id))
        if operator.name not in self._revealing:
            return step
        return self._revealed(step, call.arguments[0], action_id=f"{action_id}{SEEN}")

    def _revealed(self, step: Step, of: str, *, action_id: str) -> Step:
        """The step with what a look adds to it; it is done, so that a look that fails is only told."""
        try:
            seen = self.look(of, action=f"see {of}", action_id=action_id)
        except RejectedError as failure:
            return replace(step, seen=(f"{of} was not seen: {failure}",))
        return replace(step, version=seen.version, delta=compose((step.delta, seen.delta)), seen=seen.seen)

    def _decided(self, operator: Operator, call: Call, locked: LockedPart) -> Delta:
        """What an action changes; what was handled has been seen, too."""
        delta = super()._decided(operator, call, locked)
        nodes = (locked.part.nodes[word] for word in dict.fromkeys(call.arguments))
        unseen = [node.id for node in nodes if node.properties.get("seen") is False]
        seen = [SetProperty(id_, "seen", before=False, after=True) for id_ in unseen]
        return Delta.of([*delta.changes, *seen])

    def _check(self, operator: Operator, call: Call, *, expected: int | None) -> None:
        """Whether the belief lets the action be at this version, without committing it. Raises as `_commit` does."""

        def decide(locked: LockedPart) -> Delta:
            self._decided(operator, call, locked)
            raise _Possible

        intent = Intent(self._actor, str(call), uuid4().hex, expected, new=True)
        try:
            self._store.act(self.scene, self._footprint(operator, call), decide, intent=intent)
        except _Possible:
            return

    def _mended(self, call: Call, refusal: RejectedError, action_id: str) -> Disagreed:
        """Look again where the things that the action is done with are believed to be: all that is seen is learnt.

        So is what the robot knows of itself, for which it need not look.
        """
        seen = [*self._felt(call, f"{action_id}:self")]
        for number, of in enumerate(_places(self.belief(), call, self.scene.vocabulary)):
            try:
                look = self.look(
                    of, action=f"look at {of}, since {call} was not possible", action_id=f"{action_id}:{number}"
                )
            except UnknownReference:
                continue
            except RejectedError as failure:
                seen.append(f"{of} was not seen: {failure}")
                continue
            seen += look.seen
        return Disagreed(str(call), refusal.reasons, tuple(seen))

    def _felt(self, call: Call, action_id: str) -> tuple[str, ...]:
        """What was wrongly believed of the robot itself, committed to the belief."""
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


def _places(belief: SceneGraph, call: Call, vocabulary: str) -> tuple[str, ...]:
    """Where a look may show what is wrong: each argument, and what it is believed to be in or on.

    A room shows little, except in a grid: there it shows all, and its doors say where a way leads.
    """
    containment = VOCABULARIES[vocabulary].containment
    near = [end for it in call.arguments for end in (it, *belief.targets(it, *containment)) if end in belief]
    rooms = [it for it in near if belief.nodes[it].kind == "Place"]
    if family(vocabulary) == "babyai":
        near += [door for room in rooms for door in belief.targets(room, "CONNECTS")]
        rooms = []
    return tuple(dict.fromkeys(it for it in near if it not in rooms))


def _noted(event: Event) -> tuple[Call, str | None]:
    """The action of an event of the world's history, and why a rule inserted it, if one did."""
    action, inserted, because = event.action.partition(INSERTED)
    return parse(action), because.removesuffix("]") if inserted else None


class _Possible(Exception):
    """The precondition holds: it rolls the transaction back, and never leaves this module."""
