"""Tools that a method may call: the papers' graph calls, the rehearsal of a plan, reasoning tools of SG2 and SG-RwR."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from scenecypher.chat.clean import clean_cypher
from scenecypher.chat.model import Message, Usage
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.reference import resolve_reference
from scenecypher.errors import ActionRefused, ReplyRejected, UnknownReference
from scenecypher.planner.actions.execution import NO_AGENT
from scenecypher.planner.actions.operator import Operator
from scenecypher.planner.actions.text import ActionCall, operator_of, parse_action
from scenecypher.planner.prompts.texts import ask_in_text, extract_program, prompts_beside
from scenecypher.planner.sandbox.running import ProgramResult, run_program
from scenecypher.planner.sessions.method import SceneAccess, ToolAnswer, argument
from scenecypher.planner.symbolic.states import apply_call
from scenecypher.planner.vocabularies.vocabulary import ReasoningTool, operators_of, vocabulary_named
from scenecypher.retriever import graph_api
from scenecypher.retriever.graph_api import CALL_SETS, GraphApi
from scenecypher.retriever.retrieval import SceneReader


def rehearse(graph: SceneGraph, plan: Sequence[str], operators: Mapping[str, Operator]) -> None:
    """Carry out a plan of the first agent in memory.

    Raises ActionRefused, UnknownReference at the first infeasible action; the message has its number.
    """
    agent = min(graph.by_kind.get("Agent", ()), default=None)
    if agent is None:
        raise ActionRefused("plan", [NO_AGENT])
    for number, action in enumerate(plan, 1):
        try:
            call = parse_action(action)
            operator_of(call, operators)  # raises if there is none
            ids = tuple(resolve_reference(graph, word) for word in call.arguments)
            graph = apply_call(ActionCall(call.name, ids), graph, operators=operators, agent=agent)
        except ActionRefused as refused:
            raise ActionRefused(f"step {number}, {action}", refused.reasons) from refused
        except UnknownReference as unknown:
            raise UnknownReference(f"step {number}, {action}: {unknown}") from unknown


PROMPTS: Final = prompts_beside(__name__)
REHEARSED: Final = "the plan can be carried out"
"""Answer of `verify_plan` to a plan without a fault."""


def graph_call(access: SceneAccess, arguments: Mapping[str, Any], *, name: str) -> ToolAnswer:
    """Answer a graph call of the papers (`scenecypher.retriever.graph_api.CALLS`) in JSON."""
    return ToolAnswer(json.dumps(graph_api.run_call(GraphApi(access.reader), name, arguments), ensure_ascii=False))


def verify_plan(access: SceneAccess, arguments: Mapping[str, Any]) -> ToolAnswer:
    """Simulate a plan in memory and explain its first failure: ``verify_plan(plan)``."""
    plan = arguments.get("plan")
    if not isinstance(plan, list | tuple) or not all(isinstance(action, str) for action in plan):
        raise ReplyRejected('verify_plan takes the argument "plan", a list of actions; call it with that')
    graph = access.store.now(access.scene).graph
    try:
        rehearse(graph, tuple(plan), operators_of(access.scene.vocabulary))
    except (ActionRefused, UnknownReference) as fault:
        return ToolAnswer(str(fault))
    return ToolAnswer(REHEARSED)


def confirm_graph(access: SceneAccess, arguments: Mapping[str, Any]) -> ToolAnswer:
    """End the search of SayPlan Lite: ``verify_graph()``."""
    del access, arguments
    return ToolAnswer("the graph is confirmed")


PAPER_SETS: Final = {
    name: {call: partial(graph_call, name=call) for call in calls} for name, calls in CALL_SETS.items()
}
"""Tools of each paper's ReAct (`scenecypher.retriever.graph_api.SETS`)."""


PYTHON: Final = "python"
PROGRAM: Final = "program"
TOOL_CALLER: Final = "tool_caller"
FAILED: Final = "The program failed: "
NOTHING: Final = "The program printed nothing; print what you want to know."
ATTEMPTS: Final = 3
"""Programs that the Tool Caller may write for one message; SG2 gives no number."""


