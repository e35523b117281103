"""Planning methods, a folder a paper; `METHODS` has the recipe of each, and of those that installed packages bring.

A method is a small object that makes decisions (`planner/sessions/method.py`); the session executes them. To add a
method, write a file of its own that names the paper and section it follows, and add a row such as this::

    "react-rwr": Recipe(
        partial(React, name="react-rwr"),           # a function of a MethodContext
        "thought, call, observation; four calls on the graph",
        paper="SG-RwR, appendix G.1",
        extent="nothing",
        tools=PAPER_SETS["react-rwr"],              # planner/sessions/tools.py: functions by name
    ),

A method calls a tool by `CallTool("expand", {"node_id": "kitchen"})`; a new tool is a function from a `SceneAccess`
(planner/sessions/method.py) and arguments to a `ToolAnswer`. A whole solution is `Solve(actions)`.
`extent="full", form="lines"` puts the graph's text into `Memory.view`. `ablations=(STEPWISE,)` declares switches
(there); a method finds those that are on in `context.ablations`. A package of one's own brings its recipe as an
entry point of the group ``scenecypher.methods``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from importlib.resources import files
from typing import Final

from scenecypher.chat.model import SEED
from scenecypher.db.condition import ALWAYS
from scenecypher.importers.datasets import DATASETS
from scenecypher.planner.methods.baselines.prompting import STYLES, Prompting
from scenecypher.planner.methods.baselines.react import React, ReactAlfworld
from scenecypher.planner.methods.baselines.whole_plans import LlmAsP, LlmPlusP
from scenecypher.planner.methods.lookplangraph import lookplangraph as lpg
from scenecypher.planner.methods.ours.explore_then_plan import USUAL_PLACES, ExploreThenPlan
from scenecypher.planner.methods.ours.goal_then_plan import GoalThenPlan
from scenecypher.planner.methods.ours.stepwise import Stepwise
from scenecypher.planner.methods.ours.symbolic import Symbolic
from scenecypher.planner.methods.sayplan.sayplan import CONFIRM, VERIFY, SayPlan, SayPlanLite
from scenecypher.planner.methods.sg2.sg2 import LimitedRetriever, Sg2
from scenecypher.planner.methods.sg_rwr.sg_rwr import SgRwr, SingleCoder, SummarizingRetriever
from scenecypher.planner.sessions import tools
from scenecypher.planner.sessions.method import (
    ALL_ACTIONS,
    ASK_AT_ONCE,
    NO_EXAMPLES,
    STEPWISE,
    Ablation,
    Method,
    MethodContext,
    Recipe,
    SceneAccess,
)
from scenecypher.planner.sessions.views import alfworld_step
from scenecypher.planner.vocabularies.babyai import traversal
from scenecypher.plugins import Plugins
from scenecypher.retriever.conversation import VerifierMode
from scenecypher.retriever.retriever import Options, Retriever

# --- methods without a paper, and those that LookPlanGraph compares


def _symbolic(it: MethodContext) -> Method:
    goal = it.goal or ALWAYS
    return Symbolic(lambda required: it.plan_goal(goal, required), it.required_actions, max_steps=it.max_steps)


whole_plan_recipe: Final = partial(Recipe, ends_refused=False, fix=False, ablations=(NO_EXAMPLES,))
"""Recipe of a baseline that gives a whole plan, executed as it stands."""

GRAPH_METHODS: Final[Mapping[str, Recipe]] = {
    "stepwise": Recipe(
        lambda it: Stepwise(it.model, fix=it.fix),
        "one decision a reply, from the scene's words; asks questions in words",
        extent="words",
    ),
    "lookplangraph": Recipe(
        lpg.LookPlanGraph,
        "one action a reply, on a memory graph as text; looks before it acts",
        paper="LookPlanGraph, section IV, algorithm 1, appendix F-3",
        extent="memory",
        belief=True,
        ablations=(*lpg.ABLATIONS, NO_EXAMPLES),
    ),
    "sayplan": whole_plan_recipe(
        SayPlan,
        "expands rooms of a collapsed graph, then plans; a simulator explains the faults of a plan",
        paper="LookPlanGraph, section VI-A, appendix D (SayPlan)",
        extent="collapsed",
        tools={VERIFY: tools.verify_plan},
    ),
    "sayplan-lite": whole_plan_recipe(
        SayPlanLite,
        "the same in two prompts, one for the search and one for the plan",
        paper="LookPlanGraph, section VI-A, appendices D and F-4",
        extent="collapsed",
        tools={VERIFY: tools.verify_plan, CONFIRM: tools.confirm_graph},
    ),
    "llm-as-p": whole_plan_recipe(
        LlmAsP,
        "the whole graph in, a whole plan out",
        paper="LookPlanGraph, section VI-A, appendix F-1",
        extent="full",
        form="json",
    ),
    "llm+p": whole_plan_recipe(
        LlmPlusP,
        "the whole graph in, a PDDL problem out, which an engine plans for",
        paper="LookPlanGraph, section VI-A, appendices D and F-2",
        extent="full",
        form="json",
    ),
    "goal-then-plan": Recipe(
        GoalThenPlan,
        "the model states the goal only, from the schema; a PDDL engine plans, and again after a refused action",
        fix=False,
    ),
    "explore-then-plan": Recipe(
        ExploreThenPlan,
        "the same on a belief: what the goal names and nobody saw is looked for, by how likely and near places are",
        belief=True,
        fix=False,
        ablations=(USUAL_PLACES,),
    ),
    "symbolic": Recipe(
        _symbolic,
        "no model: a PDDL engine plans for a task's goal, and again after a refused action",
        model=False,
        goal=True,
        fix=False,
    ),
}


# --- methods of SG2 and SG-RwR, which query the graph, and graph prompting

SHARED: Final = (STEPWISE, ALL_ACTIONS)

static_recipe: Final = partial(
    Recipe, schema="environment", names=False, every_action=False, ends_refused=False, fix=False, ablations=SHARED
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
    {"asker": verifying_retriever("hints")},
)
NO_VERIFIER: Final = Ablation(
    "no-verifier",
    "ours: the rows of the first query that runs are the answer",
    {"asker": verifying_retriever("off")},
)


def whole_graph_retriever(access: SceneAccess) -> Retriever:
    """Return RwR-Text's Retriever, which reads the whole graph and writes no code (SG-RwR, 4.2)."""
    options = Options(retrieval="text", seed=SEED)
    return Retriever(access.model, access.reader.gate, access.reader.enumerator, options)


