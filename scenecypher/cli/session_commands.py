"""What a line of `scenecypher session` does: commands, Cypher, actions, or a question."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scenecypher.cli.context import counted, open_gate, output, readable
from scenecypher.cli.desk import Desk
from scenecypher.errors import InputError, RejectedError, did_you_mean

if TYPE_CHECKING:
    from scenecypher.importers.task import Task
    from scenecypher.planner.events import Event
    from scenecypher.planner.staging import Setting

CYPHER: Final = re.compile(
    r"(optional\s+)?match\b.*\(|(with|unwind)\b.*\breturn\b|return\b"
    r"|(create|merge|foreach)\s*\(|call\s*(\{|[\w.]+\s*\()|load\s+csv\b",
    re.IGNORECASE | re.DOTALL,
)
"""What reads as Cypher rather than as a question; what changes something is for the gate to refuse, not for a model."""
ACTION: Final = re.compile(r"[a-z_]+\s*\(.*\)")
STEPS: Final = 30
NUMBER: Final = "[N]"


class Quit(Exception):
    """The person is done."""


@dataclass(frozen=True, slots=True)
class Command:
    """What a command word does with the rest of its line; `takes` is what that is, in the help."""

    run: Callable[[Desk, str], None]
    takes: str
    words: str

    def is_meant(self, rest: str) -> bool:
        """Whether a line that begins with its word is this command, and no question such as "why is it open?"."""
        is_number = self.takes == NUMBER and rest.removeprefix("-").isdecimal()
        return not rest or is_number or self.takes not in {"", NUMBER}


def do(desk: Desk, line: str) -> None:
    """Do what a line says. Raises Quit, SceneCypherError."""
    line = readable(line).strip()
    word, _, rest = line.partition(" ")
    command = COMMANDS.get(word.casefold())
    if not word:
        return
    if command is not None and command.is_meant(rest):
        command.run(desk, rest.strip())
    elif command is not None and rest.strip().removeprefix("-").isdecimal():
        raise InputError(f"`{word}` takes no number; give it alone")
    elif CYPHER.match(line):
        _query(desk, line)
    elif ACTION.fullmatch(line):
        _act(desk, line)
    elif not rest and did_you_mean(word, tuple(COMMANDS)):
        msg = f"no command {word!r}{did_you_mean(word, tuple(COMMANDS))}; `help` lists all"
        raise InputError(msg)
    else:
        _ask(desk, line)


def _ask(desk: Desk, question: str) -> None:
    from scenecypher.cli.ask import answered, show
    from scenecypher.db.store.enumerate import Enumerator
    from scenecypher.retriever.retriever import Retriever

    if not question:
        raise InputError("what do you want to know? Write it after `ask`")
    retriever = Retriever(desk.model, open_gate(desk.store), Enumerator(desk.store.database))
    found = answered(retriever.stream(question, desk.known))
    desk.last = [found.cypher or "no query answers that", found.answer]
    show(found)


def _query(desk: Desk, cypher: str) -> None:
    from scenecypher.cli.query import print_answer
    from scenecypher.db.store.enumerate import Enumerator
    from scenecypher.retriever.reader import SceneReader

    print_answer(SceneReader(open_gate(desk.store), Enumerator(desk.store.database), desk.known).run(cypher))


def _act(desk: Desk, action: str) -> None:
    try:
        with desk.marked():
            _carry_out(desk, action)
    except RejectedError as refused:
        desk.last = [f"{action} was refused", *refused.reasons]
        raise


def _carry_out(desk: Desk, action: str) -> None:
    for step in desk.simulator().act(action):
        desk.last = [f"{step.action} changed {counted(len(step.delta), 'fact')}"]
        output().print(f"{step.action}: done, version {step.version}", style="green", markup=False)
        for line in step.seen:
            output().print(f"  saw: {line}", style="magenta", markup=False)


def _plan(desk: Desk, text: str) -> None:
    from scenecypher.planner.methods import recipe_named
    from scenecypher.planner.staging import staged

    setting = setting_of(desk, text)
    desk.plan = staged(setting, recipe_named(desk.method)).run()
    desk.last = [f"{desk.method} is to carry out: {setting.instruction}"]
    said = f"{desk.method}: {setting.instruction}\n`step` takes its next decision, `go` all of them"
    output().print(said, markup=False)


def setting_of(desk: Desk, text: str) -> Setting:
    """What is to be done: words, or ``--task`` and the id of one. Raises InputError."""
    from scenecypher.planner.budget import Budget
    from scenecypher.planner.methods import recipe_named
    from scenecypher.planner.staging import NoModel, Setting

    known, instruction = _task_or_words(text)
    return Setting(
        desk.store,
        open_gate(desk.store),
        desk.scene,
        instruction,
        desk.method,
        goal=known.goal if known is not None and known.has_graph_goal else None,
        deeds=known.action_goals if known is not None else (),
        model=desk.model if recipe_named(desk.method).model else NoModel(),
        budget=Budget(known.budget + STEPS if known else STEPS),
        belief=desk.belief is not None,
        world=desk.world,
    )


def _task_or_words(text: str) -> tuple[Task | None, str]:
    word, _, task_id = text.partition(" ")
    if word == "--task":
        from scenecypher.importers import datasets

        known = datasets.task(task_id.strip())[1]
        return known, known.instruction
    if not text:
        raise InputError("what shall be done? Write it after `plan`, or --task and a task's id")
    return None, text


def _step(desk: Desk, count: str) -> None:
    number = int(count or 1)
    if number < 1:
        raise InputError(f"`step` takes a number from 1, not {number}; `step` alone takes one decision")
    _turns(desk, number)


def _go(desk: Desk, _: str) -> None:
    _turns(desk, None)


def _turns(desk: Desk, count: int | None) -> None:
    """So many decisions of the plan, or all that are left (None)."""
    if desk.plan is None:
        raise InputError("no plan is under way; begin one with `plan` and what shall be done")
    plan, desk.plan = desk.plan, None  # one that raises can't be gone on with
    with desk.marked():
        if _goes_on(desk, plan, count):
            desk.plan = plan


def _goes_on(desk: Desk, plan: Iterator[Event], count: int | None) -> bool:
    """Whether a plan has more to decide after so many decisions."""
    from scenecypher.planner.events import Remembered

    taken = 0
    for event in plan:
        desk.tell(event)
        taken += isinstance(event, Remembered)
        if taken == count:
            return True
    return False


def _undo(desk: Desk, _: str) -> None:
    """Without a belief the latest action that holds; with one, both back to before this session's last action."""
    if desk.is_elsewhere:
        raise InputError("what was done there can't be undone here; ask for the action that puts it back")
    if desk.belief is None:
        done = desk.store.undo(desk.scene)
        output().print(f"undone: {counted(len(done.delta), 'change')}, version {done.version}", markup=False)
        return
    if not desk.marks:
        raise InputError("nothing was done in this session yet; `scenecypher undo` goes further back")
    mark = desk.marks.pop()
    moved = [name for name, version in mark.items() if desk.store.find(name).version > version]
    for name in moved:
        done = desk.store.undo(desk.store.find(name), to=mark[name])
        output().print(f"{name}: {counted(len(done.delta), 'change')} undone, version {done.version}", markup=False)
    desk.undone.append(moved)


