"""BabyAI: any MiniGrid level, and the papers' three, as scenes with tasks and reference plans, from level and seed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from io import StringIO
from typing import Any, Final, Literal, TypeAlias, get_args

from scenecypher.db.condition import ALWAYS, Condition, HasState, HeldBy, Id, any_of
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Point, SceneGraph
from scenecypher.errors import InputError, did_you_mean
from scenecypher.importers.babyai_grid import AGENT, ROOT, Things, grid_scene_graph, things_by_id
from scenecypher.importers.task import ProgramStep, Task

QUESTION: Final = re.compile(
    r"find the color of the (\w+) in a room next to the room with (\d+) (\w+) (key|ball|box)(?:e?s)"
)
AnswerFault: TypeAlias = Literal["counting", "spatial layout", "neither"]
ANSWER_FAULTS: Final = get_args(AnswerFault)
NAME_PREFIX: Final = "babyai/"
BUDGET: Final = 20
"""The most actions of an episode: over three times the longest of the papers' plans."""
SEEDS: Final = 100
"""The listed instances of a generated level, as many as the papers have. A single instance may have any seed."""
LEVELS: Final[Mapping[str, str]] = {"trv1": "Trv1", "trv2": "Trv2", "numqa": "NumQA"}
"""The papers' levels and their classes in `scenecypher.importers.babyai_levels`."""


def oracle_plan(graph: SceneGraph, target: str) -> tuple[ProgramStep, ...] | None:
    """Return a plan in the papers' order for each door on the way: key, items before it, the door, items behind it.

    At the end an item is picked up, or a door opened. Returns None if no way leads there or a key is out of reach.
    """
    here = graph.targets(AGENT, "INSIDE")[0]
    is_door = graph.nodes[target].kind == "Door"
    ends = graph.targets(target, "CONNECTS" if is_door else "INSIDE")
    way = min(filter(None, (_shortest_way(graph, here, end) for end in ends)), key=len, default=None)
    if way is None:
        return None
    steps: list[ProgramStep] = []
    visited = [here]
    for door, beyond in way[1:]:
        opening = _opening(graph, door, visited=visited, target=target)
        if opening is None:
            return None
        steps += [*opening, *_removals(graph, door, beyond, but={target})]
        visited.append(beyond)
    if not is_door:
        return (*steps, ProgramStep("pickup", (target,)))
    opening = _opening(graph, target, visited=visited, target=target)
    return None if opening is None else (*steps, *opening)


def answer_fault(graph: SceneGraph, question: str, given: Collection[str]) -> AnswerFault:
    """Return the sub-task of the papers' template whose mistake explains the wrong colours that were given.

    ``counting``: a thing of such a colour is in a room next to one that has things of the counted sort, in another
    number. Otherwise ``spatial layout``: it is in a room that is not next to the right one.
    """
    asked = QUESTION.fullmatch(question)
    if asked is None:
        return "neither"
    wanted, number, color, kind = asked.groups()
    things = {room: _inside(graph, room, kind) for room in graph.by_class["room"]}
    counts = {room: sum(it.properties["color"] == color for it in found) for room, found in things.items()}
    next_door = {room: {beyond for _, beyond in _doors(graph, room)} for room in counts}
    right = {room for room, count in counts.items() if count == int(number)}
    found = {
        room for room in counts for thing in _inside(graph, room, wanted) if str(thing.properties["color"]) in given
    }
    if any(found & next_door[room] for room, count in counts.items() if count and room not in right):
        return "counting"
    return "spatial layout" if any(found - next_door[room] for room in right) else "neither"


def _opening(graph: SceneGraph, door: str, *, visited: list[str], target: str) -> list[ProgramStep] | None:
    """Return the steps that open a door from the last of the rooms visited, None without a key."""
    states = graph.nodes[door].states
    color = graph.nodes[door].properties["color"]
    keys = [it.id for room in visited for it in _inside(graph, room, "key") if it.properties["color"] == color]
    if "locked" in states and not keys:
        return None
    taken = keys[:1] if "locked" in states else []
    steps = [ProgramStep("pickup", (key,)) for key in taken]
    steps += _removals(graph, door, visited[-1], but={target, *taken})
    return steps if "open" in states else [*steps, ProgramStep("open", (door,))]


