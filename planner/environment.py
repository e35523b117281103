"""What a plan is carried out in: a world that may disagree with what is believed of it."""

from __future__ import annotations

from typing import Protocol

from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.footprint import Footprint
from scenecypher.db.store.look import read_part
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import ActionRefused
from scenecypher.planner.actions.simulator import Simulator
from scenecypher.planner.perception.body import Body, body_of, body_reads
from scenecypher.planner.perception.observation import Observation, Observer
from scenecypher.planner.perception.truth import TruthObserver


class Environment(Protocol):
    """Where actions happen and things are seen."""

    def execute(self, action: str, *, action_id: str, because: str | None = None) -> None:
        """Carry out one action on ids, such as ``open(fridge-1)``; once for each `action_id`.

        `because` says why a correction inserted it, for a world that keeps a history. Raises ActionRefused or
        UnknownReference, with nothing done, where the world does not let it be; InputError where the id was another
        action's.
        """
        ...

    def observe(self, of: str, *, step: int) -> Observation:
        """Look at a node. Raises UnknownReference where the world has no such node."""
        ...

    def body(self, agent: str) -> Body | None:
        """What an agent knows of itself without looking; None where the world can't tell."""
        ...

    def reset(self) -> None:
        """Back to how it was at the start."""
        ...


class SceneEnvironment:
    """A world that is a scene of the database: its own simulator checks and commits, and its truth is what is seen."""

    def __init__(self, store: SceneStore, scene: SceneInfo, *, actor: str, agent: str | None = None) -> None:
        self._store, self._scene, self._start = store, scene, scene.version
        self._simulator = Simulator(store, scene, actor=actor, agent=agent)
        self._eyes = TruthObserver(store.database, scene)

    def execute(self, action: str, *, action_id: str, because: str | None = None) -> None:
        """Commit one action to the world. Raises ActionRefused, UnknownReference."""
        self._simulator.once(action, action_id=action_id, because=because)

    def observe(self, of: str, *, step: int) -> Observation:
        """The truth about a node and its direct children. Raises UnknownReference."""
        return self._eyes.observe(of, step=step)

    def body(self, agent: str) -> Body | None:
        """What the agent holds, where it is and its states; None where the world has no such agent."""
        footprint = Footprint(body_reads(self._scene.vocabulary), agent=agent)
        part = read_part(self._store.database, self._scene, footprint)
        return body_of(part, agent) if agent in part else None

    def reset(self) -> None:
        """Take back, in one commit, what happened to the world since this environment was made."""
        self._store.reset(self._scene, self._start)


class SeenBy:
    """A world that is seen by other eyes than its own."""

    def __init__(self, world: Environment, eyes: Observer) -> None:
        self._world, self._eyes = world, eyes

    def execute(self, action: str, *, action_id: str, because: str | None = None) -> None:
        """What the world does."""
        self._world.execute(action, action_id=action_id, because=because)

    def observe(self, of: str, *, step: int) -> Observation:
        """What these eyes see."""
        return self._eyes.observe(of, step=step)

    def body(self, agent: str) -> Body | None:
        """What the agent knows of itself, for which it takes no eyes."""
        return self._world.body(agent)

    def reset(self) -> None:
        """The world, back to how it was at the start."""
        self._world.reset()


class Disagreed(ActionRefused):
    """The world did not let an action be that was possible by what is believed; the belief has been mended."""

    def __init__(self, action: str, reasons: tuple[str, ...], found: tuple[str, ...]) -> None:
        super().__init__(action, (f"the world is not as believed: {'; '.join(reasons)}", *found))
