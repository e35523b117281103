"""Steps a second of eight environments at once, in memory and on leased copies, with actions drawn by the mask.

python -m benchmarks.environments [STEPS]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np
from gymnasium.vector import AsyncVectorEnv

from scenecypher.gym import HomeEnv
from scenecypher.settings import Settings
from tests.server import throwaway_server

TASK: Final = "eai/3_1"
AT_ONCE: Final = 8


def steps_a_second(make: Callable[[], HomeEnv], steps: int) -> float:
    """Play `steps` steps in each of the environments; return the steps of all together a second of the clock."""
    environments = AsyncVectorEnv([make] * AT_ONCE)
    try:
        _, info = environments.reset(seed=1)
        chance = np.random.default_rng(1)
        started = time.perf_counter()
        for _ in range(steps):
            actions = [int(chance.choice(np.flatnonzero(mask))) for mask in info["action_mask"]]
            _, _, _, _, info = environments.step(np.array(actions))
        return AT_ONCE * steps / (time.perf_counter() - started)
    finally:
        environments.close()


def main(steps: int) -> None:
    with throwaway_server() as address:
        settings = Settings(neo4j_uri=address.uri, neo4j_username=address.username, neo4j_password=address.password)
        for name, in_memory in (("in memory", True), ("in the database", False)):
            make = partial(HomeEnv, task=TASK, actions="list", in_memory=in_memory, settings=settings)
            print(f"{name}: {steps_a_second(make, steps):.0f} steps a second by {AT_ONCE} environments")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
