"""A scene as a Gymnasium environment with text actions: each step is one checked, committed action.

Import it where it is used: it needs `gymnasium`, which the extra `babyai` brings.
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
from scenecypher.planner.actions.vocabularies import action_list
from scenecypher.planner.session import ends

CHARACTERS: Final = string.ascii_letters + string.digits + string.punctuation + " \n"
"""What a text is made of; other characters stand escaped, as in Python, in observations and actions alike."""
ESCAPED: Final = re.compile(r"\\(?:x[0-9a-f]{2}|u(?!d[89a-f])[0-9a-f]{4}|U00(?:0[0-9a-f]|10)[0-9a-f]{4})")
LONGEST: Final = 4_000


class SceneEnv(Env[str, str]):
    """One task in one scene. An observation is what the last action did, or why it was refused.

    The reward is 1 at the step that makes `goal` hold, which ends the episode, else 0; so does an action that says that
    all is done. After `max_steps` it is cut off. `reset` takes the scene back to the version that it was found at: give
    it a copy of its own, such as `SceneStore.lease` yields.
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
        self.action_space = Text(LONGEST, charset=CHARACTERS)
        self.observation_space = Text(LONGEST, charset=CHARACTERS)
        self._store, self._scene, self._goal = store, scene, goal
        self._simulator = Simulator(store, scene, actor="gym", fix=fix)
        self._actions = action_list(self._simulator.operators, self._simulator.macros)
        self._instruction, self._max_steps = instruction, max_steps
        self._steps, self._seen = 0, ""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Back to the start; the observation is the task and the actions there are. Nothing is drawn by the seed."""
        super().reset(seed=seed, options=options)
        self._store.reset(self._scene, self._scene.version)
        self._steps = 0
        return self._observe(f"Instruction: {self._instruction}\nThe actions:\n{self._actions}"), {}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Carry out an action such as ``grab(soap_1001)``; refused ones change nothing. Raises ServiceError."""
        self._steps += 1
        told, info, said_done = self._act(ESCAPED.sub(_unescaped, action))
        met = check_goal(self._store, self._scene, self._goal).holds
        return self._observe(told), float(met), met or said_done, self._steps >= self._max_steps, info

    def render(self) -> str:
        """The last observation."""
        return self._seen

    def _act(self, action: str) -> tuple[str, dict[str, Any], bool]:
        done: list[str] = []
        try:
            done += [step.action for step in self._simulator.act(action)]
        except RejectedError as refused:
            told = {"carried_out": done, "reasons": [*refused.reasons]}
            return f"refused: {'; '.join(refused.reasons)}", told, False
        return f"carried out: {', '.join(done)}", {"carried_out": done, "reasons": []}, ends(action)

    def _observe(self, text: str) -> str:
        escaped = "".join(it if it in CHARACTERS else it.encode("unicode_escape").decode("ascii") for it in text)
        self._seen = escaped[:LONGEST]
        return self._seen


def _unescaped(found: re.Match[str]) -> str:
    return chr(int(found[0][2:], 16))
