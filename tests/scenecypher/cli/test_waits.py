"""The line that says what is waited for: only on a terminal, from two seconds on, never in the way of other text."""

from __future__ import annotations

import io
import os
import sys
import threading
from collections.abc import Callable

import pytest

from scenecypher.chat import OpenAIModel
from scenecypher.chat.model import Message, Request
from scenecypher.cli.context import ERASED, WaitLine, output, progress_bar, shown_waits
from scenecypher.db.store.connection import Address, Database
from scenecypher.planner.symbolic.engine import TimeLimit, solve
from scenecypher.waiting import listen, waiting_for
from scenecypher.waiting import waits as waits_now
from tests.scripted_model import ScriptedModel


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def written() -> list[str]:
    return []


@pytest.fixture
def line(clock: Clock, written: list[str], monkeypatch: pytest.MonkeyPatch) -> WaitLine:
    made = WaitLine(written.append, clock=clock)
    monkeypatch.setattr("scenecypher.cli.context.LINE", made)
    return made


def test_a_wait_is_shown_from_two_seconds_on_and_then_erased(line: WaitLine, clock: Clock, written: list[str]) -> None:
    with line.waiting("the model m"):
        clock.seconds = 1.9
        line.tick()
        assert written == []
        clock.seconds = 3
        line.tick()
        assert written == [f"{ERASED}waiting for the model m (3 s)"]
    assert written[1:] == [ERASED]
    line.tick()
    assert written[2:] == []


def test_the_oldest_of_several_waits_is_shown(line: WaitLine, clock: Clock, written: list[str]) -> None:
    with line.waiting("the database"):
        clock.seconds = 2
        with line.waiting("the engine"):
            clock.seconds = 5
            line.tick()
        assert written == [f"{ERASED}waiting for the database (5 s)"]


def test_the_waits_of_all_threads_are_known() -> None:
    """Waits that nobody could ask for: only a terminal was told of them."""
    begun, ended = threading.Event(), threading.Event()

    def wait() -> None:
        with waiting_for("the engine"):
            begun.set()
            ended.wait(20)

    with waiting_for("the past"):
        with waiting_for("the database"):
            other = threading.Thread(target=wait)
            other.start()
            assert begun.wait(20)
            assert waits_now() == (), "none has lasted"
            with waiting_for("the database"):
                assert waits_now(over_s=0) == ("the past", "the database", "the engine")
        assert waits_now(over_s=0) == ("the past", "the engine")
    assert waits_now(over_s=0) == ("the engine",)
    ended.set()
    other.join()
    assert waits_now(over_s=0) == ()


@pytest.mark.parametrize(("columns", "shown"), [(0, "waiting for the database (2 s)"), (12, "waiting for")])
def test_the_line_is_never_folded(
    line: WaitLine, clock: Clock, written: list[str], monkeypatch: pytest.MonkeyPatch, *, columns: int, shown: str
) -> None:
    monkeypatch.setattr("sys.stderr", sys.__stderr__)
    monkeypatch.setattr("os.get_terminal_size", lambda _: os.terminal_size((columns, 24)))
    with line.waiting("the database"):
        clock.seconds = 2
        line.tick()
    assert written[0] == ERASED + shown


def test_other_text_and_bars_come_first(
    line: WaitLine, clock: Clock, written: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with line.waiting("the database"):
        clock.seconds = 2
        line.tick()
        output().print("a result")
        assert written[1:] == [ERASED]
        with progress_bar("importing"):
            line.tick()
        assert written[2:] == []
        line.tick()
        assert len(written) == 3
    assert capsys.readouterr().out == "a result\n"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_only_a_terminal_has_the_line(
    line: WaitLine, clock: Clock, written: list[str], monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool
) -> None:
    monkeypatch.setattr("sys.stderr", io.StringIO())
    monkeypatch.setattr("sys.stderr.isatty", lambda: is_terminal)
    monkeypatch.setattr("scenecypher.cli.context.TICK_S", 0.01)
    told = threading.Event()

    def write(text: str) -> None:
        written.append(text)
        told.set()

    monkeypatch.setattr(line, "_write", write)
    with shown_waits(), waiting_for("the database"):
        clock.seconds = 4
        assert told.wait(20 if is_terminal else 0.2) == is_terminal
    assert bool(written) == is_terminal


def test_models_engines_and_the_database_are_waited_for(
    line: WaitLine, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[str] = []

    def noting(what: str) -> object:
        waited.append(what)
        return line.waiting(what)

    listen(noting)  # type: ignore[arg-type]
    try:
        calls: list[tuple[Callable[[], object], str]] = [
            (ask_model, "the model scripted"),
            (lambda: solve("(define)", "(define)", TimeLimit(0.1)), "the engine, at most 1 s"),
            (lambda: ask_database(address), "the database"),
        ]
        for call, what in calls:
            call()
            assert waited == [what]
            waited.clear()
    finally:
        listen(None)


def ask_model() -> None:
    with ScriptedModel(["hello"]) as server, OpenAIModel(base_url=server.base_url, model="scripted") as model:
        assert model.reply(Request((Message("user", "hello"),))).text == "hello"


def ask_database(address: Address) -> None:
    with Database(address) as database:
        database.row("RETURN 1")
