"""The form in which a model states a goal, and what that matches in a scene: candidates, and what tells them apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from string import Template
from typing import Final, TypeAlias

from pydantic import BaseModel, ConfigDict

import scenecypher.db.condition as c
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.enumerations import Enumerations
from scenecypher.db.vocabulary import conventions_of
from scenecypher.planner.actions.operator import is_static
from scenecypher.planner.prompts.layout import TRAITS, SceneLayout, is_confirmed
from scenecypher.planner.sessions.goal_words import WORDS
from scenecypher.planner.symbolic.parts import sought_for
from scenecypher.retriever.library import told, words_for

MAX_LISTED: Final = 6
"""Nodes of a variable that are listed; more are counted."""
MAX_BOUND: Final = 64
"""Ways to choose the outer variables that are tried for an inner one."""
Bindings: TypeAlias = Sequence[Mapping[str, str]]


class GoalForm(BaseModel):
    """What the model answers: parts of a goal, none where nothing is to be done, or that it is impossible."""

    model_config = ConfigDict(extra="forbid")

    reason: str
    impossible: bool
    goal: list[str]


def goal_examples(occurring: Enumerations) -> Iterator[tuple[str, str]]:
    """Yield worked examples in words of a scene: an instruction, and the form that states its goal, as JSON."""
    words, has_doors = dict(words_for(occurring)), dict(occurring.kinds).get("Door", 0) > 0
    words |= {use.name: str(use.values[0]) for use in occurring.properties if use.name == "color" and use.values}
    for said, goal in WORDS["worked"]["home"] if "asset" in words else WORDS["worked"]["grid"] if has_doors else ():
        try:
            found = told(said, words), Template(goal).substitute(words).split("; ")
        except KeyError:
            continue
        yield found[0], GoalForm(reason="as it is asked", impossible=False, goal=found[1]).model_dump_json()


@dataclass(frozen=True, slots=True)
class Candidates:
    """The nodes of `classes` that a variable may mean, those of which the goal holds already, and how many it needs."""

    var: str
    nodes: tuple[str, ...]
    met: tuple[str, ...]
    needed: int
    classes: frozenset[str]

    @property
    def is_open(self) -> bool:
        """Check if the goal leaves open which nodes are meant."""
        return len(self.nodes) > self.needed > len(self.met)


def candidates(goal: c.Condition, graph: SceneGraph, bound: Bindings = ({},)) -> Iterator[Candidates]:
    """Yield the candidates of each variable that is bound outside of a negation, outer variables first."""
    if isinstance(goal, c.And | c.Or):
        for part in goal.parts:
            yield from candidates(part, graph, bound)
    if not isinstance(goal, c.Quantifier):
        return
    among, asked = _guard(goal, graph, bound), goal.then if isinstance(goal, c.ForAll) else goal.where
    if among.parts:
        found = [(it, node) for it in bound for node in c.witnesses(goal.var, among, graph=graph, bindings=it)]
        nodes = tuple(sorted({node for _, node in found}))
        met = {node for it, node in found if c.evaluate(asked, graph, {**it, goal.var: node})}
        classes = frozenset(part.class_ for part in among.parts if isinstance(part, c.HasClass))
        yield Candidates(goal.var, nodes, tuple(sorted(met)), _needed(goal, nodes, bound), classes)
        bound = [{**it, goal.var: node} for it, node in found[:MAX_BOUND]] or bound
    yield from candidates(asked, graph, bound)


def match_words(goal: c.Condition, graph: SceneGraph, vocabulary: str) -> tuple[str, bool]:
    """Return what the goal matches, a line for each variable, and whether the model should be asked about it."""
    found, holds, layout = [*candidates(goal, graph)], c.evaluate(goal, graph, {}), SceneLayout(graph, vocabulary)
    lines = [_words(each, layout) for each in found]
    if holds:
        lines.append("The goal holds already: nothing would be done for it.")
    return "\n".join(lines), holds or any(_is_notable(each, layout) for each in found)


def lost_classes(goal: c.Condition, graph: SceneGraph, vocabulary: str) -> list[str]:
    """Return the classes of which the goal needs more things than have a known place."""
    layout, types = SceneLayout(graph, vocabulary), conventions_of(vocabulary).containment

    def is_lost(node: str) -> bool:
        placed = graph.targets(node, *types) or layout.holder(node)
        return not placed and not is_confirmed(graph.nodes[node])

    lost = {graph.nodes[it].class_ for it in sought_for(goal).ids & graph.nodes.keys() if is_lost(it)}
    for each in candidates(goal, graph):
        is_unknown = not any(graph.by_class.get(class_) for class_ in each.classes)
        if each.classes and (is_unknown or (each.nodes and sum(not is_lost(it) for it in each.nodes) < each.needed)):
            lost |= each.classes
    return sorted(lost)


def _guard(goal: c.Quantifier, graph: SceneGraph, bound: Bindings) -> c.And:
    """Return what the variable ranges over: what no action changes, and where that is which can't be moved."""
    parts = [*c.conjuncts(goal.where)]
    fixed = [part for part in parts if is_static(part) and not isinstance(part, c.HasKind)]
    nodes = c.witnesses(goal.var, c.And(tuple(fixed)), graph=graph, bindings=bound[0]) if fixed else ()
    if not {graph.nodes[it].kind for it in nodes} & {"Object", "Agent"}:
        known = (it for it in parts if isinstance(it, c.Related) and it.source == goal.var)
        fixed += [it for it in known if fixed and (isinstance(it.target, c.Id) or it.target in bound[0])]
    return c.And(tuple(fixed))


