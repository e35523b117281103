"""Homes as environments of Gymnasium: `import scenecypher.gym` registers ``scenecypher/Home-v0``.

``gymnasium.make("scenecypher.gym:scenecypher/Home-v0", …)`` does both. It needs `gymnasium`, of the extra `agents`.
"""

from __future__ import annotations

import os
import re
import string
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

try:
    import gymnasium
    import numpy as np
    from gymnasium import spaces
    from numpy.typing import NDArray
except ImportError as missing:
    raise ImportError("environments need Gymnasium: pip install 'scenecypher[agents]'") from missing

from scenecypher.db.condition import ALWAYS, Condition, Id, atoms_of, evaluate, explain, terms, unmet_parts
from scenecypher.db.graph.delta import Delta
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import GraphView, SceneGraph
from scenecypher.db.rules import rules_of
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.vocabulary import with_own_actions
from scenecypher.errors import InputError, RejectedError
from scenecypher.importers import datasets
from scenecypher.importers.task import ActionGoal
from scenecypher.planner.actions.action_mask import ActionMask
from scenecypher.planner.actions.execution import NO_AGENT
from scenecypher.planner.actions.operator import Become, Cease, Operator, Relate, simple_effects
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.sessions.budget import SPARE_STEPS
from scenecypher.planner.sessions.goal_check import missing_goals, steps_of
from scenecypher.planner.sessions.goal_words import GoalParser
from scenecypher.planner.sessions.session import ends_session
from scenecypher.planner.symbolic.parts import calls_for
from scenecypher.planner.symbolic.plan import PLAN_TIMEOUT_S, PlanRequest, find_plan
from scenecypher.planner.vocabularies.own_actions import own_goal
from scenecypher.planner.vocabularies.vocabulary import action_list, macros_of, operators_of
from scenecypher.planner.worlds.episode_worlds import EpisodeWorld, LeasedWorld, MemoryWorld
from scenecypher.planner.worlds.perturbation import perturb
from scenecypher.scenes import connect
from scenecypher.settings import Settings

__all__ = ["ENVIRONMENT", "HomeEnv"]

ENVIRONMENT: Final = "scenecypher/Home-v0"
CHARACTERS: Final = string.ascii_letters + string.digits + string.punctuation + " \n"
"""Characters of observations and actions in words; all others are escaped as in Python."""
ESCAPED: Final = re.compile(r"\\(?:x[0-9a-f]{2}|u(?!d[89a-f])[0-9a-f]{4}|U00(?:0[0-9a-f]|10)[0-9a-f]{4})")
MAX_CHARACTERS: Final = 4_000
"""Length limit of an action in words."""
MAX_SEEN: Final = 16_000
"""Length limit of an observation in words, three times that of the longest list of actions; a longer one says so."""
MAX_ACTIONS: Final = 4_096
MAX_STEPS: Final = 50
"""Steps of an episode where neither the caller nor the task limits them."""

Form: TypeAlias = Literal["text", "graph"]
Choice: TypeAlias = Literal["text", "list"]
Seen: TypeAlias = str | dict[str, NDArray[np.int8]]
Taken: TypeAlias = str | int | np.integer[Any]


@dataclass(frozen=True, slots=True)
class _Episode:
    """What all episodes of an environment have in common: the start, the goal and what there is to choose from."""

    scene: SceneInfo
    start: SceneGraph
    imported: ImportedScene | None
    agent: str
    goal: Condition
    action_goals: tuple[ActionGoal, ...]
    instruction: str
    max_steps: int
    calls: tuple[ActionCall, ...] | None

    @property
    def operators(self) -> Mapping[str, Operator]:
        return operators_of(self.scene.vocabulary)


@dataclass(frozen=True, slots=True)
class _Open:
    """The world of the process `pid`, and what is closed after it."""

    pid: int
    world: EpisodeWorld
    stack: ExitStack


