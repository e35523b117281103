"""The table of tools: each is a thin face of the front door, and every protocol serves this one list."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from scenecypher.errors import ActionRefused, InputError, RejectedError
from scenecypher.tools import arguments as a
from scenecypher.tools import results as r
from scenecypher.tools.desk import Desk

if TYPE_CHECKING:
    from scenecypher.readable import ReadableHome


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: what a model is told of it, its arguments, its result and its function.

    `changes` is True if it may change a scene or a belief. `repeatable` is True if a second call with the same
    arguments has no further effect.
    """

    title: str
    description: str
    arguments: type[a.Arguments]
    result: type[r.Result]
    run: Callable[[Desk, Any], r.Result]
    changes: bool = False
    repeatable: bool = True

    @property
    def is_of_scene(self) -> bool:
        """Return True if the tool works in one scene, which its argument `scene` names."""
        return "scene" in self.arguments.model_fields


def _list_scenes(desk: Desk, given: a.ListScenes) -> r.SceneList:
    wanted = given.containing.casefold()
    return r.SceneList.of([it for it in desk.homes.scenes() if wanted in it.name.casefold()])


def _schema(desk: Desk, given: a.Schema) -> r.TextResult:
    found = desk.homes.home_at(given.scene)
    text = found.schema
    if given.past:
        text += "\n" + desk.homes.home(given.scene).past_schema
    return r.TextResult.of(found.info.version, text)


def _query(desk: Desk, given: a.Query) -> r.Rows:
    return r.Rows.of(desk.homes.home_at(given.scene).query(given.cypher))


def _look(desk: Desk, given: a.Look) -> r.TextResult:
    found = desk.homes.home_at(given.scene)
    return r.TextResult.of(found.info.version, found.look(given.of))


def _tree(desk: Desk, given: a.Tree) -> r.TextResult:
    found = desk.homes.home_at(given.scene)
    return r.TextResult.of(found.info.version, found.tree(given.of))


def _actions(desk: Desk, given: a.Actions) -> r.TextResult:
    home = desk.homes.home(given.scene)
    return r.TextResult.of(home.info.version, home.actions)


def _act(desk: Desk, given: a.Act) -> r.Done:
    steps = []
    wanted = given.model_dump(exclude={"scene", "action"})
    try:
        for step in desk.homes.home(given.scene).act_steps(given.action, ask=desk.ask, **wanted):
            steps.append(step)
            desk.report(f"{step.action}: version {step.version}")
    except RejectedError as error:
        if not steps:
            raise
        done = ", ".join(f"{it.action} (version {it.version})" for it in steps)
        raise ActionRefused(given.action, [*error.reasons, f"before that was done: {done}"]) from error
    return r.Done.of(steps)


def _history(desk: Desk, given: a.History) -> r.HistoryEvents:
    home = desk.homes.home(given.scene)
    version = home.info.version
    after = max(0, version - given.limit) if given.after is None else given.after
    return r.HistoryEvents.of(version, home.history(after=after, limit=given.limit), home.undone(after=after))


def _past(desk: Desk, given: a.Past) -> r.Rows:
    return r.Rows.of(desk.homes.home(given.scene).query(given.cypher))


def _undo(desk: Desk, given: a.Undo) -> r.Undone:
    if given.version is not None and given.to is not None:
        raise InputError("give either version, to undo one action, or to, to return to a version")
    done = desk.homes.home(given.scene).undo(version=given.version, to=given.to)
    return r.Undone(version=done.version, **r.Changes.lines(done.delta))


def _diff(desk: Desk, given: a.Diff) -> r.Difference:
    if (given.since is None) == (given.other is None):
        raise InputError("give either since, an earlier version, or other, a scene to compare with")
    found = desk.homes.home_at(given.scene)
    before, after = (found, desk.homes.home_at(given.other)) if given.other else (_earlier(desk, given), found)
    delta = before.diff(after)
    return r.Difference(before=_state(before), after=_state(after), **r.Changes.lines(delta))


def _earlier(desk: Desk, given: a.Diff) -> ReadableHome:
    return desk.homes.home(given.scene).at(given.since or 0)


def _state(home: ReadableHome) -> str:
    return f"{home.name}@{home.info.version}"


def _observe(desk: Desk, given: a.Observe) -> r.Looked:
    from scenecypher.planner.worlds.belief import belief_name, world_name

    home = desk.homes.home(given.scene)
    look = home.observe(given.of, given.things, seen=given.seen, accept=given.accept or None)
    return r.Looked.of(belief_name(world_name(home.name)), look)


