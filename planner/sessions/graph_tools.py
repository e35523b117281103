"""Tools that read a scene: the papers' graph calls, and the rehearsal of a plan."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from scenecypher.errors import ActionRefused, ReplyRejected, UnknownReference
from scenecypher.planner.sessions.recipe import SceneAccess
from scenecypher.planner.sessions.rehearsal import rehearse
from scenecypher.planner.sessions.toolbox import Tool, ToolAnswer
from scenecypher.planner.vocabularies.registry import operators_of
from scenecypher.retriever import graph_api
from scenecypher.retriever.graph_api import CALL_SETS, GraphApi

REHEARSED: Final = "the plan can be carried out"
"""Answer of `verify_plan` to a plan without a fault."""


def graph_call_tool(name: str) -> Callable[[SceneAccess], Tool]:
    """Return the tool for a graph call of the papers (`scenecypher.retriever.graph_api.CALLS`), answering in JSON."""

    def make(access: SceneAccess) -> Tool:
        api = GraphApi(access.reader)
        return lambda arguments: ToolAnswer(
            json.dumps(graph_api.run_call(api, name, arguments), ensure_ascii=False, separators=(", ", ": "))
        )

    return make


def verify_plan(access: SceneAccess) -> Tool:
    """Return the tool ``verify_plan(plan)``: simulates the plan in memory and explains its first failure."""

    def verify(arguments: Mapping[str, Any]) -> ToolAnswer:
        plan = arguments.get("plan")
        if not isinstance(plan, list | tuple) or not all(isinstance(action, str) for action in plan):
            raise ReplyRejected('verify_plan takes the argument "plan", a list of actions; call it with that')
        graph = access.store.now(access.scene).graph
        try:
            rehearse(graph, tuple(plan), operators=operators_of(access.scene.vocabulary))
        except (ActionRefused, UnknownReference) as fault:
            return ToolAnswer(str(fault))
        return ToolAnswer(REHEARSED)

    return verify


def confirm_graph(access: SceneAccess) -> Tool:
    """Return the tool ``verify_graph()``, which ends the search of SayPlan Lite."""
    del access
    return lambda _: ToolAnswer("the graph is confirmed")


def graph_call_tools(*names: str) -> dict[str, Callable[[SceneAccess], Tool]]:
    """Return the tools for several of the papers' graph calls, by name."""
    return {name: graph_call_tool(name) for name in names}


PAPER_SETS: Final = {name: graph_call_tools(*names) for name, names in CALL_SETS.items()}
"""Tools of each paper's ReAct (`scenecypher.retriever.graph_api.SETS`)."""
