"""The part of a scene that a goal is about, and the actions on its nodes that may become possible."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, product
from typing import Final

import scenecypher.db.condition as c
from scenecypher.db.condition import Condition, HasClass, Id, Related, atoms_of, terms
from scenecypher.db.graph.scene import GraphView, SceneGraph, within
from scenecypher.db.schema import HOLDING
from scenecypher.planner.actions.operator import AGENT, Operator, giving_classes, is_static, variables_of
from scenecypher.planner.actions.text import ActionCall

SMALL_SCENE_NODES: Final = 40
"""A scene of at most this many nodes is taken whole."""
CONTAINMENT: Final = ("INSIDE", "ON", "UNDER", "ATTACHED_TO")
"""Relations to the containers and supports of a node."""
MAX_CONTAINMENT_DEPTH: Final = 5
"""Longest chain of containment that is followed up to a room."""
MAX_CONTENTS: Final = 40
"""Most contents of the found nodes in a wide part."""
SURFACES: Final = ("put_on", "surfaces")
"""Affordances of surfaces, in the words of the vocabularies."""
LIFTABLE: Final = ("pick_up", "grabbable")
"""Affordances of portable objects, in the words of the vocabularies."""
SECOND_HAND: Final = "HOLDS_LH"
"""The hand that takes an object only if the other one is full."""


@dataclass(frozen=True, slots=True)
class Sought:
    """What a goal is about: `ids` and `classes` of nodes.

    With `fillers`, one portable object outside closed containers is needed in each room, too.
    """

    ids: frozenset[str]
    classes: frozenset[str]
    fillers: bool = False


def sought_for(goal: Condition, operators: Mapping[str, Operator] | None = None) -> Sought:
    """Return the nodes and classes that a goal names, and the classes by which `operators` give its states."""
    ids: set[str] = set()
    classes = {*giving_classes(goal, operators or {})}
    fillers = False
    for part in atoms_of(goal):
        if isinstance(part, HasClass):
            classes.add(part.class_)
        fillers |= isinstance(part, Related) and part.type == SECOND_HAND
        ids |= {term.id for term in terms(part) if isinstance(term, Id)}
    return Sought(frozenset(ids), frozenset(classes), fillers)


def part_of(
    graph: SceneGraph,
    goal: Condition,
    *,
    wide: bool,
    small: int = SMALL_SCENE_NODES,
    operators: Mapping[str, Operator] | None = None,
) -> SceneGraph:
    """Return the part of a graph that a goal is about: named nodes, their containers, rooms, agents, what they hold.

    Of a room's spare surfaces the first by id is taken; `wide` adds the other rooms and the contents of what was found.
    A graph of at most `small` nodes is taken whole.
    """
    if len(graph.nodes) <= small:
        return graph
    sought = sought_for(goal, operators)
    named = (x for class_ in sought.classes for x in graph.by_class.get(class_, ()))
    core = _above(graph, {*(sought.ids & graph.nodes.keys()), *named, *_of_agents(graph)})
    places = {*graph.by_kind.get("Place", ())} if wide else {x for x in core if graph.nodes[x].kind == "Place"}
    core |= places.union(*(_first_in(graph, place, is_spare_surface) for place in places))
    if sought.fillers:
        core = core.union(*(_first_in(graph, place, is_liftable) for place in places))
    if wide:
        core |= {*sorted(_contents(graph, core))[:MAX_CONTENTS]}
    inside = (r for r in graph.relations if r.source in core and r.target in core)
    return SceneGraph.of((graph.nodes[x] for x in core), inside)


def is_spare_surface(graph: SceneGraph, x: str) -> bool:
    """Return whether `x` is a surface and not portable."""
    affordances = {*graph.nodes[x].affordances}
    return bool(affordances & {*SURFACES}) and not affordances & {*LIFTABLE}


def is_liftable(graph: SceneGraph, x: str) -> bool:
    """Return whether `x` is portable and inside nothing closed."""
    boxes = (graph.nodes[y] for y in graph.targets(x, "INSIDE"))
    shut_in = any("closed" in box.states and box.kind != "Place" for box in boxes)
    return bool({*graph.nodes[x].affordances} & {*LIFTABLE}) and not shut_in


def _of_agents(graph: SceneGraph) -> Iterator[str]:
    """Yield the agents, what they hold and what they sit or lie on."""
    for agent in graph.by_kind.get("Agent", ()):
        yield agent
        yield from (r.target for r in graph.outgoing.get(agent, ()) if r.type in (*HOLDING, "ON"))


def _above(graph: SceneGraph, nodes: Iterable[str]) -> set[str]:
    """Return the nodes and what they are in or on, up to a few levels."""
    known = {*nodes}
    return known | within(known, lambda it: graph.targets(it, *CONTAINMENT), levels=MAX_CONTAINMENT_DEPTH)


def _contents(graph: SceneGraph, nodes: Iterable[str]) -> Iterator[str]:
    """Yield the nodes in or on one of the nodes (not rooms) that are not among them."""
    known = {*nodes}
    things = (x for x in known if graph.nodes[x].kind != "Place")
    found = {r.source for x in things for r in graph.incoming.get(x, ()) if r.type in CONTAINMENT}
    yield from found - known


def _first_in(graph: SceneGraph, place: str, test: Callable[[SceneGraph, str], bool]) -> set[str]:
    """Return the first node by id directly in a place that meets the test, as a set."""
    return {*sorted(x for x in graph.sources(place, "INSIDE") if test(graph, x))[:1]}


def calls_for(
    goal: c.Condition, graph: SceneGraph, operators: Mapping[str, Operator], *, agent: str, most: int
) -> tuple[ActionCall, ...] | None:
    """Return the ground calls on all nodes; if these are over `most`, on the part of the scene that `goal` is about.

    They are in the order of the operators, then of the arguments. None if there are too many of either.
    """
    for part in (graph, part_of(graph, goal, wide=True, operators=operators), part_of(graph, goal, wide=False)):
        found = [*islice(_static_calls(operators, graph, among=part.nodes, agent=agent), most + 1)]
        if len(found) <= most:
            return tuple(found)
    return None


def _static_calls(
    operators: Mapping[str, Operator], graph: GraphView, *, among: Collection[str], agent: str
) -> Iterator[ActionCall]:
    """Yield the calls with arguments `among` these nodes that satisfy the requirements that never change."""
    for operator in operators.values():
        fixed, names = _fixed(operator), [parameter.name for parameter in operator.parameters]
        for chosen in product(*_fitting(operator, graph, among)):
            arguments = {AGENT: agent, **dict(zip(names, chosen, strict=True))}
            if all(c.evaluate(condition, graph, arguments) for condition in fixed):
                yield ActionCall(operator.name, chosen)


def afforded(operators: Mapping[str, Operator], graph: GraphView) -> dict[str, Operator]:
    """Return the operators for each of whose parameters the scene has a node that may ever serve."""
    return {name: it for name, it in operators.items() if all(_fitting(it, graph, graph.nodes))}


def usable(operators: Mapping[str, Operator], graph: GraphView, among: Collection[str]) -> frozenset[str]:
    """Return the nodes `among` these that are what some action asks its argument to be, such as grabbable."""
    found = set[str]()
    for operator in operators.values():
        asked = {it.condition for it in operator.requires if it.fault == "affordance"}
        for parameter in operator.parameters:
            own = [it for it in _fixed(operator) if it in asked and variables_of(it) == {parameter.name}]
            left = {*among} - found if own else set[str]()
            found |= {x for x in left if all(c.evaluate(it, graph, {parameter.name: x}) for it in own)}
    return frozenset(found)


def _fixed(operator: Operator) -> list[c.Condition]:
    """Return the requirements that never change and ask for no choice."""
    open_ = {choice.var for choice in operator.choose}
    conditions = (part.condition for part in operator.requires)
    return [it for it in conditions if is_static(it) and not open_ & variables_of(it)]


def _fitting(operator: Operator, graph: GraphView, among: Collection[str]) -> list[list[str]]:
    """Return for each parameter the nodes that meet its own requirements that never change, by id."""
    fixed = _fixed(operator)
    own = {it.name: [part for part in fixed if variables_of(part) == {it.name}] for it in operator.parameters}
    return [
        [x for x in sorted(among) if all(c.evaluate(it, graph, {name: x}) for it in conditions)]
        for name, conditions in own.items()
    ]
