"""A session that goes on where its program ended: its turns are read from its log, and half-done pairs completed."""

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
from scenecypher.planner.actions.simulator import INSERTED, Step
from scenecypher.planner.actions.text import parse
from scenecypher.planner.actions.vocabularies import macros_of, operators_of
from scenecypher.planner.belief import belief_name
from scenecypher.planner.believing import Believing
from scenecypher.planner.budget import Spent
from scenecypher.planner.environment import SceneEnvironment
from scenecypher.planner.events import Event, Remembered
from scenecypher.planner.method import Act, Decision, Memory, Method, Solve, Turn, decision_document
from scenecypher.planner.recipe import Given, Recipe
from scenecypher.planner.session import Teller
from scenecypher.planner.session_log import Past, heading, read_log, trim
from scenecypher.planner.staging import Setting, believes, staged

ACTIONS: Final = frozenset({"acted", "corrected"})


def resumed(setting: Setting, recipe: Recipe, file: Path) -> Iterator[Event]:
    """The rest of a session whose log is `file`: first the missing halves, then the events that follow.

    The same scene, task and method as before must be given. Raises InputError for what is no session's log, or one
    that came to its end.
    """
    past = read_log(file)
    if past.ended:
        msg = f"{file}: this session came to its end; start another without --resume"
        raise InputError(msg)
    for what, now in heading(setting).items():
        if what in past.began and past.began[what] != now:
            msg = f"{file}: that session's {what} is {past.began[what]!r}, not {now!r}; give the same as then"
            raise InputError(msg)
    trim(file)
    return _going_on(setting, recipe, past)


def _going_on(setting: Setting, recipe: Recipe, past: Past) -> Iterator[Event]:
    if believes(setting, recipe):
        completed(setting)
    cut = _cut_off(past, _since(setting, recipe, past), setting.scene.vocabulary)
    if cut.first is not None:
        recipe = replace(recipe, build=_beginning(cut.first, recipe.build))
    ready = staged(setting, recipe)
    turn = _heard(cut.turn, ready.tell)
    turns = past.turns if turn is None else (*past.turns, turn)
    if turn is not None and turn.decision is not None:
        document = decision_document(turn.decision)
        told = turn.feedback, turn.done, turn.refused
        spent = cut.spent
        yield Remembered(
            spent.steps, document, *told, spent.refused, Usage(), seconds=spent.seconds, seeing=spent.seeing
        )
    yield from ready.session.run(replace(ready.memory, turns=turns, opening=past.opening), spent=cut.spent)


def _heard(turn: Turn | None, tell: Teller | None) -> Turn | None:
    """The turn with what the method's own teller says of it, which knows the scene as it is now."""
    if turn is None or tell is None or turn.refused:
        return turn
    return replace(turn, feedback="; ".join(tell(Step(action, 0, Delta.of([]))) for action in turn.done))


def completed(setting: Setting) -> tuple[Step, ...]:
    """Complete what was done to the world and not to the belief; nothing where there is no belief."""
    store: SceneStore = setting.store
    belief = lookup_scene(store.database, belief_name(setting.scene.name))
    if belief is None:
        return ()
    world = setting.world or SceneEnvironment(store, setting.scene, actor=setting.name)
    robot = Believing(store, belief, world=world, actor=setting.name)
    return robot.complete(store.history(setting.scene))


@dataclass(frozen=True, slots=True)
class _Cut:
    """What is to be made of a turn that was cut off: what to decide first, a turn to remember, and the costs so far."""

    spent: Spent
    first: Decision | None = None
    turn: Turn | None = None


def _since(setting: Setting, recipe: Recipe, past: Past) -> tuple[str, ...]:
    """What this method committed after the last version that the log names: actions as the scene's history has them."""
    scene = setting.scene
    if believes(setting, recipe):
        scene = lookup_scene(setting.store.database, belief_name(scene.name)) or scene
    operators = operators_of(scene.vocabulary)
    log = setting.store.history(scene, after=past.version)
    own = (it.action for it in log if it.actor == setting.name and it.kind == "act")
    return tuple(action for action in own if _name(action) in operators)


