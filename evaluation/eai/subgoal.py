"""Sub-goal decomposition: recorded sub-goals, each expanded into actions that are carried out in the database.

As in the original, all ways to bring sub-goals about are tried one after the other, and the way with the fewest
mistakes is told: of those that reach the task's goal, else of those that were carried out to the end, else of all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from scenecypher.db.condition import HeldBy, Id, evaluate
from scenecypher.db.store.condition_check import condition_values
from scenecypher.evaluation.eai.acting import Acting
from scenecypher.evaluation.eai.action_sequencing import total
from scenecypher.evaluation.eai.home import Home
from scenecypher.evaluation.eai.scoring import BROKE_OFF, Figure, Judgement, share
from scenecypher.evaluation.eai.subgoal_expansion import ARITY, DEEDS, ways
from scenecypher.evaluation.eai.subgoal_text import Formula, Primitive, Under, Unparsed, formula, path, primitives
from scenecypher.evaluation.eai.tasks import Goals, Situation, all_tasks, final_goal, goals, has_goal, situation
from scenecypher.evaluation.stage import Stage
from scenecypher.importers.task import ActionGoal
from scenecypher.planner.actions.mistakes import SKIPPED, Mistake

MOST_ENDS: Final = 256
"""Ways that are tried to their end; recorded sub-goals have a few."""
EXECUTED: Final = ("correct", "goal_missed")
FAULTS: Final = (("parsing", "parsing"), ("hallucination", "hallucination"), ("arguments", "argnum"))
MISTAKES: Final = (
    ("wrong_order", "wrong_order"),
    ("missing_step", "missing_step"),
    ("affordance", "affordance"),
    ("additional_step", "additional_step"),
)
"""Names of figures, with the keys of the published ones."""

Grounded: TypeAlias = tuple[Primitive, tuple[str, ...]]
"""A sub-goal with its objects' ids."""


@dataclass(frozen=True, slots=True)
class End:
    """Where one way ended: before sub-goal `level`, or behind the last one; `branches` tell it from other ways."""

    level: int
    branches: tuple[int, ...]
    finished: bool
    reached: bool
    steps: int
    mistakes: tuple[Mistake, ...]
    states: tuple[bool, ...]
    relations: tuple[bool, ...]
    actions: int


class SubgoalScorer:
    """Of all 338 tasks that have a goal."""

    version: Final = "1"

    def __init__(self, stage: Stage | None = None) -> None:
        self._home = Home(stage)

    def task_ids(self) -> Sequence[str]:
        """Those with a goal. Raises InputError where `eai-eval` is not installed."""
        return tuple(filter(has_goal, all_tasks()))

    def score(self, task_id: str, output: str | None) -> Judgement:
        """What came of one decomposition: how it ended, its mistakes, and the goals that hold at the end."""
        start = situation(task_id)
        wanted = goals(task_id, start.graph)
        try:
            found = formula(output or "")
            list(path(found))
        except Unparsed as error:
            return _nothing_done("parsing", str(error), wanted)
        fault = fault_of(found, start)
        if fault is not None:
            return _nothing_done(*fault, wanted)
        return self._carried_out(task_id, start, wanted, found)

    def figures(self, judged: Sequence[Judgement]) -> Sequence[Figure]:
        """One model's figures, counted as the original counts."""
        return subgoal_figures(judged)

    def _carried_out(self, task_id: str, start: Situation, wanted: Goals, found: Formula) -> Judgement:
        with self._home.at(task_id) as (store, scene):
            search = _Search(Acting(store, scene, start.graph), tuple(path(found)), wanted, task_id)
            try:
                search.explore(0, ())
            except Unparsed as error:
                return _nothing_done("parsing", str(error), wanted)
        best = chosen(search.ends)
        return {
            "outcome": _outcome(best, search.ends),
            "mistakes": list(best.mistakes),
            "ends": len(search.ends),
            "steps": best.steps,
            "states": [sum(best.states), len(best.states)],
            "relations": [sum(best.relations), len(best.relations)],
            "actions": [best.actions, len(wanted.actions)],
        }


def subgoal_scorer() -> SubgoalScorer:
    """The scorer of sub-goal decomposition."""
    return SubgoalScorer()


def fault_of(found: Formula, start: Situation) -> tuple[str, str] | None:
    """Why nothing is carried out, with the reason: an unknown word, a wrong number of objects, an unknown object."""
    parts, arities = list(primitives(found)), {**ARITY, **DEEDS}
    for part in parts:
        if part.name not in arities:
            return "hallucination", f"there is no state, relation or action {part.name[:60]!r}"
    for part in parts:
        if len(part.arguments) != arities[part.name]:
            return "arguments", f"{part.name} takes {arities[part.name]} objects, not {len(part.arguments)}"
    nodes = start.graph.nodes
    classes = {node.class_ for node in nodes.values()}
    for name in (one for part in parts for one in part.arguments if one not in part.variables):
        if (name.replace(".", "_") if "." in name else name) not in (nodes if "." in name else classes):
            return "hallucination", f"nothing in the scene is called {name[:60]!r}"
    return None


def chosen(ends: Sequence[End]) -> End:
    """The end that is told of: the first with the fewest mistakes, in the original's order of trying.

    Among failures the longer one comes first where mistakes are as many.
    """
    in_order = sorted(ends, key=lambda end: (end.level, end.branches))
    reached = [end for end in in_order if end.reached]
    if reached:
        return min(reached, key=lambda end: len(end.mistakes))
    finished = [end for end in in_order if end.finished]
    return min(finished or in_order, key=lambda end: (len(end.mistakes), -end.steps))