class HomeEnv(gymnasium.Env[Seen, Taken]):
    """One task in one home. The reward is 1 at the step that reaches the goal, else 0; that step ends the episode.

    So does the action ``done``, in vocabularies that have it. The episode is truncated after `max_steps`.

    Arguments:
        scene: the name of a scene in the database, such as ``virtualhome/963_2``; None for the task's own scene, which
            then need not be in a database.
        task: the id of a task of a data set, such as ``eai/963_2``.
        goal: what shall hold, in place of a task: ``mug ON shelf; fridge is closed``, or a Condition. Without either,
            the goal of the scene's own PDDL problem.
        instruction: the words of the task, by default the task's own, or the goal.
        observation: ``text`` is the result of the last action, or the reasons of its refusal; ``graph`` are the states
            and relations of `nodes`, as zeros and ones.
        actions: ``text`` is an action such as ``grab(soap_1001)``; ``list`` is a number, of one of `calls`, at most
            4,096 ground actions. Those that can be carried out now are 1 in ``info["action_mask"]``.
        in_memory: True for episodes in this process alone, without commits. Else they are played on a leased copy of
            the scene in the database, in which each action is a transaction. The results are equal.
        shaping: what is added to the rewards for the parts of the goal that come to hold, in total, and taken back for
            those that cease to.
        moved: the number of things that each episode finds elsewhere, chosen by its seed.
        max_steps: by default the task's budget and some, or 50.
        fix: True to do first, by rule, what an action needs.
        agent: the acting node, by default the first agent.
        settings: the database; by default those of the environment and `.env`.

    A connection is opened by the process that plays, at its first `reset`; `close` gives it and the copy back. A
    copy whose process was killed is taken over by the next one. Raises InputError for what can't be played,
    UnknownReference for a node of the goal that there is not; the scene is read at the first use of a space or `reset`.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 - Gymnasium's own form

    def __init__(
        self,
        scene: str | None = None,
        task: str | None = None,
        *,
        goal: str | Condition | None = None,
        instruction: str = "",
        observation: Form = "text",
        actions: Choice = "text",
        in_memory: bool = False,
        shaping: float = 0.0,
        moved: int = 0,
        max_steps: int | None = None,
        fix: bool = False,
        agent: str | None = None,
        settings: Settings | None = None,
        render_mode: str | None = "ansi",
    ) -> None:
        if task is not None and goal is not None:
            raise InputError("give either a task of a data set, or a goal")
        if scene is None and task is None:
            raise InputError("give a scene by its name in the database, or a task of a data set")
        if observation not in {"text", "graph"} or actions not in {"text", "list"}:
            raise InputError("an observation is text or graph, actions are text or a list")
        if render_mode not in {None, *self.metadata["render_modes"]}:
            raise InputError(f"render_mode is 'ansi', for texts, or None; not {render_mode!r}")
        if (max_steps is not None and max_steps < 1) or moved < 0:
            raise InputError("max_steps is at least 1, moved at least 0")
        self.render_mode = render_mode
        self._scene, self._task, self._goal, self._instruction = scene, task, goal, instruction
        self._observation, self._choice, self._in_memory = observation, actions, in_memory
        self._shaping, self._moved, self._max_steps = shaping, moved, max_steps
        self._fix, self._agent, self._settings = fix, agent, settings
        self._open: _Open | None = None
        self._inherited: list[_Open] = []
        self._steps, self._unmet, self._at_first, self._shown = 0, 0, 0, ""
        self._done: tuple[str, ...] = ()

    # --- the spaces

    @cached_property
    def action_space(self) -> spaces.Space[Any]:  # type: ignore[override]
        """The texts, or the numbers of `calls`."""
        if self._choice == "text":
            return spaces.Text(MAX_CHARACTERS, charset=CHARACTERS)
        return spaces.Discrete(len(self.calls))

    @cached_property
    def observation_space(self) -> spaces.Space[Any]:  # type: ignore[override]
        """The texts, or ``states`` by node and state, and ``relations`` by type, source and target."""
        if self._observation == "text":
            return spaces.Text(MAX_SEEN, charset=CHARACTERS)
        nodes, states, types = len(self.nodes), len(self.states), len(self.relation_types)
        return spaces.Dict(
            states=spaces.MultiBinary([nodes, states]), relations=spaces.MultiBinary([types, nodes, nodes])
        )

    @cached_property
    def calls(self) -> tuple[str, ...]:
        """The ground actions by number, as texts. Raises InputError if there are over 4,096."""
        if self._episode.calls is None:
            msg = (
                f"the scene {self._episode.scene.name} has over {MAX_ACTIONS:,} actions on what the goal is about; "
                "take actions as text"
            )
            raise InputError(msg)
        return tuple(map(str, self._episode.calls))

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """The ids of the nodes that an observation as a graph is about: those of `calls` and of the goal."""
        named = {it for call in self._episode.calls or () for it in call.arguments}
        if self._episode.calls is None:
            named = {*self._episode.start.nodes}
        return tuple(sorted(named | _named(self._episode.goal) | {self._episode.agent}))

    @cached_property
    def states(self) -> tuple[str, ...]:
        """The states that a node may have."""
        given = {state for node in self._episode.start.nodes.values() for state in node.states}
        return tuple(sorted(given | {it.state for it in self._effects if isinstance(it, Become | Cease)}))

    @cached_property
    def relation_types(self) -> tuple[str, ...]:
        """The types of relations that two nodes may have."""
        given = {relation.type for relation in self._episode.start.relations}
        return tuple(sorted(given | {it.type for it in self._effects if isinstance(it, Relate)}))

    # --- playing

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Seen, dict[str, Any]]:
        """Put everything back to the start, then move things by the seed; text tells the task and the actions."""
        super().reset(seed=seed, options=options)
        world, episode = self._world(), self._episode
        drawn = Delta()
        if self._moved:
            seed, words = int(self.np_random.integers(2**31)), episode.scene.vocabulary
            drawn = perturb(episode.start, vocabulary=words, seed=seed, objects=self._moved).delta
        world.begin(drawn)
        self._steps, self._done = 0, ()
        self._unmet = self._at_first = self._missing(world.graph)
        listed = action_list(episode.operators, macros_of(episode.scene.vocabulary))
        text = f"Instruction: {episode.instruction}\nThe actions:\n{listed}"
        return self._observe(text, world.graph), self._info(world.graph, (), ())

    def step(self, action: Taken) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        """Carry out an action; of a refused one, what was done before it stays and is told.

        Raises ServiceError; InputError before a reset, and for a number of no action.
        """
        world, text = self._current(), self._text(action)
        self._steps += 1
        carried_out: list[str] = []
        try:
            for step in world.act(text):
                carried_out.append(step.action)  # noqa: PERF401 - a later one may be refused
        except RejectedError as refused:
            reasons = tuple(refused.reasons)
            before_it = f"; before that was done: {', '.join(carried_out)}" if carried_out else ""
            shown, is_end = f"refused: {'; '.join(reasons)}{before_it}", False
        else:
            reasons, shown = (), f"carried out: {', '.join(carried_out)}"
            is_end = ends_session(text)
        self._done += tuple(carried_out)
        before, self._unmet = self._unmet, self._missing(world.graph)
        is_met = not self._unmet
        # the share of the parts that this episode began without
        shaped = self._shaping * (before - self._unmet) / self._at_first if self._at_first else 0.0
        reward = float(is_met) + shaped
        info = self._info(world.graph, tuple(carried_out), reasons)
        truncated = self._steps >= self._episode.max_steps
        return self._observe(shown, world.graph), reward, is_met or is_end, truncated, info

    def render(self) -> str:
        """Return the last observation as text."""
        return self._shown

    def plan(self, *, timeout_s: float = PLAN_TIMEOUT_S) -> tuple[str, ...] | None:
        """Return the actions of a plan from the present state, by the symbolic planner of the extra `pddl`.

        None if none was found in time (of the processor). Raises InputError without the extra, or before a reset.
        """
        graph, episode = self._current().graph, self._episode
        now = SceneGraph.of(graph.nodes.values(), graph.in_order())
        request = PlanRequest(
            episode.goal,
            episode.scene.vocabulary,
            timeout_s,
            required_actions=tuple(episode.action_goals),
            rules=rules_of(episode.scene.declared),
        )
        found = find_plan(request, now)
        return None if found.plan is None else tuple(map(str, found.plan))

    def close(self) -> None:
        """Give the copy back and close the connection; the next reset opens another."""
        opened, self._open = self._open, None
        if opened is not None and opened.pid == os.getpid():
            opened.stack.close()

    # --- within

    @property
    def _effects(self) -> list[Any]:
        return [it for each in self._episode.operators.values() for it in simple_effects(each.effects)]

    def _missing(self, graph: GraphView) -> int:
        """Return the number of unmet parts of the goal, and of actions that the task asks for besides."""
        episode = self._episode
        unmet = 0 if evaluate(episode.goal, graph, {}) else max(1, len(unmet_parts(episode.goal, graph, {})))
        return unmet + len(missing_goals(steps_of(self._done), episode.action_goals))

    def _text(self, action: Taken) -> str:
        if not isinstance(action, str):
            if not 0 <= action < len(self.calls):
                raise InputError(f"there is no action {action}; they are numbered from 0 to {len(self.calls) - 1}")
            return self.calls[int(action)]
        return ESCAPED.sub(lambda found: chr(int(found[0][2:], 16)), action)

    def _info(self, graph: GraphView, carried_out: tuple[str, ...], reasons: tuple[str, ...]) -> dict[str, Any]:
        info: dict[str, Any] = {"carried_out": [*carried_out], "reasons": [*reasons]}
        if self._choice == "list":
            info["action_mask"] = self._mask.of(graph, self._episode.agent)
        return info

    @cached_property
    def _mask(self) -> ActionMask:
        episode = self._episode
        return ActionMask(episode.calls or (), episode.operators, rules_of(episode.scene.declared))

    def _observe(self, text: str, graph: GraphView) -> Seen:
        escaped = "".join(it if it in CHARACTERS else it.encode("unicode_escape").decode("ascii") for it in text)
        left_off = f"\n... cut: it had {len(escaped):,} characters"
        self._shown = escaped if len(escaped) <= MAX_SEEN else escaped[: MAX_SEEN - len(left_off)] + left_off
        return self._shown if self._observation == "text" else self._arrays(graph)

    def _arrays(self, graph: GraphView) -> dict[str, NDArray[np.int8]]:
        row = {node: place for place, node in enumerate(self.nodes)}
        column = {state: place for place, state in enumerate(self.states)}
        layer = {type_: place for place, type_ in enumerate(self.relation_types)}
        states = np.zeros((len(row), len(column)), np.int8)
        relations = np.zeros((len(layer), len(row), len(row)), np.int8)
        for node, place in row.items():
            states[place, [column[state] for state in graph.nodes[node].states if state in column]] = 1
            for relation in graph.outgoing.get(node, ()):
                if relation.target in row and relation.type in layer:
                    relations[layer[relation.type], place, row[relation.target]] = 1
        return {"states": states, "relations": relations}

    @cached_property
    def _episode(self) -> _Episode:
        """What the episodes have in common, read once."""
        task = None if self._task is None else datasets.task(self._task)
        if task is not None and task[1].answer:
            raise InputError(f"the task {self._task} is a question; ask it with `scenecypher ask`")
        scene, start, imported = self._read(task[0] if task else None)
        known = task[1] if task else None
        goal = known.goal if known else self._stated_goal(scene, start)
        if missing := sorted(_named(goal) - start.nodes.keys()):
            raise InputError(f"the goal is about {missing[0]}, which {scene.name} does not have: is it the task's own?")
        agents = start.by_kind.get("Agent", ())
        agent = self._agent if self._agent in agents else min(agents, default=None) if self._agent is None else None
        if agent is None:
            named = NO_AGENT.replace("NAME", scene.name)
            raise InputError(named if self._agent is None else f"{scene.name} has no agent {self._agent!r}")
        words = self._goal if isinstance(self._goal, str) else f"Reach the goal: {explain(goal, start, {})}"
        calls = calls_for(goal, start, operators_of(scene.vocabulary), agent=agent, most=MAX_ACTIONS)
        return _Episode(
            scene,
            start,
            imported,
            agent,
            goal,
            known.action_goals if known else (),
            self._instruction or (known.instruction if known else words),
            self._max_steps or (known.budget + SPARE_STEPS if known else MAX_STEPS),
            calls,
        )

    def _read(self, of: datasets.Dataset | None) -> tuple[SceneInfo, SceneGraph, ImportedScene | None]:
        """Return the scene in the database, or that of the task's data set."""
        if self._scene is not None:
            with connect(self._settings, tell=lambda _: None) as database:
                found = database.store.load_at(self._scene)
            return found.info, found.graph, None
        assert of is not None  # noqa: S101 - checked at first
        assert self._task is not None  # noqa: S101
        imported = next(iter(of.scenes(self._task.removeprefix(f"{of.name}/"))))
        vocabulary = with_own_actions(imported.vocabulary, imported.declared.actions)
        info = SceneInfo("", imported.name, imported.role, vocabulary, "ready", 0, imported.declared)
        return info, imported.graph, imported

    def _stated_goal(self, scene: SceneInfo, start: SceneGraph) -> Condition:
        goal = self._goal
        if isinstance(goal, str):
            return GoalParser(start, scene.vocabulary, scene.declared.relation_types).read(goal)
        found = goal if goal is not None else own_goal(scene.declared)
        if found is None or found == ALWAYS:
            raise InputError(f"give a task of a data set, or a goal: {scene.name} has none of its own")
        return found

    def _current(self) -> EpisodeWorld:
        if self._open is None or self._open.pid != os.getpid():
            raise InputError("this process has no episode; reset the environment first")
        return self._open.world

    def _world(self) -> EpisodeWorld:
        """Return the world of this process; what a process before a fork has opened stays as it is."""
        if self._open is not None and self._open.pid != os.getpid():
            self._inherited.append(self._open)  # kept: to drop it would end the other process's lease
            self._open = None
        if self._open is None:
            self._open = self._opened()
        return self._open.world

    def _opened(self) -> _Open:
        episode = self._episode
        with ExitStack() as stack:
            if self._in_memory:
                world: EpisodeWorld = MemoryWorld(episode.scene, episode.start, agent=self._agent, fix=self._fix)
            else:
                store = stack.enter_context(connect(self._settings, tell=lambda _: None)).store
                imported, name = episode.imported, episode.scene.name
                lease = store.lease_imported(imported, digest=imported.digest) if imported else store.lease(name)
                copy = stack.enter_context(lease)
                world = LeasedWorld(store, copy, agent=self._agent, fix=self._fix)
            return _Open(os.getpid(), world, stack.pop_all())


def _named(goal: Condition) -> set[str]:
    """Return the ids of the nodes that a goal names."""
    return {it.id for atom in atoms_of(goal) for it in terms(atom) if isinstance(it, Id)}


if ENVIRONMENT not in gymnasium.registry:
    gymnasium.register(ENVIRONMENT, entry_point="scenecypher.gym:HomeEnv")