def _cut_off(past: Past, since: Sequence[str], vocabulary: str) -> _Cut:
    begun = max((number for number, it in enumerate(past.cut) if it["event"] == "solved"), default=0)
    cut = past.cut[begun:]
    told = tuple(str(it["action"]) for it in cut if it["event"] in ACTIONS)
    done = told + tuple(action.partition(INSERTED)[0] for action in since)
    spent = replace(past.spent, actions=past.spent.actions + len(done))
    proposed = [it for it in cut if it["event"] == "proposed"]
    settled = bool(proposed) and _settled(cut, since, vocabulary)
    if cut and cut[0]["event"] == "solved":
        return _solution(cut, spent, done, len(proposed) if settled else max(len(proposed) - 1, 0))
    if not proposed:
        return _Cut(past.spent)
    decision = Act(str(proposed[-1]["action"]), str(proposed[-1]["reason"]))
    return _ended(decision, spent, cut, done, told=_feedback(cut, done)) if settled else _Cut(spent, decision)


def _solution(cut: Sequence[Mapping[str, Any]], spent: Spent, done: tuple[str, ...], tried: int) -> _Cut:
    """The solution, of which more actions were `tried`, and all that became of it; none where a refusal ends it."""
    solved, refused = cut[0], sum(it["event"] == "refused" for it in cut)
    before = tuple(map(str, solved.get("done", ())))
    spent = replace(spent, actions=spent.actions + len(before))
    begun = Solve(tuple(solved["actions"]), str(solved["reason"]), bool(solved.get("final", True)))
    told = "; ".join(filter(None, (str(solved.get("told", "")), _feedback(cut, done))))
    if refused and not begun.final:
        return _ended(begun, spent, cut, before + done, told=told)
    tried, refused = int(solved.get("tried", 0)) + tried, int(solved.get("refused", 0)) + refused
    return _Cut(spent, replace(begun, tried=tried, refused=refused, done=before + done, told=told))


def _ended(
    decision: Act | Solve, spent: Spent, cut: Sequence[Mapping[str, Any]], done: tuple[str, ...], *, told: str
) -> _Cut:
    """A turn that came to its end, but for being remembered."""
    is_refused = any(it["event"] == "refused" for it in cut)
    turn = Turn(decision, told, done, refused=is_refused)
    refused = spent.refused + 1 if is_refused else 0
    return _Cut(replace(spent, steps=spent.steps + 1, refused=refused), turn=turn)


def _feedback(cut: Sequence[Mapping[str, Any]], done: tuple[str, ...]) -> str:
    """What was carried out and what was refused, in words."""
    refusals = [f"{it['action']} was refused: {'; '.join(it['reasons'])}" for it in cut if it["event"] == "refused"]
    return "; ".join([*(f"{action} was carried out" for action in done), *refusals])


def _settled(cut: Sequence[Mapping[str, Any]], since: Sequence[str], vocabulary: str) -> bool:
    """Whether the action proposed last was refused or carried out, if unknown to the log; else it is proposed again."""
    last = max(number for number, it in enumerate(cut) if it["event"] == "proposed")
    if {it["event"] for it in cut[last:]} & {"acted", "refused"}:
        return True
    name = _last_step(str(cut[last]["action"]), vocabulary)
    return any(_name(action) == name and INSERTED not in action for action in since)


def _last_step(action: str, vocabulary: str) -> str:
    """The name of the operator that ends an action, which may be a macro; empty where it is none."""
    try:
        call = parse(action)
        macro = macros_of(vocabulary).get(call.name)
        return (macro.steps(call)[-1] if macro else call).name
    except ActionRefused:
        return ""


def _name(action: str) -> str:
    return action.partition("(")[0]


def _beginning(first: Decision, build: Callable[[Given], Method]) -> Callable[[Given], Method]:
    return lambda given: _First(first, build(given))


@dataclass(slots=True)
class _First:
    """A method whose first decision is known."""

    first: Decision | None
    method: Method

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        if self.first is None:
            return self.method.decide(memory)
        known, self.first = self.first, None
        return known, Usage()
