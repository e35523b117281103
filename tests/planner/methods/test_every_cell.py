"""All meaningful cells of the matrix: each method completes a task of each data set."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import pytest

from scenecypher.chat.model import Reply, Request, Usage
from scenecypher.db.gate import Gate
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.importers.datasets import DATASETS
from scenecypher.importers.task import Task
from scenecypher.planner.methods import METHODS, matrix_cell, recipe_named
from scenecypher.planner.sessions.budget import Budget
from scenecypher.planner.sessions.events import Finished
from scenecypher.planner.sessions.setup import SessionSetting, prepare_session
from tests.planner.actions.test_operators import put

ANSWER: Final = "red"


def _family(vocabulary: str) -> str:
    """Return the vocabulary whose PDDL domain and actions these replies use."""
    return vocabulary.removesuffix("_ext")


def problem(action: str, graph: SceneGraph, vocabulary: str) -> Sequence[str]:
    """Return LLM+P's problem, with the action as its plan."""
    node, here = node_of(action), here_in(graph)
    objects, init, goal = {
        "babyai": (f"{here} - room {node} - thing", f"(agent-in {here}) (in {node} {here})", f"(holds {node})"),
        "virtualhome": (f"{node} - object", "", f"(near {node})"),
    }.get(_family(vocabulary), (f"{here} {node} - room", f"(robot-in {here})", f"(robot-in {node})"))
    head = f"(define (problem p) (:domain {_family(vocabulary)})"
    return (f"{head} (:objects {objects}) (:init {init}) (:goal {goal}))",)


def goal(action: str, graph: SceneGraph, vocabulary: str) -> Sequence[str]:
    """Return the goal that the action reaches: something is held, or the agent is in a room."""
    held = _family(vocabulary) == "babyai"
    fact = f"{node_of(action)} is held" if held else f"{min(graph.by_kind['Agent'])} INSIDE {node_of(action)}"
    return (json.dumps({"reason": "so", "impossible": False, "goal": [fact]}),)


def no_replies(_action: str, _graph: SceneGraph, _vocabulary: str) -> Sequence[str]:
    """Return no replies, for methods without a model."""
    return ()


ENGINE_REPLIES: Final[Mapping[str, Callable[[str, SceneGraph, str], Sequence[str]]]] = {
    "llm+p": problem,
    "goal-then-plan": goal,
    "explore-then-plan": goal,
    "symbolic": no_replies,
}
"""Replies for the methods that plan by an engine."""
WHOLE: Final = "[Summary]\nDone.\n\n[{title}]\n{solution}\n\nTASK TERMINATE"


def replies(method: str, action: str, *, graph: SceneGraph, vocabulary: str) -> Sequence[str]:
    """Return replies in the method's own form that choose this one action, or answer if there is none."""
    if method in ENGINE_REPLIES:
        return ENGINE_REPLIES[method](action, graph, vocabulary) if action else ()
    solution, title = (f"[{action}]", "Actions") if action else (ANSWER, "Answer")
    plan = [action or f"answer({ANSWER})"]
    thoughts = {"chain_of_thought": [], "reasoning": "so"}
    confirm = thoughts | {"command": {"command_name": "verify_plan", "node_name": None}}
    name, _, argument = action.rstrip(")").partition("(")
    step = {"function_name": name, "node": argument, "relation": None, "destination": None}
    program = f"print({solution!r})"
    forms: Mapping[str, Sequence[str]] = {
        "stepwise": (
            json.dumps({"reason": "so", "decision": "act", "question": None, "action": action}),
            json.dumps({"reason": "so", "decision": "done", "question": None, "action": None}),
        ),
        "lookplangraph": (
            json.dumps({"reason": "so", "action": step}),
            json.dumps({"reason": "so", "action": step | {"function_name": "done"}}),
        ),
        "sayplan": (json.dumps(thoughts | {"mode": "planning", "command": None, "plan": plan}),),
        "sayplan-lite": (json.dumps(confirm), json.dumps({"chain_of_thought": [], "plan": plan})),
        "llm-as-p": (json.dumps({"plan": [action]}),),
        **dict.fromkeys(("sg2", "sg2-limit"), (f"[Explanation]\nso\n\n[Mode]\nSOLUTION\n\n[Content]\n{solution}",)),
        **dict.fromkeys(("sg-rwr", "sg-rwr-fs", "sg-rwr-alg"), (WHOLE.format(title=title, solution=solution),)),
        "single-coder": (f"```python\n{program}\n```",),
        "rwr-text": (WHOLE.format(title="Plan" if action else title, solution=solution), solution),
        **dict.fromkeys(("react-sg2", "react-limit", "react-rwr"), (f"Thought: so\nAction: finish({solution})",)),
        "react-alfworld": ("> think: so", f"> {action}", "> done()"),
        **dict.fromkeys(("zero-shot", "0-cot", "ltm", "cot", "bag", "algorithm"), (f"So.\n\nSolution: {solution}",)),
    }
    return forms[method]


