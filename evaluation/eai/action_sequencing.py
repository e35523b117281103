"""Action sequencing: recorded plans, each executed in a scene of the database and checked against its task's goals.

As published, a plan equal to the human program counts as executed but not as successful, by an oversight of the
original; the `corrected` figures count what it achieves. The original tries action goals in an order that follows
Python's set order, so the smallest and the largest success over all orders are reported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import permutations
from typing import Final, TypeAlias

from scenecypher.db.graph.delta import Delta, apply
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import UnknownReference
from scenecypher.evaluation.eai.grounding import GroundedStep, Unreadable, ground_plan
from scenecypher.evaluation.eai.scoring import (
    INTERRUPTED,
    Figures,
    Judgement,
    goal_figures,
    outcome_figures,
    percent_cell,
    unexecuted_judgement,
    value_cell,
)
from scenecypher.evaluation.eai.tasks import (
    TaskGoals,
    TaskScenePool,
    TaskStart,
    all_task_ids,
    count_relation_goals,
    task_goals,
    task_start,
)
from scenecypher.evaluation.run_result import bootstrap
from scenecypher.evaluation.world_pool import WorldPool
from scenecypher.importers.task import ActionGoal
from scenecypher.importers.virtualhome_format import source_id
from scenecypher.planner.actions.execution import SKIPPABLE, Infeasible, Mistake, mistake_of
from scenecypher.planner.actions.simulator import Simulator

Savepoint: TypeAlias = tuple[int, int, int, int]

ACTOR: Final = "recorded"
"""Actor in a scene's history."""


@dataclass(slots=True)
class PlanExecution:
    """Execution of a plan in a leased scene whose initial graph is `start`.

    `executed` are the steps that succeeded, `mistakes` those of the steps that did not.
    """

    store: SceneStore
    scene: SceneInfo
    start: SceneGraph
    executed: list[GroundedStep] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)
    deltas: list[Delta] = field(default_factory=list)
    version: int = field(init=False)

    def __post_init__(self) -> None:
        self.version = self.scene.base

    def execute(self, plan: Iterable[GroundedStep]) -> bool:
        """Execute the steps until one fails and return True if none did; steps already satisfied are skipped."""
        simulator = Simulator(self.store, self.scene, actor=ACTOR, pick_node=first_in_set_order)
        for planned in plan:
            mistake = self._step(simulator, planned)
            if mistake is not None:
                self.mistakes.append(mistake)
                if mistake != SKIPPABLE:
                    return False
        return True

    def savepoint(self) -> Savepoint:
        """Return the current position, for `roll_back`."""
        return self.version, len(self.executed), len(self.mistakes), len(self.deltas)

    def roll_back(self, mark: Savepoint) -> None:
        """Undo everything since the savepoint, also in the database."""
        version, done, mistakes, deltas = mark
        self.version = self.store.reset(self.scene, version)
        del self.executed[done:], self.mistakes[mistakes:], self.deltas[deltas:]

    def graphs(self) -> Iterator[SceneGraph]:
        """Yield the graphs from the start to the current one."""
        graph = self.start
        yield graph
        for delta in self.deltas:
            graph = apply(graph, delta)
            yield graph

    def _step(self, simulator: Simulator, planned: GroundedStep) -> Mistake | None:
        try:
            step = next(simulator.act(str(planned.call)))
        except (Infeasible, UnknownReference) as refused:
            return mistake_of(refused, self.graphs())
        self.executed.append(planned)
        self.deltas.append(step.delta)
        self.version = step.version
        return None


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
        found = next((place for one in choice if (place := _find_word(words, one, position)) is not None), None)
        if found is None:
            return number
        position = found + 1
    return len(goals)


def _find_word(words: Sequence[str], word: str, at: int) -> int | None:
    return next((place for place in range(at, len(words)) if word.upper() in words[place]), None)


GoalRange: TypeAlias = tuple[int, int]
"""Smallest and largest number of goals met."""

ERRORS: Final = (
    *("parsing", "hallucination", "arguments"),
    *("wrong_order", "missing_step", "affordance", "unseen_object"),
)
"""Errors that end a plan."""


