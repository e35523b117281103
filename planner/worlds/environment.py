"""Environments: worlds in which actions are executed, and which may differ from the belief about them."""

from __future__ import annotations

from typing import Protocol

from typing_extensions import Unpack

from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import ActionRefused, UnknownReference
from scenecypher.planner.actions.simulator import Acting, Simulator
from scenecypher.planner.perception.observation import Observation, Observer
from scenecypher.planner.perception.truth import Body, body_of, true_observation


class Environment(Protocol):
    """A world that executes actions and can be observed."""

    def execute(self, action: str, *, action_id: str, because: str | None = None) -> int | None:
        """Execute one action on ids, such as ``open(fridge-1)``; a repeated `action_id` is a no-op.

        Returns the version of the world that it led to, None if the world is no scene. `because` is the reason if a
        correction inserted it, for a world that keeps a history. Raises ActionRefused or UnknownReference if the world
        refuses it, with nothing done; InputError if another action has this id.
        """
        ...

    def observe(self, of: str, *, step: int) -> Observation:
        """Look at a node. Raises UnknownReference if the world has no such node."""
        ...

    def body(self, agent: str) -> Body | None:
        """Return what an agent knows of itself without looking; None if the world can't tell."""
        ...

    def reset(self) -> None:
        """Restore the state at the start."""
        ...


class SceneEnvironment:
    """A world stored as a scene: a simulator checks and commits actions; observations are the ground truth."""

    def __init__(self, store: SceneStore, scene: SceneInfo, **how: Unpack[Acting]) -> None:
        self._store, self._scene, self._start = store, scene, scene.version
        self._simulator = Simulator(store, scene, **how)

    def execute(self, action: str, *, action_id: str, because: str | None = None) -> int | None:
        """Commit one action to the world; return its version. Raises ActionRefused, UnknownReference, InputError."""
        return self._simulator.act_once(action, action_id=action_id, because=because).version

    def observe(self, of: str, *, step: int) -> Observation:
        """Return the ground truth about a node and its direct children. Raises UnknownReference."""
        world = self._store.now(self._scene).graph
        if of not in world:
            msg = f"there is no {of[:100]!r} in {self._scene.name} to look at; use the id of a node in it"
            raise UnknownReference(msg)
        return true_observation(world, of, step=step, vocabulary=self._scene.vocabulary)

    def body(self, agent: str) -> Body | None:
        """Return what the agent holds, its place and states; None if the world has no such agent."""
        world = self._store.now(self._scene).graph
        return body_of(world, agent, vocabulary=self._scene.vocabulary) if agent in world else None

    def reset(self) -> None:
        """Restore, in one commit, the version of the world at which this environment was created."""
        self._store.reset(self._scene, self._start)


class ObservedWorld:
    """A world whose observations come from another observer."""

    def __init__(self, world: Environment, observer: Observer) -> None:
        self.unobserved, self._observer = world, observer

    def execute(self, action: str, *, action_id: str, because: str | None = None) -> int | None:
        """Execute the action in the world; return what the world does. Raises as it does."""
        return self.unobserved.execute(action, action_id=action_id, because=because)

    def observe(self, of: str, *, step: int) -> Observation:
        """Return the observer's observation. Raises as the observer does."""
        return self._observer.observe(of, step=step)

    def body(self, agent: str) -> Body | None:
        """Return what the world tells of the agent itself."""
        return self.unobserved.body(agent)

    def reset(self) -> None:
        """Restore the world's state at the start."""
        self.unobserved.reset()


def is_scene(world: Environment) -> bool:
    """Return True if actions in a world change a scene: it is stored as one."""
    return isinstance(world.unobserved if isinstance(world, ObservedWorld) else world, SceneEnvironment)


class WorldMismatch(ActionRefused):
    """The world refused an action that the belief allowed; the belief has been corrected."""

    def __init__(self, action: str, reasons: tuple[str, ...], found: tuple[str, ...]) -> None:
        super().__init__(action, (f"the world is not as believed: {'; '.join(reasons)}", *found))
