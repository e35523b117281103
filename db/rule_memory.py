"""What rules remember of a scene's past: a few states of its agent, which each change brings forward.

The states are of the time before a version, so that a rule's value then follows from them and the graph alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Final

import scenecypher.db.condition as c
from scenecypher.db.graph.delta import ChangeList, Delta, RemoveNode
from scenecypher.db.graph.live import LiveGraph
from scenecypher.db.graph.scene import GraphView
from scenecypher.db.rules import Rule, Rules, check_outcome, forbidden_by
from scenecypher.errors import RuleBroken

MARK: Final = "rule "
"""Beginning of the states that are a rule's memory."""
OPENED: Final = "open from "
"""Before the version at which a duty began."""
_AGENT: Final = "rule_agent"


def required_now(rule: Rule) -> c.Condition:
    """Return what must hold before an action that an `only` or `ask` rule is about."""
    match rule.tense:
        case "once":
            return c.Or((_marked(rule, "was so"), rule.condition))
        case "before":
            return c.Not(c.Or((_marked(rule, "was so"), rule.condition)))
        case "since":
            return c.And((rule.condition, c.Or((_marked(rule, "kept"), _begins(rule)))))
        case _:
            return rule.condition


def is_open(rule: Rule) -> c.Condition:
    """Return the condition that the duty of a `within` rule is open."""
    return c.And((c.Not(rule.condition), c.Or((_marked(rule, "open"), _begins(rule)))))


def has_run_out(rule: Rule) -> c.Condition:
    """Return the condition that no action is left for the duty of a `within` rule."""
    return c.And((c.Not(rule.condition), _marked(rule, "0 left")))


@lru_cache(maxsize=2_000)
def memory_of(rule: Rule, *, counted: bool = True) -> tuple[tuple[str, c.Condition], ...]:
    """Return the states in which a rule is remembered after a change, each with its condition before the change.

    A change that is `counted` is an agent's action.
    """
    return tuple(_memory_of(rule, counted=counted))


def _memory_of(rule: Rule, *, counted: bool) -> Iterator[tuple[str, c.Condition]]:
    match rule.tense:
        case "once" | "before":
            yield _state(rule, "was so"), c.Or((_marked(rule, "was so"), rule.condition))
        case "since":
            yield _state(rule, "kept"), required_now(rule)
        case "within":
            yield _state(rule, "open"), is_open(rule)
            first = c.And((_begins(rule), c.Not(_marked(rule, "open"))))
            for left in range(1, rule.limit + 1 if rule.unit == "actions" else 0):
                marked = _marked(rule, f"{left} left")
                is_left = c.Or((marked, first)) if left == rule.limit else marked
                yield _state(rule, f"{left - counted} left"), c.And((c.Not(rule.condition), is_left))
            if counted:
                yield _state(rule, f"{rule.limit} left"), c.NEVER
    if rule.begun != c.NEVER:
        yield _state(rule, "begun"), rule.begun


def with_memory(rules: Rules, graph: GraphView, delta: Delta, *, version: int, counted: bool, reverts: bool) -> Delta:
    """Return a change of a scene at a version with what the rules remember after it, in place of what it has of that.

    An undo or a redo that `reverts` the latest changes brings back what was remembered then.
    """
    agents = graph.by_kind.get("Agent", ()) if rules.documents else ()
    keeper = min(agents, key=lambda it: (not _marks(graph, it), it), default=None)
    if keeper is None or any(isinstance(it, RemoveNode) and it.node.id == keeper for it in delta.changes):
        return delta
    now, rest = _marks(graph, keeper), without_memory(delta)
    lists = (it for it in delta.changes if isinstance(it, ChangeList) and (it.id, it.field) == (keeper, "states"))
    given = next(lists, ChangeList(keeper, "states"))
    gone, new = ({mark for mark in marks if mark.startswith(MARK)} for marks in (given.removed, given.added))
    if reverts and gone <= now and not new & now:
        known = tuple(_state(rule, "") for rule in rules.past)
        after = {it for it in now - gone | new if it.startswith(known)}
    else:
        after = {it for rule in rules.past for it in _after(rule, graph, now, version=version, counted=counted)}
    changed = ChangeList(keeper, "states", tuple(after - now), tuple(now - after))
    return Delta.of((*rest.changes, changed)) if after != now else rest


