"""Recipes of the methods of SG2 and SG-RwR, which query the graph, and of graph prompting.

Besides its own file, a method needs only a row such as this::

    "react-rwr": Recipe(
        lambda context: React(...),
        "thought, call, observation; four calls on the graph",
        paper="SG-RwR, appendix G.1",
        extent="nothing",
        tools=PAPER_SETS["react-rwr"],              # planner/sessions/tools.py: name -> function of a SceneAccess
    ),

A method calls a tool by `CallTool("expand", {"node_id": "kitchen"})`; a new tool is a function from a `SceneAccess`
(planner/sessions/recipe.py) to a function from arguments to a `ToolAnswer` (toolbox.py). A whole solution is
`Solve(actions)`. `extent="full", form="lines"` puts the graph's text into `Memory.view`.
`ablations=(STEPWISE,)` declares switches (switches.py); a method
finds those that are on in `context.ablations`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from scenecypher.chat.model import SEED
from scenecypher.planner.methods.baselines.prompting import STYLES, Prompting
from scenecypher.planner.methods.baselines.react import React
from scenecypher.planner.methods.baselines.react_alfworld import ReactAlfworld
from scenecypher.planner.methods.sg2.sg2 import Sg2
from scenecypher.planner.methods.sg2.sg2_limit import limited_retriever
from scenecypher.planner.methods.sg_rwr.sg_rwr import SgRwr, Shots
from scenecypher.planner.methods.sg_rwr.sg_rwr_retriever import summarizing_retriever
from scenecypher.planner.methods.sg_rwr.sg_rwr_single_coder import SingleCoder
from scenecypher.planner.sessions.method import Method
from scenecypher.planner.sessions.recipe import (
    ALL_ACTIONS,
    ASK_AT_ONCE,
    NO_EXAMPLES,
    STEPWISE,
    Ablation,
    MethodContext,
    Recipe,
    SceneAccess,
    has_examples,
)
from scenecypher.planner.sessions.tools import (
    PAPER_SETS,
    PROGRAM,
    PYTHON,
    TOOL_CALLER,
    program_tool,
    python_tool,
    reasoning_tool,
    tool_caller_tool,
)
from scenecypher.planner.sessions.views import alfworld_step_writer
from scenecypher.planner.vocabularies.babyai import traversal
from scenecypher.retriever.graph_api import CALL_SETS
from scenecypher.retriever.reply import VerifierMode
from scenecypher.retriever.retriever import Options, Retriever

SHARED: Final = (STEPWISE, ALL_ACTIONS)

static_recipe: Final = partial(
    Recipe,
    schema="environment",
    names=False,
    every_action=False,
    ends_refused=False,
    fix=False,
    ablations=SHARED,
)
"""Recipe in the papers' static setting: a whole solution, executed as it stands, and one schema an environment.

SG2, "Experimental Settings".
"""


def verifying_retriever(verifier: VerifierMode) -> Callable[[SceneAccess], Retriever]:
    """Return the factory of SG2's Retriever (Code Writer with self-debugging) with a mode of the Verifier.

    The Code Writer has the schema without node names, and no examples (SG2, Table 4).
    """
    options = Options(verifier=verifier, seed=SEED, names=False, examples=0, assisted=False)
    return lambda access: Retriever(
        access.model, access.reader.gate, access.reader.enumerator, replace(options, schema=access.schema)
    )


VERIFIER_HINTS: Final = Ablation(
    "verifier-hints",
    "ours: the Verifier says what is missing in the results",
    lambda recipe: replace(recipe, asker=verifying_retriever("hints")),
)
NO_VERIFIER: Final = Ablation(
    "no-verifier",
    "ours: the rows of the first query that runs are the answer",
    lambda recipe: replace(recipe, asker=verifying_retriever("off")),
)


def whole_graph_retriever(access: SceneAccess) -> Retriever:
    """Return RwR-Text's Retriever, which reads the whole graph and writes no code (SG-RwR, 4.2)."""
    options = Options(retrieval="text", seed=SEED)
    return Retriever(access.model, access.reader.gate, access.reader.enumerator, options)


def _stepwise(context: MethodContext) -> bool:
    return STEPWISE in context.ablations


def _sg2(context: MethodContext) -> Method:
    return Sg2(
        context.model,
        context.vocabulary,
        stepwise=_stepwise(context),
        examples=has_examples(context),
        at_once=ASK_AT_ONCE in context.ablations,
    )


