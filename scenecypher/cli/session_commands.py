"""The lines of `scenecypher session`, commands and actions, and its state: scene, plan, what undo takes back."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from scenecypher.cli.context import checked_utf8, say
from scenecypher.cli.history import print_event
from scenecypher.cli.worlds import person_there
from scenecypher.errors import InputError, RejectedError, did_you_mean
from scenecypher.wording import counted

if TYPE_CHECKING:
    from scenecypher.db.store.catalog import SceneInfo
    from scenecypher.db.store.commit import Committed
    from scenecypher.db.store.scene_store import SceneStore
    from scenecypher.planner.actions.simulator import Simulator
    from scenecypher.planner.sessions.events import Event
    from scenecypher.planner.sessions.recording import RunRecorder
    from scenecypher.planner.sessions.setup import SessionSetting
    from scenecypher.planner.worlds.environment import Environment
    from scenecypher.scenes import SceneDatabase

ACTION: Final = re.compile(r"[^\W\d][\w-]*\s*\(.*\)")
BARE: Final = re.compile(r"[:/\\]?(\w+|\?)(?:\(\))?[.!;]*")
"""A word alone, as people write it: ``quit;``, ``exit()``, ``:help``."""
ALIASES: Final = {"?": "help", "h": "help", "q": "quit", "bye": "quit"}
CALL: Final = re.compile(r"[\w-]+\s*[(\[{]")
NEAR: Final = 0.74
"""Similarity from which a word before a bracket is taken for a misspelt action."""
NUMBER: Final = "[N]"


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
        from scenecypher.planner.vocabularies.vocabulary import macros_of, operators_of

        with suppress(InputError):
            operators, macros = operators_of(self.scene.vocabulary), macros_of(self.scene.vocabulary)
            return {it.name: it.signature for it in operators.values()} | {
                it.name: it.signature for it in macros.values()
            }
        return {}

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
        from scenecypher.planner.actions.simulator import Acting, Simulator
        from scenecypher.planner.worlds.belief_simulator import BeliefSimulator
        from scenecypher.planner.worlds.environment import SceneEnvironment

        how: Acting = {"actor": "person", "ask": person_there(world=self.world)}
        if self.belief is None:
            return Simulator(self.store, self.scene, meaning=self.db.meaning, **how)
        world = self.world or SceneEnvironment(self.store, self.scene, **how)
        return BeliefSimulator(self.store, self.belief, world=world, past=self.scene, meaning=self.db.meaning, **how)


class Quit(Exception):
    """Raised by the command that ends the session."""


@dataclass(frozen=True, slots=True)
class SessionCommand:
    """A command: `run` takes the rest of its line, which the help calls `takes`; `words` describe it."""

    run: Callable[[SessionState, str], None]
    takes: str
    words: str

    def is_meant(self, rest: str) -> bool:
        """Return True if the command takes the `rest` of its line."""
        is_number = self.takes == NUMBER and rest.removeprefix("-").isdecimal()
        return not rest or is_number or self.takes not in {"", NUMBER}


def run_line(state: SessionState, line: str) -> None:
    """Run one line of the session. Raises Quit, SceneCypherError."""
    line = checked_utf8(line).strip()
    word, _, rest = line.partition(" ")
    command = COMMANDS.get(word.casefold())
    if not word:
        return
    bare = BARE.fullmatch(line)
    alone = ALIASES.get(bare[1].casefold(), bare[1].casefold()) if bare else ""
    if alone in COMMANDS:
        COMMANDS[alone].run(state, "")
    elif command is not None and command.is_meant(rest):
        command.run(state, rest.strip())
    elif command is not None:
        what = "no number" if rest.strip().removeprefix("-").isdecimal() else "nothing"
        raise InputError(f"`{word}` takes {what if command.takes != NUMBER else 'a number'}; give it alone")
    elif ACTION.fullmatch(line):
        _act(state, line)
    else:
        raise InputError(_slip(line, state.signatures()))


def _slip(line: str, actions: Mapping[str, str]) -> str:
    """Return what is wrong with a line that is neither a command nor an action; `actions` are signatures by name."""
    word = re.split(r"[\s(\[{]", line, maxsplit=1)[0]
    name = word.casefold().replace("-", "_")
    near = get_close_matches(name, list(actions), n=1, cutoff=NEAR if CALL.match(line) else 1.0)
    if near:
        return f"an action is written {actions[near[0]]}, its brackets closed; `actions` lists all"
    if CALL.match(line):
        return f"{line!r} is no action; `actions` lists all"
    hint = did_you_mean(word, (*COMMANDS, *actions))
    return f"no command {word!r}{hint}; `help` lists all (questions: `scenecypher ask`, Cypher: `scenecypher query`)"


def _act(state: SessionState, action: str) -> None:
    from scenecypher.planner.sessions.events import Proposed, Refused
    from scenecypher.planner.sessions.session import cause_of

    with state.turn() as turn:
        state.keep([Proposed(turn, action, "", state.known.version)])
        try:
            with state.marked():
                _carry_out(state, action, turn)
        except RejectedError as refused:
            state.last = [f"{action} was refused", *refused.reasons]
            state.keep([Refused(turn, action, cause_of(refused), refused.reasons)])
            raise


def _carry_out(state: SessionState, action: str, turn: int) -> None:
    from scenecypher.planner.sessions.reporting import action_events

    for step in state.simulator().act(action):
        state.last = [f"{step.action} changed {counted(len(step.delta), 'fact')}"]
        state.keep(action_events(turn, step))
        say(f"{step.action}: done, version {step.version}", style="green")
        for line in step.seen:
            say(f"  saw: {line}", style="magenta")


def _plan(state: SessionState, text: str) -> None:
    from scenecypher.planner.methods import recipe_named
    from scenecypher.planner.sessions.setup import prepare_session

    setting = setting_of(state, text)
    state.plan = state.recorder().kept(prepare_session(setting, recipe_named(state.method)).run())
    state.last = [f"{state.method} will carry out: {setting.instruction}"]
    said = f"{state.method}: {setting.instruction}\n`step` takes its next decision, `go` all of them"
    say(said)


def setting_of(state: SessionState, text: str) -> SessionSetting:
    """Return the setting of a plan for `text`: an instruction, ``--goal FACTS`` or ``--task ID``. Raises InputError."""
    from scenecypher.home import PlanOptions, session_setting

    word, _, given = text.partition(" ")
    options = PlanOptions(method=state.method, belief=state.belief is not None, ask=person_there(world=state.world))
    options["ask_back"] = "unclear" if person_there() else "never"
    if word == "--task":
        options["task"] = given.strip()
    elif word == "--goal":
        options["goal"] = given.strip().strip("'\"")
    instruction = None if word in {"--task", "--goal"} else text or None
    return replace(session_setting(state.db, state.scene, instruction, options), world=state.world)


def _step(state: SessionState, count: str) -> None:
    number = int(count or 1)
    if number < 1:
        raise InputError(f"`step` takes a number from 1, not {number}; `step` alone takes one decision")
    _take_decisions(state, number)


def _take_decisions(state: SessionState, count: int | None) -> None:
    """Take `count` decisions of the plan, or all that are left if None."""
    from scenecypher.planner.sessions.events import Remembered

    if state.plan is None:
        raise InputError("no plan is under way; start one with `plan INSTRUCTION`")
    plan, state.plan = state.plan, None  # a generator that raised can't be continued
    taken = 0
    with state.marked():
        for event in plan:
            state.print_event(event)
            taken += isinstance(event, Remembered)
            if taken == count:
                state.plan = plan
                break


def _undo(state: SessionState, _: str) -> None:
    """Undo the latest action in effect; with a belief, return scene and belief to before this session's last action."""
    if state.is_elsewhere:
        raise InputError("actions in that world can't be undone here; carry out the opposite action")
    if state.belief is None:
        done = state.store.undo(state.scene)
        _keep_reverted(state, "undo", {state.scene.name: done})
        say(f"undone: {counted(len(done.delta), 'change')}, version {done.version}")
        return
    if not state.marks:
        raise InputError("nothing was done in this session yet; `scenecypher undo` goes further back")
    mark = state.marks.pop()
    moved = [name for name, version in mark.items() if state.store.find(name).version > version]
    reverted: dict[str, Committed] = {}
    for name in moved:
        reverted[name] = done = state.store.undo(state.store.find(name), to=mark[name])
        say(f"{name}: {counted(len(done.delta), 'change')} undone, version {done.version}")
    state.undone.append(moved)
    _keep_reverted(state, "undo", reverted)