def _needed(goal: c.Quantifier, nodes: Sequence[str], bound: Bindings) -> int:
    """Return how many of the nodes the goal is about, with those of variables that must be other ones."""
    if isinstance(goal, c.ForAll):
        return len(nodes)
    if not isinstance(goal, c.Exists):
        return goal.n
    denied = [it.part for it in c.conjuncts(goal.where) if isinstance(it, c.Not)]
    if any(isinstance(it, c.Exists) and it.var.startswith("other_") for it in denied):
        return len(bound)  # one for each of the outer variable's
    within = [it for it in c.conjuncts(goal.where) if isinstance(it, c.Exists)]
    differing = [it for it in within if c.Not(c.Same(it.var, goal.var)) in c.conjuncts(it.where)]
    return 1 + len(differing) + sum(isinstance(it, c.Same) for it in denied)


def _is_notable(found: Candidates, layout: SceneLayout) -> bool:
    """Check if the goal may mean another thing than was meant, so that something else would be done."""
    choice = by_description(set(found.nodes) - set(found.met), layout)
    return len(found.nodes) < max(1, found.needed) or (found.is_open and len(choice) > 1)


def _words(found: Candidates, layout: SceneLayout) -> str:
    if not found.nodes:
        return f"{found.var}: none is known."
    alike = sorted(by_description(found.nodes, layout).items())
    where = "; ".join(f"{words}: {_listed(nodes)}" for words, nodes in alike[:MAX_LISTED])
    more = f"; and {len(alike) - MAX_LISTED} other places or states" if len(alike) > MAX_LISTED else ""
    which = f"{found.needed} of {len(found.nodes)}{', any of them' if found.is_open else ''}"
    already = f" It holds already for {_listed(found.met)}." if found.met else ""
    return f"{found.var}: {which}; {where}{more}.{already}"


def by_description(nodes: Iterable[str], layout: SceneLayout) -> dict[str, list[str]]:
    """Return nodes by what tells them from others of their classes."""
    alike: dict[str, list[str]] = {}
    for node in nodes:
        alike.setdefault(described(node, layout), []).append(node)
    return alike


def described(node: str, layout: SceneLayout) -> str:
    """Return what tells a node from others of its class: its room, what it is in or on, states and colour."""
    found = layout.graph.nodes[node]
    holder = layout.holder(node)
    places = [f"{word} {it}" for word, it in layout.supports(node)] + ([f"held by {holder}"] if holder else [])
    traits = [str(found.properties[name]) for name in TRAITS if name in found.properties]
    return ", ".join((f"in {layout.room_of(node) or 'no known room'}", *places, *found.states, *traits))


def _listed(nodes: Sequence[str]) -> str:
    more = len(nodes) - MAX_LISTED
    return ", ".join(islice(nodes, MAX_LISTED)) + (f" and {more} more" if more > 0 else "")
