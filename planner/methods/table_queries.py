"""The rows of the methods of SG2 and SG-RwR, which query the graph, and of graph prompting.

A row such as this is all that a method needs besides its own file; the session does the rest::

    "react-rwr": Recipe(
        lambda given: React(...),
        "thought, call, observation; four calls on the graph",
        paper="SG-RwR, appendix G.1",
        extent="nothing",
        tools=PAPER_SETS["react-rwr"],              # scenecypher.planner.graph_tools: name -> function of an Access
    ),

Tools are answered through `Call("expand", {"node_id": "kitchen"})`; a tool of one's own is a function of an `SceneAccess`
(planner/recipe.py) that gives a function of the arguments, which answers with a `ToolAnswer` (toolbox.py). A whole
solution is `Solve(actions)`. `extent="full", form="lines"` puts the graph's text into `Memory.view`. What a method
leaves out under a switch it reads from `given.ablations`; `ablations={"single-coder": Ablation("...")}` names them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from scenecypher.chat.model import SEED
from scenecypher.planner import traversal
from scenecypher.planner.graph_tools import PAPER_SETS
from scenecypher.planner.method import Method
from scenecypher.planner.methods.nameless import NamelessMethod
from scenecypher.planner.methods.prompting import STYLES, Prompting
from scenecypher.planner.methods.react import React
from scenecypher.planner.methods.react_alfworld import ReactAlfworld
from scenecypher.planner.methods.sg2 import STEPWISE, Sg2
from scenecypher.planner.methods.sg2_limit import limited_retriever
from scenecypher.planner.methods.sg_rwr import SgRwr, Shots
from scenecypher.planner.methods.sg_rwr_retriever import summarizing_retriever
from scenecypher.planner.methods.sg_rwr_single_coder import SingleCoder
from scenecypher.planner.reasoning_tools import (
    PROGRAM,
    PYTHON,
    TOOL_CALLER,
    program_tool,
    python_tool,
    reasoning_tool,
    tool_caller_tool,
)
from scenecypher.planner.recipe import Ablation, MethodContext, Recipe, SceneAccess
from scenecypher.planner.views import alfworld_step_writer
from scenecypher.retriever.graph_api import SETS
from scenecypher.retriever.retriever import Options, Retriever
from scenecypher.retriever.verifier import VerifierMode

STATIC: Final = {STEPWISE: Ablation("ours: a refused action is told, and the solution may be given anew")}

static_recipe: Final = partial(Recipe, fix=False, ablations=STATIC)
"""The papers' static setting: a whole solution, executed as it stands (SG2, "Experimental Settings")."""


def verifying_retriever(verifier: VerifierMode) -> Callable[[SceneAccess], Retriever]:
    """SG2's Retriever: Code Writer, self-debugging, and the Verifier, as the paper has it or otherwise.

    The Code Writer is told the schema without a node's name, and has no examples (SG2, Table 4).
    """
    options = Options(verifier=verifier, seed=SEED, names=False, examples=0)
    return lambda access: Retriever(access.model, access.reader.gate, access.reader.enumerator, options)


VERIFIERS: Final = {
    "verifier-hints": Ablation(
        "ours: the Verifier says what is missing in the results", asker=verifying_retriever("hints")
    ),
    "no-verifier": Ablation(
        "ours: the rows of the first query that runs are the answer", asker=verifying_retriever("off")
    ),
}


def whole_graph_retriever(access: SceneAccess) -> Retriever:
    """RwR-Text's Retriever, which reads the whole graph and writes no code (SG-RwR, 4.2)."""
    options = Options(retrieval="text", seed=SEED)
    return Retriever(access.model, access.reader.gate, access.reader.enumerator, options)


def _stepwise(given: MethodContext) -> bool:
    return STEPWISE in given.ablations


def _sg2(given: MethodContext) -> Method:
    return _nameless(Sg2(given.model, given.vocabulary, stepwise=_stepwise(given)), given)


def _nameless(method: Method, given: MethodContext) -> Method:
    return NamelessMethod(method, given.occurring, given.vocabulary)


def _single_coder(given: MethodContext) -> Method:
    return _nameless(SingleCoder(given.model, given.vocabulary, stepwise=_stepwise(given)), given)


def _sg_rwr(shots: Shots = "", *, code: bool = True) -> Callable[[MethodContext], Method]:
    def build(given: MethodContext) -> Method:
        reasoner = SgRwr(given.model, given.vocabulary, shots=shots, code=code, stepwise=_stepwise(given))
        return _nameless(reasoner, given)

    return build


