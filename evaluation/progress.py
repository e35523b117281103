"""Progress of a run while it plays: samples done, running success, tokens and cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from inspect_ai.hooks import Hooks, SampleEnd, TaskStart, hooks
from inspect_ai.log import EvalSample
from inspect_ai.model import get_model
from inspect_ai.scorer import CORRECT

from scenecypher.evaluation.run_result import wilson

MILLION: Final = 1_000_000
OWN_SERVICE: Final = "openai-api/"
"""Beginning of the name of a model behind OPENAI_BASE_URL; its price may be named without it."""
Prices = Mapping[str, tuple[float, float]]
"""Dollars for a million tokens of prompts, and of replies, by model."""


@dataclass(slots=True)
class Progress:
    """Counts of a run; `show` is called with it after each sample. `run` is Inspect's id of the run's log."""

    show: Callable[[Progress], None] = lambda _: None
    prices: Prices = field(default_factory=dict)
    run: str = ""
    total: int = 0
    done: int = 0
    scored: int = 0
    right: float = 0.0
    tokens: int = 0
    cost: float | None = None

    def start(self, run: str, total: int) -> None:
        """Begin a run of `total` samples."""
        self.run, self.total = run, total
        self.show(self)

    def add(self, sample: EvalSample) -> None:
        """Count a sample that ended."""
        self.done += 1
        for model, usage in (sample.model_usage or {}).items():
            self.tokens += usage.total_tokens
            if price := self.prices.get(model) or self.prices.get(model.removeprefix(OWN_SERVICE)):
                spent = price[0] * usage.input_tokens + price[1] * usage.output_tokens
                self.cost = (self.cost or 0.0) + spent / MILLION
        value = None if sample.error else next((_success(one.value) for one in (sample.scores or {}).values()), None)
        if value is not None:
            self.scored, self.right = self.scored + 1, self.right + value
        self.show(self)

    def __str__(self) -> str:
        parts: list[str] = []
        if self.scored:
            low, high = wilson(round(self.right), self.scored)
            interval = f" [{low:.2f}, {high:.2f}]" if self.scored > 1 else ""
            parts.append(f"success {self.right / self.scored:.2f}{interval}")
        parts += [f"{self.tokens:,} tokens"] if self.tokens else []
        parts += [f"${self.cost:.2f}"] if self.cost is not None else []
        return ", ".join(parts)


_WATCHED: Final[ContextVar[Progress | None]] = ContextVar("WATCHED", default=None)


def current_run() -> str:
    """Return Inspect's id of the run that is watched, which a run that resumes it shares; empty if none is."""
    watched = _WATCHED.get()
    return watched.run if watched else ""


@contextmanager
def watching(progress: Progress) -> Iterator[Progress]:
    """Count the samples of the runs within."""
    _register_hooks()
    token = _WATCHED.set(progress)
    try:
        yield progress
    finally:
        _WATCHED.reset(token)


@cache
def _register_hooks() -> None:
    """Register hooks on Inspect's events, once, and after Inspect's start, which prints those that are there then."""
    get_model("mockllm/model")

    @hooks("scenecypher_progress", "Counts the samples of a run for the command line.")
    class ProgressHooks(Hooks):
        def enabled(self) -> bool:
            return _WATCHED.get() is not None

        async def on_task_start(self, data: TaskStart) -> None:
            if watched := _WATCHED.get():
                watched.start(data.spec.task_id, len(data.spec.dataset.sample_ids or ()))

        async def on_sample_end(self, data: SampleEnd) -> None:
            if watched := _WATCHED.get():
                watched.add(data.sample)


def _success(value: object) -> float | None:
    if isinstance(value, Mapping):
        value = value.get("exact")
    if isinstance(value, str):
        return float(value == CORRECT)
    return float(value) if isinstance(value, int | float) else None
