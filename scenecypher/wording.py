"""Changes, steps and events as lines of text, the same for the terminal, tools and agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scenecypher.db.graph.delta import Change
    from scenecypher.db.store.history import Event as Commit
    from scenecypher.planner.sessions import events as e


def counted(number: int, what: str) -> str:
    """Return a number with its noun: ``1 row``, ``2,000 rows``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def is_dense(change: Change) -> bool:
    """Return True for a change of CLOSE, which relates almost everything: texts only count such changes."""
    from scenecypher.db.graph.delta import AddRelation, RemoveRelation
    from scenecypher.db.store.enumerations import DENSE

    return isinstance(change, AddRelation | RemoveRelation) and change.relation.type == DENSE


def change_line(change: Change) -> str:
    """Return one change as a line for people."""
    from scenecypher.db.graph import delta as d
    from scenecypher.db.graph.value import plain_text

    match change:
        case d.AddNode(node):
            line = f"+ node {node.id} ({node.kind}, {node.class_})"
        case d.RemoveNode(node):
            line = f"- node {node.id} ({node.kind}, {node.class_})"
        case d.AddRelation(r):
            line = f"+ {r.source} {r.type} {r.target}"
        case d.RemoveRelation(r):
            line = f"- {r.source} {r.type} {r.target}"
        case d.SetKind():
            line = f"~ {change.id} kind: {change.before} -> {change.after}"
        case d.SetProperty():
            line = f"~ {change.id} {change.key}: {plain_text(change.before)} -> {plain_text(change.after)}"
        case d.ChangeList():
            parts = [f"+{item}" for item in change.added] + [f"-{item}" for item in change.removed]
            line = f"~ {change.id} {change.field}: {' '.join(parts)}"
    return line


def event_times(commit: Commit) -> dict[str, Any]:
    """Return the times of a commit for JSON: the server's, and the scene's own, None if it had none."""
    return {"at": commit.at.isoformat(), "scene_time": commit.clock.isoformat() if commit.clock else None}


def event_line(event: e.Event) -> tuple[str, str]:
    """Return an event's style and its line for people."""
    from scenecypher.planner.sessions import events as e

    match event:
        case e.Corrected():
            return "yellow", f"     first {event.action}, since {event.because}; version {event.version}"
        case e.Acted():
            return "green", f"     done, version {event.version}"
        case e.Observed():
            return "magenta", "\n".join(f"     saw: {finding}" for finding in event.findings)
        case e.Refused():
            return "red", f"     refused: {'; '.join(event.reasons)}"
        case e.Finished():
            seeing = f" and {event.seeing.total_tokens:,} of pictures" if event.seeing.total_tokens else ""
            tokens = f"{event.usage.total_tokens:,} tokens{seeing}, {event.seconds:.1f} s"
            answer = f"\nanswer: {event.answer}" if event.answer else ""
            cost = f"{counted(event.steps, 'step')}, {counted(event.actions, 'action')}, {tokens}"
            return "bold", f"{event.words} ({cost}){answer}"
        case _:
            return _decided(event)


def _decided(
    event: e.Asked | e.Retrieved | e.Called | e.Answered | e.Thought | e.Solved | e.Proposed | e.Began | e.Remembered,
) -> tuple[str, str]:
    """Return style and line of a decision; a session's start and the ends of turns are for logs only."""
    from scenecypher.planner.sessions import events as e

    match event:
        case e.Began() | e.Remembered():
            told = "dim", ""
        case e.Asked():
            whom = "ask a person" if event.to_person else "ask"
            told = "cyan", "\n       ".join((f"{event.step:>3}  {whom}: {event.question}", *event.choices))
        case e.Retrieved() | e.Answered():
            told = "dim", f"     {event.answer}".replace("\n", "\n     ")
        case e.Called():
            arguments = ", ".join(f"{name}={value!r}" for name, value in event.arguments.items())
            told = "cyan", f"{event.step:>3}  {event.tool}({arguments})"
        case e.Thought():
            told = "cyan", f"{event.step:>3}  think: {event.thought}"
        case e.Solved():
            told = "cyan", f"{event.step:>3}  a solution of {counted(len(event.actions), 'action')}"
        case e.Proposed():
            told = "bold", f"{event.step:>3}  {event.action}" + (f"  ({event.reason})" if event.reason else "")
    return told
