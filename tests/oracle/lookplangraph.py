"""Oracle for LookPlanGraph's prompts: it explores, verifies, and reaches the instruction's goal."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final, TypeAlias

from tests.oracle import lookplangraph_home
from tests.oracle.scene_text import Scene, Thing, read_scene

Step: TypeAlias = tuple[str, str, str | None, str | None]
WORDS: Final = {"on": "ontop", "inside": "inside", "under": "under", "attached to": "attached_to"}
SWITCHES: Final = {"on": "turn_on", "off": "turn_off", "open": "open", "closed": "close"}
MOST_VISITS: Final = 3
DONE: Final[Step] = ("done", "", None, None)


def reply(system: str, user: str) -> str:
    """Return the reply to one prompt."""
    if "grab(x)" in system:
        return lookplangraph_home.reply(system, user)
    instruction = user.split("\n", maxsplit=1)[0].removeprefix("Instruction: ")
    scene = read_scene(user.partition("\nScene:\n")[2].partition("\n\nPrevious actions:")[0])
    went = re.findall(r"^action: go_to\((.*)\)$", user, re.MULTILINE)
    step = _fetch(instruction, scene) if "pickup(x)" in system else _bring_about(instruction, scene, went)
    name, node, relation, destination = step
    node = node or (scene.places or ["-"])[0]
    action = {"function_name": name, "node": node, "relation": relation, "destination": destination}
    return json.dumps({"reason": "the scene says so", "action": action})


# --- BabyAI


def _fetch(instruction: str, scene: Scene) -> Step:
    """Return the next step of a task such as ``pick up the purple box``: take it, or clear the way to it."""
    found = re.fullmatch(r"pick up (?:the|a) (\w+) (\w+)", instruction)
    assert found, instruction
    wanted = found.groups()
    if wanted in scene.held.values():
        return DONE
    box = next((it for it in scene.of("object", "asset") if it.traits == wanted), None)
    if box is not None:
        blocking = _beside_a_door(scene, but=box.id)
        return ("remove", blocking, None, None) if blocking else ("pickup", box.id, None, None)
    door = next(it for it in scene.of("door") if "closed" in it.states)
    key = (door.traits[0], "key")
    if "locked" in door.states and key not in scene.held.values():
        return "pickup", next(it.id for it in scene.of("object", "asset") if it.traits == key), None, None
    blocking = _beside_a_door(scene, but="")
    return ("remove", blocking, None, None) if blocking else ("open", door.id, None, None)


def _beside_a_door(scene: Scene, *, but: str) -> str:
    """Return the id of a thing next to a door, if any."""
    for door in scene.of("door"):
        for thing in scene.of("object", "asset"):
            if thing.id != but and door.cell and thing.cell and _is_adjacent(door.cell, thing.cell):
                return thing.id
    return ""


def _is_adjacent(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return abs(one[0] - other[0]) + abs(one[1] - other[1]) == 1


# --- GraSIF


def _bring_about(instruction: str, scene: Scene, went: list[str]) -> Step:
    """Return the next step for a goal such as ``x is inside y; z is off``."""
    for fact in instruction.split("; "):
        step = next(_steps(fact, scene, went), None)
        if step is not None:
            return step
    return DONE


def _steps(fact: str, scene: Scene, went: list[str]) -> Iterator[Step]:
    placed = re.fullmatch(r"(\S+) is (on|inside|under|attached to) (?:the )?(\S+)", fact)
    if placed is None:
        node, state = fact.split(" is ")
        yield from _switch(node, state, scene, went)
        return
    node, relation, target = placed.groups()
    if target in scene.places:
        if scene.here != target:
            yield "go_to", target, None, None
        return
    thing = scene.things.get(node)
    in_the_open = thing is not None and (thing.confirmed or not thing.supports)
    if node in scene.held or (thing is not None and in_the_open and _needed(thing, WORDS[relation], target)):
        yield "rearrange", node, WORDS[relation], target
    elif thing is None or not thing.confirmed:
        yield _find(node, scene, went)


def _needed(thing: Thing, relation: str, target: str) -> bool:
    return (relation, target) not in thing.supports


def _switch(node: str, state: str, scene: Scene, went: list[str]) -> Iterator[Step]:
    thing = scene.things.get(node)
    if thing is None:
        yield _find(node, scene, went)
    elif state not in thing.states:
        yield SWITCHES[state], node, None, None


def _find(node: str, scene: Scene, went: list[str]) -> Step:
    """Return the next step of a search: its remembered place, then all rooms, then all furniture in them."""
    believed = scene.things.get(node)
    likely = [scene.things[it] for _, it in believed.supports if it in scene.things] if believed else []
    searched = [it for it in scene.of("asset", "object") if it.room == scene.here and it.confirmed]
    for thing in (*likely, *(searched if {*scene.places} <= {*went} else ())):
        if not thing.inspected:
            return "discover_objects", thing.id, None, None
    least = min(scene.places, key=lambda place: went.count(place) + (place == scene.here))
    return ("go_to", least, None, None) if went.count(least) < MOST_VISITS else DONE
