"""The table of tools: each is a thin face of the front door, and every protocol serves this one list.

A tool is a function of a desk and its arguments, which are checked at the edge: unknown names and oversized texts are
refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model

from scenecypher.errors import ActionRefused, InputError, RejectedError
from scenecypher.planner.perception.observation import MAX_THINGS, SeenThing
from scenecypher.tools import results as r
from scenecypher.tools.desk import Desk

if TYPE_CHECKING:
    from scenecypher.readable import ReadableHome


Run: TypeAlias = Callable[..., r.Result]
Text = Annotated[str, Field(min_length=1, max_length=10_000)]
Cypher = Annotated[str, Field(min_length=1, max_length=100_000)]
Word = Annotated[str, Field(min_length=1, max_length=500)]
Version = Annotated[int, Field(ge=0)]
Scene = Annotated[Word, Field(description="the scene's name, as list_scenes shows it")]
ReadScene = Annotated[
    Word,
    Field(
        description="the scene's name; NAME@7 (a version) and NAME@2026-11-23T10:15 (a time) are earlier states of it"
    ),
]
Of = Annotated[Word, Field(description="a room or thing: its id, name or class")]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: what a model is told of it, its arguments, its result and its function.

    `changes` is True if it may change a scene or a belief. `repeatable` is True if a second call with the same
    arguments has no further effect.
    """

    name: str
    description: str
    arguments: type[BaseModel]
    result: type[r.Result]
    run: Run
    changes: bool = False
    repeatable: bool = True

    @property
    def title(self) -> str:
        """Return the name for people."""
        return self.name.replace("_", " ").capitalize()

    @property
    def is_of_scene(self) -> bool:
        """Return True if the tool works in one scene, which its argument `scene` names."""
        return "scene" in self.arguments.model_fields


def _tool(description: str, *, changes: bool = False, repeatable: bool = True) -> Callable[[Run], Tool]:
    """Return what makes a tool of a function: its name, arguments and result are the function's."""

    def tool(run: Run) -> Tool:
        types, parameters = get_type_hints(run, include_extras=True), [*signature(run).parameters.values()][1:]
        fields: dict[str, Any] = {
            it.name: (types[it.name], ... if it.default is it.empty else it.default) for it in parameters
        }
        config = ConfigDict(extra="forbid", frozen=True)
        arguments = create_model(run.__name__, __config__=config, **fields)
        return Tool(run.__name__.lstrip("_"), description, arguments, types["return"], run, changes, repeatable)

    return tool


@_tool("The homes that there are, with their versions and sizes.")
def _list_scenes(
    desk: Desk,
    containing: Annotated[str, Field(description="only scenes with this in their names", max_length=500)] = "",
) -> r.SceneList:
    wanted = containing.casefold()
    return r.SceneList.of([it for it in desk.homes.scenes() if wanted in it.name.casefold()])


@_tool("What occurs in a scene: kinds of nodes, classes, states, relations. Read it before you write a query.")
def _schema(
    desk: Desk,
    scene: ReadScene,
    *,
    past: Annotated[bool, Field(description="also what can be queried of the past (a scene as it is now)")] = False,
) -> r.TextResult:
    found = desk.homes.home_at(scene)
    text = found.schema
    if past:
        text += "\n" + desk.homes.home(scene).past_schema
    return r.TextResult.of(found.info.version, text)


@_tool(
    "Read a scene by Cypher. It reads this scene only, changes nothing and has a bounded cost; a query that can't "
    "be run so is refused with a hint how to repair it."
)
def _query(
    desk: Desk,
    scene: ReadScene,
    cypher: Annotated[
        Cypher, Field(description="a reading query, such as: MATCH (c:Object {class: 'cup'}) RETURN c.name")
    ],
) -> r.Rows:
    return r.Rows.of(desk.homes.home_at(scene).query(cypher))


@_tool("All that is known of one room or thing: states, what can be done with it, relations, what it contains.")
def _look(desk: Desk, scene: ReadScene, of: Of) -> r.TextResult:
    found = desk.homes.home_at(scene)
    return r.TextResult.of(found.info.version, found.look(of))