def _redo(state: SessionState, _: str) -> None:
    """Redo the latest undo; with a belief, in each scene that it changed, or in none."""
    from scenecypher.db.store.history import plan_redo

    if state.is_elsewhere:
        raise InputError("actions in that world can't be redone here; carry out the action again")
    scenes = [it for it in (state.scene, state.belief) if it and (not state.undone or it.name in state.undone[-1])]
    for scene in scenes:
        plan_redo(state.store.latest(scene))  # raises before a scene is changed
    reverted: dict[str, Committed] = {}
    with state.marked():
        for scene in scenes:
            reverted[scene.name] = done = state.store.redo(scene)
            say(f"{scene.name}: {counted(len(done.delta), 'change')} done again, version {done.version}")
    del state.undone[-1:]
    _keep_reverted(state, "redo", reverted)


def _keep_reverted(state: SessionState, what: str, done: Mapping[str, Committed]) -> None:
    """Keep an undo or a redo, and the versions that it led to."""
    from scenecypher.planner.sessions.events import Acted

    known, world = done.get(state.known.name), done.get(state.scene.name)
    with state.turn() as turn:
        changes = sum(len(it.delta) for it in done.values())
        version = state.known.version if known is None else known.version
        state.keep([Acted(turn, what, version, changes, world.version if world and state.belief else None)])


