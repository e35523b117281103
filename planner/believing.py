"""Acting on a belief: validated there, executed in the world, then committed to the belief, or the belief mended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final
from uuid import uuid4

from db.catalog import SceneInfo
from db.commit import Intent, Locked
from db.delta import Delta, compose
from db.scene import SceneGraph
from db.schema import VOCABULARIES, family
from db.store import SceneStore
from planner.actions.operator import Operator
from planner.actions.simulator import Simulator, Step, noted
from planner.actions.text import Call
from planner.environment import Disagreed, Environment
from planner.perception.merge import merge
from scenecypher.errors import ActionRefused, RejectedError, UnknownReference

LOOKS: Final = frozenset({"discover_objects", "look_at"})
"""Actions that are nothing but a look at their argument: the belief gets what was seen, and no effects."""

REVEALING: Final[Mapping[str, frozenset[str]]] = {"virtualhome": frozenset({"find", "open"})}
"""Actions after which their argument is looked at too, by vocabulary: in GraSIF looking is an action of its own."""


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
        self._revealing = REVEALING.get(family(scene.vocabulary), frozenset())

    def look(self, of: str, *, action: str, action_id: str) -> Step:
        """Look at a node of the world and commit what that changes in the belief. Raises UnknownReference."""
        snapshot = self._store.load(self.scene.name)
        observation = self._world.observe(of, step=snapshot.info.version + 1)
        found = merge(snapshot.graph, observation, vocabulary=self.scene.vocabulary)
        done = self._store.commit(self.scene, found.delta, actor=self._actor, action=action, action_id=action_id)
        return Step(action, done.version, found.delta, seen=tuple(map(str, found.findings)))

    def _commit(self, operator: Operator, call: Call, because: str | None, *, action_id: str) -> Step:
        self._check(operator, call)
        try:
            self._world.execute(str(call), action_id=action_id)
        except (ActionRefused, UnknownReference) as refusal:
            raise self._mended(call, refusal, action_id) from refusal
        believed_id = f"{action_id}:belief"
        if operator.name in LOOKS:
            seen = self.look(call.arguments[0], action=noted(call, because), action_id=believed_id)
            return replace(seen, action=str(call), because=because)
        step = super()._commit(operator, call, because, action_id=believed_id)
        if operator.name not in self._revealing:
            return step
        first = call.arguments[0]
        seen = self.look(first, action=f"see {first}", action_id=f"{action_id}:seen")
        return replace(step, version=seen.version, delta=compose((step.delta, seen.delta)), seen=seen.seen)

    def _check(self, operator: Operator, call: Call) -> None:
        """Whether the belief lets the action be, without committing it. Raises as `_commit` does."""

        def decide(locked: Locked) -> Delta:
            self._decided(operator, call, locked)
            raise _Possible

        intent = Intent(self._actor, str(call), uuid4().hex)
        try:
            self._store.act(self.scene, self._footprint(operator, call), decide, intent=intent)
        except _Possible:
            return

    def _mended(self, call: Call, refusal: RejectedError, action_id: str) -> Disagreed:
        """Look again where the things that the action is done with are believed to be: all that is seen is learnt."""
        belief = self._store.load(self.scene.name).graph
        seen: list[str] = []
        for number, of in enumerate(_places(belief, call, VOCABULARIES[self.scene.vocabulary].containment)):
            try:
                look = self.look(
                    of, action=f"look at {of}, since {call} was not possible", action_id=f"{action_id}:{number}"
                )
            except UnknownReference:
                continue
            seen += look.seen
        return Disagreed(str(call), refusal.reasons, tuple(seen))


def _places(belief: SceneGraph, call: Call, containment: tuple[str, ...]) -> tuple[str, ...]:
    """Each argument, and what it is believed to be in or on, but for rooms: where a look may show what is wrong."""
    near = (end for it in call.arguments for end in (it, *belief.targets(it, *containment)))
    return tuple(dict.fromkeys(it for it in near if it in belief and belief.nodes[it].kind != "Place"))


class _Possible(Exception):
    """The precondition holds: it rolls the transaction back, and never leaves this module."""