def _react(name: str, *, tools: bool) -> Callable[[MethodContext], Method]:
    return lambda given: React(given.model, given.vocabulary, SETS[name], tools=tools, final=not _stepwise(given))


def _prompting(name: str) -> Callable[[MethodContext], Method]:
    return lambda given: Prompting(given.model, given.vocabulary, STYLES[name], stepwise=_stepwise(given))


REASONING: Final = {traversal.NAME: reasoning_tool(traversal.NAME)}

QUERY_METHODS: Final[Mapping[str, Recipe]] = {
    "sg2": static_recipe(
        _sg2,
        "a Task Planner that sees the schema queries a Retriever and has a Tool Caller call tools",
        paper='SG2, "Method", tables 4 to 7',
        tools={TOOL_CALLER: tool_caller_tool},
        asker=verifying_retriever("paper"),
        ablations={**STATIC, **VERIFIERS},
    ),
    "sg2-limit": static_recipe(
        _sg2,
        "the same with a Retriever that has two calls on the graph and writes no queries",
        paper='SG2, "SG2 v.s. ReAct"',
        tools={TOOL_CALLER: tool_caller_tool},
        asker=limited_retriever,
    ),
    "sg-rwr": static_recipe(
        _sg_rwr(),
        "a Reasoner that sees the schema queries a Retriever and writes code over tools; both mend their code",
        paper="SG-RwR, 2.2 to 2.5, tables 4 and 5",
        tools={PYTHON: python_tool},
        asker=summarizing_retriever,
    ),
    "sg-rwr-fs": static_recipe(
        _sg_rwr("fs"),
        "the same with worked tasks in the Reasoner's prompt",
        paper='SG-RwR, "Few-shot SG-RwR"',
        tools={PYTHON: python_tool},
        asker=summarizing_retriever,
    ),
    "sg-rwr-alg": static_recipe(
        _sg_rwr("alg"),
        "the same with worked tasks and the method in words",
        paper='SG-RwR, "Few-shot SG-RwR"',
        tools={PYTHON: python_tool},
        asker=summarizing_retriever,
    ),
    "single-coder": static_recipe(
        _single_coder,
        "one program for the whole task, which queries the graph and calls tools",
        paper="SG-RwR, 4.2",
        tools={PROGRAM: program_tool},
    ),
    "rwr-text": static_recipe(
        _sg_rwr(code=False),
        "SG-RwR without code: the Retriever reads the whole graph, a translator writes the plan as actions",
        paper="SG-RwR, 4.2",
        asker=whole_graph_retriever,
    ),
    "react-sg2": static_recipe(
        _react("react-sg2", tools=True),
        "thought, call, observation; expands nodes of the graph, and has SG2's tools",
        paper='SG2, "Baselines"',
        extent="nothing",
        tools={**PAPER_SETS["react-sg2"], **REASONING},
    ),
    "react-limit": static_recipe(
        _react("react-limit", tools=True),
        "the same with neighbors and attributes as calls of their own",
        paper='SG2, "SG2 v.s. ReAct"',
        extent="nothing",
        tools={**PAPER_SETS["react-limit"], **REASONING},
    ),
    "react-rwr": static_recipe(
        _react("react-rwr", tools=False),
        "thought, call, observation; four calls on the graph, and no tools",
        paper="SG-RwR, appendix G.1",
        extent="nothing",
        tools=PAPER_SETS["react-rwr"],
    ),
    "react-alfworld": Recipe(
        lambda given: ReactAlfworld(given.model, given.vocabulary, lambda: given.occurring().places),
        "thought, action, observation; acts step by step and looks at the assets that it goes to",
        paper="LookPlanGraph, appendices D and F-5",
        extent="memory",
        form="glance",
        priors=False,
        tell=alfworld_step_writer,
        belief=True,
        fix=False,
    ),
    **{
        name: static_recipe(
            _prompting(name),
            words,
            paper='SG-RwR, "Baselines"; SG2, "Baselines"',
            extent="full",
            form="lines",
        )
        for name, words in (
            ("zero-shot", "the whole graph as text, and the solution at once"),
            ("0-cot", "the whole graph as text, and a solution step by step"),
            ("ltm", "the whole graph as text, and a solution part by part"),
            ("cot", "the whole graph as text, and a solution as worked examples have it"),
            ("bag", "the whole graph as text; first the relevant graph, then as worked examples have it"),
            ("algorithm", "the whole graph as text, the method in words, and worked examples"),
        )
    },
}
"""Each method by its name; a row says what it is shown, may call and asks."""