def _why(state: SessionState, _: str) -> None:
    say("\n".join(state.last or ["nothing was planned or done yet"]))


def _actions(state: SessionState, _: str) -> None:
    from scenecypher.planner.vocabularies.vocabulary import action_list, macros_of, operators_of

    vocabulary = state.scene.vocabulary
    say(action_list(operators_of(vocabulary), macros_of(vocabulary)))


def _help(_state: SessionState, _: str) -> None:
    lines = (f"{f'{name} {command.takes}':22}{command.words}" for name, command in COMMANDS.items())
    say("\n".join([*lines, "Anything else is an action such as grab(cup_30)."]))


def _quit(_state: SessionState, _: str) -> None:
    raise Quit


COMMANDS: Final[Mapping[str, SessionCommand]] = {
    "act": SessionCommand(_act, "ACTION", "carry out an action, checked and committed"),
    "actions": SessionCommand(_actions, "", "list the actions"),
    "plan": SessionCommand(_plan, "INSTRUCTION", "start a plan for a task; or --goal FACTS, or --task ID"),
    "step": SessionCommand(_step, NUMBER, "take the plan's next decision, or the next N"),
    "go": SessionCommand(lambda state, _: _take_decisions(state, None), "", "carry the plan out to its end"),
    "why": SessionCommand(_why, "", "why the last action was proposed or refused"),
    "undo": SessionCommand(_undo, "", "undo the last action"),
    "redo": SessionCommand(_redo, "", "redo the last undo"),
    "help": SessionCommand(_help, "", "this list"),
    "quit": SessionCommand(_quit, "", "end the session (also the end of input)"),
    "exit": SessionCommand(_quit, "", "end the session"),
}
"""All commands by their word."""