def _prompting(name: str) -> Recipe:
    style = STYLES[name]
    return static_recipe(
        partial(Prompting, style=style),
        style.words,
        paper='SG-RwR, "Baselines"; SG2, "Baselines"',
        extent="full",
        form="lines",
    )


rwr_recipe: Final = partial(
    static_recipe, tools={tools.PYTHON: tools.python_tool}, asker=SummarizingRetriever, ablations=(*SHARED, ASK_AT_ONCE)
)
"""Recipe of SG-RwR with one wording or another of its Reasoner's prompt."""
react_recipe: Final = partial(static_recipe, extent="nothing", ablations=(*SHARED, NO_EXAMPLES))
REASONING: Final = {traversal.NAME: partial(tools.reasoning_tool, name=traversal.NAME)}

QUERY_METHODS: Final[Mapping[str, Recipe]] = {
    "sg2": static_recipe(
        Sg2,
        "a Task Planner that sees the schema queries a Retriever and has a Tool Caller call tools",
        paper='SG2, "Method", tables 4 to 7',
        tools={tools.TOOL_CALLER: tools.tool_caller_tool},
        asker=verifying_retriever("paper"),
        ablations=(*SHARED, VERIFIER_HINTS, NO_VERIFIER, NO_EXAMPLES, ASK_AT_ONCE),
    ),
    "sg2-limit": static_recipe(
        Sg2,
        "the same with a Retriever that has two calls on the graph and writes no queries",
        paper='SG2, "SG2 v.s. ReAct"',
        tools={tools.TOOL_CALLER: tools.tool_caller_tool},
        asker=LimitedRetriever,
        ablations=(*SHARED, NO_EXAMPLES, ASK_AT_ONCE),
    ),
    "sg-rwr": rwr_recipe(
        SgRwr,
        "a Reasoner that sees the schema queries a Retriever and writes code over tools; both mend their code",
        paper="SG-RwR, 2.2 to 2.5, tables 4 and 5",
    ),
    "sg-rwr-fs": rwr_recipe(
        partial(SgRwr, shots="fs"),
        "the same with worked tasks in the Reasoner's prompt",
        paper='SG-RwR, "Few-shot SG-RwR"',
    ),
    "sg-rwr-alg": rwr_recipe(
        partial(SgRwr, shots="alg"),
        "the same with worked tasks and the method in words",
        paper='SG-RwR, "Few-shot SG-RwR"',
    ),
    "single-coder": static_recipe(
        SingleCoder,
        "one program for the whole task, which queries the graph and calls tools",
        paper="SG-RwR, 4.2",
        tools={tools.PROGRAM: tools.program_tool},
    ),
    "rwr-text": static_recipe(
        partial(SgRwr, code=False),
        "SG-RwR without code: the Retriever reads the whole graph, a translator writes the plan as actions",
        paper="SG-RwR, 4.2",
        asker=whole_graph_retriever,
        ablations=(*SHARED, ASK_AT_ONCE),
    ),
    "react-sg2": react_recipe(
        partial(React, name="react-sg2"),
        "thought, call, observation; expands nodes of the graph, and has SG2's tools",
        paper='SG2, "Baselines"',
        tools={**tools.PAPER_SETS["react-sg2"], **REASONING},
    ),
    "react-limit": react_recipe(
        partial(React, name="react-limit"),
        "the same with neighbors and attributes as calls of their own",
        paper='SG2, "SG2 v.s. ReAct"',
        tools={**tools.PAPER_SETS["react-limit"], **REASONING},
    ),
    "react-rwr": react_recipe(
        partial(React, name="react-rwr"),
        "thought, call, observation; four calls on the graph, and no tools",
        paper="SG-RwR, appendix G.1",
        tools=tools.PAPER_SETS["react-rwr"],
    ),
    "react-alfworld": Recipe(
        ReactAlfworld,
        "thought, action, observation; acts step by step and looks at the assets that it goes to",
        paper="LookPlanGraph, appendices D and F-5",
        extent="memory",
        form="glance",
        priors=False,
        step_writer=alfworld_step,
        ends_refused=False,
        belief=True,
        fix=False,
        ablations=(NO_EXAMPLES,),
    ),
    **{name: _prompting(name) for name in STYLES},
}

