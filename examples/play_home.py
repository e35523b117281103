"""Play one task by chance and by a symbolic planner, and print both: an environment of Gymnasium, without training.

    python examples/play_home.py [TASK]

It needs `pip install 'scenecypher[agents,pddl]'`, and no database.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium

from scenecypher.gym import HomeEnv

Policy = Callable[[HomeEnv, Mapping[str, Any]], int]
"""Chooses the number of an action, given the environment and the last step's `info`."""


def by_chance(env: HomeEnv, info: Mapping[str, Any]) -> int:
    """Return any action that can be carried out now."""
    return int(env.action_space.sample(mask=info["action_mask"]))


def by_plan(env: HomeEnv, info: Mapping[str, Any]) -> int:
    """Return the first action of a plan from here."""
    del info
    plan = env.plan()
    if not plan:
        raise SystemExit("the planner found no plan")
    return env.calls.index(plan[0])


def play(env: HomeEnv, policy: Policy, *, seed: int) -> tuple[float, list[str]]:
    """Play one episode; return the sum of its rewards and the actions that were carried out."""
    _, info = env.reset(seed=seed)
    env.action_space.seed(seed)
    total, done, over = 0.0, list[str](), False
    while not over:
        _, reward, terminated, truncated, info = env.step(policy(env, info))
        total, over = total + reward, terminated or truncated
        done += info["carried_out"]
    return total, done


def main(task: str) -> None:
    """Play `task` by both policies in memory and print each."""
    env = gymnasium.make(
        "scenecypher.gym:scenecypher/Home-v0", task=task, actions="list", in_memory=True, disable_env_checker=True
    )
    home = env.unwrapped
    assert isinstance(home, HomeEnv)
    for name, policy in (("random", by_chance), ("symbolic", by_plan)):
        total, done = play(home, policy, seed=1)
        print(f"{name:9} return {total:g} after {len(done)} actions: {', '.join(done[:6])}")
    env.close()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "homes/apartment/watch_tv")
