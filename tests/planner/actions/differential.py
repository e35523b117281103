"""Differential tests of our operators against VirtualHome's own engine, step by step."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from scenecypher.db.graph.delta import apply
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.errors import UnknownReference
from scenecypher.importers.virtualhome import packaged_scene
from scenecypher.planner.actions.execution import Infeasible, Mistake, mistake_of, simulate
from scenecypher.planner.actions.operator import AGENT
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.vocabularies.virtualhome.operators import OPERATORS
from tests.planner.actions.evolving_graph import Engine, Verdict, line_of

MISSING_ID: Final = "ghost_9999999"
"""An id that no graph has."""
CRASHES_ON_MISSING_ID: Final = ("walk", "run", "find", "open", "close")
"""Actions for which the engine raises AttributeError on a missing id instead of refusing."""
CRASHES_WITHOUT_ROOM: Final = "watch"
"""The action for which it also does so if the thing is in no room."""
UNCLASSIFIED: Final[dict[str, Mistake]] = {
    "put_back": "missing_step",
    "walk": "affordance",
    "run": "affordance",
    "find": "affordance",
}
"""Our kinds of mistakes if the engine fails without one: never grabbed, or in no room."""
FITS: Final = {
    "walk": ("can_open", "grabbable", "has_switch", "surfaces", "sittable"),
    "run": ("can_open", "grabbable", "has_switch", "surfaces"),
    "find": ("can_open", "grabbable", "body_part", "clothes"),
    "sit": ("sittable",),
    "lie": ("lieable",),
    "watch": ("lookable",),
    "grab": ("grabbable",),
    "put_on": ("surfaces",),
    "put_in": ("can_open", "containers"),
    "pour": ("recipient",),
    "wear": ("clothes",),
    "put_off": ("clothes",),
    "read": ("readable",),
    "drink": ("drinkable", "recipient"),
    "eat": ("eatable", "surfaces"),
    "open": ("can_open",),
    "close": ("can_open",),
    "switch_on": ("has_switch",),
    "switch_off": ("has_switch",),
    "plug_in": ("has_plug",),
    "plug_out": ("has_plug",),
    "squeeze": ("clothes", "grabbable"),
    "type": ("has_switch",),
    "cut": ("cuttable", "eatable"),
    "push": ("movable", "sittable"),
    "pull": ("movable", "sittable"),
    "move": ("movable", "sittable"),
}
"""Affordances mostly tried with each action, so that many attempts are feasible; other actions take anything."""
SOURCES: Final = {"put_on": ("grabbable",), "put_in": ("grabbable",), "pour": ("pourable", "drinkable")}
WITH_HELD: Final = ("put_on", "put_in", "put_back", "drop", "release", "wear", "pour", "read", "drink")


def agent_of(graph: SceneGraph) -> str:
    """Return the acting agent."""
    return graph.by_kind["Agent"][0]


@lru_cache(8)
def home(task_id: str) -> SceneGraph:
    """Return the initial graph of a recorded task."""
    return packaged_scene(task_id).graph


@dataclass(slots=True)
class SideBySide:
    """One episode carried out by both the operators and the engine."""

    graph: SceneGraph
    agent: str = ""
    remedy: ActionCall | None = None
    engine: Engine = field(init=False)
    history: list[SceneGraph] = field(init=False)
    steps: Counter[tuple[str, str]] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.agent = agent_of(self.graph)
        self.engine, self.history = Engine(self.graph), [self.graph]

    def step(self, action: str, arguments: tuple[str, ...]) -> Verdict:
        """Carry out a step on both sides and assert equal verdicts, mistakes and graphs."""
        expected = self._engine_step(action, arguments)
        verdict = self._operator_step(action, arguments)
        step = f"{action}{arguments}"
        if expected == Verdict(feasible=False):
            expected = Verdict(
                feasible=False, mistake="unseen_object" if MISSING_ID in arguments else UNCLASSIFIED[action]
            )
        assert verdict == expected, step
        if verdict.feasible:
            self._same_graph(step)
        self.steps[action, verdict.mistake or "feasible"] += 1
        return verdict

    def _operator_step(self, action: str, arguments: tuple[str, ...]) -> Verdict:
        self.remedy = None
        operator = OPERATORS[action]
        names = (parameter.name for parameter in operator.parameters)
        bindings = {AGENT: self.agent, **dict(zip(names, arguments, strict=True))}
        if not all(argument in self.graph for argument in arguments):
            return Verdict(feasible=False, mistake=mistake_of(UnknownReference("no such thing"), self.history))
        try:
            delta = simulate(operator, self.graph, bindings, action=action)
        except Infeasible as refusal:
            self.remedy = refusal.unmet[0].remedy
            return Verdict(feasible=False, mistake=mistake_of(refusal, self.history))
        if delta:
            self.graph = apply(self.graph, delta)
            self.history.append(self.graph)
        return Verdict(feasible=True)

    def _engine_step(self, action: str, arguments: tuple[str, ...]) -> Verdict:
        try:
            return self.engine.step(line_of(action, arguments))
        except AttributeError:
            if action == CRASHES_WITHOUT_ROOM and MISSING_ID not in arguments:
                return Verdict(feasible=False, mistake="affordance")
            if action not in CRASHES_ON_MISSING_ID or MISSING_ID not in arguments:
                raise
            return Verdict(feasible=False, mistake="unseen_object")

    def _same_graph(self, step: str) -> None:
        relations, states = self.engine.facts()
        assert {(r.source, r.type, r.target) for r in self.graph.relations} == relations, step
        assert {node.id: set(node.states) for node in self.graph.nodes.values()} == states, step


def random_walk(run: SideBySide, rng: random.Random, *, steps: int) -> None:
    """Carry out random actions; after a refusal, mostly its remedy and then the refused action again."""
    pending: list[ActionCall] = []
    for _ in range(steps):
        call = pending.pop() if pending else any_call(rng, run.graph)
        verdict = run.step(call.name, call.arguments)
        if run.remedy is not None and len(pending) < 5 and rng.random() < 0.7:
            pending += [call, run.remedy]
        assert verdict.feasible or verdict.mistake is not None


def any_call(rng: random.Random, graph: SceneGraph) -> ActionCall:
    """Return a random action, occasionally on a missing id."""
    action, arguments = proposal(rng, graph)
    return ActionCall(action, tuple(MISSING_ID if rng.random() < 0.02 else argument for argument in arguments))


def proposal(rng: random.Random, graph: SceneGraph) -> tuple[str, tuple[str, ...]]:
    """Return a random action, mostly on near and suitable things."""
    action = rng.choice(list(OPERATORS))
    number = len(OPERATORS[action].parameters)
    return action, tuple(
        _argument(rng, graph, action, source=place == 0 < number - 1, only=number == 1) for place in range(number)
    )


def _argument(rng: random.Random, graph: SceneGraph, action: str, *, source: bool, only: bool) -> str:
    draw = rng.random()
    agent = agent_of(graph)
    held = graph.targets(agent, "HOLDS_RH", "HOLDS_LH")
    if held and draw < 0.5 and action in WITH_HELD and (source or only):
        return rng.choice(held)
    wanted = (SOURCES if source else FITS).get(action)
    suitable = [n.id for n in graph.nodes.values() if wanted is None or {*n.affordances} & {*wanted}]
    near = [*graph.targets(agent, "CLOSE", "FACING")] if draw < 0.9 else []
    if near and draw > 0.8:
        return rng.choice(near)
    anything = [*graph.nodes] if draw > 0.95 else suitable
    return rng.choice([x for x in suitable if x in near] or anything or [*graph.nodes])


def totals(runs: Iterable[SideBySide]) -> Counter[tuple[str, str]]:
    """Count the verdicts of each action."""
    counted: Counter[tuple[str, str]] = Counter()
    for run in runs:
        counted.update(run.steps)
    return counted
