"""VirtualHome's operators beside its own engine: same verdict, same error class, same graph, step by step."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator

import pytest

from db.delta import apply
from db.scene import SceneGraph
from importers.eai import program_files
from importers.virtualhome import packaged_scene
from planner.actions.execution import Infeasible, simulate
from planner.actions.operator import AGENT
from planner.actions.virtualhome import OPERATORS
from tests.planner.actions.evolving_graph import NAMES, Engine, Verdict, line_of, program_line
from tests.sampling import FULL, sample

LINE = re.compile(r"\[(\w+)\]((?:\s*<[^>]+>\s*\([\d.]+\))*)")
OBJECT = re.compile(r"<([^>]+)>\s*\((?:\d+\.)?(\d+)\)")
WALKS = 40 if FULL else 3
STEPS = 60


def agent_of(graph: SceneGraph) -> str:
    return graph.by_kind["Agent"][0]


def ours(graph: SceneGraph, action: str, arguments: tuple[str, ...]) -> tuple[Verdict, SceneGraph]:
    operator = OPERATORS[action]
    bindings = {AGENT: agent_of(graph)} | {p.name: a for p, a in zip(operator.parameters, arguments, strict=True)}
    try:
        return Verdict(feasible=True, fault=None), apply(graph, simulate(operator, graph, bindings, action=action))
    except Infeasible as refusal:
        return Verdict(feasible=False, fault=refusal.unmet[0].requirement.fault), graph


def recorded(path: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        for line in file:
            if found := LINE.match(line.strip()):
                objects = OBJECT.findall(found[2])
                yield found[1].upper(), tuple(f"{name}_{number}" for name, number in objects)


def same_step(engine: Engine, graph: SceneGraph, action: str, arguments: tuple[str, ...]) -> SceneGraph:
    """Both carry the step out, and agree; the graph after it."""
    theirs = engine.step(line_of(action, arguments))
    verdict, after = ours(graph, action, arguments)
    step = f"{action}{arguments}"
    assert verdict == theirs, step
    relations, states = engine.facts()
    assert {(r.source, r.type, r.target) for r in after.relations} == relations, step
    assert {node.id: set(node.states) for node in after.nodes.values()} == states, step
    return after


@pytest.mark.parametrize("task_id", sample(sorted(program_files()), 12))
def test_recorded_programs_go_as_in_the_reference(task_id: str) -> None:
    graph = packaged_scene(task_id).graph
    engine = Engine(graph)
    for verb, arguments in recorded(str(program_files()[task_id])):
        if verb in NAMES:
            graph = same_step(engine, graph, NAMES[verb], arguments)
        else:
            engine.step(
                " ".join([f"[{verb}]", *(f"<{a.rpartition('_')[0]}> ({a.rpartition('_')[2]})" for a in arguments)])
            )
            graph = engine.graph(graph)


@pytest.mark.parametrize("seed", range(WALKS))
def test_random_actions_go_as_in_the_reference(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311
    graph = packaged_scene(chance.choice(sorted(program_files()))).graph
    engine = Engine(graph)
    verdicts: Counter[bool] = Counter()
    for number in range(STEPS):
        if number % 20 == 10:  # actions of the engine that are not ours yet make what these eight never do
            engine.step(program_line("TURNTO", (chance.choice(list(graph.nodes)),)))
            graph = engine.graph(graph)
        action, arguments = proposal(chance, graph)
        after = same_step(engine, graph, action, arguments)
        verdicts[after is not graph] += 1
        graph = after
    assert verdicts[True] > STEPS / 10
    assert verdicts[False] > STEPS / 10


@pytest.mark.parametrize("task_id", sample(sorted(program_files()), 2))
def test_contents_of_a_held_container_go_as_in_the_reference(task_id: str) -> None:
    graph = packaged_scene(task_id).graph
    engine = Engine(graph)
    movable = [n for n in graph.nodes.values() if "grabbable" in n.affordances]
    box = next(n.id for n in movable if "can_open" in n.affordances)
    thing = next(n.id for n in movable if "can_open" not in n.affordances and n.class_ != "water")
    opened = [("walk", (box,)), ("open", (box,)), ("walk", (thing,)), ("grab", (thing,)), ("walk", (box,))]
    carried = [("grab", (box,)), ("put_in", (thing, box)), ("walk", (box,)), ("walk", (thing,)), ("grab", (thing,))]
    for action, arguments in opened + carried:
        graph = same_step(engine, graph, action, arguments)


def proposal(chance: random.Random, graph: SceneGraph) -> tuple[str, tuple[str, ...]]:
    """Any action, on things mostly near and mostly fit for it, so that many are feasible."""
    operator = OPERATORS[chance.choice(list(OPERATORS))]
    held = graph.targets(agent_of(graph), "HOLDS_RH", "HOLDS_LH")
    fitting = fit(operator.name, graph, near=chance.random() < 0.9)
    if not fitting:
        return "walk", (chance.choice(fit(operator.name, graph, near=False)),)
    things = [chance.choice(fitting)]
    if len(operator.parameters) == 2:
        things = [chance.choice(held) if held and chance.random() < 0.8 else things[0], *things]
    return operator.name, tuple(things)


FITS = {
    "walk": ("can_open", "grabbable", "has_switch", "surfaces"),
    "grab": ("grabbable",),
    "open": ("can_open",),
    "close": ("can_open",),
    "put_on": ("surfaces",),
    "put_in": ("can_open", "containers"),
    "switch_on": ("has_switch",),
    "switch_off": ("has_switch",),
}


def fit(action: str, graph: SceneGraph, *, near: bool) -> list[str]:
    """What has an affordance for this action; of those things what is near the agent, but for walking."""
    fitting = [node.id for node in graph.nodes.values() if {*node.affordances} & {*FITS[action]}]
    close = set(graph.targets(agent_of(graph), "CLOSE"))
    close |= {x for y in close for x in graph.sources(y, "ON")}
    return [x for x in fitting if x in close] if near and action != "walk" else fitting
