"""Oracle for the prompts of SG2's four agents: BabyAI's traversals and questions."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from scenecypher.chat.model import Message
from tests.oracle.grasif import HomePlanner, Place, StaticPlanner

PLANNER: Final = "You solve tasks about an environment"
WRITER: Final = "You write Cypher for Neo4j"
VERIFIER: Final = "You check the work of a query writer"
CALLER: Final = "You are given a list of Python functions"

AGENT_QUERY: Final = "What are the id, center and room of the agent and of the {1} with color {0}?"
DOOR_QUERY: Final = "What are the id, color, states and center of the doors that connect {0} and {1}?"
KEY_QUERY: Final = "What are the id, center and room of each object of class key with color {0}?"
ROOM_QUERY: Final = "What are the center, size_x and size_y of {0}?"
ITEMS_QUERY: Final = "What are the id and center of every object INSIDE {0}?"
COUNT_QUERY: Final = "How many objects of class {0} with color {1} does each room contain?"
NEXT_QUERY: Final = "What are the ids of the rooms that doors connect with {0}?"
WHERE_QUERY: Final = "What is {0} INSIDE, ON, UNDER or ATTACHED_TO directly, of which kind and in which states?"
NODE_QUERY: Final = "What are the kind and the states of {0}?"
THINGS_QUERY: Final = "What are the id, color and room of each object of class {0}?"

CYPHER: Final = {
    AGENT_QUERY: "MATCH (n:Entity)-[:INSIDE]->(r:Place) "
    "WHERE n.class = 'agent' OR (n.class = '{1}' AND n.color = '{0}') "
    "RETURN n.id AS id, n.center.x AS x, n.center.y AS y, r.id AS room ORDER BY id",
    DOOR_QUERY: "MATCH (:Place {{id: '{0}'}})-[:CONNECTS]->(d:Door)-[:CONNECTS]->(:Place {{id: '{1}'}}) "
    "RETURN d.id AS id, d.color AS color, d.states AS states, d.center.x AS x, d.center.y AS y",
    KEY_QUERY: "MATCH (k:Object {{class: 'key', color: '{0}'}})-[:INSIDE]->(r:Place) "
    "RETURN k.id AS id, k.center.x AS x, k.center.y AS y, r.id AS room ORDER BY id",
    ROOM_QUERY: "MATCH (r:Place {{id: '{0}'}}) RETURN r.center.x AS x, r.center.y AS y, r.size_x AS w, r.size_y AS h",
    ITEMS_QUERY: "MATCH (o:Object)-[:INSIDE]->(:Place {{id: '{0}'}}) "
    "RETURN o.id AS id, o.center.x AS x, o.center.y AS y ORDER BY id",
    COUNT_QUERY: "MATCH (r:Place {{class: 'room'}}) "
    "OPTIONAL MATCH (o:Object {{class: '{0}', color: '{1}'}})-[:INSIDE]->(r) "
    "RETURN r.id AS id, count(o) AS number ORDER BY id",
    NEXT_QUERY: "MATCH (:Place {{id: '{0}'}})-[:CONNECTS]->(:Door)-[:CONNECTS]->(r:Place) WHERE r.id <> '{0}' "
    "RETURN DISTINCT r.id AS id, r.class AS class ORDER BY id",
    WHERE_QUERY: "MATCH (x:Entity {{id: '{0}'}})-[r:INSIDE|ON|UNDER|ATTACHED_TO]->(y:Entity) "
    "RETURN type(r) AS relation, y.id AS id, labels(y) AS kind, y.states AS states ORDER BY id",
    NODE_QUERY: "MATCH (x:Entity {{id: '{0}'}}) RETURN labels(x) AS kind, x.states AS states",
    THINGS_QUERY: "MATCH (o:Object {{class: '{0}'}})-[:INSIDE]->(r:Place) "
    "RETURN o.id AS id, o.color AS color, r.id AS room ORDER BY id",
}


def reply(messages: Sequence[Message]) -> str:
    """Return the reply of the agent that is asked."""
    system, last = messages[0].text, messages[-1].text
    if system.startswith(PLANNER):
        return _plan(messages)
    if system.startswith(WRITER):
        return _write(last.removeprefix("Question: "), system)
    if system.startswith(VERIFIER):
        return last.rpartition("\n```\n")[2]
    assert system.startswith(CALLER), system[:80]
    assert "traverse_room(room_center" in system
    return f"```python\nprint({last})\n```"


def _write(query: str, system: str) -> str:
    """Return the Cypher for a query of the Task Planner, using the schema in the prompt."""
    for asked, cypher in CYPHER.items():
        pattern = re.escape(asked).replace(r"\{0\}", r"(?P<a>[\w-]+)").replace(r"\{1\}", r"(?P<b>[\w-]+)")
        if found := re.fullmatch(pattern, query):
            assert all(label in system for label in re.findall(r"[(:](:[A-Z]\w+)", cypher))
            words = found.groupdict()
            return f"```cypher\n{cypher.format(words['a'], words.get('b', ''))}\n```"
    raise AssertionError(query)


def _plan(messages: Sequence[Message]) -> str:
    task = messages[1].text.removeprefix("Task: ")
    told = {
        _content(said.text): heard.text.partition("\n")[2]
        for said, heard in zip(messages[2::2], messages[3::2], strict=True)
    }
    decide = _fetch if task.startswith("pick up") else _find if task.startswith("find the color") else _bring_about
    if "grab(" in messages[0].text:
        decide = partial(_bring_about, planner=HomePlanner)
    mode, content = decide(task, told)
    return f"[Explanation]\nThis comes next.\n\n[Mode]\n{mode}\n\n[Content]\n{content}"


class _Missing(Exception):
    """Raised with the next mode and content."""


class _Known:
    """Results of the conversation so far, by query."""

    def __init__(self, told: dict[str, str]) -> None:
        self._told = told

    def rows(self, query: str) -> list[dict[str, str]]:
        if query not in self._told:
            raise _Missing("QUERY", query)
        parts = self._told[query].splitlines()
        return [dict(pair.split(": ", 1) for pair in re.split(r", (?=\w+: )", line)) for line in parts if ": " in line]

    def called(self, call: str) -> list[str]:
        if call not in self._told:
            raise _Missing("TOOL", call)
        return list(json.loads(self._told[call].replace("'", '"')))


def _fetch(task: str, told: dict[str, str]) -> tuple[str, str]:
    """Return the plan for a task such as ``pick up the purple box``."""
    color, kind = task.split()[-2:]
    known = _Known(told)
    try:
        agent, target = sorted(known.rows(AGENT_QUERY.format(color, kind)), key=lambda row: row["id"] != "agent")
        here, beyond = agent["room"], target["room"]
        (door,) = known.rows(DOOR_QUERY.format(here, beyond))
        key = next(row for row in known.rows(KEY_QUERY.format(door["color"])) if row["room"] == here)
        to_key = _removed(known, here, agent, key)
        to_door = _removed(known, here, key, door, but=key["id"])
        to_target = _removed(known, beyond, door, target)
    except _Missing as missing:
        return missing.args[0], missing.args[1]
    steps = [
        *(f"remove({id_})" for id_ in to_key),
        f"pickup({key['id']})",
        *(f"remove({id_})" for id_ in to_door),
        f"open({door['id']})",
        *(f"remove({id_})" for id_ in to_target),
        f"pickup({target['id']})",
    ]
    return "SOLUTION", f"[{', '.join(steps)}]"


def _removed(known: _Known, room: str, start: Any, goal: Any, but: str = "") -> list[str]:
    (place,) = known.rows(ROOM_QUERY.format(room))
    items = [[row["id"], float(row["x"]), float(row["y"])] for row in known.rows(ITEMS_QUERY.format(room))]
    center, size = _pair(place, "x", "y"), _pair(place, "w", "h")
    listed = [item for item in items if item[0] != but]
    return known.called(f"traverse_room({center}, {size}, {listed}, {_pair(start, 'x', 'y')}, {_pair(goal, 'x', 'y')})")


def _find(task: str, told: dict[str, str]) -> tuple[str, str]:
    """Answer ``find the color of the ball in a room next to the room with 3 red keys``."""
    found = re.fullmatch(
        r"find the color of the (\w+) in a room next to the room with (\d+) (\w+) (key|ball|box)e?s", task
    )
    assert found, task
    wanted, number, color, kind = found.groups()
    known = _Known(told)
    try:
        counted = known.rows(COUNT_QUERY.format(kind, color))
        (room,) = (row["id"] for row in counted if row["number"] == number)
        near = {row["id"] for row in known.rows(NEXT_QUERY.format(room))}
        (answer,) = (row["color"] for row in known.rows(THINGS_QUERY.format(wanted)) if row["room"] in near)
    except _Missing as missing:
        return missing.args[0], missing.args[1]
    return "SOLUTION", answer


def _bring_about(task: str, told: dict[str, str], *, planner: type[StaticPlanner] = StaticPlanner) -> tuple[str, str]:
    """Return the plan for a GraSIF goal in its own words, such as ``cup-1 is on table-1; lamp-1 is on``."""
    known = _Known(told)

    def where(thing: str) -> Place:
        row = min(known.rows(WHERE_QUERY.format(thing)), key=lambda it: "Place" in it["kind"])
        return Place(row["relation"], row["id"], tuple(json.loads(row["states"])), "Place" in row["kind"])

    def node(thing: str) -> dict[str, str]:
        (row,) = known.rows(NODE_QUERY.format(thing))
        return row

    try:
        planning = planner(
            where, lambda it: tuple(json.loads(node(it)["states"])), lambda it: "Agent" in node(it)["kind"]
        )
        return "SOLUTION", f"[{', '.join(planning.solve(task))}]"
    except _Missing as missing:
        return missing.args[0], missing.args[1]


def _pair(row: Any, *names: str) -> list[float]:
    return [float(row[name]) for name in names]


def _content(said: str) -> str:
    return said.partition("[Content]\n")[2]
