"""Sub-goal decomposition: recorded sub-goals, each expanded into actions that are executed in memory.

As in the original, all expansions of the sub-goals are tried in turn, and the attempt with the fewest mistakes is
reported: among those that reach the task's goal, else among those executed to the end, else among all.

The list in a reply and the formula of each sub-goal are read as the original reads them: `stmt = or {"then" or}`,
`or = and {"or" and}`, `and = unit {"and" unit}`; a unit is ``NAME(object, …)``, a unit after ``not``, or a statement in
brackets. What the original reads under ``exists``, ``forall`` or ``forn`` it can't bring about: no formula here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Final, TypeAlias

from scenecypher.db.condition import HeldBy, Id, evaluate
from scenecypher.evaluation.eai.action_sequencing import PlanExecution
from scenecypher.evaluation.eai.grounding import MAX_CHARACTERS, SUBGOALS, Expansions, expand
from scenecypher.evaluation.eai.scoring import (
    Figures,
    Judgement,
    met_share,
    outcome_figures,
    percent_cell,
    unexecuted_judgement,
)
from scenecypher.evaluation.eai.tasks import (
    TaskGoals,
    TaskStart,
    final_goal,
    goal_formula,
    task_entries,
    task_goals,
    task_start,
)
from scenecypher.planner.actions.execution import SKIPPABLE

MAX_DEPTH: Final = 50
"""Nesting depth of brackets; recorded formulas have one or two levels."""
ACTIONS_WITHOUT_BRACKETS: Final = ("SLEEP", "WAKEUP", "STANDUP")
"""Actions that may be written without brackets."""
_OBJECT: Final = re.compile(r"{[^{}]*}", re.DOTALL)
_CALL: Final = re.compile(r"\w+\(.*?\)")
_NAME: Final = re.compile(r"(?!(?:then|or|and|not|exists|forall|forn)$)[a-zA-Z_\-]\w*")
_TOKEN: Final = re.compile(r"[a-zA-Z_\-]\w*(?:\.[0-9]+)?|[0-9]+|\S")


class FormulaError(ValueError):
    """Error for text that is no formula; it never leaves the scorer of sub-goals."""


@dataclass(frozen=True, slots=True)
class Primitive:
    """Atom such as ``ON(lamp.7)``."""

    name: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compound:
    """Formulas joined by `word` (then, and, or), or one under it (not)."""

    word: str
    parts: tuple[Formula, ...]


Formula: TypeAlias = Primitive | Compound


def parse_subgoals(output: str) -> Formula:
    """Parse all sub-goals of a reply into one formula, joined by ``then``. Raises FormulaError.

    Of alternatives within an entry, the original picks one at random; ours is the first.
    """
    return parse_subgoal(" then ".join(_entries(output)))


def parse_subgoal(text: str) -> Formula:
    """Parse a formula. Raises FormulaError."""
    reader = _Parser(_TOKEN.findall(text))
    found = reader.statement()
    if reader.rest:
        raise FormulaError(f"{reader.rest[-1]!r} is not expected")
    return found


def primitives(found: Formula) -> Iterator[Primitive]:
    """Yield every primitive of a formula, from left to right."""
    if isinstance(found, Primitive):
        yield found
    else:
        for part in found.parts:
            yield from primitives(part)


def primitives_to_achieve(found: Formula) -> Iterator[Formula]:
    """Yield what to achieve in order, primitives and their negations, the first of each choice.

    Raises FormulaError if there is no order.
    """
    match found:
        case Primitive() | Compound("not", (Primitive(),)):
            yield found
        case Compound("or"):
            yield from primitives_to_achieve(found.parts[0])
        case Compound("then" | "and"):
            for part in found.parts:
                yield from primitives_to_achieve(part)
        case Compound(word):
            raise FormulaError(f"there is no way to bring about {word!r} of a formula")


def _entries(output: str) -> Iterator[str]:
    found = _OBJECT.search(output.strip().replace("}}", "}")) if len(output) <= MAX_CHARACTERS else None
    try:
        document: Any = json.loads(found[0]) if found else None
    except (ValueError, RecursionError) as error:
        raise FormulaError("the reply's object is no JSON") from error
    if not isinstance(document, dict) or not isinstance(document.get("output"), list):
        raise FormulaError("the reply has no list called 'output'")
    for entry in document["output"]:
        if not isinstance(entry, str):
            raise FormulaError("a sub-goal is no text")
        if entry.strip() in ACTIONS_WITHOUT_BRACKETS:
            yield f"{entry.strip()}()"
        elif _CALL.search(entry):
            yield entry.strip().split(" or ")[0]


class _Parser:
    def __init__(self, tokens: Sequence[str]) -> None:
        self.rest = [*reversed(tokens)]
        self._depth = 0

    def statement(self, words: Sequence[str] = ("then", "or", "and")) -> Formula:
        """Parse formulas joined by the first of `words`, which binds least."""
        if not words:
            return self._unit()
        word, *others = words
        parts = [self.statement(others)]
        while self._has(word):
            parts.append(self.statement(others))
        if word == "and" and len({_is_temporal(one) for one in parts}) > 1:
            raise FormulaError("a conjunction of what is at one time and what is over time")
        return parts[0] if len(parts) == 1 else Compound(word, tuple(parts))

    def _unit(self) -> Formula:
        token = self._next()
        self._depth += 1
        if self._depth > MAX_DEPTH + 1:
            raise FormulaError("too many brackets in brackets")
        match token:
            case "(":
                found = self.statement()
                self._expect(")")
            case "not":
                found = Compound("not", (self._unit(),))
            case _ if _NAME.fullmatch(token):
                self._expect("(")
                found = Primitive(token, () if self._has(")") else tuple(self._objects()))
            case _:
                raise FormulaError(f"{token!r} begins no formula")
        self._depth -= 1
        return found

    def _objects(self) -> Iterator[str]:
        """Yield the objects up to the closing bracket, at least one."""
        while True:
            token = self._next()
            if not _NAME.fullmatch(token.partition(".")[0]):
                raise FormulaError(f"{token!r} is no object")
            yield token
            if not self._has(","):
                return self._expect(")")

    def _has(self, token: str) -> bool:
        """Check that a token comes next, and pass it."""
        return self.rest[-1:] == [token] and bool(self.rest.pop())

    def _expect(self, wanted: str) -> None:
        if (token := self._next()) != wanted:
            raise FormulaError(f"{token!r} stands where {wanted!r} should be")

    def _next(self) -> str:
        if not self.rest:
            raise FormulaError("it ends too early")
        return self.rest.pop()


def _is_temporal(found: Formula) -> bool:
    return isinstance(found, Compound) and (found.word == "then" or any(map(_is_temporal, found.parts)))


MAX_ATTEMPTS: Final = 256
"""Attempts that are tried to their end; recorded sub-goals have a few."""
KINDS: Final = ("states", "relations", "actions")
EXECUTED: Final = ("correct", "goal_missed")
"""Outcomes of an executed attempt, the better one first."""


@dataclass(frozen=True, slots=True)
class ExpansionAttempt:
    """Outcome of one sequence of expansions, which ended before sub-goal `level` or after the last one.

    `branches` are the indices of the expansions tried.
    """

    level: int
    branches: tuple[int, ...]
    judged: Judgement


def task_ids() -> Sequence[str]:
    """Return the 338 tasks with a goal. Raises InputError, ServiceError without `eai-eval`."""
    return tuple(filter(goal_formula, task_entries()))


def score(task_id: str, output: str | None) -> Judgement:
    """Judge one decomposition: its outcome, its mistakes, and the goals that hold at the end."""
    start = task_start(task_id)
    wanted = task_goals(task_id, start.graph)
    try:
        found = parse_subgoals(output or "")
        search = _Search(tuple(primitives_to_achieve(found)), wanted, task_id)
        if (fault := find_fault(found, start)) is not None:
            return _unexecuted(*fault, wanted)
        search.explore(PlanExecution([start.graph]), 0, ())
    except FormulaError as error:
        return _unexecuted("parsing", str(error), wanted)
    return best_attempt(search.attempts).judged


def figures(judged: Sequence[Judgement], *, intervals: Collection[str] = ()) -> Figures:
    """Return one model's figures, all of them shares; see `OutputScorer`."""
    del intervals
    count, ends = len(judged), [one["outcome"] for one in judged]
    return {
        **outcome_figures(judged, ()),
        **{f"{kind[:-1]}_goals": met_share(judged, kind) for kind in KINDS},
        "goals": met_share(judged, *KINDS),
        "success": percent_cell(ends.count("correct"), count),
        "executed": percent_cell(sum(one in EXECUTED for one in ends), count),
    }


