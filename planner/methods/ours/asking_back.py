"""What a goal leaves open, by its candidates in a scene and what tells them apart: a model or a person is asked for it.

The model is asked where it may mean another thing than the goal says, a person where the instruction does not choose.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, TypeAlias

import scenecypher.db.condition as c
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.vocabulary import conventions_of
from scenecypher.planner.actions.operator import is_static
from scenecypher.planner.actions.ruled import AskBack
from scenecypher.planner.prompts.layout import TRAITS, SceneLayout, is_confirmed
from scenecypher.planner.sessions.method import ANY_OF_THEM, Act, Memory
from scenecypher.planner.symbolic.parts import sought_for

MAX_LISTED: Final = 6
"""Nodes of a variable that are listed; more are counted."""
MAX_BOUND: Final = 64
"""Ways to choose the outer variables that are tried for an inner one."""
Bindings: TypeAlias = Sequence[Mapping[str, str]]
MAX_CHOICES: Final = 20
"""Choices that a person is shown; the last one stands for all further things."""
PLANNED: Final = "plan "
"""Beginning of the reasons of planned actions; once one is tried, nobody is asked any more."""
_ANY: Final = r"(?:any|either|some|whichever|one of)"
_ANY_OF_ALL: Final = re.compile(
    r"\b(?:any of them|whichever|no matter which|it does(?: not|n't) matter which|you choose)\b", re.IGNORECASE
)


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

    @property
    def left(self) -> tuple[str, ...]:
        """The nodes of which the goal does not hold yet."""
        return tuple(it for it in self.nodes if it not in self.met)


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
    """Return what the goal matches, a line for each variable, and whether the model should be asked about it.

    It should where the goal may mean another thing than was meant, so that something else would be done.
    """
    found, holds, layout = [*candidates(goal, graph)], c.evaluate(goal, graph, {}), SceneLayout(graph, vocabulary)
    lines = [_line(each, layout) for each in found]
    if holds:
        lines.append("The goal holds already: nothing would be done for it.")
    is_missing = any(len(it.nodes) < max(1, it.needed) for it in found)
    is_choice = any(it.is_open and len(by_description(it.left, layout)) > 1 for it in found)
    return "\n".join(lines), holds or is_missing or is_choice


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


def _line(found: Candidates, layout: SceneLayout) -> str:
    if not found.nodes:
        return f"{found.var}: none is known."
    alike = sorted(by_description(found.nodes, layout).items())
    where = "; ".join(f"{words}: {_listed(nodes)}" for words, nodes in alike[:MAX_LISTED])
    more = f"; and {len(alike) - MAX_LISTED} other places or states" if len(alike) > MAX_LISTED else ""
    which = f"{found.needed} of {len(found.nodes)}{', any of them' if found.is_open else ''}"
    already = f" It holds already for {_listed(found.met)}." if found.met else ""
    return f"{found.var}: {which}; {where}{more}.{already}"


def by_description(nodes: Iterable[str], layout: SceneLayout) -> dict[str, list[str]]:
    """Return nodes by what tells them from others of their classes: room, what they are in or on, states and colour."""
    alike: dict[str, list[str]] = {}
    for node in nodes:
        found, holder = layout.graph.nodes[node], layout.holder(node)
        places = [f"{word} {it}" for word, it in layout.supports(node)] + ([f"held by {holder}"] if holder else [])
        traits = [str(found.properties[name]) for name in TRAITS if name in found.properties]
        told = ", ".join((f"in {layout.room_of(node) or 'no known room'}", *places, *found.states, *traits))
        alike.setdefault(told, []).append(node)
    return alike


def _listed(nodes: Sequence[str]) -> str:
    more = len(nodes) - MAX_LISTED
    return ", ".join(islice(nodes, MAX_LISTED)) + (f" and {more} more" if more > 0 else "")


# --- a person is asked


def unclear(
    goal: c.Condition,
    graph: SceneGraph,
    vocabulary: str,
    said: str,
    *,
    always: bool = False,
    but: Collection[str] = (),
) -> AskBack | None:
    """Return the question about the first variable of a goal that leaves open what is meant; None if all is clear.

    It is clear where the candidates are alike, and where the instruction `said` that any will do; with `always`, each
    choice is asked for. `but` are variables that were asked for already.
    """
    layout = SceneLayout(graph, vocabulary)
    for each in candidates(goal, graph):
        count, groups = each.needed - len(each.met), _groups(each, layout, alone=always)
        is_unclear = always or (len(groups) > 1 and not _any_will_do(said, each.classes))
        can_be_said = chosen(goal, each.var, [*groups.values()], count) != goal
        if each.is_open and is_unclear and can_be_said and each.var not in but:
            what = " or ".join(sorted(each.classes)) or "thing"
            which = f"Which {what} is meant ({count} of {len(each.nodes)})?"
            return AskBack(which, (*groups,), (*groups.values(),), each.var, count)
    return None


def is_told_apart(said: str, question: AskBack, goal: c.Condition) -> bool:
    """Check if an instruction says more than its goal that tells some of the choices from others."""
    told = [_words(it.partition(": ")[2]) for it in question.choices]
    words, joined, stated = _words(said), re.sub(r"\W", "", said.casefold()), _words(repr(goal))
    for it in stated:
        joined = joined.replace(it, " ") if len(it) > len("type") else joined
    telling = set[str]().union(*told) - set(told[0]).intersection(*told) - stated
    return any(it in words or (len(it) > len("inside") and it in joined) for it in telling)


def _words(text: str) -> set[str]:
    return {*re.findall(r"[a-z]{2,}", text.casefold())}


def asked(memory: Memory) -> list[tuple[AskBack, str]]:
    """Return the questions that a person was asked so far, with the answers."""
    return [(it.decision, it.feedback) for it in memory.turns if isinstance(it.decision, AskBack)]


def is_begun(memory: Memory) -> bool:
    """Check if an action of a plan was tried."""
    return any(isinstance(it.decision, Act) and it.decision.reason.startswith(PLANNED) for it in memory.turns)


def after_answer(goal: c.Condition, memory: Memory) -> AskBack | c.Condition | None:
    """Return the goal with what the last turn's answer chose, or the question what else; None if nothing was chosen."""
    if not memory.turns or not isinstance(last := memory.turns[-1].decision, AskBack):
        return None
    found = [(it, answer) for it, answer in asked(memory) if it.about == last.about]
    picked = [it.nodes[it.choices.index(answer)] for it, answer in found if answer in it.choices]
    left = last.count - len(picked[-1]) if picked else 0
    rest = {words: nodes for words, nodes in zip(last.choices, last.nodes, strict=True) if nodes not in picked}
    if found[-1][1] != ANY_OF_THEM and left > 0 and rest:
        return AskBack(f"And which else ({left} more)?", (*rest,), (*rest.values(),), last.about, left)
    return chosen(goal, last.about, picked, found[0][0].count) if picked else None