class ActionScorer:
    """Scorer of the 305 tasks with at most one relation goal, counted as in the original."""

    def __init__(self, pool: WorldPool | None = None) -> None:
        self._scenes = TaskScenePool(pool)

    def task_ids(self) -> Sequence[str]:
        """Return the tasks with at most one relation goal. Raises InputError, ServiceError without `eai-eval`."""
        return tuple(task_id for task_id in all_task_ids() if count_relation_goals(task_id) < 2)

    def score(self, task_id: str, output: str | None) -> Judgement:
        """Judge one plan: its first fatal mistake, the goals that hold at the end, and success by order of actions."""
        start = task_start(task_id)
        wanted = task_goals(task_id, start.graph)
        plan = Unreadable("parsing", "no output") if output is None else ground_plan(output, start.objects)
        if isinstance(plan, Unreadable):
            own = {"human": False, "additional_step": 0, "actions": [0, 0, len(wanted.actions)]}
            return unexecuted_judgement(plan.fault, plan.why, wanted, **own)
        return self._execute(task_id, start, wanted, plan)

    def figures(self, judged: Sequence[Judgement], *, intervals: Collection[str] = ()) -> Figures:
        """Return one model's figures; all but the `corrected` ones are counted as in the original.

        An interrupted sample counts as a failure without a class.
        """
        count = len(judged)
        as_published = [_without_met_goals(one) if one["human"] else one for one in judged]
        figures = outcome_figures(judged, ("executed", *ERRORS))
        for reading, rows in (("success", as_published), ("corrected", judged)):
            for order, name in enumerate(("least", "most")):
                figures[f"{reading}_{name}"] = percent_cell(sum(meets_all_goals(one, order) for one in rows), count)
        extra = [one["additional_step"] for one in as_published]
        rate = sum(extra) / count if count else None  # needless steps per task, possibly over 1
        interval = partial(bootstrap, extra) if "additional_step" in intervals else None
        figures["additional_step"] = value_cell(rate, count, interval)
        figures["human"] = percent_cell(sum(one["human"] for one in judged), count)
        least, most = (
            goal_figures(as_published),
            goal_figures(as_published, at=-2),
        )  # by the worst and by the best order
        for name in ("action_goals", "goals"):
            figures |= {f"{name}_least": least.pop(name), f"{name}_most": most.pop(name)}
        return figures | least

    def _execute(self, task_id: str, start: TaskStart, wanted: TaskGoals, plan: tuple[GroundedStep, ...]) -> Judgement:
        with self._scenes.lease(task_id) as (store, scene):
            execution = PlanExecution(store, scene, start.graph)
            executed = execution.execute(plan)
            met = wanted.count_met(store, scene)
        least, most = met_goals_range([step.word for step in execution.executed], wanted.actions)
        return {
            "outcome": "executed" if executed else execution.mistakes[-1],
            "human": is_human_program(plan, start),
            "additional_step": execution.mistakes.count("additional_step"),
            "steps": len(execution.executed),
            **met,
            "actions": [least, most, len(wanted.actions)],
        }


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
    graph = all(one[kind][0] == one[kind][1] for kind in ("states", "relations"))
    return bool(
        one["outcome"] not in _NOT_EXECUTED
        and graph
        and one["actions"][order] == one["actions"][2]
        and not one.get("void")
    )


_NOT_EXECUTED: Final = ("parsing", "hallucination", "arguments", INTERRUPTED)


def sequence_outcome(found: Judgement) -> tuple[str, bool]:
    """Return an output's outcome, and whether it met all goals by the best order."""
    done = meets_all_goals(found, 1)
    return ("goal_missed" if found["outcome"] == "executed" and not done else found["outcome"]), done


def _without_met_goals(one: Judgement) -> Judgement:
    """Return the judgement of a human program as the original counts it: no goal is checked."""
    states, relations, actions = one["states"][1], one["relations"][1], one["actions"][2]
    return {
        **one,
        "void": True,
        "additional_step": 0,
        "states": [0, states],
        "relations": [0, relations],
        "actions": [0, 0, actions],
    }