class RecitingModel:
    """A model with scripted replies that records its prompts."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = iter(lines)
        self.asked: list[str] = []

    def reply(self, request: Request) -> Reply:
        self.asked.append("\n".join(message.text for message in request.messages))
        return Reply(next(self._lines), Usage(10, 1), "reciting", source="scripted")


def here_in(graph: SceneGraph) -> str:
    """Return the agent's room."""
    return next(it for it in graph.targets(min(graph.by_kind["Agent"]), "INSIDE") if graph.nodes[it].kind == "Place")


def node_of(action: str) -> str:
    return action.partition("(")[2].rstrip(")")


def small_action(graph: SceneGraph, vocabulary: str) -> str:
    """Return a feasible action: to take a thing in the room, or to go to another room if there is one."""
    here = here_in(graph)
    if _family(vocabulary) == "babyai":
        return f"pickup({min(it for it in graph.sources(here, 'INSIDE') if graph.nodes[it].kind == 'Object')})"
    room = min(graph.by_kind["Place"], key=lambda it: (it == here, it))
    return f"{'walk' if _family(vocabulary) == 'virtualhome' else 'go_to'}({room})"


def run_method(
    store: SceneStore, scene: SceneInfo, task: Task, *, method: str, action: str
) -> tuple[Finished, RecitingModel]:
    graph = store.load(scene.name).graph
    model = RecitingModel(replies(method, action, graph=graph, vocabulary=scene.vocabulary))
    setting = SessionSetting(
        store,
        Gate(store.database),
        scene,
        task.instruction,
        method,
        goal=task.goal if task.has_graph_goal else None,
        model=model,
        budget=Budget(task.budget + 10, seconds=120),
    )
    *_, end = prepare_session(setting, recipe_named(method)).run()
    assert isinstance(end, Finished)
    return end, model


@pytest.mark.parametrize(
    "data_set", [pytest.param(name, marks=() if name in {"trv1", "numqa"} else pytest.mark.slow) for name in DATASETS]
)
def test_every_method_runs_where_it_has_a_meaning(store: SceneStore, data_set: str) -> None:
    data = DATASETS[data_set]
    task = next(data.tasks())
    imported = next(data.scenes(task.id.partition("/")[2]))
    scene = put(store, imported.graph, vocabulary=imported.vocabulary)
    action = "" if task.answer else small_action(imported.graph, imported.vocabulary)
    for method in METHODS:
        if matrix_cell(method, data_set).startswith("no meaning"):
            continue
        end, model = run_method(store, scene, task, method=method, action=action)
        assert (method, end.outcome) == (method, "not_met" if end.goal == "not met" else "done"), end
        assert (method, end.answer) == (method, ANSWER if task.answer else "")
        assert method == "symbolic" or task.instruction in "\n".join(model.asked), method
        done = [event.action for event in store.history(scene)]
        if method == "symbolic":
            assert task.goal is None or done, method
        elif action and node_of(action) != here_in(imported.graph):
            assert done[-1] == action, method
        store.reset(scene, scene.version)
