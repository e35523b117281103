"""Our operators and VirtualHome's own engine, step by step side by side: every disagreement is an error."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from db.delta import apply
from db.scene import SceneGraph
from importers.virtualhome import packaged_scene
from planner.actions.execution import Infeasible, simulate
from planner.actions.mistakes import mistake_of
from planner.actions.operator import AGENT
from planner.actions.text import Call
from planner.actions.virtualhome import OPERATORS
from scenecypher.errors import UnknownReference
from tests.planner.actions.evolving_graph import Engine, Verdict, line_of

GHOST: Final = "ghost_9999999"
"""No graph has it."""
CRASHES: Final = ("walk", "run", "find", "open", "close")
"""On an id that is not there the engine raises AttributeError here, where elsewhere it says what is wrong."""
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
"""What is mostly tried with each action, so that many are feasible; other actions take anything."""
SOURCES: Final = {"put_on": ("grabbable",), "put_in": ("grabbable",), "pour": ("pourable", "drinkable")}
LEAVES_HANDS: Final = ("put_on", "put_in", "put_back", "drop", "release", "wear", "pour", "read", "drink")


@cache
def home(task_id: str) -> SceneGraph:
    """The graph that a recorded task begins with."""
    return packaged_scene(task_id).graph


@dataclass(slots=True)
class Duel:
    """One episode on both sides."""

    graph: SceneGraph
    agent: str = ""
    remedy: Call | None = None
    engine: Engine = field(init=False)
    history: list[SceneGraph] = field(init=False)
    steps: Counter[tuple[str, str]] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.agent = self.graph.by_kind["Agent"][0]
        self.engine, self.history = Engine(self.graph), [self.graph]

    def step(self, action: str, arguments: tuple[str, ...]) -> Verdict:
        """Both carry the step out and agree on the verdict, the mistake and the whole graph."""
        theirs = self._theirs(action, arguments)
        verdict = self._ours(action, arguments)
        step = f"{action}{arguments}"
        if action == "put_back" and theirs == Verdict(feasible=False):
            theirs = Verdict(feasible=False, mistake="missing_step")  # The engine fails here without a class.
        assert verdict == theirs, step
        if verdict.feasible:
            self._same_graph(step)
        self.steps[action, verdict.mistake or "feasible"] += 1
        return verdict

    def _ours(self, action: str, arguments: tuple[str, ...]) -> Verdict:
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

    def _theirs(self, action: str, arguments: tuple[str, ...]) -> Verdict:
        try:
            return self.engine.step(line_of(action, arguments))
        except AttributeError:
            if action not in CRASHES or GHOST not in arguments:
                raise
            return Verdict(feasible=False, mistake="unseen_object")

    def _same_graph(self, step: str) -> None:
        relations, states = self.engine.facts()
        assert {(r.source, r.type, r.target) for r in self.graph.relations} == relations, step
        assert {node.id: set(node.states) for node in self.graph.nodes.values()} == states, step


def wander(duel: Duel, chance: random.Random, *, steps: int) -> None:
    """Random actions, and mostly what our refusal says to do first, then the refused action again."""
    pending: list[Call] = []
    for _ in range(steps):
        call = pending.pop() if pending else proposal(chance, duel)
        verdict = duel.step(call.name, call.arguments)
        if verdict.feasible or chance.random() < 0.3 or len(pending) > 4:
            continue
        if duel.remedy is not None:
            pending += [call, duel.remedy]


def proposal(chance: random.Random, duel: Duel) -> Call:
    """Any action, on things mostly near and mostly fit for it, now and then on anything or nothing that is there."""
    action = chance.choice(list(OPERATORS))
    number = len(OPERATORS[action].parameters)
    arguments = tuple(_argument(chance, duel, action, source=place == 0 < number - 1) for place in range(number))
    return Call(action, arguments)


def _argument(chance: random.Random, duel: Duel, action: str, *, source: bool) -> str:
    luck = chance.random()
    if luck < 0.01:
        return GHOST
    held = duel.graph.targets(duel.agent, "HOLDS_RH", "HOLDS_LH")
    single = len(OPERATORS[action].parameters) == 1
    if held and luck < 0.5 and action in LEAVES_HANDS and (source or single):
        return chance.choice(held)
    fitting = (SOURCES if source else FITS).get(action)
    nodes = [n.id for n in duel.graph.nodes.values() if fitting is None or {*n.affordances} & {*fitting}]
    near = [x for x in nodes if x in _near(duel)] if luck < 0.8 else []
    anything = [*duel.graph.nodes] if luck > 0.93 else nodes
    return chance.choice(near or anything or [*duel.graph.nodes])


def _near(duel: Duel) -> set[str]:
    return {*duel.graph.targets(duel.agent, "CLOSE", "FACING")}


def totals(duels: Iterator[Duel]) -> Counter[tuple[str, str]]:
    """How often each action had each verdict."""
    counted: Counter[tuple[str, str]] = Counter()
    for duel in duels:
        counted.update(duel.steps)
    return counted
