"""A MiniGrid level as an environment: actions are MiniGrid's own steps, and what is seen is its 7 x 7 view."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any, Final, TypeAlias

from scenecypher.chat.model import Model
from scenecypher.errors import UnknownReference
from scenecypher.importers.babyai import episode
from scenecypher.planner.actions.minigrid import Executor
from scenecypher.planner.actions.repeating import Done
from scenecypher.planner.actions.text import parse
from scenecypher.planner.perception.body import Body
from scenecypher.planner.perception.grid_view import (
    GridView,
    Pose,
    join_views,
    observations,
    render_view,
    simulator_view,
    visible_cells,
)
from scenecypher.planner.perception.grid_vision import read_view
from scenecypher.planner.perception.observation import Observation

DIRECTIONS: Final = 4

ViewReader: TypeAlias = Callable[[Any, Mapping[str, Any]], GridView]
"""What is in view of a MiniGrid environment, whose objects are known by their ids."""


def vision_reader(model: Model) -> ViewReader:
    """Eyes that look at rendered pictures of the view, read by a model; they know no ids."""

    def look(env: Any, _things: Mapping[str, Any]) -> GridView:
        view, _usage = read_view(model, render_view(env), pose=Pose.of(env), visible=visible_cells(env))
        return view

    return look


class MiniGridEnvironment:
    """One instance of a level, such as ``trv1`` with the seed 7: the world behind the scene ``babyai/trv1/7``.

    `eyes` see from where the agent stands (None: the simulator's own view, which knows the scene's ids). Raises
    InputError for an unknown level.
    """

    def __init__(self, level: str, seed: int, *, eyes: ViewReader = simulator_view) -> None:
        self._level, self._seed, self._eyes = level, seed, eyes
        self._fulfilled = False
        self._begin()

    @property
    def fulfilled(self) -> bool:
        """Whether MiniGrid says that its mission is done."""
        return self._fulfilled

    def execute(self, action: str, *, action_id: str, because: str | None = None) -> None:
        """Walk and do, by real steps. Raises ActionRefused where it can't be done; steps may have been taken.

        Raises InputError where the id was another action's.
        """
        del because  # no history is kept
        call = parse(action)
        if not self._done.has(action_id, call):
            self._fulfilled = self._executor.do(call).fulfilled or self._fulfilled
            self._done.add(action_id, call)

    def observe(self, of: str, *, step: int) -> Observation:
        """Turn around once where the agent stands, and tell what that shows of a room, a door or a thing.

        What is not in view is not told, and counts as neither there nor absent. Raises UnknownReference, ActionRefused
        where the episode has ended.
        """
        if of not in self._map:
            msg = f"there is no {of[:100]!r} in {self._level}/{self._seed} to look at; use the id of a node in it"
            raise UnknownReference(msg)
        view = reduce(join_views, [self._turned() for _ in range(DIRECTIONS)])
        found = {it.of: it for it in observations(self._map, view, step=step)}
        return found.get(of, Observation(of, (), step, ()))

    def body(self, agent: str) -> Body | None:
        """What is carried; where the agent is, only a look tells."""
        carried = self._env.unwrapped.carrying
        held = (node_id for node_id, thing in self._things.items() if thing is carried and carried is not None)
        return Body(agent, tuple(("HOLDS", self._map.nodes[node_id]) for node_id in held))

    def reset(self) -> None:
        """The same instance from its start."""
        self._begin()

    def _begin(self) -> None:
        begun = episode(self._level, self._seed)
        self._env, self._things, self._map = begun.env, begun.things, begun.scene.graph
        self._executor = Executor(begun.env, begun.things)
        self._done = Done()
        self._fulfilled = False

    def _turned(self) -> GridView:
        self._executor.turn()
        return self._eyes(self._env, self._things)