def outcome(judged: Judgement) -> tuple[str, bool]:
    """Return an output's outcome, and whether it reached the goal."""
    return judged["outcome"], judged["outcome"] == "correct"


def find_fault(found: Formula, start: TaskStart) -> tuple[str, str] | None:
    """Return the fault that prevents execution and its reason: unknown words or objects, or a wrong number of these."""
    parts = list(primitives(found))
    for part in parts:
        if part.name not in SUBGOALS:
            return "hallucination", f"there is no state, relation or action {part.name[:60]!r}"
    for part in parts:
        if len(part.arguments) != SUBGOALS[part.name]:
            return "arguments", f"{part.name} takes {SUBGOALS[part.name]} objects, not {len(part.arguments)}"
    nodes = start.graph.nodes
    classes = {node.class_ for node in nodes.values()}
    for name in (one for part in parts for one in part.arguments):
        if (name.replace(".", "_") if "." in name else name) not in (nodes if "." in name else classes):
            return "hallucination", f"nothing in the scene is called {name[:60]!r}"
    return None


def best_attempt(attempts: Sequence[ExpansionAttempt]) -> ExpansionAttempt:
    """Return the attempt to report: the first with the fewest mistakes, in the original's order of trying.

    Among failures with equally many mistakes, it is the longest.
    """
    in_order = sorted(attempts, key=lambda end: (end.level, end.branches))
    outcomes = [end.judged["outcome"] for end in in_order]
    best = next((it for it in EXECUTED if it in outcomes), None)
    among = [end for end in in_order if best in {None, end.judged["outcome"]}]
    longest = best != EXECUTED[0]
    return min(among, key=lambda end: (len(end.judged["mistakes"]), -end.judged["steps"] if longest else 0))


