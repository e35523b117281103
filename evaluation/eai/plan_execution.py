"""Execution of a grounded plan in the database: each step is an action checked and committed by the simulator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from scenecypher.db.graph.delta import Delta, apply
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import UnknownReference
from scenecypher.evaluation.eai.grounding import GroundedStep
from scenecypher.importers.virtualhome_format import source_id
from scenecypher.planner.actions.execution import Infeasible
from scenecypher.planner.actions.mistakes import SKIPPABLE, Mistake, mistake_of
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
