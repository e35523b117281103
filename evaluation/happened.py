"""What happened in an episode, read from its session's events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from scenecypher.errors import ActionRefused
from scenecypher.planner.actions.minigrid import Executor
from scenecypher.planner.actions.text import parse
from scenecypher.planner.events import Acted, Cause, Corrected, Event, Finished, Refused, Solved

INFEASIBLE: Final[frozenset[Cause]] = frozenset({"missing", "affordance", "already"})
"""Of refused actions, those that name an action and nodes that there are."""


def happened(events: Sequence[Event], *, reprompt: bool) -> dict[str, Any]:
    """The fields of a `Trace` that events tell."""
    end = finished(events)
    return {
        "outcome": end.outcome,
        "reason": end.reason,
        "answer": end.answer,
        "executed": executed(events),
        "infeasible": infeasible(events, reprompt=reprompt),
        "mistakes": dict(Counter(event.cause for event in events if isinstance(event, Refused))),
        "steps": end.steps,
        "prompt_tokens": end.usage.prompt_tokens,
        "completion_tokens": end.usage.completion_tokens,
        "seconds": round(end.seconds, 3),
    }


def executed(events: Iterable[Event]) -> tuple[str, ...]:
    """The actions that were carried out, in their order, inserted ones too."""
    return tuple(event.action for event in events if isinstance(event, Acted | Corrected))


def infeasible(events: Iterable[Event], *, reprompt: bool) -> int:
    """How many actions were to be carried out and could not be (LookPlanGraph, section V).

    Those of a whole solution; and where the method is not asked again, each that the scene does not let be.
    """
    count, solving = 0, False
    for event in events:
        match event:
            case Solved():
                solving, count = event.final, count + event.refused
            case Refused() if solving and event.action:
                count += 1
            case Refused() if not reprompt and event.cause in INFEASIBLE:
                count += 1
            case _:
                pass
    return count


def fulfilled(task_id: str, actions: Iterable[str]) -> bool:
    """Whether the actions fulfil the mission of a task such as ``trv1/7``, by MiniGrid's own steps."""
    from scenecypher.importers.babyai import level_instance

    level, _, seed = task_id.partition("/")
    begun = level_instance(level, int(seed))
    executor = Executor(begun.env, begun.things)
    return any(_fulfils(executor, action) for action in actions)


def _fulfils(executor: Executor, action: str) -> bool:
    try:
        return executor.do(parse(action)).fulfilled
    except ActionRefused:
        return False


def finished(events: Sequence[Event]) -> Finished:
    """A session's last event."""
    return next(event for event in reversed(events) if isinstance(event, Finished))