@_tool("Rooms, furniture and things as an indented text: what is where, what is held, states in brackets.")
def _tree(
    desk: Desk,
    scene: ReadScene,
    of: Annotated[Word | None, Field(description="a room or thing: its id, name or class; by default all")] = None,
) -> r.TextResult:
    found = desk.homes.home_at(scene)
    return r.TextResult.of(found.info.version, found.tree(of))


@_tool("The actions that are possible in a scene, with their arguments.")
def _actions(desk: Desk, scene: Scene) -> r.TextResult:
    home = desk.homes.home(scene)
    return r.TextResult.of(home.info.version, home.actions)


@_tool(
    "Carry out one action, checked and committed as one transaction. Where its precondition does not hold it is "
    "refused in words and nothing of it changes. A call that was cancelled or lost its connection may have been "
    "carried out: give each action an action_id, and repeat the call with it, so that it is done exactly once.",
    changes=True,
    repeatable=False,
)
def _act(
    desk: Desk,
    scene: Scene,
    *,
    action: Annotated[Word, Field(description="such as: grab(cup_2004)")],
    action_id: Annotated[
        Annotated[str, Field(min_length=1, max_length=200)] | None,
        Field(description="a new text for each action, which makes the call safe to repeat with the same id"),
    ] = None,
    expected_version: Annotated[
        Version | None, Field(description="act only if nobody changed the scene since this version")
    ] = None,
    fix: Annotated[bool, Field(description="first do by rule what the action needs")] = False,
    agent: Annotated[Word | None, Field(description="the id of the agent that acts; by default the first")] = None,
) -> r.Done:
    steps = []
    try:
        for step in desk.homes.home(scene).act_steps(
            action, expected_version=expected_version, action_id=action_id, fix=fix, agent=agent, ask=desk.ask
        ):
            steps.append(step)
            desk.report(f"{step.action}: version {step.version}")
    except RejectedError as error:
        if not steps:
            raise
        done = ", ".join(f"{it.action} (version {it.version})" for it in steps)
        raise ActionRefused(action, [*error.reasons, f"before that was done: {done}"]) from error
    return r.Done.of(steps)


@_tool("What was done in a scene: version, time, actor, action, changes.")
def _history(
    desk: Desk,
    scene: Scene,
    *,
    after: Annotated[Version | None, Field(description="events after this version; by default the latest")] = None,
    limit: Annotated[int, Field(description="events at most", ge=1, le=200)] = 20,
) -> r.HistoryEvents:
    home = desk.homes.home(scene)
    version = home.info.version
    after = max(0, version - limit) if after is None else after
    return r.HistoryEvents.of(version, home.history(after=after, limit=limit), home.undone(after=after))


@_tool(
    "Ask about the past by Cypher. PastEvent: version, at, actor, action, undone; PastFact: what was so since one "
    "version until another (since, until, since_at, until_at); PastNode: id, name, class, kind. "
    "(e:PastEvent)-[:CHANGED]->(n:PastNode), (e)-[:BEGAN|ENDED]->(f:PastFact), (f)-[:ABOUT|TARGET]->(n). The "
    "schema tool with past: true tells the rest."
)
def _past(
    desk: Desk,
    scene: Scene,
    cypher: Annotated[
        Cypher,
        Field(
            description="a reading query, such as: MATCH (e:PastEvent)-[:CHANGED]->(n:PastNode {id: 'cup_2004'}) "
            "RETURN e.version, e.actor, e.action ORDER BY e.version"
        ),
    ],
) -> r.Rows:
    return r.Rows.of(desk.homes.home(scene).query(cypher))


@_tool(
    "Undo the latest action in effect, one action, or everything after a version. The undo is an event of its own.",
    changes=True,
    repeatable=False,
)
def _undo(
    desk: Desk,
    scene: Scene,
    *,
    version: Annotated[Version | None, Field(description="undo the action of this version alone")] = None,
    to: Annotated[Version | None, Field(description="undo everything after this version")] = None,
) -> r.Undone:
    done = desk.homes.home(scene).undo(version=version, to=to)
    return r.Undone(version=done.version, **r.Changes.lines(done.delta))


