"""Worked examples of household tasks, from homes whose tasks have a program: texts by the method's file.

SG2, "Household Task Planning": two tasks with their actions, without reasons. Graph prompting has its own form, with
the steps in words.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from scenecypher.db.graph.scene import SceneGraph
from scenecypher.importers.task import ProgramStep, Task
from scenecypher.planner.prompts.texts import prompts_beside
from scenecypher.retriever.graph_api import attributes, link_row

Solved: TypeAlias = tuple[Task, SceneGraph]
"""Task with a program of our actions, and its home."""

PROMPTS: Final = prompts_beside(__name__)
TOLD: Final = "Examples, of tasks in a home:"
TITLE: Final = "Examples, from other environments:"


def home_examples(solved: Sequence[Solved]) -> dict[str, str]:
    """Return the examples by the names of their files, without any if there are no tasks."""
    if not solved:
        return {}
    plain = "\n\n".join([TOLD, *(f"Task: {task.instruction}\n{_solution(task)}" for task, _ in solved)])
    explained = {
        name: joined(_prompted(task, graph, built=name == "bag") for task, graph in solved) for name in ("cot", "bag")
    }
    return {"sg2": plain, "tasks": plain, **explained}


def joined(examples: Iterable[Iterable[str]]) -> str:
    """Return examples of several parts each, numbered."""
    numbered = (f"Example {number}\n\n" + "\n\n".join(parts) for number, parts in enumerate(examples, 1))
    return "\n\n".join([TITLE, *numbered])


def graph_lines(graph: SceneGraph) -> str:
    """Return a graph in the form of graph prompting (`scenecypher.retriever.graph_api`)."""
    nodes = [json.dumps(attributes(graph.nodes[it]), ensure_ascii=False) for it in sorted(graph.nodes)]
    return "\n".join(["NODES", *nodes, "LINKS", *(json.dumps(row) for row in sorted(map(link_row, graph.relations)))])


def action_text(step: ProgramStep) -> str:
    """Return a program's step as a model is to write it."""
    return f"{step.action}({', '.join(step.arguments)})"


def relevant_part(task: Task, graph: SceneGraph) -> SceneGraph:
    """Return the program's nodes, their containers, and the agent, without nearness relations."""
    named = {it for step in task.program for it in step.arguments}
    named |= {node.id for node in graph.nodes.values() if node.kind == "Agent"}
    named |= {end for it in named for end in graph.targets(it, "INSIDE", "ON")}
    links = [it for it in graph.relations if {it.source, it.target} <= named and it.type != "CLOSE"]
    return SceneGraph.of((graph.nodes[it] for it in named), links)


def _solution(task: Task) -> str:
    return f"Solution: [{', '.join(map(action_text, task.program))}]"


def _prompted(task: Task, graph: SceneGraph, *, built: bool) -> Iterator[str]:
    """Yield the parts of a task for graph prompting; the home itself is too long for an example."""
    part = relevant_part(task, graph)
    yield f"(The scene graph of this home is left out: {len(graph.nodes)} nodes.)"
    yield f"Task: {task.instruction}"
    if built:
        yield f"The graph that matters:\n{graph_lines(part)}"
    yield f"{_explanation(task, part)}\n{_solution(task)}"


def _explanation(task: Task, part: SceneGraph) -> str:
    """Return the places and relevant states of the things, then the steps in words."""
    things = dict.fromkeys(it for step in task.program for it in step.arguments if part.nodes[it].kind != "Place")
    told = [f"{it} is {where}" for it in things if (where := _where(it, part))]
    opened = {step.arguments[0] for step in task.program if step.action == "open"}
    told += [f"{it} is closed and must be opened first" for it in things if it in opened]
    agents = (node.id for node in part.nodes.values() if node.kind == "Agent")
    begins = [f"The agent is {where}" for it in agents if (where := _where(it, part))][:1]
    return f"{'. '.join([*begins, *told])}. So the agent {_listed([*map(_step, task.program)])}."


def _step(step: ProgramStep) -> str:
    words = PROMPTS["done_as"].get(step.action)
    return words.format(*step.arguments) if words else f"does {action_text(step)}"


def _listed(steps: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(steps[:-1]), steps[-1])))


def _where(node_id: str, part: SceneGraph) -> str:
    on, inside = part.targets(node_id, "ON"), part.targets(node_id, "INSIDE")
    return " and ".join([*(f"on {it}" for it in on), *(f"in {it}" for it in inside)])