def subgoal_figures(judged: Sequence[Judgement]) -> Sequence[Figure]:
    """The figures of one model. A sample that broke off counts as a failure of no class.

    Of what was carried out and missed the goal the original counts no mistakes, and a needless step once a task.
    """
    count, correct = len(judged), sum(one["outcome"] == "correct" for one in judged)
    figures = [
        share("executed", sum(one["outcome"] in EXECUTED for one in judged), of=count, published="esr"),
        share("success", correct, of=count, published="tsr"),
    ]
    figures += [
        share(name, sum(one["outcome"] == name for one in judged), of=count, published=key) for name, key in FAULTS
    ]
    told = [one["mistakes"] for one in judged if one["outcome"] != "goal_missed"]
    figures += [share(name, sum(name in one for one in told), of=count, published=key) for name, key in MISTAKES]
    figures += _goal_figures(judged)
    figures.append(share(BROKE_OFF, sum(one["outcome"] == BROKE_OFF for one in judged), of=count))
    return figures


def _goal_figures(judged: Sequence[Judgement]) -> Iterable[Figure]:
    sums = [total((one[kind] for one in judged), 2) for kind in ("states", "relations", "actions")]
    names = (("state_goals", "state_goal"), ("relation_goals", "relation_goal"), ("action_goals", "action_goal"))
    for (name, key), (hits, of) in zip(names, sums, strict=True):
        yield share(name, hits, of=of, published=key)
    yield share("goals", sum(hits for hits, _ in sums), of=sum(of for _, of in sums), published="total_goal")


@dataclass(slots=True)
class _Search:
    """All ways to bring one list of sub-goals about, each tried in the same scene after the last was taken back."""

    acting: Acting
    subgoals: tuple[Primitive | Under, ...]
    wanted: Goals
    task_id: str
    ends: list[End] = field(default_factory=list)

    def explore(self, level: int, branches: tuple[int, ...]) -> None:
        """The ways from sub-goal `level` on. Raises Unparsed for a sub-goal that nothing brings about."""
        if len(self.ends) >= MOST_ENDS:
            return
        if level == len(self.subgoals):
            self.ends.append(self._end(level, branches, finished=True))
            return
        found = self._ways(self.subgoals[level])
        if not found:
            self.explore(level + 1, branches)
        mark = self.acting.mark()
        for number, way in enumerate(found):
            if number:
                self.acting.back_to(mark)
            if self.acting.carry_out(way):
                self.explore(level + 1, (*branches, number))
            else:
                self.ends.append(self._end(level, (*branches, number), finished=False))

    def _ways(self, subgoal: Primitive | Under) -> Any:
        if isinstance(subgoal, Under):
            raise Unparsed(f"there is no way to bring about {subgoal.word!r}")
        ids = tuple(_node(name, self.acting.start.nodes) for name in subgoal.arguments)
        return ways(subgoal.name, ids, agent=self._agent, holds=self._holds)

    @property
    def _agent(self) -> str:
        return self.acting.start.by_kind["Agent"][0]

    def _holds(self, thing: str) -> bool:
        acting = self.acting
        return condition_values(acting.store, acting.scene, [HeldBy(Id(thing), Id(self._agent))])[0]

    def _end(self, level: int, branches: tuple[int, ...], *, finished: bool) -> End:
        acting, wanted = self.acting, self.wanted
        truth = condition_values(acting.store, acting.scene, wanted.graph)
        words = [step.word for step in acting.done]
        return End(
            level,
            branches,
            finished,
            finished and reaches(self.task_id, acting),
            len(words),
            tuple(acting.mistakes),
            truth[: len(wanted.states)],
            truth[len(wanted.states) :],
            _done_of(words, wanted.actions),
        )


def reaches(task_id: str, acting: Acting) -> bool:
    """Whether the task's formula holds of what was done: its actions in order, then at some time its facts."""
    actions, condition = final_goal(task_id)
    at = 0
    for choice in actions:
        later = (place for place in range(at, len(acting.done)) if acting.done[place].word.lower() in choice)
        found = next(later, None)
        if found is None:
            return False
        at = found + 1
    if condition_values(acting.store, acting.scene, [condition])[0]:
        return True
    return any(evaluate(condition, graph, {}) for number, graph in enumerate(acting.states()) if number >= at)


def _done_of(words: Sequence[str], wanted: Sequence[ActionGoal]) -> int:
    """Action goals that were done, up to the first that was not; their order among the words does not matter."""
    done = (any(one.upper() in word for one in choice for word in words) for choice in wanted)
    return next((number for number, found in enumerate(done) if not found), len(wanted))


def _node(name: str, nodes: Mapping[str, object]) -> str:
    """The id of ``lamp.7``. Raises Unparsed for an object without its number, as the original does."""
    node_id = name.replace(".", "_")
    if "." not in name or node_id not in nodes:
        raise Unparsed(f"{name!r} has no number")
    return node_id


def _outcome(best: End, ends: Sequence[End]) -> str:
    if best.reached:
        return "correct"
    if any(end.finished for end in ends):
        return "goal_missed"
    return next(mistake for mistake in reversed(best.mistakes) if mistake != SKIPPED)


def _nothing_done(fault: str, why: str, wanted: Goals) -> dict[str, Any]:
    return {
        "outcome": fault,
        "why": why,
        "mistakes": [],
        "ends": 0,
        "steps": 0,
        "states": [0, len(wanted.states)],
        "relations": [0, len(wanted.relations)],
        "actions": [0, len(wanted.actions)],
    }
