"""Tasks of the experiment `goals`: what people ask for in our homes, and what must be so then, as plain Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, TypeAlias

from scenecypher.db.graph.delta import Delta, apply, diff
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.db.schema import HOLDING
from scenecypher.db.store.history import Event
from scenecypher.importers.task import Task
from scenecypher.planner.sessions.goal_words import GoalParser

BUDGET: Final = 60
PREFIX: Final = "goals/"
Gold: TypeAlias = Callable[[SceneGraph, SceneGraph], bool]
"""Says if a task is done, by the scene's graph at its start and at its end."""


@dataclass(frozen=True, slots=True)
class GoalTask:
    """A task in the home `home`: its goal in the language of goals, and what is `right` at the end.

    `moved` are things that were moved before, with where they are at the start. The goal of an impossible task can't
    be reached: it is right to say so, or to give up, and to change nothing.
    """

    kind: str
    name: str
    home: str
    instruction: str
    goal: str
    right: Gold
    moved: tuple[tuple[str, str], ...] = ()

    @property
    def id(self) -> str:
        """The id of the task."""
        return f"{PREFIX}{self.kind}/{self.name}"

    def is_done(self, start: SceneGraph, end: SceneGraph, outcome: str) -> bool:
        """Check if the task is done, or if an impossible one was left alone."""
        if self.kind == "impossible" and outcome not in {"impossible", "given_up"}:
            return False
        return self.right(start, end) and not any(end.sources(it, *HOLDING) for it in end.nodes)

    def moves(self, graph: SceneGraph) -> Delta:
        """Return the change by which things are not where they were."""
        things = {thing for thing, _ in self.moved}
        kept = {it for it in graph.relations if it.source not in things or it.type not in {"ON", "INSIDE", "CLOSE"}}
        placed = {Relation(thing, "ON", to) for thing, to in self.moved}
        placed |= {Relation(thing, "INSIDE", room) for thing, to in self.moved for room in graph.targets(to, "INSIDE")}
        kept -= {it for it in kept if it.target in things and it.type == "CLOSE"}
        return diff(graph, SceneGraph.of(graph.nodes.values(), kept | placed))

    def task(self, scene: ImportedScene) -> Task:
        """Return the task, with its goal as a Condition on the graph at its start."""
        moves = self.moves(scene.graph)
        event = Event(1, datetime(2026, 1, 1, tzinfo=UTC), "person", "move", "", "act", (), moves)
        parser = GoalParser(apply(scene.graph, moves), scene.vocabulary, events=lambda: (event,))
        goal = parser.read(self.goal)
        return Task(self.id, self.instruction, scene.name, goal, (), BUDGET, "ours", self.kind, self.goal)


def _on(graph: SceneGraph, *places: str) -> set[str]:
    """Return the movable things directly on or in places."""
    found = {it for place in places for it in graph.sources(place, "ON", "INSIDE")}
    return {it for it in found if graph.nodes[it].kind == "Object"}


def _all(class_: str, graph: SceneGraph) -> set[str]:
    return {*graph.by_class[class_]}


def _are(state: str, graph: SceneGraph) -> set[str]:
    return {it.id for it in graph.nodes.values() if state in it.states}


def _gone(place: str, to: str, *, also: str = "") -> Gold:
    """Return that all that was in a place is in another, and nothing else came there."""
    places = (place, also) if also else (place,)
    return lambda start, end: _on(end, to) == _on(start, to) | _on(start, *places)


def _same(start: SceneGraph, end: SceneGraph) -> bool:
    """Check that no thing has another place or state, wherever the agent is."""
    kept = [it for it in start.nodes.values() if it.kind != "Agent"]
    return all(it == end.nodes[it.id] and _placed(start, it.id) == _placed(end, it.id) for it in kept)


def _placed(graph: SceneGraph, node: str) -> tuple[str, ...]:
    return graph.targets(node, "ON", "INSIDE")


def _at(*placed: tuple[str, str]) -> Gold:
    """Return that things are where they should be."""
    return lambda _, end: all(end.has(x, "ON", y) or end.has(x, "INSIDE", y) for x, y in placed)


def _only(class_: str, place: str, *things: str) -> Gold:
    """Return that of a class just these things are in or on a place."""
    return lambda _, end: _on(end, place) & _all(class_, end) == {*things}


def _count(class_: str, place: str, *counts: int) -> Gold:
    """Return that so many things of a class are in or on a place."""
    return lambda _, end: len(_on(end, place) & _all(class_, end)) in counts


