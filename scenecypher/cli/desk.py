"""The state of `scenecypher session`: one open scene, and what is going on with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scenecypher.cli.context import output
from scenecypher.cli.session_view import words
from scenecypher.errors import InputError

if TYPE_CHECKING:
    from scenecypher.chat.model import Model
    from scenecypher.db.store.catalog import SceneInfo
    from scenecypher.db.store.scene_store import SceneStore
    from scenecypher.planner.actions.simulator import Simulator
    from scenecypher.planner.environment import Environment
    from scenecypher.planner.events import Event


@dataclass(slots=True)
class Desk:
    """One open scene and what is going on with it: the plan under way, and what was refused or decided last.

    With a `belief` actions go by what is believed of `world`, which is the scene where it is None; `is_elsewhere` is
    whether it keeps no history in the database. `marks` are the versions that `undo` goes back to, `undone` the scenes
    that each `undo` took something back in.
    """

    store: SceneStore
    scene: SceneInfo
    method: str
    model: Model
    belief: SceneInfo | None = None
    world: Environment | None = None
    is_elsewhere: bool = False
    plan: Iterator[Event] | None = None
    last: list[str] = field(default_factory=list)
    marks: list[dict[str, int]] = field(default_factory=list)
    undone: list[list[str]] = field(default_factory=list)

    @property
    def known(self) -> SceneInfo:
        """The scene that is read: what is believed, where there is a belief."""
        return self.belief or self.scene

    def words(self) -> list[str]:
        """What can be completed: actions, and the ids of the scene's nodes."""
        from scenecypher.planner.actions.vocabularies import operators_of

        ids = sorted(self.store.load(self.known.name).graph.nodes)
        try:
            return [*operators_of(self.scene.vocabulary), *ids]
        except InputError:
            return ids

    def tell(self, event: Event) -> None:
        """Print an event of a plan, and keep what explains it."""
        from scenecypher.planner import events as e

        style, line = words(event)
        if line:
            output().print(line, style=style, markup=False)
        match event:
            case e.Proposed():
                self.last = [f"{event.action}: {event.reason or 'no reason was given'}"]
            case e.Refused():
                self.last += [f"refused: {reason}" for reason in event.reasons]
            case e.Corrected():
                self.last.append(f"{event.action} was done first, since {event.because}")
            case e.Solved():
                self.last = [f"the plan: {', '.join(event.actions)}", event.reason]
            case _:
                return

    @contextmanager
    def marked(self) -> Iterator[None]:
        """Remember what to go back to, where what is done within changes anything."""
        before = self._versions()
        self.marks.append(before)
        try:
            yield
        finally:
            if self._versions() == before:
                self.marks.pop()

    def _versions(self) -> dict[str, int]:
        return {it.name: self.store.find(it.name).version for it in filter(None, (self.scene, self.belief))}

    def simulator(self) -> Simulator:
        """What carries out the person's own actions."""
        from scenecypher.planner.actions.simulator import Simulator
        from scenecypher.planner.belief_simulator import BeliefSimulator
        from scenecypher.planner.environment import SceneEnvironment

        if self.belief is None:
            return Simulator(self.store, self.scene, actor="person")
        world = self.world or SceneEnvironment(self.store, self.scene, actor="person")
        return BeliefSimulator(self.store, self.belief, world=world, actor="person")