def _removals(graph: SceneGraph, door: str, room: str, *, but: set[str]) -> list[ProgramStep]:
    """Return the steps that remove the items of `room` from the cell before the door."""
    found = [node.id for node in _inside(graph, room) if node.kind == "Object" and _side_by_side(graph, node.id, door)]
    return [ProgramStep("remove", (node_id,)) for node_id in found if node_id not in but]


def _shortest_way(graph: SceneGraph, start: str, end: str) -> list[tuple[str, str]] | None:
    """Return the shortest way as doors, each with the room behind it; its start has no door."""
    ways: dict[str, list[tuple[str, str]]] = {start: [("", start)]}
    waiting = [start]
    for room in waiting:
        for door, beyond in _doors(graph, room):
            if beyond not in ways:
                ways[beyond] = [*ways[room], (door, beyond)]
                waiting.append(beyond)
    return ways.get(end)


def _doors(graph: SceneGraph, room: str) -> Iterator[tuple[str, str]]:
    for door in graph.targets(room, "CONNECTS"):
        yield from ((door, beyond) for beyond in graph.targets(door, "CONNECTS") if beyond not in {room, ROOT})


def _side_by_side(graph: SceneGraph, one: str, other: str) -> bool:
    centers = [graph.nodes[node_id].properties["center"] for node_id in (one, other)]
    match centers:
        case [Point() as a, Point() as b]:
            return abs(a.x - b.x) + abs(a.y - b.y) == 1
    return False


def _inside(graph: SceneGraph, room: str, class_: str | None = None) -> list[Node]:
    found = [graph.nodes[node_id] for node_id in graph.sources(room, "INSIDE")]
    return [node for node in found if class_ in {None, node.class_}]


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
        raise InputError(f"the seed {seed} is negative; give a whole number from 0")
    env = _environment(level, seed)
    things = things_by_id(env)
    source = f"minigrid {version('minigrid')}, {level}, seed {seed}"
    name, graph = f"{NAME_PREFIX}{level}/{seed}", grid_scene_graph(env, things)
    scene = ImportedScene(name, graph, vocabulary="babyai", source=source)
    return LevelInstance(env, things, scene, _task(env, things, scene, level=level))


def check_level(level: str) -> None:
    """Check that MiniGrid is installed and has the level, or that it is one of LEVELS. Raises InputError."""
    if find_spec("minigrid") is None:
        raise InputError("MiniGrid is not installed: run `pip install 'scenecypher[papers]'`")
    if level in LEVELS:
        return
    import gymnasium
    import minigrid  # noqa: F401

    known = [name for name, spec in gymnasium.registry.items() if str(spec.entry_point).startswith("minigrid.")]
    if level not in known:
        hint = did_you_mean(level[:60], (*LEVELS, *known)) or f"; give {', '.join(LEVELS)} or an id of MiniGrid"
        raise InputError(f"no level {level[:60]!r} among MiniGrid's {len(known)}{hint}")


def _environment(level: str, seed: int) -> Any:
    """Return a level at its start; MiniGrid's printed messages about rejected draws are dropped."""
    check_level(level)
    import gymnasium

    from scenecypher.importers import babyai_levels

    try:
        ours = getattr(babyai_levels, LEVELS.get(level, ""), None)
        env = ours() if ours else gymnasium.make(level, disable_env_checker=True).unwrapped
        with redirect_stdout(StringIO()):
            env.reset(seed=seed)
    except (ImportError, OSError, gymnasium.error.Error) as error:
        msg = f"MiniGrid can't make {level}: {error}; install what it asks for, or choose another level"
        raise InputError(msg) from error
    return env


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
        goal=any_of(tuple(targets.values())) if targets else ALWAYS,
        action_goals=(),
        budget=BUDGET,
        source=scene.source,
        category=level,
        program=program or (),
        answer=found,
    )


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
