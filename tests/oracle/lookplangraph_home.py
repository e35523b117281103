"""Oracle for LookPlanGraph's prompts in VirtualHome: it searches for a thing until it is held."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from tests.oracle.scene_text import Scene, read_scene

Step = tuple[str, str]


def reply(_system: str, user: str) -> str:
    """Return the reply to one prompt with the instruction ``hold X``."""
    wanted = user.split("\n", maxsplit=1)[0].removeprefix("Instruction: hold ")
    scene = read_scene(user.partition("\nScene:\n")[2].partition("\n\nPrevious actions:")[0])
    done = re.findall(r"^action: (\w+)\((.*)\)$", user, re.MULTILINE)
    shut = re.findall(r"^Feedback: open\((.*?)\) was refused", user, re.MULTILINE)
    name, node = _step(wanted, scene, done, shut)
    action = {"function_name": name, "node": node, "relation": None, "destination": None}
    return json.dumps({"reason": "the scene says so", "action": action})


def _step(wanted: str, scene: Scene, done: Sequence[Step], shut: Sequence[str]) -> Step:
    """Return the next step: take the seen thing, else look at its remembered place, else search room by room."""
    thing = scene.things.get(wanted)
    if wanted in scene.held:
        return "done", scene.places[0]
    if thing is not None and thing.confirmed:
        return "grab", wanted
    likely = [scene.things[it] for _, it in thing.supports if it in scene.things] if thing else []
    here = [it for it in scene.of("asset") if it.room == scene.here]
    for place in (*likely, *here):
        if ("open", place.id) not in done and ("find", place.id) not in done:
            return ("open" if "closed" in place.states and place.id not in shut else "find"), place.id
    rooms = [room for room in scene.places if ("walk", room) not in done and room != scene.here]
    return ("walk", rooms[0]) if rooms else ("done", scene.places[0])
