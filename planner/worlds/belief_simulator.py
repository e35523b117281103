"""Acting on a belief: check the action there, execute it in the world, then update or correct the belief."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from typing_extensions import Unpack

from scenecypher.db.graph.delta import Delta, SetProperty, apply, compose, invert
from scenecypher.db.graph.scene import GraphView, SceneGraph
from scenecypher.db.rule_memory import decide
from scenecypher.db.rules import rules_of
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.commit import Committed, Intent, SceneVersion, check_version
from scenecypher.db.store.history import Event, versions_in_effect
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.vocabulary import conventions_of
from scenecypher.errors import ActionRefused, InputError, RejectedError, RuleBroken, UnknownReference
from scenecypher.meaning import NO_MEANING, Meaning
from scenecypher.planner.actions.operator import Operator
from scenecypher.planner.actions.simulator import PERSON, Acting, CommittedAction, Simulator, action_of, history_text
from scenecypher.planner.actions.text import ActionCall, parse_action
from scenecypher.planner.perception.draft import MergeResult, Unchanged, extent_words, only_renews
from scenecypher.planner.perception.merge import merge
from scenecypher.planner.perception.new_things import confirmations, merge_refusal, needed_assumptions
from scenecypher.planner.perception.truth import merge_body, witnessed_nodes
from scenecypher.planner.vocabularies.vocabulary import vocabulary_named
from scenecypher.planner.worlds.belief import is_where_believed, places_to_look, told_event, world_of
from scenecypher.planner.worlds.environment import Environment, SceneEnvironment, WorldMismatch, is_scene

LOOK_ACTIONS: Final = frozenset({"discover_objects", "look_at"})
"""Actions that only observe their argument: the belief is updated by the observation, without effects."""


def can_look(vocabulary: str) -> bool:
    """Check if the vocabulary has actions that reveal something; without them no belief could be confirmed."""
    chosen = vocabulary_named(vocabulary)
    return bool(chosen.looking.revealing or LOOK_ACTIONS & {*chosen.operators})


LONGEST_ACTOR: Final = 100
WORLD_ID_SUFFIX: Final = ":world"
"""Suffix of the id of an action that was done in the world by a belief."""
BELIEF_ID_SUFFIX: Final = ":belief"
SEEN_SUFFIX: Final = ":seen"
NOTICED_SUFFIX: Final = ":noticed"
"""Suffixes of the belief's events: each adds one to the id of the world's action."""


class BeliefSimulator(Simulator):
    """Simulator that acts in `world` first and then on the belief `scene`; the world may refuse what the belief allows.

    World and belief are two commits, each with the action's id and suffixes of its own. `past` is the scene in whose
    history actions are looked for that the belief lacks. In the scene `watched`, if any, the robot notices what others
    do where it is. With `known_places`, an action on a movable thing fails where the belief about its place is out of
    date: who does not know where a thing is can't go to it. It needs the world's scene as `past`.
    """

    def __init__(
        self,
        store: SceneStore,
        scene: SceneInfo,
        *,
        world: Environment,
        past: SceneInfo | None = None,
        watched: SceneInfo | None = None,
        known_places: bool = False,
        meaning: Meaning = NO_MEANING,
        ids_only: bool = False,
        **how: Unpack[Acting],
    ) -> None:
        super().__init__(store, scene, meaning=meaning, ids_only=ids_only, **how)
        self._asks = not is_scene(world)
        self._known_places = known_places
        self._world, self._past, self._world_scene = world, past, past
        self._watched, self._watched_until = watched, -1
        self._revealing = vocabulary_named(scene.vocabulary).looking.revealing

    def act(
        self, text: str, *, expected_version: int | None = None, action_id: str | None = None, is_new: bool = False
    ) -> Iterator[CommittedAction]:
        """Carry out an action as `Simulator.act` does, once the belief has all that was done by it in the world."""
        self.complete()
        yield from super().act(text, expected_version=expected_version, action_id=action_id, is_new=is_new)

    def belief(self) -> SceneGraph:
        """Return the present belief."""
        return self._store.now(self.scene).graph

    def complete(self) -> tuple[CommittedAction, ...]:
        """Apply to the belief the actions that only the world has, after a program ended between the two commits.

        They are looked for once, in the history of `past`. For an action that the belief does not allow, the belief is
        corrected by a look.
        """
        past, self._past = self._past, None
        missing = self._missing_halves(past) if past is not None else ()
        return tuple(step for event in missing for step in self._complete_half(event))

    def _missing_halves(self, world: SceneInfo) -> list[Event]:
        """Return this actor's actions by the belief, not undone, since the last one that the belief has in full."""
        log: list[Event] = []
        for event in self._store.latest(world):
            if event.version <= (self.scene.world_version or 0) or (self._is_own(event) and self._is_complete(event)):
                break
            log.append(event)
        held = versions_in_effect(log[::-1])
        return [event for event in reversed(log) if self._is_own(event) and event.version in held]

    def _is_own(self, event: Event) -> bool:
        return event.kind == "act" and event.actor == self._actor and event.action_id.endswith(WORLD_ID_SUFFIX)

    def _is_complete(self, event: Event) -> bool:
        suffixes = [BELIEF_ID_SUFFIX, *([SEEN_SUFFIX] if action_of(event)[0].name in self._revealing else [])]
        return all(self._store.event(self.scene, f"{event.action_id}{suffix}") for suffix in suffixes)

    def _complete_half(self, event: Event) -> Iterator[CommittedAction]:
        call, because = action_of(event)
        operator = self.operators[call.name]
        try:
            yield self._update_belief(operator, call, because, action_id=event.action_id)
        except RejectedError:
            self._look_again(call, event.action_id)

    def is_told(self, event: Event) -> bool:
        """Check if an event of the belief's history is an act, not a look."""
        return event.kind != "act" or event.action_id.endswith(BELIEF_ID_SUFFIX)

    def notice_others(self) -> tuple[Event, ...]:
        """Correct the belief by what others did in the world where the robot is; return these events.

        What they did by this belief is known already. The first call notices nothing.
        """
        if self._watched is None:
            return ()
        if self._watched_until < 0:
            self._watched_until = self._store.find(self._watched.name).version
            return ()
        now = self._store.now(self._watched)
        events = self._store.history(self._watched, after=self._watched_until)
        events = [event for event in events if event.version <= now.info.version]
        self._watched_until = now.info.version
        if all(event.actor == self._actor for event in events):
            return ()
        after, noticed = now.graph, list[Event]()
        for event in reversed(events):
            before = apply(after, invert(event.delta))
            if event.actor != self._actor:
                noticed += self._notice(event, before, after)
            after = before
        return tuple(reversed(noticed))

    def _notice(self, event: Event, before: SceneGraph, after: SceneGraph) -> Iterator[Event]:
        """Look at what an event changed where the robot was; yield it as it was seen, if it is not known already."""
        if self._watched is None or self._store.event(self.scene, f"{event.action_id}{BELIEF_ID_SUFFIX}") is not None:
            return
        ways = (witnessed_nodes(graph, self._watched.vocabulary, event.delta) for graph in (before, after))
        seen = tuple(dict.fromkeys(node for nodes in ways for node in nodes))
        if seen:
            told = told_event(event, seen, after)
            self._look_around(seen, f"{event.actor} did {told.action}", f"{event.action_id}{NOTICED_SUFFIX}")
            yield told

    def look(self, of: str, *, action: str, action_id: str) -> CommittedAction:
        """Look at a node of the world and commit the change of the belief.

        Raises UnknownReference, and ActionRefused if the look did not show the node.
        """
        observation = self._world.observe(of, step=self._store.now(self.scene).info.version + 1)
        if not observation.extent.is_usable:
            raise ActionRefused(action, (f"{of} was not seen: {extent_words(observation.extent)}",))
        vocabulary, meaning = self.scene.vocabulary, self._meaning
        merged = partial(merge, observation=observation, vocabulary=vocabulary, meaning=meaning)
        return self._merge(merged, Intent(self._actor, action, action_id))

    def _merge(self, merged: Callable[[GraphView], MergeResult], intent: Intent) -> CommittedAction:
        """Commit what `merged` makes of the present belief; what only was seen again, as it was, takes no version."""
        results: list[MergeResult] = []

        def decide(at: SceneVersion) -> Delta:
            results.append(merged(at.graph))
            if only_renews(results[-1].delta):
                raise Unchanged("nothing changed")
            return results[-1].delta

        try:
            done = self._store.change(self.scene, decide, intent=intent)
        except Unchanged:
            done = Committed(self._store.now(self.scene).info.version, Delta(), repeated=False)
        self.scene = replace(self.scene, version=max(done.version, self.scene.version))
        findings = () if done.repeated else results[-1].findings
        return CommittedAction(intent.action, done.version, done.delta, seen=tuple(map(str, findings)))

    def _event_of(self, action_id: str) -> Event | None:
        """Return the belief's event of an action, else the world's: a look may have told the belief otherwise."""
        believed = self._store.event(self.scene, f"{action_id}{WORLD_ID_SUFFIX}{BELIEF_ID_SUFFIX}")
        return believed or self._world_event(action_id)

    def _world_event(self, action_id: str) -> Event | None:
        world = self._world_scene
        return None if world is None else self._store.event(world, f"{action_id}{WORLD_ID_SUFFIX}")

    def _committed_as(self, event: Event, action_id: str) -> CommittedAction:
        """Return the action of an event, with the look that it needs, and the version of the world if that is a scene.

        The look is taken now if it was not: the world is complete then, the belief is not.
        """
        step, world = super()._committed_as(event, action_id), self._world_event(action_id)
        call, seen_id = parse_action(step.action), f"{action_id}{WORLD_ID_SUFFIX}{SEEN_SUFFIX}"
        if call.name in self._revealing and self._store.event(self.scene, seen_id) is None:
            step = self._with_look(step, call.arguments[0], action_id=seen_id)
        version = self.scene.version if event == world else step.version
        return replace(step, version=version, world_version=None if world is None else world.version)

    def _commit(self, operator: Operator, call: ActionCall, because: str | None, intent: Intent) -> CommittedAction:
        self._check(operator, call, expected=intent.expected_version)
        action_id = f"{intent.action_id}{WORLD_ID_SUFFIX}"
        self._check_places(call, action_id)
        try:
            world_version = self._world.execute(str(call), action_id=action_id, because=because)
        except RuleBroken:
            raise  # it is about what would be, not about what the belief got wrong
        except (ActionRefused, UnknownReference) as refusal:
            found = self._look_again(call, action_id)
            found += self._drop_assumptions(operator, call, f"{action_id}:assumed")
            raise WorldMismatch(str(call), refusal.reasons, found) from refusal
        try:
            step = self._update_belief(operator, call, because, action_id=action_id)
        except RejectedError:
            if operator.name in LOOK_ACTIONS:
                raise
            # Somebody else has changed the belief meanwhile.
            seen = self._look_again(call, action_id)
            step = CommittedAction(str(call), self.scene.version, Delta(), because, seen)
        return replace(step, world_version=world_version, action_id=intent.action_id)

    def _update_belief(
        self, operator: Operator, call: ActionCall, because: str | None, *, action_id: str
    ) -> CommittedAction:
        """Apply an executed action to the belief: its effects, and what it reveals."""
        believed_id = f"{action_id}{BELIEF_ID_SUFFIX}"
        if operator.name in LOOK_ACTIONS:
            seen = self.look(call.arguments[0], action=history_text(call, because), action_id=believed_id)
            return replace(seen, action=str(call), because=because)
        intent = Intent(
            self._actor, history_text(call, because), believed_id, approved_by=self._approved_by, counted=True
        )
        step = super()._commit(operator, call, because, intent)
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

    def _decide(self, operator: Operator, call: ActionCall, at: SceneVersion) -> Delta:
        """Return the action's effects; its arguments count as seen, and what it needed of them is assumed no longer."""
        delta = super()._decide(operator, call, at)
        shown = confirmations(at.graph, needed_assumptions(at.graph, operator, call))
        nodes = (at.graph.nodes[word] for word in dict.fromkeys(call.arguments))
        unseen = [node.id for node in nodes if node.properties.get("seen") is False]
        seen = [SetProperty(id_, "seen", before=False, after=True) for id_ in unseen]
        return Delta.of([*delta.changes, *seen, *shown])

    def _check(self, operator: Operator, call: ActionCall, *, expected: int | None) -> None:
        """Check that the belief allows the action at this version; commit nothing. Raises as `_commit` does.

        A world that is a scene checks the rules of the house itself, by what is true.
        """
        now = self._store.now(self.scene)
        check_version(now.info.version, expected)
        rules = rules_of(now.info.declared)
        delta = self._decide(operator, call, SceneVersion.of(now.info.version, now.graph, self._agent, rules))
        if self._asks:
            decide(rules, now.graph, delta, action=str(call), version=now.info.version)

    def _check_places(self, call: ActionCall, action_id: str) -> None:
        """Check that the robot knows where the movable arguments are. Raises WorldMismatch after a look there."""
        if not self._known_places or self._world_scene is None:
            return
        belief, world = self.belief(), self._store.now(self._world_scene).graph
        containment = conventions_of(self.scene.vocabulary).containment
        lost = [it for it in call.arguments if not is_where_believed(it, belief, world, containment)]
        if lost:
            supports = [end for it in lost for end in belief.targets(it, *containment)]
            found = self._look_around(supports, f"{call} was not possible", action_id)
            raise WorldMismatch(str(call), tuple(f"{it} is not where you know it to be" for it in lost), found)

    def _drop_assumptions(self, operator: Operator, call: ActionCall, action_id: str) -> tuple[str, ...]:
        """Drop the affordances assumed of new things that a refused action needed, if nothing else explains it."""
        needed = needed_assumptions(self.belief(), operator, call)
        if not needed:
            return ()
        try:
            self._check(operator, call, expected=None)
        except RejectedError:
            return ()  # what a look has corrected explains the refusal
        merged = partial(merge_refusal, needed=needed, vocabulary=self.scene.vocabulary)
        return self._merge(merged, Intent(self._actor, f"{call} was not possible", action_id)).seen

    def _look_again(self, call: ActionCall, action_id: str) -> tuple[str, ...]:
        """Correct the belief after an action that it was wrong about; return the findings."""
        return self._look_around(call.arguments, f"{call} was not possible", action_id)

    def _look_around(self, of: Sequence[str], why: str, action_id: str) -> tuple[str, ...]:
        """Correct the belief about the robot itself, then about nodes and what they are believed to be in or on."""
        findings = [*self._correct_own_state(why, f"{action_id}:self")]
        places = places_to_look(self.belief(), of, self.scene.vocabulary)
        for number, place in enumerate(places):
            try:
                look = self.look(place, action=f"look at {place}, since {why}", action_id=f"{action_id}:{number}")
            except UnknownReference:
                continue
            except RejectedError as failure:
                findings.append(f"{place} was not seen: {failure}")
                continue
            findings += look.seen
        return tuple(findings)

    def _correct_own_state(self, why: str, action_id: str) -> tuple[str, ...]:
        """Correct the belief about the robot itself, without a look; return the findings."""
        agent = self._agent or min(self.belief().by_kind.get("Agent", ()), default=None)
        body = None if agent is None else self._world.body(agent)
        if body is None:
            return ()
        merged = partial(merge_body, body=body, vocabulary=self.scene.vocabulary)
        found = merged(self.belief())
        if found.delta:
            action = f"notice what {agent} holds and where it is, since {why}"
            return self._merge(merged, Intent(self._actor, action, action_id)).seen
        return tuple(map(str, found.findings))


def simulator_of(
    store: SceneStore, scene: SceneInfo, *, meaning: Meaning = NO_MEANING, **how: Unpack[Acting]
) -> Simulator:
    """Return what acts in a scene for a person; in a belief, what acts in its world.

    `meaning` finds what the scene calls otherwise than an action does. Raises SceneNotFound if the world of a belief is
    gone, InputError for an `actor` that is no name.
    """
    actor = how.get("actor", PERSON)
    if not actor.strip() or not actor.isprintable() or len(actor) > LONGEST_ACTOR:
        raise InputError(f"{actor[:40]!r} names nobody; give 1 to {LONGEST_ACTOR} printable characters, such as ann")
    if scene.role != "belief":
        return Simulator(store, scene, meaning=meaning, **how)
    past = world_of(store, scene)
    in_world: Acting = {**how, "fix": False}
    world = SceneEnvironment(store, past, **in_world)
    return BeliefSimulator(store, scene, world=world, past=past, meaning=meaning, **how)
