"""Recipes of the methods that LookPlanGraph compares, and of those without a paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scenecypher.db.condition import ALWAYS
from scenecypher.planner.graph_tools import confirm_graph, verify_plan
from scenecypher.planner.method import Method
from scenecypher.planner.methods.goal_then_plan import GoalThenPlan
from scenecypher.planner.methods.llm_as_p import LlmAsP
from scenecypher.planner.methods.llm_p import LlmPlusP
from scenecypher.planner.methods.lookplangraph import LookPlanGraph
from scenecypher.planner.methods.sayplan import CONFIRM, VERIFY, SayPlan, SayPlanLite
from scenecypher.planner.methods.stepwise import Stepwise
from scenecypher.planner.methods.symbolic import Symbolic
from scenecypher.planner.recipe import Ablation, MethodContext, Recipe


def _symbolic(context: MethodContext) -> Method:
    goal = context.goal or ALWAYS
    return Symbolic(lambda required_actions: context.plan_goal(goal, required_actions), context.required_actions)


GRAPH_METHODS: Final[Mapping[str, Recipe]] = {
    "stepwise": Recipe(
        lambda context: Stepwise(context.model),
        "one decision a reply, from the schema; asks questions in words",
    ),
    "lookplangraph": Recipe(
        lambda context: LookPlanGraph(context.model, context.vocabulary),
        "one action a reply, on a memory graph as text; looks before it acts",
        paper="LookPlanGraph, section IV, algorithm 1, appendix F-3",
        extent="memory",
        belief=True,
        ablations={
            "json-graph": Ablation("the memory graph as JSON (table V)", form="json"),
            "full-graph": Ablation("the whole graph instead of the memory graph (table V)", extent="full"),
            "no-priors": Ablation("objects that were not seen are left out (table V)", priors=False),
            "no-correction": Ablation(
                "no corrections are inserted, and infeasible actions are not fed back (table V)",
                fix=False,
                reprompt=False,
            ),
        },
    ),
    "sayplan": Recipe(
        lambda context: SayPlan(context.model, context.vocabulary),
        "expands rooms of a collapsed graph, then plans; a simulator explains the faults of a plan",
        paper="LookPlanGraph, section VI-A, appendix D (SayPlan)",
        extent="collapsed",
        tools={VERIFY: verify_plan},
        fix=False,
    ),
    "sayplan-lite": Recipe(
        lambda context: SayPlanLite(context.model, context.vocabulary),
        "the same in two prompts, one for the search and one for the plan",
        paper="LookPlanGraph, section VI-A, appendices D and F-4",
        extent="collapsed",
        tools={VERIFY: verify_plan, CONFIRM: confirm_graph},
        fix=False,
    ),
    "llm-as-p": Recipe(
        lambda context: LlmAsP(context.model, context.vocabulary),
        "the whole graph in, a whole plan out",
        paper="LookPlanGraph, section VI-A, appendix F-1",
        extent="full",
        form="json",
        fix=False,
    ),
    "llm+p": Recipe(
        lambda context: LlmPlusP(context.model, context.vocabulary, timeout_s=context.timeout_s),
        "the whole graph in, a PDDL problem out, which an engine plans for",
        paper="LookPlanGraph, section VI-A, appendices D and F-2",
        extent="full",
        form="json",
        fix=False,
    ),
    "goal-then-plan": Recipe(
        lambda context: GoalThenPlan(context.model, context.plan_goal, context.occurring),
        "the model states the goal only, from the schema; a PDDL engine plans, and again after a refused action",
        fix=False,
    ),
    "symbolic": Recipe(
        _symbolic,
        "no model: a PDDL engine plans for a task's goal, and again after a refused action",
        model=False,
        goal=True,
        fix=False,
    ),
}