def chosen(goal: c.Condition, var: str, picked: Sequence[Sequence[str]], count: int) -> c.Condition:
    """Return a goal whose variable stands for `count` of the picked nodes: all of each group but the last one."""
    if isinstance(goal, c.Exists | c.AtLeast) and goal.var == var and picked:
        return _among(goal, picked, count)
    return c.map_children(goal, lambda part: chosen(part, var, picked, count))


def _among(goal: c.Exists | c.AtLeast, picked: Sequence[Sequence[str]], count: int) -> c.Condition:
    """Return the part of a goal about one variable, which holds of `count` of the picked nodes."""

    def one_of(nodes: Sequence[str]) -> c.And:
        same = c.Or(tuple(c.Same(goal.var, c.Id(it)) for it in nodes))
        return c.And((*c.conjuncts(goal.where), same))

    if isinstance(goal, c.Exists):
        return goal if count != 1 else replace(goal, where=one_of(picked[0]))
    parts: list[c.Condition] = [goal]
    for nodes in picked:
        parts.append(c.AtLeast(min(count, len(nodes)), goal.var, one_of(nodes)))
        count -= min(count, len(nodes))
    return c.And(tuple(parts))


def _groups(found: Candidates, layout: SceneLayout, *, alone: bool) -> Mapping[str, tuple[str, ...]]:
    """Return the candidates of which the goal does not hold yet by what tells them apart, or each `alone`."""
    told = [by_description(it, layout).items() for it in ([[it] for it in found.left] if alone else [found.left])]
    shown = {f"{', '.join(nodes)}: {words}": tuple(nodes) for group in told for words, nodes in group}
    if len(shown) <= MAX_CHOICES:
        return shown
    first = [*shown][: MAX_CHOICES - 1]
    others = tuple(node for it in shown.keys() - {*first} for node in shown[it])
    return {it: shown[it] for it in first} | {f"{len(others)} others": tuple(sorted(others))}


def _any_will_do(said: str, classes: Collection[str]) -> bool:
    """Check if an instruction says that any thing of these classes will do."""
    if _ANY_OF_ALL.search(said):
        return True
    names = "|".join(r"[\s_]*".join(map(re.escape, it)) for it in classes) or "thing"
    return re.search(rf"\b{_ANY}\s+(?:\w+\s+)?(?:{names})", said, re.IGNORECASE) is not None
