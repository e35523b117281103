"""BabyAI: any MiniGrid level, and the papers' three, as scenes with tasks, generated from level and seed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from io import StringIO
from typing import Any, Final

from scenecypher.db.condition import ALWAYS, Condition, HasState, HeldBy, Id, Or
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.errors import InputError, did_you_mean
from scenecypher.importers.babyai_grid import AGENT, Things, grid_scene_graph, things_by_id
from scenecypher.importers.babyai_oracle import oracle_plan
from scenecypher.importers.task import Task

NAME_PREFIX: Final = "babyai/"
BUDGET: Final = 20
"""The most actions of an episode: over three times the longest of the papers' plans."""

SEEDS: Final = 100
"""The listed instances of a generated level, as many as the papers have. A single instance may have any seed."""
LEVELS: Final[Mapping[str, str]] = {"trv1": "Trv1", "trv2": "Trv2", "numqa": "NumQA"}
"""The papers' levels and their classes in `scenecypher.importers.babyai_levels`."""


@dataclass(frozen=True, slots=True)
class LevelInstance:
    """A level at its start: the environment, its objects by node id, its graph, and its task.

    `task` is None if the mission is neither to pick up nor to open something, nor a question. The environment changes
    by its own `step`; the other fields stay as they are.
    """

    env: Any
    things: Things
    scene: ImportedScene
    task: Task | None


def scenes(only: str | None, level: str) -> Iterator[ImportedScene]:
    """Yield a level's instances of SEEDS seeds, or the one of the seed `only`. Raises InputError."""
    return (read_level(level, seed) for seed in _seeds(only))


def tasks(only: str | None, level: str) -> Iterator[Task]:
    """Yield the tasks of these instances, each with its seed as id. Raises InputError."""
    found = ((seed, read_task(level, seed)) for seed in _seeds(only))
    return (replace(task, id=str(seed)) for seed, task in found if task is not None)


def _seeds(only: str | None) -> range:
    if only is None:
        return range(SEEDS)
    if not (only.isascii() and only.isdecimal() and len(only) <= 18):
        raise InputError(f"{only[:60]!r} is no seed; give a whole number from 0, as in trv1/7")
    return range(int(only), int(only) + 1)


def read_level(level: str, seed: int) -> ImportedScene:
    """Return the scene of a level's instance, such as ``babyai/trv1/7``. Raises InputError as `level_instance` does."""
    return level_instance(level, seed).scene


@lru_cache(maxsize=1_024)
def read_task(level: str, seed: int) -> Task | None:
    """Return the task of a level's instance, such as ``trv1/7``.

    MiniGrid takes up to 12 ms to make one. Raises InputError as `level_instance` does.
    """
    return level_instance(level, seed).task


def level_instance(level: str, seed: int) -> LevelInstance:
    """Return an instance of one of LEVELS or of any registered MiniGrid id, equal for equal seeds.

    Raises InputError if MiniGrid is missing, the level is unknown or can't be made, or the seed is negative.
    """
    if seed < 0:
        msg = f"the seed {seed} is negative; give a whole number from 0"
        raise InputError(msg)
    env = _reset(_environment(level), level, seed)
    things = things_by_id(env)
    source = f"minigrid {version('minigrid')}, {level}, seed {seed}"
    scene = ImportedScene(scene_name(level, seed), grid_scene_graph(env, things), vocabulary="babyai", source=source)
    return LevelInstance(env, things, scene, _task(env, things, scene, level=level))


def scene_name(level: str, seed: int) -> str:
    """Return the scene name of a level's instance."""
    return f"{NAME_PREFIX}{level}/{seed}"


def check_level(level: str) -> None:
    """Check that MiniGrid is installed and has the level, or that it is one of LEVELS. Raises InputError."""
    if find_spec("minigrid") is None:
        msg = "MiniGrid is not installed: run `pip install 'scenecypher[papers]'`"
        raise InputError(msg)
    if level in LEVELS:
        return
    import gymnasium
    import minigrid  # noqa: F401

    known = [name for name, spec in gymnasium.registry.items() if str(spec.entry_point).startswith("minigrid.")]
    if level not in known:
        hint = did_you_mean(level[:60], (*LEVELS, *known)) or f"; give {', '.join(LEVELS)} or an id of MiniGrid"
        msg = f"no level {level[:60]!r} among MiniGrid's {len(known)}{hint}"
        raise InputError(msg)


def _environment(level: str) -> Any:
    check_level(level)
    if level in LEVELS:
        from scenecypher.importers import babyai_levels

        return getattr(babyai_levels, LEVELS[level])()
    import gymnasium

    try:
        return gymnasium.make(level, disable_env_checker=True).unwrapped
    except (ImportError, gymnasium.error.Error) as error:
        raise _cannot_make(level, error) from error


def _reset(env: Any, level: str, seed: int) -> Any:
    """Reset the environment; MiniGrid's printed messages about rejected draws are dropped."""
    try:
        with redirect_stdout(StringIO()):
            env.reset(seed=seed)
    except (ImportError, OSError) as error:
        raise _cannot_make(level, error) from error
    return env


def _cannot_make(level: str, error: Exception) -> InputError:
    return InputError(f"MiniGrid can't make {level}: {error}; install what it asks for, or choose another level")


def _task(env: Any, things: Things, scene: ImportedScene, *, level: str) -> Task | None:
    targets = _targets(env, things)
    found = str(getattr(env, "answer", ""))
    if not targets and not found:
        return None
    program = oracle_plan(scene.graph, next(iter(targets))) if targets else None
    return Task(
        id=scene.name.removeprefix(NAME_PREFIX),
        instruction=str(env.mission),
        scene=scene.name,
        goal=_one_of(tuple(targets.values())),
        action_goals=(),
        budget=BUDGET,
        source=scene.source,
        category=level,
        program=program or (),
        answer=found,
    )


def _one_of(conditions: tuple[Condition, ...]) -> Condition:
    match conditions:
        case ():
            return ALWAYS
        case (only,):
            return only
    return Or(conditions)


def _targets(env: Any, things: Things) -> dict[str, Condition]:
    """Return the nodes of which one is to be picked up or opened, each with its goal condition."""
    instruction: Any = getattr(env, "instrs", None)
    match type(instruction).__name__:
        case "OpenInstr":
            return {node_id: HasState(Id(node_id), "open") for node_id in _ids(instruction.desc.obj_set, things)}
        case "PickupInstr":
            wanted = instruction.desc.obj_set
        case _:
            wanted = [env.obj] if hasattr(env, "obj") and env.mission.startswith("pick up") else []
    return {node_id: HeldBy(Id(node_id), Id(AGENT)) for node_id in _ids(wanted, things)}


def _ids(wanted: Iterable[Any], things: Things) -> list[str]:
    chosen = [*wanted]
    return [node_id for node_id, thing in things.items() if any(thing is one for one in chosen)]