@_tool("The changes from an earlier version to the scene, or from the scene to another.")
def _diff(
    desk: Desk,
    scene: ReadScene,
    *,
    since: Annotated[Version | None, Field(description="compare an earlier version of the scene with it")] = None,
    other: Annotated[Word | None, Field(description="compare with this scene, or earlier state of a scene")] = None,
) -> r.Difference:
    if (since is None) == (other is None):
        raise InputError("give either since, an earlier version, or other, a scene to compare with")
    found = desk.homes.home_at(scene)
    before, after = (found, desk.homes.home_at(other)) if other else (desk.homes.home(scene).at(since or 0), found)
    delta = before.diff(after)
    return r.Difference(before=_state(before), after=_state(after), **r.Changes.lines(delta))


def _state(home: ReadableHome) -> str:
    return f"{home.name}@{home.info.version}"


@_tool(
    "Merge what a look at a room or piece of furniture showed into the belief about the scene, the scene "
    "NAME@belief, which is made where absent. The scene itself does not change; undo on the belief takes it back.",
    changes=True,
)
def _observe(
    desk: Desk,
    scene: Scene,
    *,
    of: Annotated[
        Word, Field(description="what was looked at: a room or piece of furniture, by its id, name or class")
    ],
    things: Annotated[list[SeenThing], Field(description="what was seen there", max_length=MAX_THINGS)],
    seen: Annotated[
        Literal["whole", "part"],
        Field(description="whole: all of it was seen, so that what is not listed is not there"),
    ] = "part",
    accept: Annotated[bool, Field(description="merge it even if most of what is believed there was not seen")] = False,
) -> r.Looked:
    from scenecypher.planner.worlds.belief import belief_name, world_name

    home = desk.homes.home(scene)
    look = home.observe(of, things, seen=seen, accept=accept or None)
    return r.Looked.of(belief_name(world_name(home.name)), look)


@_tool(
    "Reach a goal: plan, then carry the plan out, each action checked and committed. Progress is reported step by "
    "step. What a cancelled call has done stays done.",
    changes=True,
    repeatable=False,
)
def _plan(
    desk: Desk,
    scene: Scene,
    *,
    goal: Annotated[
        Text | None,
        Field(description="what shall hold, such as: mug ON shelf; fridge is closed. By default the scene's own"),
    ] = None,
    instruction: Annotated[
        Text | None, Field(description="the task in words, for a method that asks a model; in place of a goal")
    ] = None,
    method: Annotated[Word, Field(description="symbolic needs a goal and no model; others ask one")] = "symbolic",
    max_steps: Annotated[int, Field(description="decisions at most", ge=1, le=200)] = 30,
) -> r.Planned:
    from scenecypher.home import PlanOptions, PlanOutcome
    from scenecypher.planner.sessions.budget import Budget
    from scenecypher.planner.sessions.events import Finished, Refused
    from scenecypher.wording import event_line

    home = desk.homes.home(scene)
    options = PlanOptions(goal=goal, method=method, budget=Budget(max_steps), ask=desk.ask)
    events = []
    for event in home.plan_events(instruction, **options):
        events.append(event)
        desk.report(event_line(event)[1].strip())
        if desk.is_stopped():
            break
    if not isinstance(end := events[-1], Finished):
        raise InputError("the call was cancelled; what was done until then stays done: history shows it")
    return r.Planned(
        done=end.is_done,
        **{name: getattr(end, name) for name in ("outcome", "reason", "goal", "unmet", "answer")},
        actions=[*PlanOutcome(tuple(events), end).actions],
        refused=[f"{it.action}: {'; '.join(it.reasons)}" for it in events if isinstance(it, Refused)],
        version=home.info.version,
    )


TOOLS: Final[Mapping[str, Tool]] = {
    it.name: it
    for it in (
        _list_scenes,
        _schema,
        _query,
        _look,
        _tree,
        _actions,
        _act,
        _history,
        _past,
        _undo,
        _diff,
        _observe,
        _plan,
    )
}
"""All tools by their names."""


def tools_served(*, read_only: bool = False) -> Mapping[str, Tool]:
    """Return the tools; with `read_only` those alone that change nothing."""
    return {name: tool for name, tool in TOOLS.items() if not (read_only and tool.changes)}