def _plan(desk: Desk, given: a.Plan) -> r.Planned:
    from scenecypher.home import PlanOptions, PlanOutcome
    from scenecypher.planner.sessions.budget import Budget
    from scenecypher.planner.sessions.events import Finished, Refused
    from scenecypher.wording import event_line

    home = desk.homes.home(given.scene)
    budget = Budget(given.max_steps)
    options = PlanOptions(goal=given.goal, method=given.method, budget=budget, ask=desk.ask)
    events = []
    for event in home.plan_events(given.instruction, **options):
        events.append(event)
        desk.report(event_line(event)[1].strip())
        if desk.is_stopped():
            break
    outcome = PlanOutcome(tuple(events), end) if isinstance(end := events[-1], Finished) else None
    refused = [f"{it.action}: {'; '.join(it.reasons)}" for it in events if isinstance(it, Refused)]
    if outcome is None:
        raise InputError("the call was cancelled; what was done until then stays done: history shows it")
    return r.Planned(
        done=outcome.is_done,
        outcome=outcome.end.outcome,
        reason=outcome.end.reason,
        goal=outcome.end.goal,
        unmet=[*outcome.end.unmet],
        answer=outcome.end.answer,
        actions=[*outcome.actions],
        refused=refused,
        version=home.info.version,
    )


TOOLS: Final[Mapping[str, Tool]] = {
    "list_scenes": Tool(
        "List scenes",
        "The homes that there are, with their versions and sizes.",
        a.ListScenes,
        r.SceneList,
        _list_scenes,
    ),
    "schema": Tool(
        "Schema",
        "What occurs in a scene: kinds of nodes, classes, states, relations. Read it before you write a query.",
        a.Schema,
        r.TextResult,
        _schema,
    ),
    "query": Tool(
        "Query",
        "Read a scene by Cypher. It reads this scene only, changes nothing and has a bounded cost; a query that can't "
        "be run so is refused with a hint how to repair it.",
        a.Query,
        r.Rows,
        _query,
    ),
    "look": Tool(
        "Look",
        "All that is known of one room or thing: states, what can be done with it, relations, what it contains.",
        a.Look,
        r.TextResult,
        _look,
    ),
    "tree": Tool(
        "Tree",
        "Rooms, furniture and things as an indented text: what is where, what is held, states in brackets.",
        a.Tree,
        r.TextResult,
        _tree,
    ),
    "actions": Tool(
        "Actions", "The actions that are possible in a scene, with their arguments.", a.Actions, r.TextResult, _actions
    ),
    "act": Tool(
        "Act",
        "Carry out one action, checked and committed as one transaction. Where its precondition does not hold it is "
        "refused in words and nothing of it changes. A call that was cancelled or lost its connection may have been "
        "carried out: give each action an action_id, and repeat the call with it, so that it is done exactly once.",
        a.Act,
        r.Done,
        _act,
        changes=True,
        repeatable=False,
    ),
    "history": Tool(
        "History",
        "What was done in a scene: version, time, actor, action, changes.",
        a.History,
        r.HistoryEvents,
        _history,
    ),
    "past": Tool(
        "Past",
        "Ask about the past by Cypher. PastEvent: version, at, actor, action, undone; PastFact: what was so since one "
        "version until another (since, until, since_at, until_at); PastNode: id, name, class, kind. "
        "(e:PastEvent)-[:CHANGED]->(n:PastNode), (e)-[:BEGAN|ENDED]->(f:PastFact), (f)-[:ABOUT|TARGET]->(n). The "
        "schema tool with past: true tells the rest.",
        a.Past,
        r.Rows,
        _past,
    ),
    "undo": Tool(
        "Undo",
        "Undo the latest action in effect, one action, or everything after a version. The undo is an event of its own.",
        a.Undo,
        r.Undone,
        _undo,
        changes=True,
        repeatable=False,
    ),
    "diff": Tool(
        "Diff",
        "The changes from an earlier version to the scene, or from the scene to another.",
        a.Diff,
        r.Difference,
        _diff,
    ),
    "observe": Tool(
        "Observe",
        "Merge what a look at a room or piece of furniture showed into the belief about the scene, the scene "
        "NAME@belief, which is made where absent. The scene itself does not change; undo on the belief takes it back.",
        a.Observe,
        r.Looked,
        _observe,
        changes=True,
    ),
    "plan": Tool(
        "Plan",
        "Reach a goal: plan, then carry the plan out, each action checked and committed. Progress is reported step by "
        "step. What a cancelled call has done stays done.",
        a.Plan,
        r.Planned,
        _plan,
        changes=True,
        repeatable=False,
    ),
}
"""All tools by their names."""


def tools_served(*, read_only: bool = False) -> Mapping[str, Tool]:
    """Return the tools; with `read_only` those alone that change nothing."""
    return {name: tool for name, tool in TOOLS.items() if not (read_only and tool.changes)}
