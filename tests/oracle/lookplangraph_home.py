"""Oracle for LookPlanGraph's prompts in VirtualHome: it searches for things, brings them, and switches appliances."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import islice
from typing import Final

from tests.oracle.scene_text import Scene, read_scene

Step = tuple[str, ...]
PUT: Final = {"inside": ("put_in", "inside"), "on": ("put_on", "ontop")}


def reply(_system: str, user: str) -> str:
    """Return the reply to one prompt with the instruction ``hold X``, or with a goal in words."""
    instruction = user.split("\n", maxsplit=1)[0].removeprefix("Instruction: ")
    scene = read_scene(user.partition("\nScene:\n")[2].partition("\n\nPrevious actions:")[0])
    done = re.findall(r"^action: (\w+)\((.*)\)$", user, re.MULTILINE)
    shut = re.findall(r"^Feedback: open\((.*?)\) was refused", user, re.MULTILINE)
    if instruction.startswith("hold "):
        steps = [_step(instruction.removeprefix("hold "), scene, done, shut)]
    else:
        parts = sorted(instruction.split("; "), key=lambda part: len(part.split()) == 3)
        steps = [*islice(filter(None, (_brought_about(part, scene, done, shut) for part in parts)), 1)]
    name, node, destination = (*(steps or [("done", scene.places[0])])[0], None)[:3]
    action = {"function_name": name, "node": node, "relation": None, "destination": destination}
    return json.dumps({"reason": "the scene says so", "action": action})


def _brought_about(fact: str, scene: Scene, done: Sequence[tuple[str, str]], shut: Sequence[str]) -> Step | None:
    """Return the next step for a fact such as ``x is inside y`` or ``x is heated``; None if it is so."""
    node, _, *rest = fact.split()
    thing = scene.things.get(node)
    if len(rest) == 1:
        return _switched(node, rest[0], scene)
    action, relation = PUT[rest[0]]
    target = rest[-1]
    if node not in scene.held:
        at_target = thing is not None and thing.confirmed and (relation, target) in thing.supports
        return None if at_target else _step(node, scene, done, shut)
    known = scene.things.get(target)
    if known is None or known.room != scene.here:
        return "walk", target
    return ("open", target) if relation == "inside" and "closed" in known.states else (action, node, target)


def _switched(node: str, state: str, scene: Scene) -> Step | None:
    """Return the next step towards a state; what is heated or washed is in an appliance by now."""
    thing = scene.things.get(node)
    if thing is None:
        return "walk", node
    if state in thing.states:
        return None
    if state in {"on", "off"}:
        return f"switch_{state}", node
    appliance = scene.things[next(place for relation, place in thing.supports if relation == "inside")]
    return ("switch_on" if "closed" in appliance.states else "close"), appliance.id


def _step(wanted: str, scene: Scene, done: Sequence[tuple[str, str]], shut: Sequence[str]) -> Step:
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