def _redo(desk: Desk, _: str) -> None:
    """The latest undo; with a belief in each scene that it took something back in, or in none."""
    from scenecypher.db.store.history import plan_redo

    if desk.is_elsewhere:
        raise InputError("what was done there can't be done again here; ask for the action once more")
    scenes = [it for it in (desk.scene, desk.belief) if it and (not desk.undone or it.name in desk.undone[-1])]
    for scene in scenes:
        plan_redo(desk.store.history(scene))  # raises before either is changed
    with desk.marked():
        for scene in scenes:
            done = desk.store.redo(scene)
            output().print(
                f"{scene.name}: {counted(len(done.delta), 'change')} done again, version {done.version}", markup=False
            )
    del desk.undone[-1:]


def _why(desk: Desk, _: str) -> None:
    for line in desk.last or ["nothing was asked, planned or done yet"]:
        output().print(line, markup=False)


def _history(desk: Desk, _: str) -> None:
    from scenecypher.cli.history import print_history

    print_history(desk.store.history(desk.known), limit=20)


def _actions(desk: Desk, _: str) -> None:
    from scenecypher.planner.actions.vocabularies import action_list, macros_of, operators_of

    vocabulary = desk.scene.vocabulary
    output().print(action_list(operators_of(vocabulary), macros_of(vocabulary)), markup=False)


def _help(_desk: Desk, _: str) -> None:
    for name, command in COMMANDS.items():
        output().print(f"{f'{name} {command.takes}':22}{command.words}", markup=False)
    output().print("Anything else is a question, a Cypher query, or an action such as grab(cup_30).", markup=False)


def _quit(_desk: Desk, _: str) -> None:
    raise Quit


COMMANDS: Final[Mapping[str, Command]] = {
    "ask": Command(_ask, "QUESTION", "ask the scene in words (a model writes the query)"),
    "act": Command(_act, "ACTION", "carry out an action, checked and committed"),
    "actions": Command(_actions, "", "the actions that there are"),
    "plan": Command(_plan, "INSTRUCTION", "begin to carry out a task; or --task ID"),
    "step": Command(_step, NUMBER, "take the plan's next decision, or the next N"),
    "go": Command(_go, "", "carry the plan out to its end"),
    "why": Command(_why, "", "why the last action was proposed or refused"),
    "undo": Command(_undo, "", "take the last action back"),
    "redo": Command(_redo, "", "take the last undo back"),
    "history": Command(_history, "", "what was done"),
    "help": Command(_help, "", "this list"),
    "quit": Command(_quit, "", "end the session (also end of input)"),
}
"""Each command by its word."""
