"""The state of `scenecypher session`: the open scene, its plan, and what undo takes back."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scenecypher.cli.approval import person_there
from scenecypher.cli.session_view import print_event
from scenecypher.errors import InputError

if TYPE_CHECKING:
    from scenecypher.db.store.catalog import SceneInfo
    from scenecypher.db.store.scene_store import SceneStore
    from scenecypher.planner.actions.macro import Macro
    from scenecypher.planner.actions.operator import Operator
    from scenecypher.planner.actions.simulator import Simulator
    from scenecypher.planner.sessions.events import Event
    from scenecypher.planner.sessions.recording import RunRecorder
    from scenecypher.planner.worlds.environment import Environment
    from scenecypher.scenes import SceneDatabase


@dataclass(slots=True)
class SessionState:
    """One open scene, the plan under way, and the explanation of the latest decision or refusal (`last`).

    With a `belief`, actions are decided by it and carried out in `world`, by default the scene. `is_elsewhere` marks a
    world without a history in the database. `marks` are the versions that `undo` returns to, `undone` the scenes that
    each `undo` changed. What the person does is kept as a run of its own by `person`, in `turns` lines so far,
    once it `is_kept`.
    """

    db: SceneDatabase
    scene: SceneInfo
    method: str
    belief: SceneInfo | None = None
    world: Environment | None = None
    is_elsewhere: bool = False
    plan: Iterator[Event] | None = None
    last: list[str] = field(default_factory=list)
    marks: list[dict[str, int]] = field(default_factory=list)
    undone: list[list[str]] = field(default_factory=list)
    person: RunRecorder = field(init=False)
    turns: int = 0
    is_kept: bool = False

    def __post_init__(self) -> None:
        self.person = self.recorder()

    @property
    def store(self) -> SceneStore:
        """Return the store of the open database."""
        return self.db.store

    @property
    def known(self) -> SceneInfo:
        """Return the scene that is read: the belief if there is one."""
        return self.belief or self.scene

    def recorder(self) -> RunRecorder:
        """Return the listener that keeps another run of this session."""
        from scenecypher.planner.sessions.recording import RunRecorder

        is_on = self.db.settings.record_runs
        return RunRecorder(self.store.database, self.scene, "session", is_on=is_on)

    def keep(self, events: Iterable[Event]) -> None:
        """Keep what the person does; the first events begin the run."""
        from scenecypher.planner.sessions.reporting import session_began

        if not self.is_kept:
            self.is_kept = True
            self.person.add(session_began(self.scene, self.belief))
        for event in events:
            self.person.add(event)

    @contextmanager
    def turn(self) -> Iterator[int]:
        """Count a line of the person's; what was kept in the block is stored when it ends."""
        try:
            yield self.turns + 1
        finally:
            self.turns += 1
            self.person.flush()

    def close(self) -> None:
        """End the runs of this session."""
        self.drop_plan()
        self.person.end("done")

    def drop_plan(self) -> None:
        """Stop the plan that is under way, if any."""
        plan, self.plan = self.plan, None
        if isinstance(plan, Generator):
            plan.close()

    def signatures(self) -> dict[str, str]:
        """Return the signature of each action by name; none in a vocabulary without actions."""
        from scenecypher.planner.vocabularies.registry import macros_of, operators_of

        vocabulary = self.scene.vocabulary
        actions: tuple[Operator | Macro, ...]
        try:
            actions = (*operators_of(vocabulary).values(), *macros_of(vocabulary).values())
        except InputError:
            return {}
        return {action.name: action.signature for action in actions}

    def node_ids(self) -> list[str]:
        """Return the ids of the scene's nodes, in order."""
        return sorted(self.store.now(self.known).graph.nodes)

    def print_event(self, event: Event) -> None:
        """Print an event of a plan, and keep its explanation."""
        from scenecypher.planner.sessions import events as e

        print_event(event)
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
        """Add the current versions to `marks` if the block changes a scene."""
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
        """Return the simulator of the person's own actions."""
        from scenecypher.planner.actions.simulator import Simulator
        from scenecypher.planner.worlds.belief_simulator import BeliefSimulator
        from scenecypher.planner.worlds.environment import SceneEnvironment

        ask = person_there(world=self.world)
        if self.belief is None:
            return Simulator(self.store, self.scene, actor="person", meaning=self.db.meaning, ask=ask)
        world = self.world or SceneEnvironment(self.store, self.scene, actor="person", ask=ask)
        return BeliefSimulator(
            self.store,
            self.belief,
            world=world,
            past=self.scene,
            actor="person",
            meaning=self.db.meaning,
            ask=ask,
        )
