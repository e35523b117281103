"""A scene as a Gymnasium environment with text actions: each step is one checked, committed action.

Import it where it is used: it needs `gymnasium`, part of the extra `babyai`.
"""

from __future__ import annotations

import re
import string
from typing import Any, Final

from gymnasium import Env
from gymnasium.spaces import Text

from scenecypher.db.condition import Condition
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.condition_check import check_goal
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import RejectedError
from scenecypher.planner.actions.simulator import Simulator
from scenecypher.planner.session import ends_session
from scenecypher.planner.vocabularies.registry import action_list

CHARACTERS: Final = string.ascii_letters + string.digits + string.punctuation + " \n"
"""Characters of observations and actions; all others are escaped as in Python."""
ESCAPED: Final = re.compile(r"\\(?:x[0-9a-f]{2}|u(?!d[89a-f])[0-9a-f]{4}|U00(?:0[0-9a-f]|10)[0-9a-f]{4})")
MAX_CHARACTERS: Final = 4_000
"""Length limit of an observation and of an action."""


class SceneEnv(Env[str, str]):
    """One task in one scene. An observation is the result of the last action, or the reasons of its refusal.

    The reward is 1 at the step that makes `goal` hold, else 0. This step ends the episode; so does the action ``done``.
    The episode is truncated after `max_steps`. `reset` restores the scene's version at creation: give the environment
    a copy of its own, such as `SceneStore.lease` yields.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 - Gymnasium's own form

    def __init__(
        self,
        store: SceneStore,
        scene: SceneInfo,
        *,
        goal: Condition,
        instruction: str = "",
        max_steps: int = 50,
        fix: bool = False,
    ) -> None:
        self.render_mode = "ansi"
        self.action_space = Text(MAX_CHARACTERS, charset=CHARACTERS)
        self.observation_space = Text(MAX_CHARACTERS, charset=CHARACTERS)
        self._store, self._scene, self._goal = store, scene, goal
        self._simulator = Simulator(store, scene, actor="gym", fix=fix)
        self._actions = action_list(self._simulator.operators, self._simulator.macros)
        self._instruction, self._max_steps = instruction, max_steps
        self._steps, self._observation = 0, ""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Restore the start; the observation is the task and the list of actions. The seed has no effect."""
        super().reset(seed=seed, options=options)
        self._store.reset(self._scene, self._scene.version)
        self._steps = 0
        return self._observe(f"Instruction: {self._instruction}\nThe actions:\n{self._actions}"), {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Execute an action such as ``grab(soap_1001)``; a refused one changes nothing. Raises ServiceError."""
        self._steps += 1
        text, info, is_end = self._act(ESCAPED.sub(_unescape, action))
        met = check_goal(self._store, self._scene, self._goal).holds
        return self._observe(text), float(met), met or is_end, self._steps >= self._max_steps, info

    def render(self) -> str:
        """Return the last observation."""
        return self._observation

    def _act(self, action: str) -> tuple[str, dict[str, Any], bool]:
        done: list[str] = []
        try:
            done += [step.action for step in self._simulator.act(action)]
        except RejectedError as refused:
            info = {"carried_out": done, "reasons": [*refused.reasons]}
            return f"refused: {'; '.join(refused.reasons)}", info, False
        return f"carried out: {', '.join(done)}", {"carried_out": done, "reasons": []}, ends_session(action)

    def _observe(self, text: str) -> str:
        escaped = "".join(it if it in CHARACTERS else it.encode("unicode_escape").decode("ascii") for it in text)
        self._observation = escaped[:MAX_CHARACTERS]
        return self._observation


def _unescape(found: re.Match[str]) -> str:
    return chr(int(found[0][2:], 16))
