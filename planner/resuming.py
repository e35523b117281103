"""Resuming an interrupted session: its turns are read from its log, and the belief catches up with the world."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from scenecypher.chat.model import Usage
from scenecypher.db.graph.delta import Delta
from scenecypher.db.store.catalog import lookup_scene
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import ActionRefused, InputError
from scenecypher.planner.actions.simulator import INSERTED_MARK, CommittedAction
from scenecypher.planner.actions.text import parse_action
from scenecypher.planner.belief import belief_name
from scenecypher.planner.belief_simulator import BeliefSimulator
from scenecypher.planner.budget import Spent
from scenecypher.planner.environment import SceneEnvironment
from scenecypher.planner.events import Event, Remembered
from scenecypher.planner.method import Act, Decision, Memory, Method, Solve, Turn, decision_document
from scenecypher.planner.recipe import MethodContext, Recipe
from scenecypher.planner.session import StepWriter
from scenecypher.planner.session_log import LoggedSession, read_log, read_run, resumable_settings, trim_log
from scenecypher.planner.staging import SessionSetting, acts_on_belief, prepare_session
from scenecypher.planner.vocabularies.registry import macros_of, operators_of

ACTION_EVENTS: Final = frozenset({"acted", "corrected"})
"""Events of executed actions, by their names in a log."""


def resume_session(setting: SessionSetting, recipe: Recipe, source: Path | int) -> Iterator[Event]:
    """Complete the belief and yield the remaining events of the session of a log: a file, or a stored run's number.

    The scene, task and method must be the same as before. Raises InputError if it is no session's log, if it differs in
    one of these, or if the session has ended.
    """
    past = read_log(source) if isinstance(source, Path) else read_run(setting.store.database, source)
    if past.ended:
        msg = f"{past.source}: this session came to its end; start another without --resume"
        raise InputError(msg)
    for what, now in resumable_settings(setting).items():
        if what in past.heading and past.heading[what] != now:
            msg = f"{past.source}: that session's {what} is {past.heading[what]!r}, not {now!r}; give the same as then"
            raise InputError(msg)
    if isinstance(source, Path):
        trim_log(source)
    return _continue(setting, recipe, past)


def _continue(setting: SessionSetting, recipe: Recipe, past: LoggedSession) -> Iterator[Event]:
    if acts_on_belief(setting, recipe):
        complete_belief(setting)
    rest = _continuation(past, _committed_since(setting, recipe, past), setting.scene.vocabulary)
    if rest.first is not None:
        recipe = replace(recipe, build=_starting_with(rest.first, recipe.build))
    ready = prepare_session(setting, recipe)
    if past.turns and past.version:
        ready.others.since = past.version
    turn = _with_step_text(rest.turn, ready.step_writer)
    turns = past.turns if turn is None else (*past.turns, turn)
    if turn is not None and turn.decision is not None:
        document = decision_document(turn.decision)
        remembered = turn.feedback, turn.done, turn.refused
        spent = rest.spent
        yield Remembered(
            spent.steps, document, *remembered, spent.refused, Usage(), seconds=spent.seconds, seeing=spent.seeing
        )
    memory = replace(ready.memory, turns=turns, opening=past.opening)
    yield from ready.traced(ready.session.run(memory, spent=rest.spent))


def _with_step_text(turn: Turn | None, step_writer: StepWriter | None) -> Turn | None:
    """Return the turn with the method's own wording of its actions, if it has one."""
    if turn is None or step_writer is None or turn.refused:
        return turn
    return replace(
        turn, feedback="; ".join(step_writer(CommittedAction(action, 0, Delta.of([]))) for action in turn.done)
    )


def complete_belief(setting: SessionSetting) -> tuple[CommittedAction, ...]:
    """Apply to the belief the actions that only the world has; a no-op if there is no belief."""
    store: SceneStore = setting.store
    belief = lookup_scene(store.database, belief_name(setting.scene.name))
    if belief is None:
        return ()
    world = setting.world or SceneEnvironment(store, setting.scene, actor=setting.name)
    return BeliefSimulator(store, belief, world=world, past=setting.scene, actor=setting.name).complete()


@dataclass(frozen=True, slots=True)
class _Continuation:
    """Continuation of an interrupted turn: the first decision, or a finished turn, and the budget used so far."""

    spent: Spent
    first: Decision | None = None
    turn: Turn | None = None


def _committed_since(setting: SessionSetting, recipe: Recipe, past: LoggedSession) -> tuple[str, ...]:
    """Return the actions that this method committed after the log's last version, as the history has them."""
    scene = setting.scene
    if acts_on_belief(setting, recipe):
        scene = lookup_scene(setting.store.database, belief_name(scene.name)) or scene
    operators = operators_of(scene.vocabulary)
    log = setting.store.history(scene, after=past.version)
    own = (it.action for it in log if it.actor == setting.name and it.kind == "act")
    return tuple(action for action in own if _operator_name(action) in operators)


