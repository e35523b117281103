"""Derived tables: SSC's improvements and reductions, tokens by iteration, and wrong answers by sub-task."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from scenecypher.chat.model import Usage
from scenecypher.evaluation.eai.live import CHANGES
from scenecypher.evaluation.eai.task_table import EAI_TASKS, TaskName
from scenecypher.evaluation.episode import Trace
from scenecypher.evaluation.marking import Marks
from scenecypher.evaluation.measures import PartsPlan, change_table, part_figures, part_tables
from scenecypher.evaluation.playing import iteration_tokens
from scenecypher.evaluation.published import data_table, published_rows, read_paper
from scenecypher.evaluation.reporting.cells import text_rows
from scenecypher.evaluation.reporting.figures import result_figures
from scenecypher.evaluation.result import Cell, Column, ExperimentResult, Provenance, Row, Table
from scenecypher.importers.babyai import ANSWER_FAULTS, answer_fault
from scenecypher.planner.sessions.events import Answered, Event, Remembered, Retrieved
from tests.questions.grids import oracle_answer

PRINTED: Final[dict[tuple[str, str], dict[str, tuple[float, ...]]]] = {
    ("goal", "1"): {"OpenPangu-7B": (60.5, 79.3, 51.7), "Qwen2.5-7B-Instruct": (9.5, -63.7, 219.3)},
    ("action-sequencing", "1"): {"OpenPangu-7B": (125.8, 92.7), "Qwen2.5-7B-Instruct": (10.1, 13.1)},
    ("action-sequencing", "5"): {"OpenPangu-7B": (-91.6, -52.4, 13.0)},
    ("subgoal", "1"): {"OpenPangu-7B": (80.5, 42.4), "Qwen2.5-7B-Instruct": (8.7, 10.5)},
    ("transition", "1"): {"OpenPangu-7B": (581.2, 356.9, 632.2), "Qwen2.5-7B-Instruct": (173.9, 123.5, 205.2)},
}
"""Improvements and reductions that the paper prints in its tables 1 and 5, in the order of the columns."""


def published_table(task: TaskName) -> Table:
    paper, number, rows = published_rows("ssc", task)
    columns = EAI_TASKS[task].ssc_columns
    return Table(key=task, title=task, columns=columns, rows=(), published=rows, paper=paper, paper_table=number)


@pytest.mark.parametrize(("task", "number"), PRINTED)
def test_changes_of_the_papers_own_rows_are_those_it_prints(task: TaskName, number: str) -> None:
    """A table of the paper that has both rows, and not the improvement that it is printed for."""
    title, columns = CHANGES[number]
    found = change_table(published_table(task), of="ssc", over="greedy", columns=columns, title=title, number=number)
    own = [column.key for column in found.columns]
    for row in found.published:
        values = [row.cells[key].value for key in own if key in row.cells]
        wanted = PRINTED[task, number].get(row.model, ())
        assert values == pytest.approx(wanted, abs=0.3), "its rows are rounded, its changes not quite theirs"


def test_a_change_is_of_the_same_prompt_and_none_from_nothing() -> None:
    def row(method: str, prompt: str, value: float) -> Row:
        return Row(method=method, options={"prompt": prompt}, cells={"f1": Cell(value=value, n=4)})

    table = Table(
        key="goal",
        title="Goals",
        columns=(Column(key="f1", heading="F1", unit="percent"), Column(key="svr", heading="SVR", unit="percent")),
        rows=(row("greedy", "eai", 20), row("ssc", "eai", 30), row("greedy", "own", 0), row("ssc", "own", 9)),
    )
    found = change_table(table, of="ssc", over="greedy", columns=("f1",), title="Changes", number="1")
    assert [line.cells for line in text_rows(found)] == [("+50.0%",), ("n/a",)]


def turn(step: int, tokens: int) -> Remembered:
    return Remembered(step, None, "", (), refused=False, infeasible=0, usage=Usage(tokens - 1, 1))


TURNS: Final[tuple[Event, ...]] = (
    Retrieved(1, "where?", "there", None, Usage(30, 10)),
    turn(1, 100),
    Answered(2, "python", "7", Usage(5, 5)),
    turn(2, 150),
    turn(3, 90),
)


def test_each_iteration_has_the_tokens_of_all_agents_and_of_the_one_that_decides() -> None:
    """Tokens of a run that are known only as a mean a round, where the papers draw each iteration."""
    assert [*iteration_tokens(TURNS)] == [(100, 60), (150, 140), (90, 90)]


def trace(iterations: tuple[tuple[int, int], ...], fault: str = "") -> Trace:
    fields: dict[str, Any] = {"outcome": "done", "reason": "", "answer": "red", "executed": (), "infeasible": 0}
    cost: dict[str, Any] = {"prompt_tokens": 1, "completion_tokens": 1, "rounds": (2,), "sources": (), "seconds": 0.0}
    more: dict[str, Any] = {"mistakes": {}, "steps": len(iterations), "nodes": 9, "marks": Marks(reached=not fault)}
    return Trace(**fields, **cost, **more, iterations=iterations, fault=fault)


PLAYED: Final = Table(
    key="sg-rwr-1-numqa",
    title="Questions",
    columns=(),
    rows=(
        Row(method="0-cot", label="0-CoT", cells={"n": Cell(value=2)}),
        Row(method="sg-rwr", label="SG-RwR", cells={"n": Cell(value=2)}),
        Row(method="cot", label="CoT"),
    ),
    paper="SG-RwR",
    paper_table="1",
)


def samples(*traces: Trace) -> list[dict[str, float]]:
    return [{"rounds": float(one.steps), "graph": 50.0, "cot": 80.0} | part_figures(one) for one in traces]


def test_tables_of_iterations_and_of_faults_stand_beside_the_figures() -> None:
    """Figures of the papers for which a log has all that is needed, and no command makes them."""
    played = {
        "sg-rwr": samples(trace(((100, 60), (150, 140))), trace(((200, 80),))),
        "0-cot": samples(trace((), "counting"), trace(())),
    }
    plan = PartsPlan("figure 7", "sg-rwr", "the agent that decides", faults="figure 8")
    tokens, faults = part_tables(PLAYED, plan, played)
    (row,) = tokens.rows
    assert {it.heading: row.cells[it.key].value for it in tokens.columns} == {
        "rounds": 1.5,
        "graph's tokens": 50,
        "CoT's tokens": 80,
        "1": 70,
        "2": 140,
    }
    assert row.cells["own_iteration_2"].n == 1, "over the samples that have it"
    assert tokens.paper_table == "figure 7"
    assert {row.label: row.cells["counting"].count for row in faults.rows} == {"0-CoT": 1, "SG-RwR": 0}
    assert not [*part_tables(PLAYED, plan, {})], "nothing was played"


def test_iterations_are_drawn_as_lines_and_changes_beyond_100_as_bars(tmp_path: Path) -> None:
    tokens = next(part_tables(PLAYED, PartsPlan("figure 7", "sg-rwr"), {"sg-rwr": samples(trace(((100, 60),)))}))
    title, columns = CHANGES["1"]
    changes = change_table(
        published_table("transition"), of="ssc", over="greedy", columns=columns, title=title, number="1"
    )
    result = ExperimentResult(
        experiment="babyai",
        title="Derived",
        finished=True,
        provenance=Provenance(model="x", replies=("live",), date="2026-01-02", version="1", samples=1, wanted=1),
        tables=(),
        derived=(tokens, changes),
    )
    figures = dict(result_figures(result))
    assert set(figures) == {"sg-rwr-1-numqa-iterations-lines", "transition-changes-1-bars"}
    (panel, *_) = figures["transition-changes-1-bars"].axes
    assert panel.get_xlim()[1] > 581


def test_a_wrong_answer_is_explained_by_the_room_or_by_the_number() -> None:
    """A wrong answer of which nothing tells whether rooms or numbers were mistaken."""
    pytest.importorskip("minigrid", reason="needs `pip install 'scenecypher[papers]'`")
    from scenecypher.importers.babyai import read_level, read_task

    found = set[str]()
    for seed in range(12):
        task, graph = read_task("numqa", seed), read_level("numqa", seed).graph
        assert task is not None
        colors = {str(node.properties["color"]) for node in graph.nodes.values() if "color" in node.properties} | {"no"}
        wrong = sorted(colors - {oracle_answer(graph, task.instruction)})
        found |= {answer_fault(graph, task.instruction, (color,)) for color in wrong}
    assert found == {*ANSWER_FAULTS}
    assert answer_fault(graph, "pick up the box", ("red",)) == "neither"


@pytest.mark.parametrize("paper", ["lookplangraph", "sg-rwr", "sg2"])
def test_each_method_that_a_paper_prints_has_a_row(paper: str) -> None:
    """Nothing else missed a row that the data file lost."""
    printed = {
        "+".join(filter(None, (it.method, it.options.get("ablation"))))
        for key in read_paper(paper)["tables"]
        for it in published_rows(paper, key)[2]
    }
    ours = {key for table, rows in data_table("rows").items() if table.startswith(paper) for key in rows}
    assert printed - {"two-stage"} == ours, "two-stage is augmentation's, and plans nothing"
