"""A MiniGrid level as an environment: actions are MiniGrid's own steps, observations its 7 x 7 view."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any, Final, TypeAlias

from scenecypher.chat.model import Model
from scenecypher.errors import UnknownReference
from scenecypher.importers.babyai import level_instance
from scenecypher.planner.actions.text import ActionIds, parse_action
from scenecypher.planner.perception import grid_view
from scenecypher.planner.perception.observation import Observation
from scenecypher.planner.perception.truth import Body
from scenecypher.planner.worlds.minigrid import Executor

DIRECTIONS: Final = 4

ViewReader: TypeAlias = Callable[[Any, Mapping[str, Any]], grid_view.GridView]
"""Function that reads the view of a MiniGrid environment, given its objects by their ids."""


def vision_reader(model: Model) -> ViewReader:
    """Return a reader that has a model read rendered pictures of the view; it knows no ids."""

    def read(env: Any, _things: Mapping[str, Any]) -> grid_view.GridView:
        view, _usage = grid_view.read_view(
            model, grid_view.render_view(env), pose=grid_view.Pose.of(env), visible=grid_view.visible_cells(env)
        )
        return view

    return read


class MiniGridEnvironment:
    """One instance of a level, such as ``trv1`` with the seed 7: the world behind the scene ``babyai/trv1/7``.

    `view_reader` reads what the agent sees (default: the simulator's own view, which knows the scene's ids). Raises
    InputError for an unknown level.
    """

    def __init__(self, level: str, seed: int, *, view_reader: ViewReader = grid_view.simulator_view) -> None:
        self._level, self._seed, self._view_reader = level, seed, view_reader
        self._fulfilled = False
        self._start()

    @property
    def fulfilled(self) -> bool:
        """True once MiniGrid reports its mission as done."""
        return self._fulfilled

    def execute(self, action: str, *, action_id: str, because: str | None = None) -> None:
        """Walk and act by real steps. Raises ActionRefused if it can't be done; steps may have been taken by then.

        Raises InputError if another action has this id.
        """
        del because  # no history is kept
        call = parse_action(action)
        if not self._done.has(action_id, call):
            self._fulfilled = self._executor.do(call).fulfilled or self._fulfilled
            self._done.add(action_id, call)

    def observe(self, of: str, *, step: int) -> Observation:
        """Turn the agent around once and return what this shows of a room, a door or an object.

        What is out of view is left out: it counts neither as present nor as absent. Raises UnknownReference, and
        ActionRefused if the episode has ended.
        """
        if of not in self._map:
            msg = f"there is no {of[:100]!r} in {self._level}/{self._seed} to look at; use the id of a node in it"
            raise UnknownReference(msg)
        view = reduce(grid_view.join_views, [self._turn_and_read() for _ in range(DIRECTIONS)])
        found = {it.of: it for it in grid_view.observations(self._map, view, step=step)}
        return found.get(of, Observation(of, (), step, ()))

    def body(self, agent: str) -> Body | None:
        """Return what the agent carries; its place is known by a look only."""
        carried = self._env.unwrapped.carrying
        held = (node_id for node_id, thing in self._things.items() if thing is carried and carried is not None)
        return Body(agent, tuple(("HOLDS", self._map.nodes[node_id]) for node_id in held))

    def reset(self) -> None:
        """Start the same instance again."""
        self._start()

    def _start(self) -> None:
        started = level_instance(self._level, self._seed)
        self._env, self._things, self._map = started.env, started.things, started.scene.graph
        self._executor = Executor(started.env, started.things)
        self._done = ActionIds()
        self._fulfilled = False

    def _turn_and_read(self) -> grid_view.GridView:
        self._executor.turn()
        return self._view_reader(self._env, self._things)