def tools_of(vocabulary: str) -> Mapping[str, ReasoningTool]:
    """Return the reasoning tools of a vocabulary."""
    return vocabulary_named(vocabulary).tools


def tools_text(vocabulary: str, *, query: bool = False) -> str:
    """Return the annotations of the tools for a model; with `query`, that of Cypher queries too."""
    annotations = [tool.annotation for tool in tools_of(vocabulary).values()]
    return "\n\n".join([*annotations, PROMPTS["query_annotation"]] if query else annotations)


def reasoning_tool(access: SceneAccess, arguments: Mapping[str, Any], *, name: str) -> ToolAnswer:
    """Call a reasoning tool, which answers in JSON (SG2's ReAct)."""
    tool = tools_of(access.scene.vocabulary).get(name)
    if tool is None:
        raise ReplyRejected(f"there is no tool {name} in this environment; use another")
    if set(arguments) != set(tool.arguments):
        raise ReplyRejected(f"{name} takes {', '.join(tool.arguments)}; give each of them once")
    return ToolAnswer(json.dumps(tool.run(**arguments)))


def python_tool(access: SceneAccess, arguments: Mapping[str, Any]) -> ToolAnswer:
    """Run a program with the reasoning tools in the sandbox (SG-RwR's Reasoner): ``python(code)``."""
    code = argument(arguments, "code", tool=PYTHON)
    return ToolAnswer(run_text(run_program(code, _tool_functions(access))))


def program_tool(access: SceneAccess, arguments: Mapping[str, Any]) -> ToolAnswer:
    """Run a program as `python_tool` does, with ``query(cypher)`` too (SG-RwR's SingleCoder): ``program(code)``."""
    code = argument(arguments, "code", tool=PROGRAM)
    functions = {**_tool_functions(access), "query": query_function(access.reader)}
    return ToolAnswer(run_text(run_program(code, functions)))


def tool_caller_tool(access: SceneAccess, arguments: Mapping[str, Any]) -> ToolAnswer:
    """Have an agent write a message as a program (SG2, "Reasoner Module"), and run it: ``tool_caller(message)``.

    A failed one is rewritten given the error, `ATTEMPTS` programs in all, like the paper's Code Writer.
    """
    messages: tuple[Message, ...] = (
        Message("system", PROMPTS["caller"].format(tools=tools_text(access.scene.vocabulary))),
        Message("user", argument(arguments, "message", tool=TOOL_CALLER)),
    )
    usage, result = Usage(), ProgramResult("", None)
    for _ in range(ATTEMPTS):
        code, usage = ask_in_text(access.model, messages, extract_program, spent=usage)
        result = run_program(code, _tool_functions(access))
        if result.error is None and result.output:
            break
        problem = PROMPTS["mend"].format(error=result.error or NOTHING)
        messages = (*messages, Message("assistant", f"```python\n{code}\n```"), Message("user", problem))
    return ToolAnswer(run_text(result), usage)


def run_text(result: ProgramResult) -> str:
    """Return the output of a program, with its error if it failed."""
    if result.error is None:
        return result.output.strip() or NOTHING
    return f"{result.output}{FAILED}{result.error}"


def has_failed(text: str) -> bool:
    """Check if a text of `run_text` is of a program that failed or printed nothing."""
    return FAILED in text or text == NOTHING


def query_function(reader: SceneReader) -> Callable[..., Any]:
    """Return ``query(cypher)`` for programs: rows as dicts; a program may catch the gate's refusals."""

    def query(cypher: Any) -> list[dict[str, Any]]:
        if not isinstance(cypher, str):
            raise ReplyRejected("query takes the Cypher as a text; call it with that")
        answer = reader.run(clean_cypher(cypher))
        return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]

    return query


def _tool_functions(access: SceneAccess) -> dict[str, Callable[..., Any]]:
    return {name: tool.run for name, tool in tools_of(access.scene.vocabulary).items()}
