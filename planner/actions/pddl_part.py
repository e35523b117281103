"""The part of a scene that a goal is about: what it is found by, and, of a graph in memory, that part itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from scenecypher.db.condition import Condition, HasClass, Id, Related, terms
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.schema import HOLDING
from scenecypher.planner.actions.pddl_variables import parts_of
from scenecypher.planner.relevant import (
    CONTAINMENT,
    MAX_CONTAINMENT_DEPTH,
    MAX_CONTENTS,
    SMALL_SCENE_NODES,
    RelevanceQuery,
)

SURFACES: Final = ("put_on", "surfaces")
"""The affordances of what things can be put on, in the words of the vocabularies."""
LIFTED: Final = ("pick_up", "grabbable")
"""Those of what can be carried away, likewise."""
SECOND_HAND: Final = "HOLDS_LH"
"""The hand that takes a thing only where the other one is full."""


def sought_for(goal: Condition) -> RelevanceQuery:
    """What to look for, for a goal: the nodes and classes that it names."""
    ids: set[str] = set()
    classes: set[str] = set()
    fillers = False
    for part in parts_of(goal):
        if isinstance(part, HasClass):
            classes.add(part.class_)
        fillers |= isinstance(part, Related) and part.type == SECOND_HAND
        ids |= {term.id for term in terms(part) if isinstance(term, Id)}
    return RelevanceQuery(frozenset(ids), frozenset(classes), SURFACES, LIFTED, fillers)


def part_of(graph: SceneGraph, goal: Condition, *, wide: bool) -> SceneGraph:
    """The part of a graph that a goal is about, as `scenecypher.planner.relevant.relevant` reads it from a scene."""
    if len(graph.nodes) <= SMALL_SCENE_NODES:
        return graph
    sought = sought_for(goal)
    core = _above(graph, {*_sought(graph, sought), *_of_agents(graph)})
    places = {*graph.by_kind.get("Place", ())} if wide else {x for x in core if graph.nodes[x].kind == "Place"}
    core |= places.union(*(_first_in(graph, place, is_spare) for place in places))
    if sought.fillers:
        core = core.union(*(_first_in(graph, place, is_filler) for place in places))
    if wide:
        core |= {*sorted(_contents(graph, core))[:MAX_CONTENTS]}
    inside = (r for r in graph.relations if r.source in core and r.target in core)
    return SceneGraph.of((graph.nodes[x] for x in core), inside)


def is_spare(graph: SceneGraph, x: str) -> bool:
    """Whether things can be laid on `x`, and it stays where it is."""
    affordances = {*graph.nodes[x].affordances}
    return bool(affordances & {*SURFACES}) and not affordances & {*LIFTED}


def is_filler(graph: SceneGraph, x: str) -> bool:
    """Whether `x` can be lifted as things are: nothing closed holds it."""
    boxes = (graph.nodes[y] for y in graph.targets(x, "INSIDE"))
    shut_in = any("closed" in box.states and box.kind != "Place" for box in boxes)
    return bool({*graph.nodes[x].affordances} & {*LIFTED}) and not shut_in


def _sought(graph: SceneGraph, sought: RelevanceQuery) -> Iterator[str]:
    yield from sought.ids & graph.nodes.keys()
    for class_ in sought.classes:
        yield from graph.by_class.get(class_, ())


def _of_agents(graph: SceneGraph) -> Iterator[str]:
    """The agents, what they hold and what they sit or lie on."""
    for agent in graph.by_kind.get("Agent", ()):
        yield agent
        yield from (r.target for r in graph.outgoing.get(agent, ()) if r.type in (*HOLDING, "ON"))


def _above(graph: SceneGraph, nodes: Iterable[str]) -> set[str]:
    """The nodes and what they are in or on, over a few things."""
    found = {*nodes}
    for _ in range(MAX_CONTAINMENT_DEPTH):
        found |= {r.target for x in found for r in graph.outgoing.get(x, ()) if r.type in CONTAINMENT}
    return found


def _contents(graph: SceneGraph, nodes: Iterable[str]) -> Iterator[str]:
    """What is in or on one of the nodes, but for rooms, and is none of them."""
    known = {*nodes}
    things = (x for x in known if graph.nodes[x].kind != "Place")
    found = {r.source for x in things for r in graph.incoming.get(x, ()) if r.type in CONTAINMENT}
    yield from found - known


def _first_in(graph: SceneGraph, place: str, test: Callable[[SceneGraph, str], bool]) -> set[str]:
    """The first by id of what is directly in a place and meets the test."""
    return {*sorted(x for x in graph.sources(place, "INSIDE") if test(graph, x))[:1]}