@dataclass(slots=True)
class _Search:
    """Depth-first search over the expansions of a list of sub-goals."""

    subgoals: tuple[Formula, ...]
    wanted: TaskGoals
    task_id: str
    attempts: list[ExpansionAttempt] = field(default_factory=list)

    def explore(self, execution: PlanExecution, level: int, branches: tuple[int, ...]) -> None:
        """Try the expansions from sub-goal `level` on. Raises FormulaError for a sub-goal without an expansion."""
        if len(self.attempts) >= MAX_ATTEMPTS:
            return
        if level == len(self.subgoals):
            self.attempts.append(self._attempt(execution, level, branches, finished=True))
            return
        expansions = _expansions(self.subgoals[level], execution)
        if not expansions:
            self.explore(execution, level + 1, branches)
        for number, steps in enumerate(expansions):
            tried = execution.copy()
            if tried.execute(steps):
                self.explore(tried, level + 1, (*branches, number))
            else:
                self.attempts.append(self._attempt(tried, level, (*branches, number), finished=False))

    def _attempt(
        self, execution: PlanExecution, level: int, branches: tuple[int, ...], *, finished: bool
    ) -> ExpansionAttempt:
        words = [step.word for step in execution.executed]
        fatal = next((it for it in reversed(execution.mistakes) if it != SKIPPABLE), "")
        reached, missed = EXECUTED
        done = (any(one.upper() in word for one in choice for word in words) for choice in self.wanted.actions)
        judged = {
            "outcome": fatal if not finished else reached if meets_task_formula(self.task_id, execution) else missed,
            "mistakes": execution.mistakes,
            "steps": len(words),
            **self.wanted.count_met(execution.graphs[-1]),
            "actions": [sum(takewhile(bool, done)), len(self.wanted.actions)],  # up to the first that is not done
        }
        return ExpansionAttempt(level, branches, judged)


def _expansions(subgoal: Formula, execution: PlanExecution) -> Expansions:
    if not isinstance(subgoal, Primitive):
        raise FormulaError(f"there is no way to bring about {subgoal.word!r}")
    now = execution.graphs[-1]
    ids, agent = tuple(_node(name, now.nodes) for name in subgoal.arguments), now.by_kind["Agent"][0]
    return expand(subgoal.name, ids, agent=agent, holds=lambda thing: evaluate(HeldBy(Id(thing), Id(agent)), now, {}))


def meets_task_formula(task_id: str, execution: PlanExecution) -> bool:
    """Check the task's formula on the execution: its actions in order, then its facts at some later time."""
    actions, condition = final_goal(task_id)
    words, position = [step.word.lower() for step in execution.executed], 0
    for choice in actions:
        found = next((place for place in range(position, len(words)) if words[place] in choice), None)
        if found is None:
            return False
        position = found + 1
    return any(evaluate(condition, graph, {}) for graph in execution.graphs[position:])


def _node(name: str, nodes: Mapping[str, object]) -> str:
    """Return the node id of a name such as ``lamp.7``. Raises FormulaError if it has no number, as in the original."""
    node_id = name.replace(".", "_")
    if "." not in name or node_id not in nodes:
        raise FormulaError(f"{name!r} has no number")
    return node_id


def _unexecuted(fault: str, why: str, wanted: TaskGoals) -> Judgement:
    return unexecuted_judgement(fault, why, wanted, mistakes=[], actions=[0, len(wanted.actions)])