def _continuation(past: LoggedSession, since: Sequence[str], vocabulary: str) -> _Continuation:
    start = max((number for number, it in enumerate(past.interrupted) if it["event"] == "solved"), default=0)
    events = past.interrupted[start:]
    logged = tuple(str(it["action"]) for it in events if it["event"] in ACTION_EVENTS)
    done = logged + tuple(action.partition(INSERTED_MARK)[0] for action in since)
    spent = replace(past.spent, actions=past.spent.actions + len(done))
    proposed = [it for it in events if it["event"] == "proposed"]
    settled = bool(proposed) and _is_settled(events, since, vocabulary)
    if events and events[0]["event"] == "solved":
        return _continue_solution(events, spent, done, len(proposed) if settled else max(len(proposed) - 1, 0))
    if not proposed:
        # A stored run has no event of a turn before its end: what was requested last is what the history has.
        requested = [action for action in since if INSERTED_MARK not in action]
        if not requested or "version" not in past.heading:  # logs of before don't tell where they began
            return _Continuation(past.spent)
        return _finished_turn(Act(requested[-1]), spent, events, done, feedback=_feedback(events, done))
    decision = Act(str(proposed[-1]["action"]), str(proposed[-1]["reason"]))
    return (
        _finished_turn(decision, spent, events, done, feedback=_feedback(events, done))
        if settled
        else _Continuation(spent, decision)
    )


def _continue_solution(
    events: Sequence[Mapping[str, Any]], spent: Spent, done: tuple[str, ...], tried: int
) -> _Continuation:
    """Return the rest of a solution after `tried` more actions; a finished turn if a refusal ended it."""
    solved, refused = events[0], sum(it["event"] == "refused" for it in events)
    before = tuple(map(str, solved.get("done", ())))
    spent = replace(spent, actions=spent.actions + len(before))
    begun = Solve(tuple(solved["actions"]), str(solved["reason"]), bool(solved.get("final", True)))
    told = "; ".join(filter(None, (str(solved.get("told", "")), _feedback(events, done))))
    if refused and not begun.final:
        return _finished_turn(begun, spent, events, before + done, feedback=told)
    tried, refused = int(solved.get("tried", 0)) + tried, int(solved.get("refused", 0)) + refused
    return _Continuation(spent, replace(begun, tried=tried, refused=refused, done=before + done, told=told))


def _finished_turn(
    decision: Act | Solve, spent: Spent, events: Sequence[Mapping[str, Any]], done: tuple[str, ...], *, feedback: str
) -> _Continuation:
    """Return the continuation of a turn that ended but was not logged as remembered."""
    is_refused = any(it["event"] == "refused" for it in events)
    turn = Turn(decision, feedback, done, refused=is_refused)
    refused = spent.refused + 1 if is_refused else 0
    return _Continuation(replace(spent, steps=spent.steps + 1, refused=refused), turn=turn)


def _feedback(events: Sequence[Mapping[str, Any]], done: tuple[str, ...]) -> str:
    """Return the feedback on executed and refused actions."""
    refusals = [f"{it['action']} was refused: {'; '.join(it['reasons'])}" for it in events if it["event"] == "refused"]
    return "; ".join([*(f"{action} was carried out" for action in done), *refusals])


def _is_settled(events: Sequence[Mapping[str, Any]], since: Sequence[str], vocabulary: str) -> bool:
    """Check if the action proposed last was refused or executed (maybe unlogged); if not, it is proposed again."""
    last = max(number for number, it in enumerate(events) if it["event"] == "proposed")
    if {it["event"] for it in events[last:]} & {"acted", "refused"}:
        return True
    name = _last_operator(str(events[last]["action"]), vocabulary)
    return any(_operator_name(action) == name and INSERTED_MARK not in action for action in since)


def _last_operator(action: str, vocabulary: str) -> str:
    """Return the name of an action's last operator, the action being an operator or a macro; empty if it is neither."""
    try:
        call = parse_action(action)
        macro = macros_of(vocabulary).get(call.name)
        return (macro.steps(call)[-1] if macro else call).name
    except ActionRefused:
        return ""


def _operator_name(action: str) -> str:
    return action.partition("(")[0]


def _starting_with(first: Decision, build: Callable[[MethodContext], Method]) -> Callable[[MethodContext], Method]:
    return lambda given: _FirstDecision(first, build(given))


@dataclass(slots=True)
class _FirstDecision:
    """Method whose first decision is given."""

    first: Decision | None
    method: Method

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        if self.first is None:
            return self.method.decide(memory)
        known, self.first = self.first, None
        return known, Usage()
