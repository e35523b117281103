"""Action sequencing: recorded plans, each executed in its task's scene, in memory, and checked against its goals.

As published, a plan equal to the human program counts as executed but not as successful, by an oversight of the
original. The original tries action goals in an order that follows Python's set order, so the smallest and the largest
success over all orders are reported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any, Final, TypeAlias

from scenecypher.db.graph.delta import apply
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.evaluation.eai.grounding import GroundedStep, Unreadable, ground_plan
from scenecypher.evaluation.eai.scoring import (
    INTERRUPTED,
    Figures,
    Judgement,
    met_share,
    outcome_figures,
    percent_cell,
    unexecuted_judgement,
)
from scenecypher.evaluation.eai.tasks import TaskStart, task_entries, task_goals, task_start
from scenecypher.importers.task import ActionGoal
from scenecypher.importers.virtualhome_format import source_id
from scenecypher.planner.actions.execution import SKIPPABLE, Infeasible, Mistake, mistake_of, simulate
from scenecypher.planner.actions.operator import AGENT
from scenecypher.planner.vocabularies.virtualhome.operators import OPERATORS


@dataclass(slots=True)
class PlanExecution:
    """Execution of a plan: its `graphs`, the first one included, the `executed` steps, and the `mistakes` of others."""

    graphs: list[SceneGraph]
    executed: list[GroundedStep] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)

    def execute(self, plan: Iterable[GroundedStep]) -> bool:
        """Execute the steps until one fails and return True if none did; steps already satisfied are skipped."""
        for planned in plan:
            try:
                after = graph_after(planned, self.graphs[-1])
            except Infeasible as refused:
                self.mistakes.append(mistake_of(refused, self.graphs))
                if self.mistakes[-1] != SKIPPABLE:
                    return False
            else:
                self.executed.append(planned)
                self.graphs.append(after)
        return True

    def copy(self) -> PlanExecution:
        """Return the same execution, to go on with in another way."""
        return PlanExecution([*self.graphs], [*self.executed], [*self.mistakes])


def graph_after(step: GroundedStep, graph: SceneGraph) -> SceneGraph:
    """Return the graph after a step. Raises Infeasible."""
    operator = OPERATORS[step.call.name]
    names = (AGENT, *(parameter.name for parameter in operator.parameters))
    given = dict(zip(names, (graph.by_kind["Agent"][0], *step.call.arguments), strict=True))
    return apply(graph, simulate(operator, graph, given, action=str(step.call), pick_node=first_in_set_order))


def first_in_set_order(nodes: Iterable[str]) -> str | None:
    """Return the node that the original picks: the first in a Python set of the source's numbers."""
    ids = {source_id(node): node for node in nodes}
    numbers: set[int] = set()
    numbers.update(ids.keys())
    return next((ids[number] for number in numbers), None)


def count_met_goals(words: Sequence[str], goals: Sequence[Sequence[str]]) -> int:
    """Count the action goals that are met in order, up to the first that is not.

    As in the original, the first alternative of a goal that occurs anywhere later counts, not the one that occurs
    earliest; `words` are the executed actions in the source's words.
    """
    position = 0
    for number, choice in enumerate(goals):
        later = range(position, len(words))
        found = next((place for one in choice for place in later if one.upper() in words[place]), None)
        if found is None:
            return number
        position = found + 1
    return len(goals)


GoalRange: TypeAlias = tuple[int, int]
"""Smallest and largest number of goals met."""

UNEXECUTED: Final = ("parsing", "hallucination", "arguments")
"""Outcomes of a plan of which nothing is executed."""
ERRORS: Final = (*UNEXECUTED, "wrong_order", "missing_step", "affordance")
"""Errors that end a plan."""


def task_ids() -> Sequence[str]:
    """Return the 305 tasks with at most one relation goal. Raises InputError, ServiceError without `eai-eval`."""
    goals = {task_id: {*entry.vh_goal.goal} for task_id, entry in task_entries().items()}
    return tuple(it for it in goals if sum(fact.relation_type is not None for fact in goals[it]) < 2)


def score(task_id: str, output: str | None) -> Judgement:
    """Judge one plan: its first fatal mistake, the goals that hold at the end, and success by order of actions."""
    start = task_start(task_id)
    wanted = task_goals(task_id, start.graph)
    plan = Unreadable("parsing", "no output") if output is None else ground_plan(output, start.objects)
    if isinstance(plan, Unreadable):
        own = {"human": False, "additional_step": 0, "actions": [0, 0, len(wanted.actions)]}
        return unexecuted_judgement(plan.fault, plan.why, wanted, **own)
    execution = PlanExecution([start.graph])
    is_executed = execution.execute(plan)
    least, most = met_goals_range([step.word for step in execution.executed], wanted.actions)
    return {
        "outcome": "executed" if is_executed else execution.mistakes[-1],
        "human": is_human_program(plan, start),
        "additional_step": execution.mistakes.count("additional_step"),
        "steps": len(execution.executed),
        **wanted.count_met(execution.graphs[-1]),
        "actions": [least, most, len(wanted.actions)],
    }


def figures(judged: Sequence[Judgement], *, intervals: Collection[str] = ()) -> Figures:
    """Return one model's figures, all of them shares, counted as in the original; see `OutputScorer`."""
    del intervals
    rows, count = [_without_met_goals(one) if one["human"] else one for one in judged], len(judged)
    return {
        **outcome_figures(judged, ("executed", *ERRORS)),
        "success_least": percent_cell(sum(meets_all_goals(one) for one in rows), count),
        "success_most": percent_cell(sum(meets_all_goals(one, 1) for one in rows), count),
        "state_goals": met_share(rows, "states"),
        "relation_goals": met_share(rows, "relations"),
        "action_goals_most": met_share(rows, "actions", at=-2),
    }


def outcome(judged: Judgement) -> tuple[str, bool]:
    """Return an output's outcome, and whether it met all goals by the best order."""
    done = meets_all_goals(judged, 1)
    return ("goal_missed" if judged["outcome"] == "executed" and not done else judged["outcome"]), done


def met_goals_range(words: Sequence[str], wanted: Sequence[ActionGoal]) -> GoalRange:
    """Return the fewest and the most action goals that the executed words meet, over all orders of the goals."""
    counts = [count_met_goals(words, order) for order in permutations(wanted)]
    return min(counts), max(counts)


def is_human_program(plan: Sequence[GroundedStep], start: TaskStart) -> bool:
    """Check that a plan equals the recorded human program, word for word."""
    steps = [(step.word.lower(), step.call.arguments) for step in plan]
    return steps == [(step.action, step.arguments) for step in start.program]


def meets_all_goals(one: Judgement, order: int = 0) -> bool:
    """Check that all goals are met, by the worst (0) or the best (1) order of actions, even if the plan failed."""
    goals: list[list[int]] = [one["states"], one["relations"], one["actions"][order:]]
    is_counted = one["outcome"] not in {*UNEXECUTED, INTERRUPTED} and not one.get("void")
    return is_counted and all(met[0] == met[-1] for met in goals)


def _without_met_goals(one: Judgement) -> dict[str, Any]:
    """Return the judgement of a human program as the original counts it: no goal is checked."""
    unmet = {kind: [0] * (len(one[kind]) - 1) + one[kind][-1:] for kind in ("states", "relations", "actions")}
    return {**one, "void": True, **unmet}