OURS: Final[dict[str, Recipe]] = {**GRAPH_METHODS, **QUERY_METHODS}
METHODS: Final = Plugins("scenecypher.methods", "method", Recipe, OURS)
"""Recipes by the method names of `--method`."""


def recipe_named(name: str) -> Recipe:
    """Return the recipe of a method. Raises InputError for an unknown name."""
    return METHODS.named(name)


# --- methods and data sets: as in the paper, an addition of ours, or without a meaning for a reason

_TABLE: Final = tomllib.loads((files("scenecypher.planner.methods") / "matrix.toml").read_text(encoding="utf-8"))
IN_PAPERS: Final[Mapping[str, tuple[str, ...]]] = {
    method: tuple(row["data_sets"]) for row in _TABLE["papers"] for method in row["methods"]
}
"""Data sets on which a paper evaluates a method."""
NO_MEANING: Final[Mapping[tuple[str, str], str]] = {
    (method, family): row["why"]
    for row in _TABLE["no_meaning"]
    for method in row["methods"]
    for family in row["families"]
}
"""Combinations of a method and a family of tasks without a meaning, with the reason."""


def matrix_cell(method: str, data_set: str) -> str:
    """Return ``paper``, ``ours``, or ``no meaning: REASON`` for a method on a data set."""
    why = NO_MEANING.get((method, DATASETS[data_set].family))
    if why is not None:
        return f"no meaning: {why}"
    return "paper" if data_set in IN_PAPERS.get(method, ()) else "ours"
