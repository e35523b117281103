"""Reports of results: measured rows beside published ones, and prominent warnings about unfinished runs."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest

from scenecypher.cli.app import run_command_line as command
from scenecypher.cli.evaluate import result_of_log
from scenecypher.cli.table import show_result
from scenecypher.errors import InputError
from scenecypher.evaluation.reporting.cells import format_cell, result_notes
from scenecypher.evaluation.reporting.figures import result_figures
from scenecypher.evaluation.reporting.page import find_results
from scenecypher.evaluation.result import (
    SUFFIX,
    Cell,
    Column,
    ExperimentResult,
    Provenance,
    Row,
    Table,
    TableSetting,
    Trial,
    write_result,
)

SR = Column(key="sr", heading="SR", interval="wilson")
TPA = Column(key="tpa", heading="TPA", unit="number", better="lower")
OURS = Row(
    method="sayplan",
    label="SayPlan",
    cells={"sr": Cell(value=0.5, n=4, low=0.15, high=0.85, count=2), "tpa": Cell(value=None)},
    failed=1,
)
PAPERS = Row(method="sayplan", label="SayPlan", model="GPT-4o", cells={"sr": Cell(value=0.46), "tpa": Cell(value="?")})
NOT_RUN = Row(method="llm+p", label="LLM+P", kind="ours", note="needs a planner | of its own")
TRIALS = tuple(
    Trial(
        table="office",
        id=f"task-{number}",
        method="sayplan",
        nodes=10**number,
        outcome="done" if number > 2 else "out of steps",
        success=number > 2,
        tokens=500 * number,
        mistakes={"closed": number},
    )
    for number in range(1, 5)
)


def make_result(
    *, finished: bool = True, trials: Sequence[Trial] = TRIALS, date: str = "2026-01-02"
) -> ExperimentResult:
    table = Table(
        key="office",
        title="An office",
        columns=(SR, TPA),
        rows=(OURS, NOT_RUN),
        published=(PAPERS,),
        paper="LookPlanGraph",
        paper_table="IV",
        settings=(TableSetting(name="seed", value="0"),),
    )
    from_ = Provenance(
        model="openai/x", replies=("live",), date=date, version="1", samples=len(trials), wanted=4, tokens=5_000
    )
    return ExperimentResult(
        experiment="grasif",
        title="Planning",
        finished=finished,
        provenance=from_,
        tables=(table,),
        samples=tuple(trials),
        notes=("a note",),
    )


def report_page(folder: Path, *results: ExperimentResult) -> str:
    for number, result in enumerate(results):
        write_result(result, folder / f"{number}{SUFFIX}")
    assert command(["eval", "report", str(folder), "--out", str(folder / "out")]) == 0
    return (folder / "out" / "report.md").read_text("utf-8")


def test_a_page_has_ours_beside_the_papers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = report_page(tmp_path, make_result())
    assert "### An office (LookPlanGraph, Table IV)" in page
    assert "| SayPlan | measured | 0.50 [0.15, 0.85] | n/a | 1 failed |" in page
    assert "| LLM+P | not run |  |  | needs a planner \\| of its own |" in page
    assert "| SayPlan, GPT-4o | published | 0.46 | ? |  |" in page
    assert "| seed | 0 | ours |" in page
    assert "replies: live; model: openai/x; 2026-01-02" in page
    assert "NOT FINISHED" not in page
    for picture in ("office-bars", "tokens", "mistakes"):
        assert f"![01-grasif-{picture}.png]" in page
        assert (tmp_path / "out" / f"01-grasif-{picture}.png").read_bytes().startswith(b"\x89PNG")
    assert "1 result, 4 files beside it" in capsys.readouterr().out


def test_the_csv_has_a_line_for_each_figure(tmp_path: Path) -> None:
    report_page(tmp_path, make_result())
    with (tmp_path / "out" / "01-grasif-office.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    told = [(row["whose"], row["column"], row["value"], row["low"], row["count"], row["finished"]) for row in rows]
    assert told == [
        ("measured", "sr", "0.5", "0.15", "2", "yes"),
        ("measured", "tpa", "", "", "", "yes"),
        ("published", "sr", "0.46", "", "", "yes"),
        ("published", "tpa", "?", "", "", "yes"),
    ]


def test_an_unfinished_run_is_marked_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    half = make_result(finished=False, trials=TRIALS[:2], date="2026-01-01")
    page = report_page(tmp_path, make_result(), half)
    warning = "NOT FINISHED: 2 of 4 samples were played"
    assert page.index(f"> **Planning, 2026-01-01: {warning}") < page.index("## Planning"), "first of all"
    assert page.count(warning) == 2, "at the top, and over its own tables, the older ones first"
    assert warning in capsys.readouterr().err
    assert "NOT FINISHED" in (tmp_path / "out" / "01-grasif-office.csv").read_text("utf-8")
    assert "NOT FINISHED" not in (tmp_path / "out" / "02-grasif-office.csv").read_text("utf-8")
    titles = [figure.get_suptitle() for _, figure in result_figures(half)]
    assert len(titles) == 3
    assert all(title.startswith(warning) for title in titles)


def test_a_log_without_a_result_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "killed.eval").write_bytes(b"PK\x03\x04 and no more")
    page = report_page(tmp_path, make_result())
    assert f"> **LEFT OUT: {tmp_path / 'killed.eval'}: can't be read as a log" in page
    assert "LEFT OUT" in capsys.readouterr().err


def test_a_limited_run_is_marked() -> None:
    whole = make_result()
    part = whole.provenance.model_copy(update={"arguments": {"limit": 4}})
    assert result_notes(whole) == ("a note",)
    limited = whole.model_copy(update={"provenance": part})
    assert result_notes(limited)[0].startswith("LIMITED: only some of the tasks were chosen (--limit 4)")
    assert all(figure.get_suptitle().startswith("LIMITED") for _, figure in result_figures(limited))


def test_a_wide_table_has_rows_of_panels_and_success_comes_first() -> None:
    columns = tuple(Column(key=f"c{number}", heading=f"column {number}") for number in range(6))
    row = Row(method="sayplan", cells={column.key: Cell(value=0.5) for column in columns})
    table = Table(key="wide", title="Wide", columns=columns, rows=(row,))
    drawn = dict(result_figures(make_result().model_copy(update={"tables": (table,)})))
    places = [panel.get_subplotspec().rowspan.start for panel in drawn["wide-bars"].axes]  # type: ignore[union-attr]
    assert places == [0, 0, 0, 0, 1, 1]
    ends = drawn["mistakes"].axes[0].get_legend_handles_labels()[1]
    assert ends == ["success", "out of steps"]


def test_a_table_in_a_terminal_fits_and_says_what_it_leaves_out(capsys: pytest.CaptureFixture[str]) -> None:
    columns = [Column(key=f"c{number}", heading=f"column {number}", second=number == 1) for number in range(9)]
    cells = {column.key: Cell(value=0.5, low=0.25, high=0.75) for column in columns}
    table = Table(key="wide", title="Wide", columns=tuple(columns), rows=(Row(method="sayplan", cells=cells),))
    show_result(make_result().model_copy(update={"tables": (table,)}))
    out = capsys.readouterr().out
    (heads,) = [line for line in out.splitlines() if "column 0" in line]
    assert len(heads.rstrip()) <= 120
    assert "column 1" not in heads, "another reading goes first"
    assert "in --json, CSV and the page: column 1, column 6, column 7, column 8" in " ".join(out.split())
    assert "in brackets: 95% intervals" in " ".join(out.split())


def test_a_long_note_stands_below_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    note = "needs pictures of the simulators' assets, which do not come with SceneCypher"
    rows = (NOT_RUN, NOT_RUN.model_copy(update={"method": "react", "label": "ReAct", "note": note}))
    table = make_result().tables[0].model_copy(update={"rows": (OURS, *rows)})
    show_result(make_result().model_copy(update={"tables": (table,)}))
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert "LLM+P: needs a planner | of its own  not run" in lines
    assert f"ReAct: {note}" in lines
    assert any(line.split() == ["ReAct", "not", "run"] for line in lines)


def test_a_row_that_lost_samples_has_no_figures_and_a_stop_is_named(tmp_path: Path) -> None:
    lost = OURS.model_copy(update={"cells": {}, "failed": 0, "lost": 1, "note": "not finished: 3 of 4 played"})
    whole = make_result(finished=False)
    table = whole.tables[0].model_copy(update={"rows": (lost,)})
    by_person = whole.provenance.model_copy(update={"status": "cancelled", "run": "one", "samples": 3})
    stopped = whole.model_copy(update={"tables": (table,), "provenance": by_person})
    page = report_page(tmp_path, stopped)
    assert "| SayPlan | not finished |  |  | not finished: 3 of 4 played |" in page
    assert "STOPPED by a person: 3 of 4 samples were played" in page
    later = make_result(date="2026-01-03")
    resumed = later.model_copy(update={"provenance": later.provenance.model_copy(update={"run": "one"})})
    page = report_page(tmp_path, stopped, resumed)
    assert "STOPPED" not in page, "a run that was resumed is shown once"


def test_outcomes_have_distinct_colours_and_long_titles_are_wrapped() -> None:
    ends = tuple(TRIALS[0].model_copy(update={"outcome": f"way {number}", "success": False}) for number in range(14))
    long = make_result(trials=ends).tables[0].model_copy(update={"title": "An office of many words " * 6})
    drawn = dict(result_figures(make_result(trials=ends).model_copy(update={"tables": (long,)})))
    colors = {bars[0].get_facecolor() for bars in drawn["mistakes"].axes[0].containers}
    assert len(colors) == 14
    assert max(map(len, drawn["office-bars"].axes[0].get_title(loc="left").splitlines())) <= 36


def test_a_run_without_samples_or_figures_has_a_page(tmp_path: Path) -> None:
    page = report_page(tmp_path, make_result(finished=False, trials=()))
    assert "NOT FINISHED: 0 of 4 samples" in page
    assert "tokens.png" not in page


@pytest.mark.parametrize(
    ("unit", "cell", "text"),
    [
        ("share", Cell(value=0.456), "0.46"),
        ("percent", Cell(value=45.61, low=40, high=50), "45.6 [40.0, 50.0]"),
        ("count", Cell(value=1234), "1,234"),
        ("number", Cell(value=1989.4), "1,989"),
        ("number", Cell(value=1.275), "1.27"),
        ("share", Cell(value=None, n=0), "n/a"),
        ("share", Cell(value=1, n=1), "1.00 [n/a]"),
        ("share", Cell(value="?"), "?"),
        ("share", None, ""),
    ],
)
def test_cells(unit: str, cell: Cell | None, text: str) -> None:
    column = Column.model_validate({"key": "x", "heading": "x", "unit": unit, "interval": "wilson"})
    assert format_cell(column, cell) == text


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("nothing", None, "there is no such file or folder; give a result, a log, or a folder"),
        ("notes.txt", "hello", r"neither a result \(\*\.result\.json\) nor a log"),
        ("x.result.json", "{}", "is not a result of an experiment .*; run the experiment again"),
    ],
)
def test_invalid_results_are_refused(name: str, content: str | None, told: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=told):
        find_results([tmp_path / name], result_of_log)


def test_an_empty_folder_says_where_results_are(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"name the folder that `scenecypher eval` was given as --log-dir"):
        find_results([tmp_path], result_of_log)


def test_an_unwritable_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_result(make_result(), tmp_path / f"a{SUFFIX}")
    (tmp_path / "file").touch()
    assert command(["eval", "report", str(tmp_path), "--out", str(tmp_path / "file")]) == 2
    assert "choose another folder with --out" in capsys.readouterr().err


def leaderboard(capsys: pytest.CaptureFixture[str], folder: Path, *results: ExperimentResult) -> str:
    for number, result in enumerate(results):
        write_result(result, folder / f"{number}{SUFFIX}")
    capsys.readouterr()
    assert command(["eval", "leaderboard", str(folder)]) == 0
    return capsys.readouterr().out


def of_model(result: ExperimentResult, model: str, **changes: object) -> ExperimentResult:
    origin = result.provenance.model_copy(update={"model": model, **changes})
    return result.model_copy(update={"provenance": origin})


def test_a_leaderboard_ranks_models_and_names_their_prompts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    better = OURS.model_copy(update={"cells": {**OURS.cells, "sr": Cell(value=0.75, n=4, low=0.3, high=0.95)}})
    first = of_model(make_result(), "openai/x", prompt_version="abc")
    table = first.tables[0].model_copy(update={"rows": (better, NOT_RUN)})
    second = of_model(first.model_copy(update={"tables": (table, table)}), "openai/y", replies=("scripted",))
    page = leaderboard(capsys, tmp_path, first, second)
    lines = [line for line in page.splitlines() if line.startswith("| An office")]
    assert lines == [
        "| An office | SayPlan | openai/y | SR 0.75 [0.30, 0.95] | 4 | abc / 1 | scripted | 2026-01-02 | 1 failed |",
        "| An office | SayPlan | openai/x | SR 0.50 [0.15, 0.85] | 4 | abc / 1 | live | 2026-01-02 | 1 failed |",
    ], "the better first, each row of a run once, none that was not run, no published ones"


def test_a_leaderboard_has_no_figures_of_unfinished_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = of_model(make_result(), "openai/x")
    part = of_model(make_result(), "openai/part", arguments={"limit": 1})
    noted = of_model(make_result(), "openai/noted").model_copy(update={"notes": ("LIMITED: only 4 of 8 samples",)})
    half = of_model(make_result(finished=False, trials=TRIALS[:2], date="2026-01-01"), "openai/half")
    page = leaderboard(capsys, tmp_path, whole, part, half, noted)
    table, _, left_out = page.partition("## Left out")
    assert "openai/half" not in table
    assert "openai/half, 2026-01-01: NOT FINISHED: 2 of 4 samples" in left_out
    assert table.index("openai/x") < table.index("openai/part"), "a part of the tasks is never among the whole"
    assert "| --limit 1; 1 failed |" in table
    assert "| 4 samples; 1 failed |" in table


def test_a_leaderboard_has_whole_sets_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options: tuple[dict[str, str], ...] = ({"kind": "count"}, {"data": "grasif"}, {})
    rows = tuple(OURS.model_copy(update={"label": "all", "options": one}) for one in options)
    asked = make_result()
    pictures = tuple(OURS.model_copy(update={"options": {"pictures": name}}) for name in ("tables", "all"))
    tables = [asked.tables[0].model_copy(update={"rows": each}) for each in (rows, pictures)]
    found = [asked.model_copy(update={"tables": (table,), "experiment": table.rows[0].label}) for table in tables]
    page = leaderboard(capsys, tmp_path, *found)
    assert [line.split("|")[2].strip() for line in page.splitlines() if line.startswith("| An office")] == [
        "SayPlan (pictures all)",
        "all (data grasif)",
    ]


def test_a_row_of_eais_prompt_has_no_version_of_ours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = tuple(OURS.model_copy(update={"options": {"prompt": form}}) for form in ("eai", "paper-content"))
    asked = of_model(make_result(), "openai/x", prompt_version="abc")
    page = leaderboard(
        capsys, tmp_path, asked.model_copy(update={"tables": (asked.tables[0].model_copy(update={"rows": rows}),)})
    )
    lines = [line for line in page.splitlines() if line.startswith("| An office")]
    assert [("(prompt eai)" in line, "| none / 1 |" in line, "| abc / 1 |" in line) for line in lines] == [
        (True, True, False),
        (False, False, True),
    ]


def test_the_committed_leaderboard_is_that_of_its_results(capsys: pytest.CaptureFixture[str]) -> None:
    page = Path(__file__).parents[2] / "docs/leaderboard.md"
    assert command(["eval", "leaderboard", str(page.with_suffix(""))]) == 0
    assert capsys.readouterr().out == page.read_text("utf-8"), "scenecypher eval leaderboard docs/leaderboard"
