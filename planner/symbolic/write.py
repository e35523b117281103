"""Operators, a scene and a goal as PDDL text with derived predicates, which Fast Downward grounds itself.

The text grows with the operators and the scene, not with the ways to act in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

import scenecypher.db.condition as c
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.importers.pddl.syntax import expression_text
from scenecypher.planner.actions import operator as op
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.symbolic import expressions as pddl
from scenecypher.planner.symbolic.conditions import Chosen, ConditionWriter, Names, Scope, unused_name


@dataclass(frozen=True, slots=True)
class WrittenProblem:
    """Domain and problem as text, and the operator and node that each name in it stands for.

    `is_hopeless`: the goal asks for what no action changes, or for missing nodes.
    """

    domain: str
    problem: str
    operators: Mapping[str, str]
    nodes: Mapping[str, str]
    is_hopeless: bool

    def call(self, step: tuple[str, ...]) -> ActionCall:
        """Return a step of a plan as an action."""
        name, *arguments = step
        return ActionCall(self.operators[name], tuple(self.nodes[argument] for argument in arguments))


def write_problem(
    operators: Mapping[str, op.Operator],
    graph: SceneGraph,
    agent: str,
    goal: c.Condition,
    *,
    parents: frozenset[str] = frozenset(),
    never: Iterable[c.Condition] = (),
) -> WrittenProblem:
    """Return the problem of reaching `goal`, without the actions and facts that have nothing to do with it.

    `parents` are the types of relations of which each node has one at most, all together, at all times. No state in
    which one of the conditions `never` holds is acted in, or is the goal.
    """
    writer, names = ConditionWriter(graph, parents), Names()
    wanted = pddl.all_of(writer.literals(writer.read(part, {})) for part in goal_parts(goal, graph))
    actions = [_action(names.of(it.name, it.name), it, agent, writer) for it in operators.values()]
    kept = [writer.literals(pddl.negated(writer.read(it, {}))) for it in never]
    actions, wanted, read = _relevant(actions, wanted, writer, kept)
    derived = [pair for pair in writer.derived.values() if pair[0][0] in read]
    facts = [it for it in writer.facts() if it[0] in read]
    return WrittenProblem(
        _domain_text(actions, derived, (*facts, wanted), writer.objects),
        _PROBLEM.format(goal=expression_text(wanted), init="\n    ".join(map(expression_text, facts))),
        {name: operator for operator, name in names.by_key.items()},
        writer.objects,
        wanted == pddl.FALSE,
    )


def goal_parts(goal: c.Condition, graph: SceneGraph) -> Iterator[c.Condition]:
    """Yield the conjuncts of a goal, one for each node where it is known what nodes it is about."""
    match goal:
        case c.And(parts):
            for part in parts:
                yield from goal_parts(part, graph)
        case c.ForAll(var, where, then) if op.is_static(where):
            for node in c.witnesses(var, where, graph=graph, bindings={}):
                yield from goal_parts(c.bind(then, {var: c.Id(node)}), graph)
        case c.Exists(var, where):
            known = c.And(tuple(part for part in c.conjuncts(where) if op.is_static(part)))
            nodes = [*c.witnesses(var, known, graph=graph, bindings={})]
            yield from goal_parts(c.bind(where, {var: c.Id(nodes[0])}), graph) if len(nodes) == 1 else (goal,)
        case _:
            yield goal


def in_serial_order(goal: c.Condition, graph: SceneGraph) -> list[c.Condition]:
    """Return parts that reach a goal, in an order in which later ones undo few of the earlier ones.

    Of a count, single things are chosen. Where things shall be comes first, thing by thing as they lie together, then
    their states, then what is held.
    """

    def key(part: c.Condition) -> tuple[int, str]:
        facts = [*c.atoms_of(part)]
        things = (it.id for atom in facts for it in c.terms(atom)[:1] if isinstance(it, c.Id))
        at = next((target for thing in things for target in graph.targets(thing, "ON", "INSIDE")), "")
        is_place = any(isinstance(it, c.Related | c.Within) for it in facts)
        return (2 if any(isinstance(it, c.HeldBy) for it in facts) else 0 if is_place else 1), at

    parts = (part for part in goal_parts(goal, graph) if not op.is_static(part))
    return sorted((step for part in parts for step in _one_by_one(part, graph)), key=key)


def _one_by_one(part: c.Condition, graph: SceneGraph) -> Iterator[c.Condition]:
    """Yield a count as facts of single things, those first of which it holds already; another part as it is.

    What never changes is no part of such a fact: a goal about a class is planned for among all things of that class.
    """
    if isinstance(part, c.AtLeast):
        conjuncts = [*c.conjuncts(part.where)]
        known = c.And(tuple(it for it in conjuncts if op.is_static(it)))
        wanted = c.And(tuple(it for it in conjuncts if not op.is_static(it)))
        claims = [
            c.bind(wanted, {part.var: c.Id(node)}) for node in c.witnesses(part.var, known, graph=graph, bindings={})
        ]
        if known.parts and len(claims) >= part.n:
            yield from sorted(claims, key=lambda it: not c.evaluate(it, graph, {}))[: part.n]
            return
    yield part


# --- actions


@dataclass(frozen=True, slots=True)
class _Change:
    """A fact that an action adds, or removes, for all `variables` of which `when` is true."""

    variables: tuple[str, ...]
    when: pddl.Expression
    fact: pddl.Expression


@dataclass(frozen=True, slots=True)
class _Action:
    name: str
    parameters: tuple[str, ...]
    precondition: pddl.Expression
    changes: tuple[_Change, ...]

    @property
    def text(self) -> str:
        grouped: dict[tuple[tuple[str, ...], pddl.Expression], list[pddl.Expression]] = {}
        for it in self.changes:
            grouped.setdefault((it.variables, it.when), []).append(it.fact)
        effects = (_effect(variables, when, *facts) for (variables, when), facts in grouped.items())
        return _ACTION.format(
            name=self.name,
            parameters=" ".join(self.parameters),
            precondition=expression_text(self.precondition),
            effect=expression_text(("and", *effects)),
        )


def _effect(variables: tuple[str, ...], when: pddl.Expression, *facts: pddl.Expression) -> pddl.Expression:
    """Return an effect; a fact that is removed and added in one remains, so its conjunction is not simplified."""
    all_facts = facts[0] if len(facts) == 1 else ("and", *facts)
    effect = all_facts if when == pddl.TRUE else ("when", when, all_facts)
    return ("forall", variables, effect) if variables else effect


def _action(name: str, operator: op.Operator, agent: str, writer: ConditionWriter) -> _Action:
    variables: dict[str, str] = {}
    for parameter in operator.parameters:
        variables[parameter.name] = unused_name(f"?{parameter.name.casefold()}", variables.values())
    scope: Scope = {op.AGENT: c.Id(agent), **variables}
    for choice in operator.choose:
        scope = {**scope, choice.var: _constant(choice) or Chosen(choice, scope)}
    needed = writer.literals(pddl.all_of(writer.read(it.condition, scope) for it in operator.requires))
    changes = () if needed == pddl.FALSE else tuple(_EffectWriter(writer).changes(operator.effects, scope))
    return _Action(name, (*variables.values(),), needed, changes)


def _constant(choice: op.Choose) -> c.Id | None:
    match choice.among:
        case (c.Same(_, c.Id() as node),):
            return node
    return None


@dataclass(frozen=True, slots=True)
class _EffectWriter:
    writer: ConditionWriter

    def changes(
        self,
        effects: Iterable[op.Effect],
        scope: Scope,
        when: pddl.Expression = pddl.TRUE,
        variables: tuple[str, ...] = (),
    ) -> Iterator[_Change]:
        """Yield the changes of facts; those of an unbound variable are none."""
        for effect in effects:
            match effect:
                case op.ForEach(var, where, inner):
                    term = self.writer.fresh(var, scope)
                    bound = {**scope, var: term}
                    holds = pddl.all_of((when, self.writer.read(where, bound)))
                    yield from self.changes(inner, bound, holds, (*variables, term))
                case op.When(condition, then, otherwise):
                    holds = self.writer.read(condition, scope)
                    yield from self.changes(then, scope, pddl.all_of((when, holds)), variables)
                    yield from self.changes(otherwise, scope, pddl.all_of((when, pddl.negated(holds))), variables)
                case _:
                    yield from self._changes_of(effect, scope, when, variables)

    def _changes_of(
        self, effect: op.SimpleEffect, scope: Scope, when: pddl.Expression, variables: tuple[str, ...]
    ) -> Iterator[_Change]:
        terms: dict[str | None, str | c.Id] = {}
        for name in dict.fromkeys(name for _, ends in op.facts_of(effect) for name in ends):
            term = self.writer.fresh("other", scope) if name is None else scope.get(name)
            if term is None or (isinstance(term, c.Id) and term.id not in self.writer.graph.nodes):
                return
            if isinstance(term, Chosen):
                variable = self.writer.fresh(str(name), scope)
                when = pddl.all_of((when, self.writer.is_chosen(term, variable)))
                scope, term = {**scope, str(name): variable}, variable
                variables = (*variables, variable)
            elif name is None:
                variables = (*variables, str(term))
            terms[name] = term
        for (word, holds), ends in op.facts_of(effect):
            form = self.writer.state if len(ends) == 1 else self.writer.relation
            fact = form(word, *(terms[it] for it in ends))
            change = self._simplified(variables, when, fact if holds else pddl.negated(fact))
            if change.when != pddl.FALSE:
                yield change

    def _simplified(self, variables: tuple[str, ...], when: pddl.Expression, fact: pddl.Expression) -> _Change:
        """Return a change; that what is removed must be there is no condition."""
        when = pddl.TRUE if fact == ("not", when) else self.writer.literals(when)
        used = {*pddl.free_variables(when), *pddl.free_variables(fact)}
        return _Change(tuple(it for it in variables if it in used), when, fact)


# --- relevance, and text


def _relevant(
    actions: Iterable[_Action], wanted: pddl.Expression, writer: ConditionWriter, always: Iterable[pddl.Expression] = ()
) -> tuple[list[_Action], pddl.Expression, set[str]]:
    """Return the actions with the changes that the goal may depend on, the goal, and the predicates that are read.

    What of `always` these actions may change must hold before each of them, and with the goal.
    """
    bodies = {head[0]: body for head, body in writer.derived.values()}
    keeping = {it: _relevant((), it, writer)[2] for it in always if it not in (pddl.TRUE, pddl.FALSE)}
    queue, read, must = [wanted], set[str](), list[pddl.Expression]()
    waiting = [(action, change) for action in actions for change in action.changes]
    kept: dict[_Action, list[_Change]] = {}
    while queue:
        fresh = {it[0] for part in queue for it in pddl.atoms(part)} - read
        read |= fresh
        queue = [bodies[name] for name in fresh if name in bodies]
        for action, change in (it for it in waiting if _predicate(it[1]) in read):
            kept.setdefault(action, []).append(change)
            queue += [action.precondition, change.when]
        waiting = [it for it in waiting if _predicate(it[1]) not in read]
        changed = {_predicate(change) for action in kept for change in action.changes}
        more = [it for it, reads in keeping.items() if reads & changed and it not in must]
        queue, must = queue + more, must + more
    found = (replace(it, changes=tuple(kept[it])) for it in actions if it in kept)
    under = [replace(it, precondition=pddl.all_of((it.precondition, *must))) for it in found]
    return under, pddl.all_of((wanted, *must)), read


def _predicate(change: _Change) -> str:
    found: str = next(pddl.atoms(change.fact))[0]
    return found


def _domain_text(
    actions: Iterable[_Action],
    derived: Iterable[tuple[pddl.Expression, pddl.Expression]],
    others: Iterable[pddl.Expression],
    objects: Iterable[str],
) -> str:
    """Return the domain; `others` are the expressions of the problem, whose predicates it declares too."""
    found = [*others]
    for head, body in derived:
        found += [head, body]
    for action in actions:
        found += [action.precondition, *(part for it in action.changes for part in (it.when, it.fact))]
    arities = {it[0]: len(it) - 1 for part in found for it in pddl.atoms(part) if it[0] != "="}
    declared = (expression_text((name, *(f"?x{i}" for i in range(1, n + 1)))) for name, n in sorted(arities.items()))
    rules = (f"  (:derived {expression_text(head)}\n    {expression_text(body)})" for head, body in derived)
    parts = "\n".join((*rules, *(action.text for action in actions)))
    return _DOMAIN.format(constants=" ".join(objects), predicates="\n    ".join(declared), parts=parts)


_ACTION: Final = """\
  (:action {name}
    :parameters ({parameters})
    :precondition {precondition}
    :effect {effect})"""
_DOMAIN: Final = """\
(define (domain scene)
  (:requirements :adl :derived-predicates)
  (:constants {constants})
  (:predicates
    {predicates})
{parts})
"""
_PROBLEM: Final = """\
(define (problem goal)
  (:domain scene)
  (:init
    {init})
  (:goal {goal}))
"""
