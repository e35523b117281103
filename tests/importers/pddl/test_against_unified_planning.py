"""Actions of a PDDL domain do to a scene graph what unified-planning's simulator does to its state."""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Iterator
from random import Random
from typing import Any, Final

import pytest

from scenecypher.db.condition import Id, evaluate
from scenecypher.db.graph.delta import apply
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.importers.pddl.domain import DomainReader
from scenecypher.importers.pddl.domain_data import ACTING, DomainMapping, SceneWords
from scenecypher.importers.pddl.expressions import identifier
from scenecypher.importers.pddl.problem import PddlScene, read_problem
from scenecypher.importers.pddl.syntax import parse_pddl, read_pddl_file
from scenecypher.planner.actions.execution import Infeasible, simulate
from scenecypher.planner.vocabularies.own_actions import operators_of_domain
from tests.importers.pddl.instances import DATA, DOMAINS

pytest.importorskip("unified_planning")

INSTANCES: Final = 200 if os.environ.get("SCENECYPHER_TEST_FULL") else 5
STEPS: Final = 25
ROBOT: Final = "robot"


@pytest.mark.parametrize("name", DOMAINS)
def test_every_step_of_random_plans_agrees(name: str) -> None:
    applied = refused = 0
    for number in range(INSTANCES):
        for was_applied in play(name, Random(f"{name} {number}")):  # noqa: S311 - no secret
            applied += was_applied
            refused += not was_applied
    assert applied > 10 * INSTANCES, "plans should get somewhere"
    assert refused > INSTANCES, "actions should also be refused"


def play(name: str, random: Random) -> Iterator[bool]:
    """Play random actions on both sides; yield whether each was applied."""
    from unified_planning.engines import UPSequentialSimulator
    from unified_planning.environment import get_environment
    from unified_planning.io import PDDLReader

    source = read_pddl_file(DATA / f"{name}.pddl", "domain")
    text = DOMAINS[name](random)
    reader = DomainReader(source, DomainMapping(), SceneWords())
    scene = read_problem(parse_pddl(text, "problem", file="random.pddl"), reader)
    get_environment().credits_stream = None
    with warnings.catch_warnings(action="ignore"):  # its use of pyparsing is deprecated
        theirs = source.text.replace("(either table cupboard)", "furniture")
        problem = PDDLReader(get_environment()).parse_problem_string(theirs, text)
    simulator = UPSequentialSimulator(problem)
    state, graph = simulator.get_initial_state(), scene.graph
    operators = operators_of_domain(scene.domain)
    agent = next(node.id for node in graph.nodes.values() if node.kind == "Agent")
    check_same_facts(problem, state, scene, graph, agent)
    for _ in range(STEPS):
        action, objects = choose(problem, simulator, state, random)
        operator = operators[identifier(action.name)]
        given = (
            it.name for parameter, it in zip(action.parameters, objects, strict=True) if parameter.type.name != ROBOT
        )
        names = (parameter.name for parameter in operator.parameters)
        bindings = {ACTING: agent, **dict(zip(names, given, strict=True))}
        after = their_step(simulator, state, action, objects)
        if after is None:
            with pytest.raises(Infeasible):
                simulate(operator, graph, bindings, action=action.name)
            yield False
            continue
        state, graph = after, apply(graph, simulate(operator, graph, bindings, action=action.name))
        check_same_facts(problem, state, scene, graph, agent)
        yield True


def choose(problem: Any, simulator: Any, state: Any, random: Random) -> tuple[Any, tuple[Any, ...]]:
    """Return an applicable action in most cases, else any."""
    if random.random() < 0.7:
        every = [(it, objects) for it in problem.actions for objects in itertools.product(*objects_for(problem, it))]
        for action, objects in random.sample(every, len(every)):
            if simulator.is_applicable(state, action, objects):
                return action, objects
    action = random.choice(problem.actions)
    return action, tuple(map(random.choice, objects_for(problem, action)))


def objects_for(problem: Any, action: Any) -> list[list[Any]]:
    """Return the objects that each parameter of an action may name."""
    return [[*problem.objects(it.type)] for it in action.parameters]


def their_step(simulator: Any, state: Any, action: Any, objects: tuple[Any, ...]) -> Any:
    """Return the state after the action; None if it can't be carried out."""
    from unified_planning.exceptions import UPInvalidActionError

    try:
        return simulator.apply(state, action, objects)
    except UPInvalidActionError:
        return None


def check_same_facts(problem: Any, state: Any, scene: PddlScene, graph: SceneGraph, agent: str) -> None:
    """Compare every fact of the state, and the goal."""
    fluents = [(it, scene.domain.predicates[it.name]) for it in problem.fluents if it.name in scene.domain.predicates]
    for fluent, form in fluents:
        for objects in itertools.product(*(problem.objects(it.type) for it in fluent.signature)):
            ours = evaluate(form.condition(tuple(Id(it.name) for it in objects)), graph, {ACTING: agent})
            assert ours == state.get_value(fluent(*objects)).is_true(), (fluent.name, objects)
    theirs = all(state_holds(problem, state, goal) for goal in problem.goals)
    assert scene.domain.goal is not None
    assert evaluate(scene.domain.goal, graph, {}) == theirs


def state_holds(problem: Any, state: Any, goal: Any) -> bool:
    """Return the truth of a goal in a state of unified-planning."""
    from unified_planning.model.walkers import StateEvaluator

    return bool(StateEvaluator(problem).evaluate(goal, state).is_true())
