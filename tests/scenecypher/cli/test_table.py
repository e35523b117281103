"""Tables at every width: no broken words, and a message about omitted columns."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Sequence

import pytest
from rich.rule import Rule

from scenecypher.cli.context import output
from scenecypher.cli.table import Column, print_table

SCENES = (
    *map(Column, ("scene", "role")),
    Column("vocabulary", may_go=True),
    Column("version", justify="right"),
    Column("nodes", may_go=True),
)
ROWS = (
    ("virtualhome/963_2", "world", "virtualhome", "0", "1,010"),
    ("homes/a-home-of-several-rooms", "belief", "virtualhome_ext", "12", "115"),
)
SENTENCES = (("eai/27_2", "Put the cup into the microwave and switch it on."), ("eai/963_2", "Wash the cup."))


def lines(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    columns: str | None,
    table: tuple[Sequence[Column], Sequence[Sequence[str]]],
) -> list[str]:
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    print_table(*table)
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def test_a_pipe_gets_a_row_a_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    long = "of-a-long-name" * 20
    _, first, second = lines(capsys, monkeypatch, None, ([*map(Column, "ab")], [(long, "one two"), ("x", "y" * 200)]))
    assert first.split() == [long, "one", "two"]
    assert second.split() == ["x", "y" * 200]


@pytest.mark.parametrize("columns", ["30", "40", "60", "80", "160"])
@pytest.mark.parametrize("table", [(SCENES, ROWS), ([*map(Column, ("task", "instruction"))], SENTENCES)])
def test_words_are_never_broken(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    columns: str,
    table: tuple[Sequence[Column], Sequence[Sequence[str]]],
) -> None:
    printed = lines(capsys, monkeypatch, columns, table)
    whole = {word for column in table[0] for word in column.heading.split()}
    whole |= {word for row in table[1] for cell in row for word in cell.split()}
    assert {word for line in printed for word in line.split()} <= whole
    longest = max(map(len, whole)) + len("instruction  ")
    assert max(map(len, printed)) <= max(int(columns), longest)


def test_what_does_not_fit_is_left_out_and_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    print_table(SCENES, ROWS)
    ran = capsys.readouterr()
    assert ran.out.splitlines()[0].split() == ["scene", "role", "version"]
    assert ran.err.startswith("too narrow for: vocabulary, nodes; ")


def test_a_table_that_can_not_fit_is_a_list_of_records(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lines(capsys, monkeypatch, "24", (SCENES, ROWS))[:7] == [
        "scene       virtualhome/963_2",
        "role        world",
        "vocabulary  virtualhome",
        "version     0",
        "nodes       1,010",
        "",
        "scene       homes/a-home-of-several-rooms",
    ]


def test_no_row_and_no_column_can_be_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lines(capsys, monkeypatch, "60", ([Column("cup")], [])) == ["cup"]
    assert lines(capsys, monkeypatch, "60", ([], [])) == [""]


@pytest.mark.parametrize(("columns", "width"), [(None, 120), ("", 120), ("wide", 120), ("0", 120), ("70", 70)])
def test_a_rule_in_a_pipe_has_a_sensible_width(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: str | None, width: int
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    output().print(Rule("a title", align="left"))
    output().print("prose " * 100)
    rule, prose = capsys.readouterr().out.splitlines()
    assert len(rule) == width
    assert len(prose) == 600


COLOURED = 'from scenecypher.cli.context import output; output().print("red", style="red")'


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_no_color_is_honoured_on_a_terminal(*, no_color: str, coloured: bool) -> None:
    leader, follower = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "NO_COLOR": no_color}
    try:
        subprocess.run([sys.executable, "-c", COLOURED], stdout=follower, timeout=60, check=True, env=env)
        printed = os.read(leader, 1_000)
    finally:
        os.close(leader)
        os.close(follower)
    assert b"red" in printed
    assert (b"\x1b[31m" in printed) is coloured