def without_memory(delta: Delta) -> Delta:
    """Return a change without what rules remember."""
    found = [_unmarked(it) if isinstance(it, ChangeList) else it for it in delta.changes]
    return Delta(tuple(it for it in found if not isinstance(it, ChangeList) or it.added or it.removed))


def decide(rules: Rules, graph: GraphView, delta: Delta, *, action: str, version: int = 0) -> Delta:
    """Return an agent's action with what the rules remember after it. Raises RuleBroken."""
    found = with_memory(rules, graph, delta, version=version, counted=True, reverts=False)
    check_change(rules, graph, found, action=action)
    return found


def check_change(
    rules: Rules,
    graph: GraphView,
    delta: Delta,
    *,
    action: str,
    counted: bool = True,
    is_late: Callable[[Rule], bool] = lambda _: False,
) -> None:
    """Raise RuleBroken if a change breaks a `never` rule, or a `counted` one does not fulfil a duty that is over then.

    `is_late` tells of an open duty within minutes if they are over.
    """
    check_outcome(rules, graph, delta, action=action)
    new = {mark for it in delta.changes if isinstance(it, ChangeList) for mark in it.added}
    for rule in rules.duties if counted else ():
        may_be_late = rule.unit == "minutes" and c.evaluate(is_open(rule), graph, {})
        if not (_state(rule, "0 left") in new or (may_be_late and is_late(rule))):
            continue
        after = LiveGraph(graph)
        after.apply(delta)
        if not c.evaluate(rule.condition, after, {}):
            why = f"{forbidden_by(rule)} (its time is over with this action); do first what it asks for"
            raise RuleBroken(action, [why])


def open_duties(rules: Rules, graph: GraphView) -> tuple[Rule, ...]:
    """Return the `within` rules of which the duty is open."""
    return tuple(it for it in rules.duties if c.evaluate(is_open(it), graph, {}))


def opened_at(rule: Rule, graph: GraphView, version: int) -> int:
    """Return the version at which the open duty of a rule began; `version` is the scene's."""
    begin = _state(rule, OPENED)
    marks = (mark for it in graph.by_kind.get("Agent", ()) for mark in _marks(graph, it) if mark.startswith(begin))
    return next((int(it.removeprefix(begin)) for it in marks), version)


def _after(rule: Rule, graph: GraphView, now: set[str], *, version: int, counted: bool) -> Iterator[str]:
    """Yield the states in which a rule is remembered after a change of a graph."""
    if _state(rule, "was so") in now:
        yield _state(rule, "was so")
        return
    is_idle = rule.kind == "within" and not c.evaluate(is_open(rule), graph, {})
    known = ((_state(rule, "begun"), rule.begun),) if is_idle else memory_of(rule, counted=counted)
    found = {name for name, condition in known if c.evaluate(condition, graph, {})}
    yield from found
    if _state(rule, "open") in found:
        earlier = [it for it in now if it.startswith(_state(rule, OPENED))]
        yield from earlier or [_state(rule, f"{OPENED}{version}")]


def _begins(rule: Rule) -> c.Condition:
    """Return the condition that what a rule begins with holds, and did not before."""
    return c.And((rule.begun, c.Not(_marked(rule, "begun"))))


def _state(rule: Rule, what: str) -> str:
    return f"{MARK}{rule.name} {rule.since}: {what}"


def _unmarked(change: ChangeList) -> ChangeList:
    added, removed = ([it for it in part if not it.startswith(MARK)] for part in (change.added, change.removed))
    return replace(change, added=tuple(added), removed=tuple(removed))


def _marked(rule: Rule, what: str) -> c.Condition:
    return c.Exists(_AGENT, c.And((c.HasKind(_AGENT, "Agent"), c.HasState(_AGENT, _state(rule, what)))))


def _marks(graph: GraphView, node: str) -> set[str]:
    return {it for it in graph.nodes[node].states if it.startswith(MARK)}
