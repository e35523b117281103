"""Every method on a task of every data set where its cell has a meaning: asked, answered, carried out, ended."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

import pytest

from chat.model import Reply, Request, Usage
from db.catalog import SceneInfo
from db.gate import Gate
from db.scene import SceneGraph
from db.schema import family
from db.store import SceneStore
from importers.datasets import DATASETS
from importers.task import Task
from planner.budget import Budget
from planner.events import Finished
from planner.methods import METHODS, recipe_named
from planner.methods.matrix import SETS, cell
from planner.staging import Setting, staged
from tests.planner.actions.test_operators import put
from tests.sampling import FULL

ANSWER: Final = "red"
WHOLE: Final = "[Summary]\nDone.\n\n[{title}]\n{solution}\n\nTASK TERMINATE"


def replies(method: str, action: str, *, vocabulary: str) -> Sequence[str]:
    """What a model says that wants this one action, or answers where there is none, in the method's own form."""
    solution, title = (f"[{action}]", "Actions") if action else (ANSWER, "Answer")
    plan = [action or f"answer({ANSWER})"]
    thoughts = {"chain_of_thought": [], "reasoning": "so"}
    confirm = thoughts | {"command": {"command_name": "verify_graph", "node_name": None}}
    name, _, argument = action.rstrip(")").partition("(")
    step = {"function_name": name, "node": argument, "relation": None, "destination": None}
    program = f"print({solution!r})"
    empty = f"(define (problem p) (:domain {family(vocabulary)}) (:objects) (:init) (:goal (and)))"
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
        "llm+p": (empty,),
        "goal-then-plan": (json.dumps({"reason": "so", "goal": []}),),
        "symbolic": (),
        **dict.fromkeys(("sg2", "sg2-limit"), (f"[Explanation]\nso\n\n[Mode]\nSOLUTION\n\n[Content]\n{solution}",)),
        **dict.fromkeys(("sg-rwr", "sg-rwr-fs", "sg-rwr-alg"), (WHOLE.format(title=title, solution=solution),)),
        "single-coder": (f"```python\n{program}\n```",),
        "rwr-text": (WHOLE.format(title="Plan" if action else title, solution=solution), solution),
        **dict.fromkeys(("react-sg2", "react-limit", "react-rwr"), (f"Thought: so\nAction: finish({solution})",)),
        "react-alfworld": (f"Thought: so\nAction: {action}", "Thought: so\nAction: done()"),
        **dict.fromkeys(("zero-shot", "0-cot", "ltm", "cot", "bag", "algorithm"), (f"So.\n\nSolution: {solution}",)),
    }
    return forms[method]


class Reciting:
    """A model that says its lines, and remembers what it was asked."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = iter(lines)
        self.asked: list[str] = []

    def reply(self, request: Request) -> Reply:
        self.asked.append("\n".join(message.text for message in request.messages))
        return Reply(next(self._lines), Usage(10, 1), "reciting", source="scripted")


def small_action(graph: SceneGraph, vocabulary: str) -> str:
    """Something that can be done at once."""
    places = sorted(graph.by_kind["Place"])
    match family(vocabulary):
        case "babyai":
            agent = min(graph.by_kind["Agent"])
            (here,) = graph.targets(agent, "INSIDE")
            return f"pickup({min(it for it in graph.sources(here, 'INSIDE') if graph.nodes[it].kind == 'Object')})"
        case "virtualhome":
            return f"walk({places[0]})"
        case _:
            return f"go_to({places[0]})"


def ran(store: SceneStore, scene: SceneInfo, task: Task, *, method: str, action: str) -> tuple[Finished, Reciting]:
    model = Reciting(replies(method, action, vocabulary=scene.vocabulary))
    setting = Setting(
        store,
        Gate(store.database),
        scene,
        task.instruction,
        method,
        goal=task.goal if task.has_graph_goal else None,
        model=model,
        budget=Budget(task.budget + 10, seconds=120),
    )
    *_, end = staged(setting, recipe_named(method)).run()
    assert isinstance(end, Finished)
    return end, model


WITHOUT_ACTION: Final = frozenset({"llm+p", "goal-then-plan", "symbolic"})
"""Those whose plans are an engine's: here the goal is nothing, or the task's own."""


@pytest.mark.parametrize(
    "data_set", [pytest.param(name, marks=() if name in {"trv1", "numqa"} else pytest.mark.slow) for name in SETS]
)
def test_every_method_runs_where_it_has_a_meaning(store: SceneStore, data_set: str) -> None:
    data = DATASETS[data_set]
    task = next(data.tasks())
    imported = next(data.scenes(task.id.partition("/")[2]))
    scene = put(store, imported.graph, vocabulary=imported.vocabulary)
    action = "" if task.answer else small_action(imported.graph, imported.vocabulary)
    for method in METHODS:
        if cell(method, data_set).startswith("no meaning") or (method in WITHOUT_ACTION and not FULL):
            continue
        end, model = ran(store, scene, task, method=method, action=action)
        assert (method, end.outcome) == (method, "done"), end
        assert (method, end.answer) == (method, ANSWER if task.answer else "")
        assert method == "symbolic" or task.instruction in "\n".join(model.asked), method
        if method not in WITHOUT_ACTION and action:
            assert store.history(scene)[-1].action == action, method
        store.reset(scene, scene.version)
