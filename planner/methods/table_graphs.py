"""Recipes of the methods that LookPlanGraph compares, and of those without a paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from scenecypher.db.condition import ALWAYS
from scenecypher.planner.methods.baselines.llm_as_p import LlmAsP
from scenecypher.planner.methods.baselines.llm_p import LlmPlusP
from scenecypher.planner.methods.lookplangraph.lookplangraph import LookPlanGraph, Telling
from scenecypher.planner.methods.ours.explore_then_plan import ExploreThenPlan
from scenecypher.planner.methods.ours.goal_then_plan import GoalAsker, GoalThenPlan
from scenecypher.planner.methods.ours.stepwise import Stepwise
from scenecypher.planner.methods.ours.symbolic import Symbolic
from scenecypher.planner.methods.sayplan.sayplan import CONFIRM, VERIFY, SayPlan, SayPlanLite
from scenecypher.planner.sessions.method import Method
from scenecypher.planner.sessions.recipe import NO_EXAMPLES, Ablation, MethodContext, Recipe, has_examples
from scenecypher.planner.sessions.tools import confirm_graph, verify_plan
from scenecypher.planner.worlds.usual_places import usual_places

JSON_GRAPH: Final = Ablation(
    "json-graph", "the memory graph as JSON (table V)", lambda recipe: replace(recipe, form="json")
)
FULL_GRAPH: Final = Ablation(
    "full-graph",
    "the whole graph instead of the memory graph (table V)",
    lambda recipe: replace(recipe, extent="full"),
)
NO_PRIORS: Final = Ablation(
    "no-priors", "objects that were not seen are left out (table V)", lambda recipe: replace(recipe, priors=False)
)
NAMED_CLASSES: Final = Ablation(
    "named-classes",
    "ours: the memory graph has the things of the classes that the instruction names, in all rooms",
    lambda recipe: replace(recipe, named=True),
)
NO_CORRECTION: Final = Ablation(
    "no-correction",
    "no corrections are inserted, and infeasible actions are not fed back (table V)",
    lambda recipe: replace(recipe, fix=False, reprompt=False),
)
USUAL_PLACES: Final = Ablation(
    "usual-places", "the data sets' scenes say where things usually are, instead of the model"
)


def _symbolic(context: MethodContext) -> Method:
    goal = context.goal or ALWAYS
    return Symbolic(
        lambda required_actions: context.plan_goal(goal, required_actions),
        context.required_actions,
        max_steps=context.max_steps,
    )


def _lookplangraph(context: MethodContext) -> Method:
    telling = Telling(
        belief=context.belief,
        fix=context.fix,
        whole=FULL_GRAPH in context.ablations,
        priors=NO_PRIORS not in context.ablations,
        named=NAMED_CLASSES in context.ablations,
        examples=has_examples(context),
    )
    return LookPlanGraph(context.model, context.vocabulary, telling)


def _goal_asker(context: MethodContext, elsewhere: frozenset[str] = frozenset()) -> GoalAsker:
    return GoalAsker(
        *(context.model, context.vocabulary, context.occurring, context.read_all, context.events),
        elsewhere=elsewhere,
        meaning=context.meaning,
        why_unreachable=context.why_unreachable,
        asking=context.asking,
    )


def _explore_then_plan(context: MethodContext) -> Method:
    ranker = None if USUAL_PLACES in context.ablations else context.model
    asker = _goal_asker(context, frozenset(usual_places()))
    return ExploreThenPlan(asker, context.plan_goal, context.read_all, max_steps=context.max_steps, ranker=ranker)


whole_plan_recipe: Final = partial(Recipe, ends_refused=False, fix=False, ablations=(NO_EXAMPLES,))
"""Recipe of a baseline that gives a whole plan, executed as it stands."""

GRAPH_METHODS: Final[Mapping[str, Recipe]] = {
    "stepwise": Recipe(
        lambda context: Stepwise(context.model, fix=context.fix),
        "one decision a reply, from the scene's words; asks questions in words",
        extent="words",
    ),
    "lookplangraph": Recipe(
        _lookplangraph,
        "one action a reply, on a memory graph as text; looks before it acts",
        paper="LookPlanGraph, section IV, algorithm 1, appendix F-3",
        extent="memory",
        belief=True,
        ablations=(JSON_GRAPH, FULL_GRAPH, NO_PRIORS, NAMED_CLASSES, NO_CORRECTION, NO_EXAMPLES),
    ),
    "sayplan": whole_plan_recipe(
        lambda context: SayPlan(context.model, context.vocabulary, examples=has_examples(context)),
        "expands rooms of a collapsed graph, then plans; a simulator explains the faults of a plan",
        paper="LookPlanGraph, section VI-A, appendix D (SayPlan)",
        extent="collapsed",
        tools={VERIFY: verify_plan},
    ),
    "sayplan-lite": whole_plan_recipe(
        lambda context: SayPlanLite(context.model, context.vocabulary, examples=has_examples(context)),
        "the same in two prompts, one for the search and one for the plan",
        paper="LookPlanGraph, section VI-A, appendices D and F-4",
        extent="collapsed",
        tools={VERIFY: verify_plan, CONFIRM: confirm_graph},
    ),
    "llm-as-p": whole_plan_recipe(
        lambda context: LlmAsP(context.model, context.vocabulary, examples=has_examples(context)),
        "the whole graph in, a whole plan out",
        paper="LookPlanGraph, section VI-A, appendix F-1",
        extent="full",
        form="json",
    ),
    "llm+p": whole_plan_recipe(
        lambda context: LlmPlusP(
            context.model, context.vocabulary, timeout_s=context.timeout_s, examples=has_examples(context)
        ),
        "the whole graph in, a PDDL problem out, which an engine plans for",
        paper="LookPlanGraph, section VI-A, appendices D and F-2",
        extent="full",
        form="json",
    ),
    "goal-then-plan": Recipe(
        lambda context: GoalThenPlan(_goal_asker(context), context.plan_goal, max_steps=context.max_steps),
        "the model states the goal only, from the schema; a PDDL engine plans, and again after a refused action",
        fix=False,
    ),
    "explore-then-plan": Recipe(
        _explore_then_plan,
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
