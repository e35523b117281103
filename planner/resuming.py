"""A session that goes on where its program ended: its turns are read from its log, and half-done pairs completed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from chat.model import Usage
from db.catalog import lookup
from db.store import SceneStore
from planner.actions.simulator import Step
from planner.belief import belief_name
from planner.believing import Believing
from planner.budget import Spent
from planner.environment import SceneEnvironment
from planner.events import Event, Remembered
from planner.method import Act, Decision, Memory, Method, Solve, Turn, decision_document, decision_of
from planner.recipe import Given, Recipe
from planner.staging import Setting, staged
from scenecypher.errors import InputError

ACTIONS: Final = frozenset({"acted", "corrected"})


class _Line(BaseModel):
    """What is read of a log's line; `event` says which event it is."""

    model_config = ConfigDict(extra="allow")

    event: str
    step: int = 0


class _Remembered(BaseModel):
    step: int
    decision: dict[str, Any] | None
    feedback: str
    done: tuple[str, ...]
    refused: bool
    infeasible: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class Past:
    """What a log says of a session: its whole turns, what they cost, and the events of the turn that was cut off.

    `ended` is whether it came to its end.
    """

    turns: tuple[Turn, ...]
    spent: Spent
    cut: tuple[Mapping[str, Any], ...]
    ended: bool


def resumed(setting: Setting, recipe: Recipe, file: Path) -> Iterator[Event]:
    """The rest of a session whose log is `file`: first the missing halves, then the events that follow.

    The same scene, task and method as before must be given. Raises InputError for what is no session's log, or one
    that came to its end.
    """
    past = read_log(file)
    _trim(file)
    if past.ended:
        msg = f"{file}: this session came to its end; start another without --resume"
        raise InputError(msg)
    return _going_on(setting, recipe, past)


def _going_on(setting: Setting, recipe: Recipe, past: Past) -> Iterator[Event]:
    believes = recipe.belief if setting.belief is None else setting.belief
    cut = _cut_off(past, completed(setting) if believes else ())
    if cut.first is not None:
        recipe = replace(recipe, build=_beginning(cut.first, recipe.build))
    ready = staged(setting, recipe)
    turns = past.turns if cut.turn is None else (*past.turns, cut.turn)
    if cut.turn is not None and cut.turn.decision is not None:
        document = decision_document(cut.turn.decision)
        told = cut.turn.feedback, cut.turn.done, cut.turn.refused
        yield Remembered(cut.spent.steps, document, *told, cut.spent.refused, Usage())
    yield from ready.session.run(replace(ready.memory, turns=turns), spent=cut.spent)


def completed(setting: Setting) -> tuple[Step, ...]:
    """Complete what was done to the world and not to the belief; nothing where there is no belief."""
    store: SceneStore = setting.store
    belief = lookup(store.database, belief_name(setting.scene.name))
    if belief is None:
        return ()
    world = setting.world or SceneEnvironment(store, setting.scene, actor=setting.name)
    robot = Believing(store, belief, world=world, actor=setting.name)
    return robot.complete(store.history(setting.scene))


def read_log(file: Path) -> Past:
    """The turns in a log of `plan --log`; a last line that was cut off is left out. Raises InputError."""
    lines = [*_lines(file)]
    whole = [_remembered(line, file) for line in lines if line.event == "remembered"]
    turns = tuple(
        Turn(None if it.decision is None else decision_of(it.decision), it.feedback, it.done, it.refused)
        for it in whole
    )
    usage = sum((it.usage for it in whole), Usage())
    last = whole[-1] if whole else None
    actions = sum(len(it.done) for it in whole)
    spent = Spent(last.step if last else 0, actions, last.infeasible if last else 0, usage)
    cut = tuple(line.model_dump() for line in lines if line.step > spent.steps and line.event != "finished")
    return Past(turns, spent, cut, ended=any(line.event == "finished" for line in lines))


@dataclass(frozen=True, slots=True)
class _Cut:
    """What is to be made of a turn that was cut off: what to decide first, a turn to remember, and the costs so far."""

    spent: Spent
    first: Decision | None = None
    turn: Turn | None = None


def _cut_off(past: Past, halves: Sequence[Step]) -> _Cut:
    begun = max((number for number, it in enumerate(past.cut) if it["event"] == "solved"), default=0)
    cut = past.cut[begun:]
    told = tuple(str(it["action"]) for it in cut if it["event"] in ACTIONS)
    done = told + tuple(step.action for step in halves if step.action not in told[-1:])
    spent = replace(past.spent, actions=past.spent.actions + len(done))
    proposed = [it for it in cut if it["event"] == "proposed"]
    if cut and cut[0]["event"] == "solved":
        settled = len(proposed) if _settled(cut, halves) else len(proposed) - 1
        return _Cut(spent, Solve(tuple(cut[0]["actions"])[max(settled, 0) :], str(cut[0]["reason"])))
    if not proposed:
        return _Cut(past.spent)
    decision = Act(str(proposed[-1]["action"]), str(proposed[-1]["reason"]))
    if not _settled(cut, halves):
        return _Cut(spent, decision)
    feedback = "; ".join(f"{action} was carried out" for action in done) or "it was refused"
    turn = Turn(decision, feedback, done, refused=not done)
    return _Cut(replace(spent, steps=spent.steps + 1, refused=0 if done else spent.refused + 1), turn=turn)


def _settled(cut: Sequence[Mapping[str, Any]], halves: Sequence[Step]) -> bool:
    """Whether the action proposed last was carried out, if only by half, or refused; what is not is proposed again."""
    last = max((number for number, it in enumerate(cut) if it["event"] == "proposed"), default=0)
    after = {it["event"] for it in cut[last:]}
    name = str(cut[last].get("action", "")).partition("(")[0]
    return bool(after & {"acted", "refused"}) or any(step.action.partition("(")[0] == name for step in halves)


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


def _lines(file: Path) -> Iterator[_Line]:
    try:
        texts = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{file}: can't be read ({error}); give a log that `plan --log` wrote"
        raise InputError(msg) from error
    for number, text in enumerate(texts, 1):
        try:
            yield _Line.model_validate_json(text)
        except ValidationError as error:
            if number == len(texts) > 1:
                return
            msg = f"{file}:{number}: this is no event of a session; give a log that `plan --log` wrote"
            raise InputError(msg) from error


def _trim(file: Path) -> None:
    """Take away a last line that was cut off, so that a log can be written on."""
    content = file.read_bytes()
    if content and not content.endswith(b"\n"):
        file.write_bytes(content[: content.rfind(b"\n") + 1])


def _remembered(line: _Line, file: Path) -> _Remembered:
    try:
        return TypeAdapter(_Remembered).validate_python(line.model_dump())
    except ValidationError as error:
        where = json.dumps(line.step)
        msg = f"{file}: the turn {where} can't be read; give a log that this version's `plan --log` wrote"
        raise InputError(msg) from error
