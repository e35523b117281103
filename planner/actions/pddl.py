"""PDDL problems by `unified-planning`: ground actions and a goal in, plans as actions out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from scenecypher.planner.actions.pddl_formula import Conjunction, Cube, Formula, GroundAtom, Literal, Threshold
from scenecypher.planner.actions.pddl_grounding import GroundAction
from scenecypher.planner.actions.text import ActionCall

ACTING: Final = "acting"
"""The fact that holds until `finish`; afterwards only sub-goals can be asserted."""
FINISH: Final = "finish"


@dataclass(frozen=True, slots=True)
class PlanningProblem:
    """A problem of unified-planning and the call of each of its actions; auxiliary actions have none."""

    problem: Any
    calls: Mapping[str, ActionCall]

    def calls_of(self, names: Iterable[str]) -> tuple[ActionCall, ...]:
        """Return the actions of a plan, without auxiliary ones."""
        return tuple(self.calls[name] for name in names if name in self.calls)


@dataclass(frozen=True, slots=True)
class SubGoal:
    """A fact that can be asserted after `finish` if one of `alternatives` holds."""

    name: str
    alternatives: tuple[Cube, ...]


def planning_problem(
    actions: Sequence[GroundAction], goal: Formula, now: Iterable[GroundAtom], *, name: str = "scene"
) -> PlanningProblem:
    """Return the problem of reaching `goal`, which must not be constant, from the facts `now`.

    Only true initial values are written: unified-planning would list all others one by one.
    """
    return _ProblemWriter(name).problem(actions, goal, frozenset(now))


def pddl_text(planning: PlanningProblem) -> tuple[str, str]:
    """Return domain and problem as PDDL; names that PDDL does not allow are replaced."""
    from unified_planning.io import PDDLWriter

    writer = PDDLWriter(planning.problem)
    return writer.get_domain(), writer.get_problem()


class _ProblemWriter:
    """Writes one problem in an environment of its own, so that several can be written in parallel."""

    def __init__(self, name: str) -> None:
        from unified_planning import environment, model

        class Problem(model.Problem):  # type: ignore[misc]
            """A problem whose facts are false by default and whose kind is computed once."""

            @cached_property
            def kind(self) -> Any:
                return super().kind

            @property
            def initial_values(self) -> dict[Any, Any]:
                return self.explicit_initial_values  # type: ignore[no-any-return]

        self._model = model
        self._env = environment.Environment()
        self._env.credits_stream = None
        self._expressions = self._env.expression_manager
        self._node_type = self._env.type_manager.UserType("node")
        self._problem = Problem(name, self._env)
        self._fluents: dict[str, Any] = {}
        self._objects: dict[str, Any] = {}
        self._facts: dict[GroundAtom, Any] = {}
        self._subgoals: list[SubGoal] = []

    def problem(self, actions: Sequence[GroundAction], goal: Formula, now: frozenset[GroundAtom]) -> PlanningProblem:
        goal_literals = self._goal_literals(goal)
        calls = {}
        has_subgoals = bool(self._subgoals)
        for number, action in enumerate(actions):
            name = "_".join((action.call.name, *action.call.arguments, str(number)))
            calls[name] = action.call
            self._add_action(name, action, acting=has_subgoals)
        if has_subgoals:
            self._add_finish()
        for literal in goal_literals:
            self._problem.add_goal(self._literal(literal))
        for atom, fact in self._facts.items():
            if atom in now:
                self._problem.set_initial_value(fact, value=True)
        return PlanningProblem(self._problem, calls)

    # --- goals

    def _goal_literals(self, goal: Formula) -> list[Literal]:
        """Return the literals of the goal; parts that are no literals become sub-goals."""
        parts = goal.parts if isinstance(goal, Conjunction) else (goal,)
        goal_literals = [part for part in parts if isinstance(part, Literal)]
        return goal_literals + [self._subgoal(part) for part in parts if not isinstance(part, Literal)]

    def _subgoal(self, formula: Formula) -> Literal:
        """Return a fact that can be asserted only if `formula` holds."""
        match formula:
            case Literal():
                return formula
            case Conjunction():
                return self._add_subgoal([self._goal_literals(formula)])
            case Threshold() if formula.least == 1:
                return self._add_subgoal([self._goal_literals(part) for part in formula.parts])
            case Threshold():
                return self._threshold_subgoal(formula)
        raise AssertionError

    def _add_subgoal(self, alternatives: list[list[Literal]]) -> Literal:
        name = f"met_{len(self._subgoals)}"
        self._subgoals.append(SubGoal(name, tuple(map(frozenset, alternatives))))
        return Literal((name,))

    def _threshold_subgoal(self, formula: Threshold) -> Literal:
        """Encode "at least `least` of the parts": that many of the first i-1, or one less of these and the i-th."""
        parts = [self._subgoal(part) for part in formula.parts]
        previous: list[list[Literal] | None] = [[] for _ in range(len(parts) + 1)]
        for _ in range(formula.least):
            reached: list[list[Literal] | None] = [None]
            for one_less, without_part, part in zip(previous, reached, parts, strict=False):
                with_part = None if one_less is None else [*one_less, part]
                alternatives = [it for it in (without_part, with_part) if it is not None]
                reached.append([self._add_subgoal(alternatives)] if alternatives else None)
            previous = reached
        return (previous[-1] or [])[0]

    # --- actions

    def _add_action(self, name: str, action: GroundAction, *, acting: bool) -> None:
        new = self._model.InstantaneousAction(name, _env=self._env)
        if acting:
            new.add_precondition(self._literal(Literal((ACTING,))))
        for literal in sorted(action.precondition, key=_sort_key):
            new.add_precondition(self._literal(literal))
        for effect in action.effects:
            when = self._expressions.And([self._literal(literal) for literal in sorted(effect.when, key=_sort_key)])
            for atoms, value in ((effect.lost, False), (effect.gained, True)):
                for atom in sorted(atoms):
                    new.add_effect(self._fact(atom), value, when)
        self._problem.add_action(new)

    def _add_finish(self) -> None:
        finish = self._model.InstantaneousAction(FINISH, _env=self._env)
        acting = self._fact((ACTING,))
        finish.add_precondition(acting)
        finish.add_effect(acting, value=False)
        self._problem.add_action(finish)
        self._problem.set_initial_value(acting, value=True)
        for subgoal in self._subgoals:
            for number, alternative in enumerate(subgoal.alternatives):
                choose = self._model.InstantaneousAction(f"choose_{subgoal.name}_{number}", _env=self._env)
                choose.add_precondition(self._expressions.Not(acting))
                for literal in sorted(alternative, key=_sort_key):
                    choose.add_precondition(self._literal(literal))
                choose.add_effect(self._fact((subgoal.name,)), value=True)
                self._problem.add_action(choose)

    # --- facts

    def _literal(self, literal: Literal) -> Any:
        fact = self._fact(literal.atom)
        return fact if literal.holds else self._expressions.Not(fact)

    def _fact(self, atom: GroundAtom) -> Any:
        if atom not in self._facts:
            fluent = self._fluent(atom[0], len(atom) - 1)
            self._facts[atom] = fluent(*(self._object(node) for node in atom[1:]))
        return self._facts[atom]

    def _fluent(self, word: str, arity: int) -> Any:
        """Return the fluent; relations keep their names, a state is called ``is_open`` to differ from actions."""
        name = f"is_{word}" if arity == 1 else word
        if name not in self._fluents:
            ends = dict.fromkeys(("x", "y")[:arity], self._node_type)
            fluent = self._model.Fluent(name, self._env.type_manager.BoolType(), environment=self._env, **ends)
            self._problem.add_fluent(fluent, default_initial_value=False)
            self._fluents[name] = fluent
        return self._fluents[name]

    def _object(self, node: str) -> Any:
        if node not in self._objects:
            new = self._model.Object(f"n_{node}", self._node_type, self._env)
            self._problem.add_object(new)
            self._objects[node] = new
        return self._objects[node]


def _sort_key(literal: Literal) -> tuple[GroundAtom, bool]:
    return literal.atom, literal.holds
