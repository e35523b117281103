"""An omniscient robot that reaches goals by the operators, to show that they are reachable."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import scenecypher.db.condition as c
from scenecypher.db.graph.delta import apply
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.importers.task import ProgramStep
from scenecypher.planner.actions.execution import Infeasible, simulate
from scenecypher.planner.actions.operator import AGENT
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.vocabularies.vocabulary import operators_of

PUT: Final = {
    "grasif": {"ON": "put_on", "INSIDE": "put_inside"},
    "virtualhome_ext": {"ON": "put_on", "INSIDE": "put_in"},
}
SWITCH: Final = {
    "grasif": {"on": "turn_on", "off": "turn_off", "open": "open", "closed": "close"},
    "virtualhome_ext": {"on": "switch_on", "off": "switch_off", "open": "open", "closed": "close"},
}
PROGRAM_WORDS: Final = {"putin": "put_in", "putback": "put_on", "switchon": "switch_on", "switchoff": "switch_off"}
MOST_REPAIRS: Final = 12


class Robot:
    """Robot on a graph of its own; it executes the remedies of unmet preconditions first."""

    def __init__(self, graph: SceneGraph, vocabulary: str) -> None:
        self.graph = graph
        self.vocabulary = vocabulary
        self.done: list[str] = []
        (self.agent,) = graph.by_kind["Agent"]

    def bring_about(self, goal: c.Condition) -> bool:
        """Act until the goal should hold, moving things first, then changing states; return True if it holds."""
        facts = [fact for part in c.conjuncts(goal) for fact in self._grounded(part)]
        for fact in [f for f in facts if isinstance(f, c.Related)] + [f for f in facts if isinstance(f, c.HasState)]:
            if not c.evaluate(fact, self.graph, {}):
                self._see_to(fact)
        return c.evaluate(goal, self.graph, {})

    def follow(self, program: tuple[ProgramStep, ...]) -> None:
        """Execute a recorded program as it stands. Raises Infeasible."""
        for step in program:
            self._do(ActionCall(PROGRAM_WORDS.get(step.action, step.action), step.arguments), repairs=0)

    def _grounded(self, fact: c.Condition) -> Iterator[c.Related | c.HasState]:
        """Yield the ground facts of a part of a goal; of several choices the first."""
        match fact:
            case c.And(parts):
                for part in parts:
                    yield from self._grounded(part)
            case c.AtLeast(n, var, c.And((c.HasClass(_, class_), *wishes))):
                for node in self.graph.by_class[class_][:n]:
                    for wish in wishes:
                        assert isinstance(wish, c.Related)
                        assert wish.source == var
                        yield c.Related(c.Id(node), wish.type, wish.target)
            case c.Related() | c.HasState():
                yield fact
            case _:
                raise AssertionError(fact)

    def _see_to(self, fact: c.Related | c.HasState) -> None:
        match fact:
            case c.Related(c.Id(x), _, c.Id(room)) if x == self.agent:
                self._do(ActionCall("go_to", (room,)))
            case c.Related(c.Id(x), relation, c.Id(y)):
                self._move(x, PUT[self.vocabulary][relation], y)
            case c.HasState(c.Id(x), "heated" | "washed"):
                (appliance,) = self.graph.targets(x, "INSIDE") and [
                    y for y in self.graph.targets(x, "INSIDE") if self.graph.nodes[y].kind != "Place"
                ]
                for state in ("closed", "on"):
                    self._see_to(c.HasState(c.Id(appliance), state))
            case c.HasState(c.Id(x), state) if state not in self.graph.nodes[x].states:
                self._do(ActionCall(SWITCH[self.vocabulary][state], (x,)))

    def _move(self, x: str, put: str, y: str) -> None:
        if self.vocabulary == "grasif":
            self._do(ActionCall("pick_up", (x,)))
            self._do(ActionCall(put, (y,)))
        else:
            self._do(ActionCall("grab", (x,)))
            self._do(ActionCall(put, (x, y)))
            assert not c.evaluate(c.HeldBy(c.Id(x), c.Id(self.agent)), self.graph, {})

    def _do(self, call: ActionCall, *, repairs: int = MOST_REPAIRS) -> None:
        operator = operators_of(self.vocabulary)[call.name]
        names = (parameter.name for parameter in operator.parameters)
        arguments: Mapping[str, str] = {AGENT: self.agent, **dict(zip(names, call.arguments, strict=True))}
        simulated: Callable[[], SceneGraph] = lambda: apply(  # noqa: E731
            self.graph, simulate(operator, self.graph, arguments, action=str(call))
        )
        for _ in range(repairs):
            try:
                after = simulated()
            except Infeasible as error:
                remedy = error.unmet[0].remedy
                if remedy is None:
                    raise
                self._do(remedy)
            else:
                break
        else:
            after = simulated()
        self.graph = after
        self.done.append(str(call))
