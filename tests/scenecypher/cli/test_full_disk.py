"""Every command that writes a file, on a full disk: the earlier file is whole, and the error names the file."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from docs.generate.__main__ import write_pages
from scenecypher.chat.model import Reply, Usage
from scenecypher.chat.tape import Exchange, begin_tape, read_tape, write_exchange
from scenecypher.cli.session import _editing
from scenecypher.db.local.config import ServerHome, ServerState
from scenecypher.errors import InputError
from scenecypher.evaluation.result import SUFFIX, write_result
from scenecypher.planner.sessions.resuming import trim_log
from tests.evaluation.test_reporting import make_result
from tests.planner.test_session import says
from tests.scenecypher.cli.conftest import RunCommand, Serve
from tests.scenecypher.cli.test_tasks import file as task_file  # noqa: F401 - a fixture
from tests.small_disk import fill, small_disk

GOOD = "a good earlier file"


@pytest.mark.parametrize(
    ("line", "names"),
    [
        (("scenes", "export", "{home}", "--out", "{disk}/a"), ("a",)),
        (("scenes", "export", "{home}", "--with-history", "--out", "{disk}/a"), ("a",)),
        (("scenes", "show", "{home}", "--html", "{disk}/a"), ("a",)),
        (("scenes", "show", "{home}", "--svg", "{disk}/a"), ("a",)),
        (("scenes", "show", "{home}", "--png", "{disk}/a"), ("a",)),
        (("scenes", "show", "{home}", "--html", "{disk}/a", "--svg", "{disk}/b"), ("a", "b")),
        (("db", "backup", "{disk}/a"), ("a",)),
        (("db", "browser", "--style", "{disk}/a"), ("a",)),
        (("db", "browser", "--scene", "{home}", "--style", "{disk}/a", "--queries", "{disk}/b"), ("a", "b")),
        (("eval", "report", "{results}", "--out", "{disk}"), ("report.md", "01-grasif-office.csv")),
    ],
    ids=" ".join,
)
def test_a_command_leaves_the_earlier_file(
    command: RunCommand, home: str, tmp_path: Path, line: tuple[str, ...], names: tuple[str, ...]
) -> None:
    """Half a new file in place of the good one; an error that does not say which; a part that is left over."""
    write_result(make_result(), tmp_path / "results" / f"a{SUFFIX}")
    check(command, tmp_path, [it.replace("{home}", home) for it in line], names)


def test_the_page_of_a_run_leaves_the_earlier_file(
    command: RunCommand, home: str, tmp_path: Path, model: Serve
) -> None:
    model([says("done")])
    command("plan", home, "rest")
    check(command, tmp_path, ("runs", "show", "--html", "{disk}/a"), ("a",))


def test_the_files_of_a_task_leave_the_earlier_ones(command: RunCommand, task_file: Path, tmp_path: Path) -> None:  # noqa: F811
    document = json.loads(task_file.read_text())
    document["nodes"]["asset"][0]["affordances"] = ["put_on"]
    task_file.write_text(json.dumps(document))
    assert command("import", "grasif", str(task_file)).code == 0
    line = ("tasks", "pddl", "serve", "--file", str(task_file), "--into", "{disk}")
    check(command, tmp_path, line, ("domain.pddl", "problem.pddl"))


def check(command: RunCommand, folder: Path, line: Sequence[str], names: Sequence[str]) -> None:
    """Run a command that writes files of these names to a full disk with earlier ones."""
    with small_disk(folder / "disk") as disk:
        for name in names:
            (disk / name).write_text(GOOD)
        fill(disk)
        ran = command(*(it.format(disk=disk, results=folder / "results") for it in line))
        assert ran.code == 2, ran.out + ran.err
        assert f"{disk}/" in ran.err
        assert "No space left on device" in ran.err
        assert {it.name for it in disk.iterdir()} == {"filler", *names}
        assert {(disk / name).read_text() for name in names} == {GOOD}


def test_a_log_of_a_plan_has_whole_lines(command: RunCommand, home: str, tmp_path: Path, model: Serve) -> None:
    """A log's error without the log's name, and half an event in it."""
    model([says("done", reason="x" * 9_000)])
    with small_disk(tmp_path / "disk") as disk:
        fill(disk, left=4_096)
        ran = command("plan", home, "rest", "--log", str(disk / "log"))
        assert (ran.code, "No space left" in ran.err, f"{disk / 'log'}: can't be written" in ran.err) == (2, True, True)
        assert (disk / "log").read_bytes()[-1:] in {b"", b"\n"}


def test_a_cassette_has_whole_exchanges(tmp_path: Path) -> None:
    """Half an exchange, after which the whole cassette can't be read."""
    with small_disk(tmp_path / "disk") as disk:
        tape = disk / "tape"
        begin_tape(tape, origin="scripted", note="")
        fill(disk, left=4_096)
        for number, text in enumerate(("x" * 20_000, "short"), start=1):
            exchange = Exchange("", number, {}, Reply(text, Usage(), "a model", source="scripted"))
            if number == 1:
                with pytest.raises(InputError, match=f"{tape}: can't be written"):
                    write_exchange(tape, exchange)
            else:
                write_exchange(tape, exchange)
        assert [it.reply.text for it in read_tape(tape).exchanges.values()] == ["short"]


def test_a_log_that_is_resumed_stays_whole(tmp_path: Path) -> None:
    """A log that is cut, so that it can be gone on in, and is lost by that."""
    with small_disk(tmp_path / "disk") as disk:
        file, text = disk / "log", '{"event": "began"}\n{"half'
        file.write_text(text)
        fill(disk)
        with pytest.raises(InputError, match=f"{file}: can't be written"):
            trim_log(file)
        assert file.read_text() == text


def _keep_history(file: Path) -> None:
    readline = pytest.importorskip("readline", reason="Python has no line editor here")
    with _editing({}, [], file):
        readline.add_history("a line that is typed")


def _save_state(file: Path) -> None:
    ServerHome(file.parent).save_state(ServerState(pid=None, bolt=1, http=2))


@pytest.mark.parametrize(
    ("name", "write"),
    [
        (f"result{SUFFIX}", lambda file: write_result(make_result(), file)),
        ("experiments.md", lambda file: write_pages(["experiments"], file.parent)),
        ("methods.md", lambda file: write_pages(["methods"], file.parent)),
        ("session_history", _keep_history),
        ("server.json", _save_state),
    ],
)
def test_what_is_written_by_the_way_leaves_the_earlier_file(
    tmp_path: Path, name: str, write: Callable[[Path], object]
) -> None:
    """Results, pages, logs that are resumed, and what the program keeps for itself."""
    with small_disk(tmp_path / "disk") as disk:
        file = disk / name
        file.write_text(GOOD)
        fill(disk)
        with pytest.raises(InputError, match=str(file)):
            write(file)
        assert file.read_text() == GOOD
        assert {it.name for it in disk.iterdir()} == {"filler", name}
