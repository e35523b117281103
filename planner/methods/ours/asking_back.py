"""Asking a person back: where a goal fits several things that differ and its instruction does not choose."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

import scenecypher.db.condition as c
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.planner.actions.ruled import AskBack
from scenecypher.planner.methods.ours.goal_form import Candidates, by_description, candidates, described
from scenecypher.planner.prompts.layout import SceneLayout
from scenecypher.planner.sessions.method import ANY_OF_THEM, Act, Memory

MAX_CHOICES: Final = 20
"""Choices that a person is shown; the last one stands for all further things."""
PLANNED: Final = "plan "
"""Beginning of the reasons of planned actions; once one is tried, nobody is asked any more."""
_ANY: Final = r"(?:any|either|some|whichever|one of)"
_ANY_OF_ALL: Final = re.compile(
    r"\b(?:any of them|whichever|no matter which|it does(?: not|n't) matter which|you choose)\b", re.IGNORECASE
)


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
    left = sorted({*found.nodes} - {*found.met})
    grouped = {f"{', '.join(nodes)}: {words}": tuple(nodes) for words, nodes in by_description(left, layout).items()}
    shown = {f"{it}: {described(it, layout)}": (it,) for it in left} if alone else grouped
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
