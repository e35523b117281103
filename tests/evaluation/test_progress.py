"""Progress of a run, limits that spread, and errors that may pass."""

from __future__ import annotations

from pathlib import Path
from signal import SIGINT, getsignal
from types import SimpleNamespace
from typing import Any

import pytest
from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSpec, EvalStatus, write_eval_log
from inspect_ai.model import ModelUsage

from scenecypher.errors import (
    CommitUnknown,
    DatabaseUnavailable,
    InputError,
    ModelUnavailable,
    QueryTimeout,
    ReplyRejected,
    RunStopped,
)
from scenecypher.evaluation.attempts import may_pass
from scenecypher.evaluation.options import take_spread
from scenecypher.evaluation.progress import Progress
from scenecypher.evaluation.run_result import mean_cell, share_cell
from scenecypher.evaluation.running import RunOptions, resume_task
from scenecypher.settings import Settings

CREATED = "2026-11-23T00:00:00+00:00"


USAGE = ModelUsage(input_tokens=1_000_000, output_tokens=1_000_000, total_tokens=2_000_000)


def sample(value: Any, *, tokens: int = 0, error: bool = False) -> Any:
    usage = {"openai/x": ModelUsage(input_tokens=tokens, output_tokens=tokens, total_tokens=2 * tokens)}
    scores = None if error else {"score": SimpleNamespace(value=value)}
    return SimpleNamespace(error="lost" if error else None, scores=scores, model_usage=usage)


def test_progress_counts_success_tokens_and_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCENECYPHER_MODEL_PRICES", '{"openai/x": [2.5, 10]}')
    shown: list[str] = []
    progress = Progress(lambda now: shown.append(str(now)), Settings().model_prices)
    progress.start("run", 5)
    for one in (sample("C", tokens=1_000_000), sample("I"), sample({"exact": 1.0}), sample("", error=True)):
        progress.add(one)
    assert shown[0] == ""
    assert shown[1] == "success 1.00, 2,000,000 tokens, $12.50", "one sample has no interval"
    assert shown[-1] == "success 0.67 [0.21, 0.94], 2,000,000 tokens, $12.50"
    assert (progress.done, progress.total) == (4, 5), "the bar shows them, and the time left"


def test_a_model_behind_our_own_address_has_the_price_of_its_name() -> None:
    progress = Progress(prices={"openai/x": (2.5, 10)})
    progress.add(SimpleNamespace(error="lost", scores=None, model_usage={"openai-api/openai/x": USAGE}))  # type: ignore[arg-type]
    assert str(progress) == "2,000,000 tokens, $12.50"


def test_a_limit_is_spread_or_drawn() -> None:
    assert take_spread(range(10), 3) == [0, 3, 6]
    assert take_spread(range(10), 0) == take_spread(range(10), 12) == [*range(10)]
    assert take_spread(range(100), 5, seed=1) == sorted({*take_spread(range(100), 5, seed=1)})
    assert take_spread(range(100), 5, seed=1) != take_spread(range(100), 5, seed=2)


def caused_by(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "passing"),
    [
        (DatabaseUnavailable("gone", retryable=True), True),
        (ModelUnavailable("no reply on the cassette"), False),
        (InputError("no such scene"), False),
        (CommitUnknown("no answer", retryable=True), True),
        (QueryTimeout("ended at its time limit", retryable=True), True),
        (ConnectionResetError(), True),
        (TimeoutError(), True),
        (caused_by(ValueError("of a client"), ConnectionResetError()), True),
        (FileNotFoundError("a picture"), False),
        (PermissionError("a picture"), False),
        (caused_by(InputError("no such file"), FileNotFoundError()), False),
        (caused_by(ReplyRejected("no JSON"), TimeoutError()), False),
        (caused_by(ValueError("of a client"), caused_by(InputError("bad"), ConnectionResetError())), False),
        (ValueError("a bug"), False),
    ],
)
def test_failures_of_services_may_pass(error: Exception, passing: object) -> None:
    assert may_pass(error) is passing


@pytest.mark.parametrize(
    ("status", "raised"), [("started", RunStopped), ("cancelled", RunStopped), ("success", IndexError)]
)
def test_an_index_error_is_a_stop_only_of_a_run_that_was_stopped(
    status: EvalStatus, raised: type[Exception], own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = EvalSpec(created=CREATED, task="questions", dataset=EvalDataset(), model="none/none", config=EvalConfig())
    file = own_folder / "resumed_abc.eval"
    write_eval_log(EvalLog(status=status, eval=spec), str(file))

    def fail(*_: object, **__: object) -> None:
        raise IndexError

    monkeypatch.setattr("inspect_ai.eval_retry", fail)
    handler = getsignal(SIGINT)
    with pytest.raises(raised):
        resume_task(file, RunOptions(log_dir=str(own_folder), progress=Progress(run="abc")))
    assert getsignal(SIGINT) is handler
    with pytest.raises(IndexError):
        resume_task(file, RunOptions(log_dir=str(own_folder)))  # no run began


def test_one_sample_has_no_interval() -> None:
    assert (share_cell(1, 1).value, share_cell(1, 1).low) == (1.0, None)
    assert share_cell(1, 2).low == pytest.approx(0.0945, abs=1e-3)
    assert (mean_cell([0.5]).value, mean_cell([0.5]).low, mean_cell([]).value) == (0.5, None, None)