def _single_coder(context: MethodContext) -> Method:
    return SingleCoder(context.model, context.vocabulary, stepwise=_stepwise(context))


def _sg_rwr(shots: Shots = "", *, code: bool = True) -> Callable[[MethodContext], Method]:
    return lambda context: SgRwr(
        context.model,
        context.vocabulary,
        shots=shots,
        code=code,
        stepwise=_stepwise(context),
        at_once=ASK_AT_ONCE in context.ablations,
    )


def _react(name: str, *, tools: bool) -> Callable[[MethodContext], Method]:
    return lambda context: React(
        context.model,
        context.vocabulary,
        CALL_SETS[name],
        tools=tools,
        final=not _stepwise(context),
        examples=has_examples(context),
    )


def _prompting(name: str) -> Callable[[MethodContext], Method]:
    return lambda context: Prompting(context.model, context.vocabulary, STYLES[name], stepwise=_stepwise(context))


rwr_recipe: Final = partial(
    static_recipe,
    tools={PYTHON: python_tool},
    asker=summarizing_retriever,
    ablations=(*SHARED, ASK_AT_ONCE),
)
"""Recipe of SG-RwR with one wording or another of its Reasoner's prompt."""
REASONING: Final = {traversal.NAME: reasoning_tool(traversal.NAME)}

QUERY_METHODS: Final[Mapping[str, Recipe]] = {
    "sg2": static_recipe(
        _sg2,
        "a Task Planner that sees the schema queries a Retriever and has a Tool Caller call tools",
        paper='SG2, "Method", tables 4 to 7',
        tools={TOOL_CALLER: tool_caller_tool},
        asker=verifying_retriever("paper"),
        ablations=(*SHARED, VERIFIER_HINTS, NO_VERIFIER, NO_EXAMPLES, ASK_AT_ONCE),
    ),
    "sg2-limit": static_recipe(
        _sg2,
        "the same with a Retriever that has two calls on the graph and writes no queries",
        paper='SG2, "SG2 v.s. ReAct"',
        tools={TOOL_CALLER: tool_caller_tool},
        asker=limited_retriever,
        ablations=(*SHARED, NO_EXAMPLES, ASK_AT_ONCE),
    ),
    "sg-rwr": rwr_recipe(
        _sg_rwr(),
        "a Reasoner that sees the schema queries a Retriever and writes code over tools; both mend their code",
        paper="SG-RwR, 2.2 to 2.5, tables 4 and 5",
    ),
    "sg-rwr-fs": rwr_recipe(
        _sg_rwr("fs"), "the same with worked tasks in the Reasoner's prompt", paper='SG-RwR, "Few-shot SG-RwR"'
    ),
    "sg-rwr-alg": rwr_recipe(
        _sg_rwr("alg"), "the same with worked tasks and the method in words", paper='SG-RwR, "Few-shot SG-RwR"'
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
        ablations=(*SHARED, ASK_AT_ONCE),
    ),
    "react-sg2": static_recipe(
        _react("react-sg2", tools=True),
        "thought, call, observation; expands nodes of the graph, and has SG2's tools",
        paper='SG2, "Baselines"',
        extent="nothing",
        tools={**PAPER_SETS["react-sg2"], **REASONING},
        ablations=(*SHARED, NO_EXAMPLES),
    ),
    "react-limit": static_recipe(
        _react("react-limit", tools=True),
        "the same with neighbors and attributes as calls of their own",
        paper='SG2, "SG2 v.s. ReAct"',
        extent="nothing",
        tools={**PAPER_SETS["react-limit"], **REASONING},
        ablations=(*SHARED, NO_EXAMPLES),
    ),
    "react-rwr": static_recipe(
        _react("react-rwr", tools=False),
        "thought, call, observation; four calls on the graph, and no tools",
        paper="SG-RwR, appendix G.1",
        extent="nothing",
        tools=PAPER_SETS["react-rwr"],
        ablations=(*SHARED, NO_EXAMPLES),
    ),
    "react-alfworld": Recipe(
        lambda context: ReactAlfworld(
            context.model,
            context.vocabulary,
            lambda: context.occurring().places,
            examples=has_examples(context),
        ),
        "thought, action, observation; acts step by step and looks at the assets that it goes to",
        paper="LookPlanGraph, appendices D and F-5",
        extent="memory",
        form="glance",
        priors=False,
        step_writer=alfworld_step_writer,
        ends_refused=False,
        belief=True,
        fix=False,
        ablations=(NO_EXAMPLES,),
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
"""Recipes by the names of the methods."""
