"""Generator of the prompts' worked examples, from instances that no test uses and, for homes, two tasks of
our apartment.

``python -m tests.planner.methods.worked_examples`` writes the files again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from scenecypher.db.graph.scene import Node, Point, SceneGraph
from scenecypher.evaluation.household import bundled_homes, solved_tasks
from scenecypher.importers.babyai import QUESTION, level_instance
from scenecypher.importers.task import Task
from scenecypher.planner.prompts.home_examples import graph_lines as lines
from scenecypher.planner.prompts.home_examples import home_examples, joined
from scenecypher.planner.prompts.texts import format_sections
from scenecypher.planner.vocabularies.babyai.traversal import traverse_room
from scenecypher.retriever.graph_api import attributes

FOLDER: Final = Path(__file__).parents[3] / "planner" / "vocabularies"
TRAVERSALS: Final = (("trv1", 900_001), ("trv1", 900_004))
QUESTIONS: Final = (("numqa", 900_001), ("numqa", 900_004))
"""Two instances each (SG-RwR, 3.1), of Trv-1 only (SG2, "2D Grid World Traversal Planning")."""


@dataclass(frozen=True)
class Instance:
    """An instance of a level, with the explanation of its worked examples."""

    level: str
    seed: int

    @cached_property
    def graph(self) -> SceneGraph:
        return level_instance(self.level, self.seed).scene.graph

    @cached_property
    def task(self) -> Any:
        return level_instance(self.level, self.seed).task

    @property
    def instruction(self) -> str:
        return str(self.task.instruction)

    def node(self, id_: str) -> Node:
        return self.graph.nodes[id_]

    def at(self, id_: str) -> list[int]:
        center = self.node(id_).properties["center"]
        assert isinstance(center, Point)
        return [round(center.x), round(center.y)]

    def inside(self, room: str, *, class_: str | None = None) -> list[str]:
        found = [id_ for id_ in self.graph.sources(room, "INSIDE") if self.node(id_).kind == "Object"]
        return sorted(id_ for id_ in found if class_ is None or self.node(id_).class_ == class_)

    def room_of(self, id_: str) -> str:
        (room,) = self.graph.targets(id_, "INSIDE")
        return room

    def rooms(self) -> list[str]:
        return [node.id for node in self.graph.nodes.values() if node.class_ == "room"]

    def next_to(self, room: str) -> list[str]:
        doors = self.graph.targets(room, "CONNECTS")
        beyond = {other for door in doors for other in self.graph.targets(door, "CONNECTS")} - {room}
        return sorted(beyond)

    def place(self, room: str) -> tuple[list[float], list[int]]:
        properties = self.node(room).properties
        center, sizes = properties["center"], [properties["size_x"], properties["size_y"]]
        assert isinstance(center, Point)
        return [center.x, center.y], [int(str(size)) for size in sizes]

    def items(self, room: str, but: str = "") -> list[list[Any]]:
        return [[id_, *self.at(id_)] for id_ in self.inside(room) if id_ != but]


class Traversal(Instance):
    """An instance with key, obstacle, door and target, and the order of finding them out."""

    @cached_property
    def target(self) -> str:
        return str(self.task.program[-1].arguments[0])

    @cached_property
    def here(self) -> str:
        return self.room_of("agent")

    @cached_property
    def beyond(self) -> str:
        return self.room_of(self.target)

    @cached_property
    def key(self) -> str:
        color = self.node("door_1").properties["color"]
        (key,) = (id_ for id_ in self.inside(self.here, class_="key") if self.node(id_).properties["color"] == color)
        return key

    @cached_property
    def calls(self) -> list[tuple[str, list[str]]]:
        """Return the three walks as calls of traverse_room, and their results."""
        here, beyond = self.place(self.here), self.place(self.beyond)
        walks = (
            (*here, self.items(self.here), self.at("agent"), self.at(self.key)),
            (*here, self.items(self.here, but=self.key), self.at(self.key), self.at("door_1")),
            (*beyond, self.items(self.beyond), self.at("door_1"), self.at(self.target)),
        )
        return [(", ".join(map(json.dumps, walk)), traverse_room(*walk)) for walk in walks]

    @property
    def solution(self) -> str:
        to_key, to_door, to_target = (found for _, found in self.calls)
        steps = [
            *(f"remove({id_})" for id_ in to_key),
            f"pickup({self.key})",
            *(f"remove({id_})" for id_ in to_door),
            "open(door_1)",
            *(f"remove({id_})" for id_ in to_target),
            f"pickup({self.target})",
        ]
        return f"[{', '.join(steps)}]"

    @property
    def explanation(self) -> str:
        color = self.node("door_1").properties["color"]
        blocked = self.calls[1][1]
        return (
            f"The agent is in {self.here}, and the {self.node(self.target).name}, {self.target}, is in {self.beyond}. "
            f"door_1 joins these rooms; it is {color} and locked, so that the agent needs the {color} key, which is "
            f"{self.key} in {self.here}. Nothing is in the way from the agent at {self.at('agent')} to the key at "
            f"{self.at(self.key)}. {', '.join(blocked)} at {', '.join(str(self.at(id_)) for id_ in blocked)} is in the "
            f"way to the door at {self.at('door_1')} and must be removed before it is opened. Behind the door nothing "
            f"is in the way to {self.target} at {self.at(self.target)}."
        )


class Question(Instance):
    """An instance with the counted room, the rooms next to it, and the wanted thing."""

    @cached_property
    def asked(self) -> tuple[str, int, str, str]:
        found = QUESTION.fullmatch(self.instruction)
        assert found
        wanted, number, color, kind = found.groups()
        return wanted, int(number), color, kind

    @cached_property
    def known(self) -> str:
        _, number, color, kind = self.asked
        (room,) = (room for room in self.rooms() if len(self.of(room, kind, color)) == number)
        return room

    def of(self, room: str, kind: str, color: str | None = None) -> list[str]:
        found = self.inside(room, class_=kind)
        return [id_ for id_ in found if color is None or self.node(id_).properties["color"] == color]

    @cached_property
    def found(self) -> str:
        (thing,) = (id_ for room in self.next_to(self.known) for id_ in self.of(room, self.asked[0]))
        return thing

    @property
    def solution(self) -> str:
        color = str(self.node(self.found).properties["color"])
        assert color == self.task.answer
        return color

    @property
    def explanation(self) -> str:
        wanted, number, color, kind = self.asked
        return (
            f"The room with {number} {color} {kind}s is {self.known}: {', '.join(self.of(self.known, kind, color))}. "
            f"Doors join it with {', '.join(self.next_to(self.known))}. Of these only {self.room_of(self.found)} holds "
            f"a {wanted}: {self.found}, which is {self.solution}."
        )


def sg2_traversal(of: Traversal) -> Iterator[str]:
    goal = of.node(of.target).name
    door, key = of.node("door_1"), of.node(of.key)
    color = door.properties["color"]
    yield f"Task: {of.instruction}"
    yield _query(
        "I need to know where the agent and the target are.",
        f"What are the id, center and room of the agent and of the {goal}?",
    )
    yield _told(
        f"agent is at {of.at('agent')} in {of.here}; {of.target} ({goal}) is at {of.at(of.target)} in {of.beyond}."
    )
    yield _query(
        "They are in two rooms, so that I need the door between them.",
        f"What are the id, color, states and center of the doors that connect {of.here} and {of.beyond}?",
    )
    yield _told(f"door_1, {color}, {' and '.join(door.states)}, at {of.at('door_1')}.")
    yield _query(
        f"The door is locked and {color}: I need a {color} key.",
        f"What are the id, center and room of each object of class key with color {color}?",
    )
    yield _told(f"{of.key} ({key.name}) at {of.at(of.key)} in {of.here}.")
    yield from _walk(of, of.here, 0, f"Is anything in the way from the agent to {of.key}?")
    yield _tool(f"Nothing is. Then from {of.key}, which is in the hand by then, to the door.", of.calls[1])
    yield from _walk(
        of, of.beyond, 2, f"{', '.join(of.calls[1][1])} must be removed before the door is opened. And behind it?"
    )
    yield format_sections(explanation=of.explanation, mode="SOLUTION", content=of.solution)


def _walk(of: Traversal, room: str, number: int, why: str) -> Iterator[str]:
    center, size = of.place(room)
    listed = "; ".join(f"{id_} at {of.at(id_)}" for id_ in of.inside(room))
    yield _query(
        why, f"What are the center, size_x and size_y of {room}, and the id and center of every object INSIDE {room}?"
    )
    yield _told(f"{room}: center {center}, size_x {size[0]}, size_y {size[1]}; {listed}.")
    yield _tool("The tool tells what is in the way.", of.calls[number])


def sg2_question(of: Question) -> Iterator[str]:
    wanted, number, color, kind = of.asked
    near = of.next_to(of.known)
    yield f"Task: {of.instruction}"
    yield _query(
        "I need to find the room that is described first.",
        f"Which room contains exactly {number} objects of class {kind} with color {color}?",
    )
    yield _told(f"{of.known}, with {number} of them.")
    yield _query("Next the rooms beside it.", f"What are the ids of the rooms that doors connect with {of.known}?")
    yield _told(f"{', '.join(near)}.")
    yield _query(
        f"One of them holds the {wanted}.",
        f"What are the id, color and room of each object of class {wanted} in {', '.join(near)}?",
    )
    yield _told(f"{of.found}, {of.solution}, in {of.room_of(of.found)}.")
    yield format_sections(explanation=of.explanation, mode="SOLUTION", content=of.solution)


def _query(why: str, query: str) -> str:
    return format_sections(explanation=why, mode="QUERY", content=query)


def _told(answer: str) -> str:
    return f"The Retriever's answer:\n{answer}"


def _tool(why: str, call: tuple[str, list[str]]) -> str:
    arguments, found = call
    said = format_sections(explanation=why, mode="TOOL", content=f"traverse_room({arguments})")
    return f"{said}\n\nThe result of the tool:\n{found}"


def react_traversal(of: Traversal, *, expands: bool, walks: bool) -> Iterator[str]:
    look = _expand if expands else _look
    yield f"Task: {of.instruction}"
    yield look(of, "agent", "I look where the agent is.")
    yield look(of, of.here, f"It is in {of.here}. What is there?")
    yield look(of, "door_1", "door_1 leads out of the room. Where to, and is it locked?")
    yield look(
        of,
        of.beyond,
        f"It is locked and {of.node('door_1').properties['color']}: {of.key} opens it. What is behind it?",
    )
    if walks:
        for why, (arguments, found) in zip(("To the key:", "To the door:", "Behind the door:"), of.calls, strict=True):
            action = f"Thought: {why} is anything in the way?\nAction: traverse_room({arguments})"
            yield f"{action}\nObservation: {json.dumps(found)}"
    yield f"Thought: {of.explanation}\nAction: finish({of.solution})"


def react_question(of: Question, *, expands: bool) -> Iterator[str]:
    look = _expand if expands else _look
    yield f"Task: {of.instruction}"
    yield f"(In the same way each room is looked at, until {of.known} is found to hold what is described.)"
    yield look(of, of.known, "Does this room hold what is described?")
    yield f"(Then its doors, which lead to {', '.join(of.next_to(of.known))}, and these rooms.)"
    yield look(of, of.room_of(of.found), f"Does this room hold a {of.asked[0]}?")
    yield f"Thought: {of.explanation}\nAction: finish({of.solution})"


def sayplan_traversal(of: Traversal) -> Iterator[str]:
    yield f"Task: {of.instruction}"
    yield _searching("expand_node", of.here, "At first the rooms alone are shown; the things are in them.")
    yield _shown(of, of.here)
    yield _searching("expand_node", of.beyond, f"door_1 leads to {of.beyond}, where the target may be.")
    yield _shown(of, of.beyond)
    yield _planning(of.explanation, of.solution.strip("[]"))


def sayplan_question(of: Question) -> Iterator[str]:
    other = next(room for room in of.rooms() if room not in {of.known, *of.next_to(of.known)})
    yield f"Task: {of.instruction}"
    yield _searching("expand_node", other, "Any room may be the one that is described; I look at one after the other.")
    yield _searching("contract_node", other, f"{other} does not hold what is described, and needs not be shown.")
    yield f"(In the same way each room is looked at, until {of.known} is found to hold what is described.)"
    yield _shown(of, of.known)
    yield _searching("expand_node", of.room_of(of.found), f"A door leads there from {of.known}.")
    yield _shown(of, of.room_of(of.found))
    yield _planning(of.explanation, f"answer({of.solution})")


def _searching(command: str, room: str, why: str) -> str:
    wanted = {"command_name": command, "node_name": room}
    return json.dumps(
        {"chain_of_thought": [why], "reasoning": why, "mode": "exploring", "command": wanted, "plan": None}
    )


def _planning(why: str, plan: str) -> str:
    steps = [f"{step.strip()})" for step in plan.split(")") if step.strip(", ")]
    steps = [step.removeprefix(", ") for step in steps]
    thoughts = [f"{thought.strip().removesuffix('.')}." for thought in why.split(". ")]
    return json.dumps(
        {"chain_of_thought": thoughts, "reasoning": thoughts[-1], "mode": "planning", "command": None, "plan": steps}
    )


def _shown(of: Instance, room: str) -> str:
    """Return the graph of an expanded room."""
    named = {room, *of.inside(room), *of.graph.targets(room, "CONNECTS"), *of.graph.sources(room, "INSIDE")}
    nodes = [attributes(of.node(id_)) for id_ in sorted(named)]
    links = sorted([it.source, it.type, it.target] for it in of.graph.relations if it.source in named)
    return f"(Now the graph shows too: {json.dumps({'nodes': nodes, 'links': links}, ensure_ascii=False)})"


def _expand(of: Instance, id_: str, why: str) -> str:
    links = sorted([it.source, it.type, it.target] for it in of.graph.relations if id_ in {it.source, it.target})
    near = sorted({end for source, _, target in links for end in (source, target)} - {id_})
    neighbors = [attributes(of.node(other)) for other in near]
    seen = {"node": attributes(of.node(id_)), "links": links, "neighbors": neighbors}
    return f"Thought: {why}\nAction: expand({id_})\nObservation: {json.dumps(seen, ensure_ascii=False)}"


def _look(of: Instance, id_: str, why: str) -> str:
    near = sorted({*of.graph.targets(id_, "INSIDE", "CONNECTS"), *of.graph.sources(id_, "INSIDE", "CONNECTS")})
    seen = json.dumps(attributes(of.node(id_)), ensure_ascii=False)
    return (
        f"Thought: {why}\nAction: get_attrs({id_})\nObservation: {seen}\n"
        f"Thought: And what is beside it or in it?\nAction: get_neighbors({id_})\nObservation: {json.dumps(near)}"
    )


def prompted(of: Traversal | Question, *, built: bool) -> Iterator[str]:
    yield f"The scene graph:\n{lines(of.graph)}"
    yield f"Task: {of.instruction}"
    if built:
        yield f"The graph that matters:\n{lines(relevant(of))}"
    yield f"{of.explanation}\nSolution: {of.solution}"


def relevant(of: Traversal | Question) -> SceneGraph:
    """Return the part of an instance that its explanation mentions."""
    words = {word.strip("[]().,:;") for word in of.explanation.split()}
    words |= {"agent"} if isinstance(of, Traversal) else set()
    nodes = {id_: node for id_, node in of.graph.nodes.items() if id_ in words}
    links = [it for it in of.graph.relations if it.source in nodes and it.target in nodes]
    return SceneGraph.of(nodes.values(), links)


def told(of: Traversal | Question) -> Iterator[str]:
    """Return a task with its solution, without a conversation (SG-RwR, "Few-shot SG-RwR")."""
    name = "actions" if isinstance(of, Traversal) else "answer"
    yield f"Task: {of.instruction}"
    yield format_sections(**{"summary": of.explanation, name: of.solution})


def home_tasks() -> list[tuple[Task, SceneGraph]]:
    """Return the two household tasks, and their home."""
    return solved_tasks(bundled_homes()[0])


def texts() -> Mapping[str, str]:
    """Return the content of each file by its path."""
    traversals, questions = [Traversal(*it) for it in TRAVERSALS], [Question(*it) for it in QUESTIONS]
    found = {
        "babyai/examples/sg2.txt": joined(map(sg2_traversal, traversals)),
        "babyai/examples/sg2-questions.txt": joined(map(sg2_question, questions)),
        "babyai/examples/react-sg2.txt": joined(react_traversal(it, expands=True, walks=True) for it in traversals),
        "babyai/examples/react-sg2-questions.txt": joined(react_question(it, expands=True) for it in questions),
        "babyai/examples/react-limit.txt": joined(react_traversal(it, expands=False, walks=True) for it in traversals),
        "babyai/examples/react-limit-questions.txt": joined(react_question(it, expands=False) for it in questions),
        "babyai/examples/react-rwr.txt": joined(react_traversal(it, expands=False, walks=False) for it in traversals),
        "babyai/examples/react-rwr-questions.txt": joined(react_question(it, expands=False) for it in questions),
        "babyai/examples/sayplan.txt": joined(map(sayplan_traversal, traversals)),
        "babyai/examples/sayplan-questions.txt": joined(map(sayplan_question, questions)),
        "babyai/examples/cot.txt": joined(prompted(it, built=False) for it in traversals),
        "babyai/examples/cot-questions.txt": joined(prompted(it, built=False) for it in questions),
        "babyai/examples/bag.txt": joined(prompted(it, built=True) for it in traversals),
        "babyai/examples/bag-questions.txt": joined(prompted(it, built=True) for it in questions),
        "babyai/examples/tasks.txt": joined(map(told, traversals)),
        "babyai/examples/tasks-questions.txt": joined(map(told, questions)),
        **{f"virtualhome/examples/{name}.txt": text for name, text in home_examples(home_tasks()).items()},
    }
    return {name: f"{text}\n" for name, text in found.items()}


if __name__ == "__main__":
    for name, text in texts().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
