"""The rows of the methods of SG2 and SG-RwR, which query the graph, and of graph prompting.

A row such as this is all that a method needs besides its own file; the session does the rest::

    "react-limit": Recipe(
        lambda given: React(given.model, given.vocabulary),
        "thought, action, observation; two calls on the graph",
        paper="SG2, section V-B",
        tools=PAPER_SETS["react-limit"],            # planner.graph_tools: name -> function of an Access
    ),

Tools are answered through `Call("expand", {"node_id": "kitchen"})`; a tool of one's own is a function of an `Access`
(planner.recipe) that gives a function of the arguments, which answers with a `ToolAnswer` (planner.toolbox). A whole
solution is `Solve(actions)`. `extent="full", form="lines"` puts the graph's text into `Memory.view`. What a method
leaves out under a switch it reads from `given.ablations`; `ablations={"single-coder": Ablation("...")}` names them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from planner.recipe import Recipe

QUERY_METHODS: Final[Mapping[str, Recipe]] = {}
