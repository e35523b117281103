"""traverse_room compared with feasible plans in MiniGrid and with exhaustive search; its refusals."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenecypher.errors import ReplyRejected
from scenecypher.importers.babyai_grid import GridCell
from scenecypher.planner.vocabularies.babyai.traversal import traverse_room
from tests.planner.methods.worked_examples import Traversal

CELLS = [(x, y) for x in range(1, 4) for y in range(1, 4)]
"""Cells within the walls of a room of size 5 at center (2, 2)."""


@pytest.mark.parametrize(("level", "seed"), [("trv1", 1), ("trv1", 2), ("trv2", 1), ("trv2", 2)])
def test_what_it_removes_is_what_the_reference_plan_removes(level: str, seed: int) -> None:
    of = Traversal(level, seed)
    plan = f"[{', '.join(f'{step.action}({step.arguments[0]})' for step in of.task.program)}]"
    assert of.solution == plan


@given(st.sets(st.sampled_from(CELLS), max_size=7), st.sampled_from(CELLS), st.sampled_from([*CELLS, (4, 2), (2, 0)]))
def test_no_way_meets_fewer_items(taken: set[GridCell], start: GridCell, goal: GridCell) -> None:
    items = [[f"{x}{y}", x, y] for x, y in sorted(taken)]
    removed = traverse_room([2, 2], [5, 5], items, start, goal)
    blocked = taken - {start, goal}
    assert set(removed) <= {f"{x}{y}" for x, y in blocked}
    fewest = next(
        count
        for count in range(len(blocked) + 1)
        if any(reaches(start, goal, blocked - {*gone}) for gone in itertools.combinations(sorted(blocked), count))
    )
    assert len(removed) == fewest
    assert reaches(start, goal, blocked - {(int(id_[0]), int(id_[1])) for id_ in removed})


def reaches(start: GridCell, goal: GridCell, blocked: set[GridCell]) -> bool:
    free, edge = {*CELLS, start, goal} - blocked, {start}
    reached = {start}
    while edge:
        edge = {(x + dx, y + dy) for x, y in edge for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))} & free - reached
        reached |= edge
    return goal in reached


def test_cells_may_be_written_as_the_graph_answers_them() -> None:
    in_rows = {"id": "ball_1", "center": {"x": 4.0, "y": 4.0, "srid": 7203}}
    in_nodes = {"kind": "Object", "id": "ball_1", "center": [4, 4]}
    for ball in (in_rows, in_nodes):
        items = [ball, {"id": "key_1", "x": 1, "y": 1}]
        found = traverse_room({"x": 2.5, "y": 2.5}, [6, 6], items, {"x": 2.0, "y": 1.0}, [5, 4])
        assert found == ["ball_1"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((1, [6, 6], [], [1, 1], [2, 2]), "room_center is not two numbers"),
        (([2, 2], [6, 10**9], [], [1, 1], [2, 2]), "room_size"),
        (([2, 2], [6, float("nan")], [], [1, 1], [2, 2]), "room_size"),
        (([2, 2], [6, 6], "key_1", [1, 1], [2, 2]), "items is no list"),
        (([2, 2], [6, 6], ["key_1"], [1, 1], [2, 2]), r"an item is no \[id, x, y\]"),
        (([2, 2], [6, 6], [["key_1", "a", 1]], [1, 1], [2, 2]), "an item is not two numbers"),
        (([2, 2], [6, 6], [], "agent", [2, 2]), "start is not two numbers"),
        (([2, 2], [6, 6], [], [1, 1], [9, 9]), "no way leads"),
        (([2, 2], [6, 6], [], [10**400, 1], [9, 9]), "start is not two numbers"),
    ],
)
def test_other_arguments_are_refused_with_how_it_is_called(arguments: tuple[Any, ...], words: str) -> None:
    with pytest.raises(ReplyRejected, match=words):
        traverse_room(*arguments)
