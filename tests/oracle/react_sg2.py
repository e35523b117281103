"""Oracle for the prompts of SG2's ReAct: it expands nodes, calls the tool, and finishes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final

from scenecypher.chat.model import Message
from tests.oracle.grasif import PUT, Place, StaticPlanner

CALL: Final = re.compile(r"Action: (.*)\Z", re.DOTALL)


class _MissingCall(Exception):
    """Raised with the call that has to be made next."""


class _CallResults:
    """Results of the calls so far."""

    def __init__(self, seen: dict[str, str]) -> None:
        self._seen = seen

    def expanded(self, id_: str) -> dict[str, Any]:
        return dict(json.loads(self._called(f"expand({id_})")))

    def removed(self, room: Any, items: list[Any], start: Any, goal: Any) -> list[str]:
        listed = [[item["id"], *_cell(item)] for item in items]
        walk = (_cell(room), [room["size_x"], room["size_y"]], listed, _cell(start), _cell(goal))
        return list(json.loads(self._called(f"traverse_room({', '.join(map(json.dumps, walk))})")))

    def _called(self, call: str) -> str:
        if call not in self._seen:
            raise _MissingCall(call)
        return self._seen[call]


def reply(messages: Sequence[Message]) -> str:
    """Return the next thought and action."""
    task = messages[1].text.removeprefix("Task: ")
    pairs = zip(messages[2::2], messages[3::2], strict=True)
    seen = _CallResults({_action(said.text): heard.text.removeprefix("Observation: ") for said, heard in pairs})
    try:
        decide = _fetch if task.startswith("pick up") else _find if task.startswith("find the color") else _bring_about
        action = f"finish({decide(task, seen)})"
    except _MissingCall as missing:
        action = str(missing)
    return f"Thought: This comes next.\nAction: {action}"


def _fetch(task: str, seen: _CallResults) -> str:
    color, kind = task.split()[-2:]
    agent = seen.expanded("agent")
    here = next(node for node in agent["neighbors"] if node["class"] == "room")
    inside = seen.expanded(here["id"])
    (door,) = (node for node in inside["neighbors"] if node["class"] == "door")
    (beyond,) = (node for node in seen.expanded(door["id"])["neighbors"] if node["id"] != here["id"])
    items, others = _items(inside), _items(seen.expanded(beyond["id"]))
    key = next(item for item in items if (item["class"], item["color"]) == ("key", door["color"]))
    (target,) = (item for item in others if (item["class"], item["color"]) == (kind, color))
    to_key = seen.removed(here, items, agent["node"], key)
    to_door = seen.removed(here, [item for item in items if item["id"] != key["id"]], key, door)
    to_target = seen.removed(beyond, others, door, target)
    steps = [
        *(f"remove({id_})" for id_ in to_key),
        f"pickup({key['id']})",
        *(f"remove({id_})" for id_ in to_door),
        f"open({door['id']})",
        *(f"remove({id_})" for id_ in to_target),
        f"pickup({target['id']})",
    ]
    return f"[{', '.join(steps)}]"


def _find(task: str, seen: _CallResults) -> str:
    found = re.fullmatch(
        r"find the color of the (\w+) in a room next to the room with (\d+) (\w+) (key|ball|box)e?s", task
    )
    assert found, task
    wanted, number, color, kind = found.groups()
    here = next(node for node in seen.expanded("agent")["neighbors"] if node["class"] == "room")
    root = next(node for node in seen.expanded(here["id"])["neighbors"] if node["class"] == "root")
    for room in (node["id"] for node in seen.expanded(root["id"])["neighbors"]):
        inside = seen.expanded(room)
        described = [item for item in _items(inside) if (item["class"], item["color"]) == (kind, color)]
        if len(described) == int(number):
            doors = (node["id"] for node in inside["neighbors"] if node["class"] == "door")
            near = {node["id"] for door in doors for node in seen.expanded(door)["neighbors"]} - {room}
            things = [item for other in sorted(near) for item in _items(seen.expanded(other))]
            (answer,) = (item["color"] for item in things if item["class"] == wanted)
            return str(answer)
    raise AssertionError(task)


def _bring_about(task: str, seen: _CallResults) -> str:
    """Return the plan for a GraSIF goal in its own words, such as ``cup-1 is on table-1; lamp-1 is on``."""

    def where(thing: str) -> Place:
        expanded = seen.expanded(thing)
        (link,) = (link for link in expanded["links"] if link[0] == thing and link[1] in PUT)
        (node,) = (node for node in expanded["neighbors"] if node["id"] == link[2])
        return Place(link[1], node["id"], tuple(node.get("states", ())), node["kind"] == "Place")

    def node(thing: str) -> Any:
        return seen.expanded(thing)["node"]

    planning = StaticPlanner(
        where, lambda thing: tuple(node(thing).get("states", ())), lambda thing: node(thing)["kind"] == "Agent"
    )
    return f"[{', '.join(planning.solve(task))}]"


def _items(expanded: dict[str, Any]) -> list[Any]:
    return [node for node in expanded["neighbors"] if node["kind"] == "Object"]


def _cell(node: Any) -> list[float]:
    return list(node["center"])


def _action(said: str) -> str:
    found = CALL.search(said)
    assert found
    return found[1]
