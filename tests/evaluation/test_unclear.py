"""The set of instructions that leave open what is meant: its gold agrees with the graph, and asking makes it right."""

from __future__ import annotations

from collections import Counter
from typing import Final

import pytest

from scenecypher.db.graph.delta import apply
from scenecypher.errors import UnknownReference
from scenecypher.evaluation import goals
from scenecypher.evaluation.episodes import episodes_result
from scenecypher.evaluation.running import RunOptions, run_task
from scenecypher.evaluation.stated_tasks import CLEAR, UNCLEAR_TASKS, UnclearTask
from scenecypher.importers.homes import our_home
from scenecypher.planner.methods.ours import asking_back
from scenecypher.planner.sessions.goal_words import GoalParser
from tests.evaluation.unclear_tasks import tasks

TASKS: Final = [*UNCLEAR_TASKS.values()]


def test_the_file_is_what_makes_it() -> None:
    assert [*tasks()] == TASKS
    assert Counter(it.kind for it in TASKS) == dict.fromkeys(("clear", "number", "place", "preference", "absent"), 16)


@pytest.mark.parametrize("task", TASKS, ids=lambda it: it.id)
def test_the_gold_agrees_with_the_graph(task: UnclearTask) -> None:
    """Kind: gold that is only what the product does, or that no plan reaches: here the kind was given by hand."""
    scene = our_home(task.home)[0]
    graph = apply(scene.graph, task.painting().delta)
    assert not task.is_done(graph, graph, "done")
    assert {*task.things, *task.wanted, *task.painted} <= graph.nodes.keys()
    parser = GoalParser(graph, scene.vocabulary)
    if task.absent:
        with pytest.raises(UnknownReference):
            parser.read(task.goal)
        parser.read(task.goal.replace(task.absent, task.word))
        return
    question = asking_back.unclear(parser.read(task.goal), graph, scene.vocabulary, task.instruction)
    assert (question is None) is (task.kind == CLEAR)
    if question is not None:
        assert any({*task.wanted} & {*nodes} for nodes in question.nodes)
        assert any({*nodes}.isdisjoint(task.wanted) for nodes in question.nodes)


@pytest.mark.usefixtures("server_settings")
def test_who_is_asked_has_what_was_meant() -> None:
    """Kind: a measure that a player passes who never asks, or who is asked and says nothing."""
    pytest.importorskip("up_fast_downward", reason="needs `pip install 'scenecypher[pddl]'`")
    log = run_task(goals.unclear(limit=5), RunOptions(None, at_once=2))
    found = episodes_result(log, goals.unclear.plan(limit=5))
    shown = {table.key: {key: cell.value for key, cell in table.rows[0].cells.items()} for table in found.tables}
    by_person = shown.pop("unclear-careful-unclear-careful")
    assert (by_person["asked_unclear"], by_person["asked_clear"]) == (1, 0)
    assert (by_person["done_unclear"], by_person["done_clear"]) == (1, 1)
    assert shown["unclear-careful-never-careful"]["questions"] == 0
    assert shown.pop("unclear-careful-always-careful")["done_unclear"] == 1
    assert all(float(it["done_unclear"] or 0) < 1 for it in shown.values())