def _own(class_: str, places: str) -> Gold:
    """Return that all things of a class are on things of another, no two on one."""
    return lambda _, end: (
        all(len(_on(end, place) & _all(class_, end)) <= 1 for place in _all(places, end))
        and _all(class_, end) <= _on(end, *_all(places, end))
    )


FLAT, COTTAGE = "apartment", "cottage"
GOAL_TASKS: Final = (
    GoalTask("now", "dirty", FLAT, "Put everything that is dirty onto the kitchen counter.",
             "x: all dirty thing; x ON kitchencounter",
             lambda s, e: _on(e, "kitchencounter_51") == _on(s, "kitchencounter_51") | _are("dirty", s)),
    GoalTask("now", "shelf", FLAT, "Put the books that are in the bookshelf onto the desk.",
             "x: all book where x INSIDE bookshelf; x ON desk", _only("book", "desk_39", "book_101", "book_102")),
    GoalTask("now", "towel", FLAT, "Put the towel that hangs on the rack onto the bed.",
             "x: one towel where x ON towelrack; x ON bed", _only("towel", "bed_23", "towel_17")),
    GoalTask("now", "clear", FLAT, "Move what is on the kitchen table to the counter.",
             "x: all thing where x ON kitchentable; x ON kitchencounter",
             _gone("kitchentable_78", "kitchencounter_51")),
    GoalTask("now", "bowl", FLAT, "Put the bowl from the living room into the kitchen cabinet.",
             "x: one bowl where x INSIDE livingroom; x INSIDE kitchencabinet", _at(("bowl_96", "kitchencabinet_58"))),
    GoalTask("quantity", "glass", FLAT, "There shall be exactly one wine glass on the kitchen table.",
             "exactly 1 wineglass ON kitchentable", _count("wineglass", "kitchentable_78", 1)),
    GoalTask("quantity", "books", COTTAGE, "I want exactly two books on the coffee table.",
             "exactly 2 book ON coffeetable", _count("book", "coffeetable_84", 2)),
    GoalTask("quantity", "cushion", FLAT, "At most one cushion may stay on the sofa.",
             "at most 1 cushion ON sofa", _count("cushion", "sofa_89", 0, 1)),
    GoalTask("quantity", "towels", FLAT, "Put two towels onto the bed.",
             "2 towel ON bed", _count("towel", "bed_23", 2, 3)),
    GoalTask("quantity", "table", COTTAGE, "No more than two things on the kitchen table, please.",
             "at most 2 thing ON kitchentable", lambda _, e: len(_on(e, "kitchentable_73")) <= 2),
    GoalTask("quantity", "pillows", FLAT, "Put as many books onto the desk as there are pillows on the bed.",
             "p: all pillow where p ON bed; b: as many book as p; b ON desk", _count("book", "desk_39", 2)),
    GoalTask("or", "apple", FLAT, "Put the apple onto the coffee table or onto the desk.",
             "apple ON coffeetable or apple ON desk", lambda _, e: "apple_81" in _on(e, "coffeetable_94", "desk_39")),
    GoalTask("or", "pillows", FLAT, "Put each pillow onto the sofa or the armchair.",
             "x: all pillow; x ON sofa or x ON armchair",
             lambda _, e: _all("pillow", e) <= _on(e, "sofa_89", "armchair_93")),
    GoalTask("or", "light", FLAT, "Switch on the television or the floor lamp.",
             "tv is on or floorlamp is on", lambda _, e: bool(_are("on", e) & {"tv_98", "floorlamp_104"})),
    GoalTask("or", "window", FLAT, "Open a window, in the kitchen or in the bedroom.",
             "window_88 is open or window_47 is open", lambda _, e: bool(_are("open", e) & _all("window", e))),
    GoalTask("none", "cushion", FLAT, "No cushion may stay on the sofa.",
             "no cushion ON sofa", _count("cushion", "sofa_89", 0)),
    GoalTask("none", "milk", FLAT, "Take the milk off the kitchen table.",
             "not milk ON kitchentable", lambda _, e: "milk_79" not in _on(e, "kitchentable_78")),
    GoalTask("none", "sink", FLAT, "Nothing may stay in the kitchen's sink.",
             "x: all thing where x INSIDE sink_64; not x INSIDE sink_64", lambda _, e: not _on(e, "sink_64")),
    GoalTask("none", "lamps", COTTAGE, "No table lamp and no floor lamp may be on.",
             "no tablelamp is on; no floorlamp is on",
             lambda _, e: not _are("on", e) & (_all("tablelamp", e) | _all("floorlamp", e))),
    GoalTask("impossible", "dirty", FLAT, "Make a pillow dirty.", "one pillow is dirty", _same),
    GoalTask("impossible", "cat", FLAT, "Put the cat into the washing basket.", "cat INSIDE basket", _same),
    GoalTask("impossible", "apple", FLAT, "Switch the apple on.", "apple is on", _same),
    GoalTask("impossible", "bed", FLAT, "Put the bed into the microwave.", "bed INSIDE microwave", _same),
    GoalTask("impossible", "kitchen", COTTAGE, "Put the kitchen into the fridge.", "kitchen_3 INSIDE fridge", _same),
    GoalTask("many", "fridge", FLAT, "Put all that is on the kitchen table into the fridge, and close it.",
             "x: all thing where x ON kitchentable; x INSIDE fridge; fridge is closed",
             lambda s, e: _gone("kitchentable_78", "fridge_71")(s, e) and "fridge_71" in _are("closed", e)),
    GoalTask("many", "books", COTTAGE, "Put all books onto the sofa.",
             "all book ON sofa", lambda _, e: _all("book", e) <= _on(e, "sofa_81")),
    GoalTask("many", "towels", FLAT, "Put all towels into the basket.",
             "all towel INSIDE basket", lambda _, e: _all("towel", e) <= _on(e, "basket_21")),
    GoalTask("many", "living", COTTAGE, "Put what is on the coffee table and on the sofa onto the desk.",
             "x: all thing where x ON coffeetable or x ON sofa; x ON desk",
             _gone("coffeetable_84", "desk_95", also="sofa_81")),
    GoalTask("back", "mug", FLAT, "Put the mug back.", "mug is back",
             _at(("mug_80", "kitchentable_78")), (("mug_80", "sofa_89"),)),
    GoalTask("back", "remote", FLAT, "Put the remote control back where it was.",
             "remotecontrol is back", _at(("remotecontrol_92", "sofa_89")),
             (("remotecontrol_92", "kitchencounter_51"),)),
    GoalTask("back", "book", FLAT, "Put the book on the bed back.", "x: one book where x ON bed; x is back",
             _at(("book_30", "nightstand_27")), (("book_30", "bed_23"),)),
    GoalTask("back", "pillows", FLAT, "Put the pillows back.", "x: all pillow; x is back",
             _at(("pillow_24", "bed_23"), ("pillow_25", "bed_23")),
             (("pillow_24", "sofa_89"), ("pillow_25", "rug_108"))),
    GoalTask("back", "milk", COTTAGE, "Put the milk back, and switch the television on.", "milk is back; tv is on",
             lambda _, e: e.has("milk_48", "ON", "kitchencounter_46") and "tv_88" in _are("on", e),
             (("milk_48", "coffeetable_84"),)),
    GoalTask("each", "chairs", FLAT, "Put each pillow onto a chair of its own.",
             "x: all pillow; y: one chair for each x; x ON y", _own("pillow", "chair")),
    GoalTask("each", "rugs", FLAT, "Put one pillow on each rug.",
             "x: all rug; y: one pillow for each x; y ON x", _own("pillow", "rug")),
    GoalTask("each", "alike", FLAT, "Put two things of the same kind from the bookshelf onto the desk.",
             "x: 2 thing of one kind where x INSIDE bookshelf; x ON desk",
             _only("book", "desk_39", "book_101", "book_102")),
    GoalTask("each", "other", FLAT, "One cushion shall be on the bed, and another one on the sofa.",
             "a: one cushion; b: one cushion other than a; a ON bed; b ON sofa",
             lambda _, e: all(_on(e, it) & _all("cushion", e) for it in ("bed_23", "sofa_89"))),
    GoalTask("nothing", "fridge", FLAT, "Make sure that the fridge is closed.", "fridge is closed", _same),
    GoalTask("nothing", "cushion", FLAT, "Make sure that no cushion is on the bed.", "no cushion ON bed", _same),
    GoalTask("nothing", "pillows", COTTAGE, "All pillows shall be on the bed.", "all pillow ON bed", _same),
)  # fmt: skip
BY_ID: Final = {it.id: it for it in GOAL_TASKS}
