"""Parts of an episode's trace that are computed from its session's events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, get_args

from scenecypher.errors import ActionRefused
from scenecypher.planner.actions.text import parse_action
from scenecypher.planner.methods.baselines.pddl_mistakes import MistakeKind
from scenecypher.planner.sessions.events import (
    Acted,
    Answered,
    Asked,
    Cause,
    Corrected,
    Event,
    Finished,
    Refused,
    Remembered,
    Retrieved,
    Solved,
)
from scenecypher.planner.worlds.minigrid import Executor

WRONG_DISCOVERY: Final = "wrong discovery"
DISCOVERY: Final = "discover_objects("

INFEASIBLE_CAUSES: Final[frozenset[Cause]] = frozenset({"missing", "affordance", "already"})
"""Causes of refusals that name an existing action and existing nodes."""


def trace_fields(events: Sequence[Event], *, reprompt: bool) -> dict[str, Any]:
    """Return the fields of a `Trace` that the events determine."""
    end = final_event(events)
    return {
        "outcome": end.outcome,
        "reason": end.reason,
        "answer": end.answer,
        "executed": executed_actions(events),
        "infeasible": count_infeasible(events, reprompt=reprompt),
        "mistakes": dict(Counter(failure_kinds(events))),
        "iterations": tuple(iteration_tokens(events)),
        "steps": end.steps,
        "questions": sum(isinstance(it, Asked) and it.to_person for it in events),
        "prompt_tokens": end.usage.prompt_tokens,
        "completion_tokens": end.usage.completion_tokens,
        "seconds": round(end.seconds, 3),
    }


def failure_kinds(events: Iterable[Event]) -> Iterator[str]:
    """Yield the cause of each refusal, "wrong discovery" for a look that was refused, and LLM+P's kinds of mistakes.

    LookPlanGraph, appendix A; its other kinds, a misread goal and overestimated abilities, need a person.
    """
    for event in events:
        match event:
            case Refused(action=action, cause=cause):
                yield WRONG_DISCOVERY if action.startswith(DISCOVERY) else cause
            case Solved(reason=reason) | Finished(outcome="given_up", reason=reason):
                yield from (kind for kind in get_args(MistakeKind) for _ in range(reason.count(f"{kind}: ")))
            case _:
                pass


def iteration_tokens(events: Iterable[Event]) -> Iterator[tuple[int, int]]:
    """Yield the tokens of each decision: those of all agents, and those of the agent that decides alone."""
    asked = 0
    for event in events:
        match event:
            case Retrieved(usage=usage) | Answered(usage=usage):
                asked += usage.total_tokens
            case Remembered(usage=usage):
                yield usage.total_tokens, usage.total_tokens - asked
                asked = 0
            case _:
                pass


def executed_actions(events: Iterable[Event]) -> tuple[str, ...]:
    """Return the executed actions in order, inserted ones included."""
    return tuple(event.action for event in events if isinstance(event, Acted | Corrected))


def count_infeasible(events: Iterable[Event], *, reprompt: bool) -> int:
    """Count the actions that could not be executed (LookPlanGraph, section V).

    In a whole solution every refused action counts. Elsewhere, a refusal by the scene counts if the method is not asked
    again.
    """
    count, solving = 0, False
    for event in events:
        match event:
            case Solved():
                solving = event.final
            case Refused() if solving and event.action:
                count += 1
            case Refused() if not reprompt and event.cause in INFEASIBLE_CAUSES:
                count += 1
            case _:
                pass
    return count


def fulfils_mission(task_id: str, actions: Iterable[str]) -> bool:
    """Check by MiniGrid's own steps that the actions fulfil the mission of a task such as ``trv1/7``."""
    from scenecypher.importers.babyai import level_instance

    level, _, seed = task_id.partition("/")
    begun = level_instance(level, int(seed))
    executor = Executor(begun.env, begun.things)
    return any(_executes_and_fulfils(executor, action) for action in actions)


def _executes_and_fulfils(executor: Executor, action: str) -> bool:
    try:
        return executor.do(parse_action(action)).fulfilled
    except ActionRefused:
        return False


def final_event(events: Sequence[Event]) -> Finished:
    """Return a session's last event."""
    return next(event for event in reversed(events) if isinstance(event, Finished))
