"""Programs that ask nothing in SG2's place: a row beside published figures must not be solvable without the graph.

The programs read the task and the schema in the Task Planner's prompt, and give a whole solution at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Final

import pytest

from scenecypher.chat.model import Model, Reply, Request, Usage
from scenecypher.evaluation import babyai, household
from scenecypher.evaluation.episode import EpisodePlan, Trace
from scenecypher.evaluation.episodes import success_figure
from scenecypher.evaluation.measures import figures
from scenecypher.evaluation.playing import play
from scenecypher.evaluation.world_pool import WorldPool

pytest.importorskip("minigrid", reason="needs `pip install 'scenecypher[papers]'`")
pytestmark = pytest.mark.usefixtures("server_settings")

COLORS: Final = ("red", "green", "blue", "purple", "yellow", "grey")
APPLIANCES: Final = {"HEATED": ("toaster", "microwave"), "WASHED": ("dishwasher",)}
RELATIONS: Final = {"INSIDE": "put_in", "ON": "put_on"}
SAID: Final = "[Explanation]\nBy heart.\n\n[Mode]\nSOLUTION\n\n[Content]\n[{}]"


class Blind:
    """Model that gives a solution from the task and the system message alone."""

    def __init__(self, program: Callable[[str, str], list[str]]) -> None:
        self._program = program

    def reply(self, request: Request) -> Reply:
        system, task = request.messages[0].text, request.messages[1].text.removeprefix("Task: ")
        return Reply(SAID.format(", ".join(self._program(task, system))), Usage(1, 1), "blind", source="scripted")


def by_classes(task: str, schema: str) -> list[str]:
    """Plan for desired states by classes; what can be opened is opened first, if the schema has the class once."""
    known = set(re.findall(r"(?:^|[ :])([a-z]+) 1\b", schema, re.MULTILINE))
    steps: list[str] = []
    for fact in re.split(r", ", task):
        words = fact.split()
        if len(words) == 3 and words[1] in RELATIONS:
            thing, relation, place = words
            steps += [f"walk({thing})", f"grab({thing})", f"walk({place})", f"open({place})"]
            steps += [f"{RELATIONS[relation]}({thing}, {place})", f"close({place})", f"switch_on({place})"]
        elif words[1] in {"ON", "OFF"}:
            steps += [f"walk({words[0]})", f"switch_{words[1].lower()}({words[0]})"]
    return [step for step in steps if {*re.findall(r"[a-z_]+", step.partition("(")[2])} <= known] or ["walk(kitchen)"]


def by_colors(task: str, schema: str) -> list[str]:
    """Fetch the thing that the instruction names: everything is tried in every colour, by its name."""
    del schema
    target = task.removeprefix("pick up the ")
    return [
        *(f"remove({color} ball)" for color in COLORS),
        *(step for color in COLORS for step in (f"pickup({color} key)", f"open({color} door)")),
        *(f"remove({color} ball)" for color in COLORS),
        f"pickup({target})",
    ]


def played(rows: Iterator[EpisodePlan], assignments: Any, model: Model) -> list[tuple[EpisodePlan, Trace]]:
    pool = WorldPool()
    try:
        return [(row, play(pool, assignments, row, model=model)) for row in rows]
    finally:
        pool.close()


@pytest.mark.parametrize("home", ["apartment", "cottage"])
def test_desired_states_and_the_class_list_solve_no_home(home: str) -> None:
    """Kind of fault: the schema tells what is in this home, so that a plan needs no question."""
    made = household.household.plan(methods="sg2", limit=4)
    rows = (row for row in made.episodes() if row.group == home)
    found = played(rows, made.assignments, Blind(by_classes))
    assert len(found) == 4
    assert [row.task for row, trace in found if figures(row, trace)[success_figure(row)]] == []


@pytest.mark.parametrize("level", ["trv1", "trv2"])
def test_the_instruction_and_a_list_of_colours_solve_no_traversal(level: str) -> None:
    """Kind of fault: words that are no ids are resolved, and what is refused is skipped without a loss."""
    made = babyai.babyai.plan(data=level, tables="sg2-1", methods="sg2", limit=4)
    found = played(islice(made.episodes(), 4), made.assignments, Blind(by_colors))
    assert len(found) == 4
    assert [row.task for row, trace in found if figures(row, trace)[success_figure(row)]] == []
