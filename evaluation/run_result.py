"""Parts of a result that all experiments share: samples of its log, provenance, errors, and cells with intervals."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from math import sqrt
from random import Random
from typing import TYPE_CHECKING, Any, Final, TypeVar

from scenecypher.evaluation.published import table_settings
from scenecypher.evaluation.replies import METADATA_KEY, REFERENCE
from scenecypher.evaluation.result import (
    Cell,
    ExperimentResult,
    Provenance,
    ReplySource,
    Row,
    Table,
    TableSetting,
    Trial,
    reply_sources,
)

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

Z_95: Final = 1.959963984540054
RESAMPLES: Final = 2_000


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Return Wilson's score interval of a proportion at 95% (E. B. Wilson, 1927); (0, 1) for no trials."""
    if not trials:
        return 0.0, 1.0
    share, square = successes / trials, Z_95**2
    middle = (share + square / (2 * trials)) / (1 + square / trials)
    reach = Z_95 / (1 + square / trials) * sqrt(share * (1 - share) / trials + square / (4 * trials * trials))
    return max(0.0, middle - reach), min(1.0, middle + reach)


def bootstrap(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95% percentile interval of a mean, from seeded resamples (B. Efron, 1979).

    Raises ValueError if there are no values.
    """
    if not values:
        raise ValueError("there are no values to resample")
    random = Random(0)  # noqa: S311 - a statistic
    means = sorted(sum(random.choices(values, k=len(values))) / len(values) for _ in range(RESAMPLES))
    return means[round(0.025 * (RESAMPLES - 1))], means[round(0.975 * (RESAMPLES - 1))]


T = TypeVar("T")
ATTEMPTS: Final = "attempts"
"""Key in a sample's metadata of the number of its attempts."""
FAILED: Final = "failed"
"""Outcome of a sample that an error ended."""
PACKAGES: Final = ("eai-eval", "inspect-ai", "neo4j", "openai", "scenecypher")
ORACLE: Final = "oracle/"
HEAD_CHARACTERS: Final = 60
TAIL_CHARACTERS: Final = 240
"""Characters of a long message that are kept at its end; HEAD_CHARACTERS at its start."""
REQUEST: Final = re.compile(r"Request: \{.*?\} (?=\w+\()")
"""Inspect puts the whole request before the reason, so that no two messages are equal."""


@dataclass(frozen=True, slots=True)
class LoggedSample:
    """Sample of a log; `found` is what its scorer or solver stored, empty if an error ended it."""

    id: str
    metadata: Mapping[str, Any]
    found: Mapping[str, Any]
    value: Any
    seconds: float
    error: str

    @property
    def failed(self) -> bool:
        """True if it has no score."""
        return not self.found

    @property
    def attempts(self) -> int:
        """Number of attempts; a failure of the database or the model service is tried again."""
        return int(self.metadata.get(ATTEMPTS, 1))

    @property
    def tokens(self) -> int:
        """Tokens of prompts and replies."""
        found = self.found
        parts = ("prompt_tokens", "completion_tokens")
        return int(found["tokens"]) if "tokens" in found else sum(int(found.get(part, 0)) for part in parts)

    @property
    def origins(self) -> set[tuple[str, str]]:
        """Sources of its replies, each with the model's name."""
        found = self.found
        sources = found.get("sources", (found.get("source") or "",))
        models = found.get("models", (found.get("model") or "",))
        return {(source, model) for source in sources for model in (models or ("",)) if source}

    def trial(self, *, table: str, method: str, **fields: Any) -> Trial:
        """Return it as a line of the result; a failed one says so."""
        common = {"id": self.id, "tokens": self.tokens, "seconds": self.seconds, "table": table, "method": method}
        return Trial.model_validate(common | fields | ({"outcome": FAILED} if self.failed else {}))


@dataclass(frozen=True, slots=True)
class Run:
    """Log of one run with its samples."""

    log: EvalLog
    samples: tuple[LoggedSample, ...]

    @classmethod
    def read(cls, log: EvalLog, scorer: str, *, stored: str = "") -> Run:
        """Read a log's samples: the metadata of the score, or what is `stored` in a scored sample's metadata."""
        return cls(log, tuple(_logged(sample, scorer, stored) for sample in log.samples or ()))

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of the task."""
        return dict(self.log.eval.task_args)

    @property
    def sources(self) -> frozenset[str]:
        """Sources that replies actually came from."""
        return frozenset(source for sample in self.samples for source, _ in sample.origins)

    @property
    def replies(self) -> tuple[ReplySource, ...]:
        """Sources of the replies, as a result names them."""
        if self.arguments.get("replies") == REFERENCE:
            return ("reference",)
        is_oracle = bool(self.sources) and self.log.eval.model.startswith(ORACLE)
        return ("oracle",) if is_oracle else reply_sources(self.sources)

    @property
    def asks_model(self) -> bool:
        """True if a model was asked, now or when its replies were recorded."""
        return not {"none", "reference"} & {*self.replies}

    def settings(self, name: str) -> tuple[TableSetting, ...]:
        """Return the settings of a table, without the temperature if no model was asked."""
        return tuple(one for one in table_settings(name) if self.asks_model or one.name != "temperature")

    @property
    def model(self) -> str:
        """Model that was asked, or the models whose replies were recorded."""
        if {"live", "oracle"} & {*self.replies}:
            return self.log.eval.model
        found = {model for sample in self.samples for source, model in sample.origins if source == "recorded"}
        return ", ".join(sorted(found - {""})) or "none"

    @property
    def error_notes(self) -> tuple[str, ...]:
        """Most common error that ended samples, if any."""
        return tuple(filter(None, [most_common_error(self.samples)]))

    @property
    def limit_notes(self) -> tuple[str, ...]:
        """Note of a run for which only some of the samples were selected."""
        total, chosen = self.log.eval.dataset.samples or 0, len(self.log.eval.dataset.sample_ids or ())
        if chosen >= total:
            return ()
        return (f"LIMITED: only {chosen} of {total} samples were chosen; figures of all differ.",)

    @property
    def untried(self) -> tuple[str, ...]:
        """Ids of the samples that the run did not come to."""
        tried = {sample.id for sample in self.samples}
        return tuple(id_ for one in self.log.eval.dataset.sample_ids or () if (id_ := str(one)) not in tried)

    def row(self, row: Row, group: Sequence[LoggedSample], *, untried: int | None = None) -> Row:
        """Return the row of a `group` of samples; without cells if one of its samples failed, or was `untried`.

        If `untried` is None, all untried samples count as lost in every row, since their rows are unknown.
        """
        mine, more = (self.samples, len(self.untried)) if untried is None and self.untried else (group, untried or 0)
        played, failed = sum(not one.failed for one in mine), sum(one.failed for one in group)
        lost, retried = len(mine) - played + more, sum(one.attempts - 1 for one in group)
        noted = row.model_copy(update={"failed": failed, "retried": retried})
        if not lost:
            return noted
        return noted.model_copy(
            update={"cells": {}, "lost": lost, "note": f"not finished: {played} of {len(mine) + more} played"}
        )

    def result(
        self,
        experiment: str,
        title: str,
        tables: Iterable[Table],
        trials: Iterable[Trial],
        *,
        notes: Iterable[str],
        derived: Iterable[Table] = (),
        **provenance: Any,
    ) -> ExperimentResult:
        """Return the result; `provenance` has fields that differ from the log's."""
        return ExperimentResult(
            experiment=experiment,
            title=title,
            finished=self.log.status == "success" and not self.untried and not any(one.failed for one in self.samples),
            provenance=self._provenance(provenance),
            tables=tuple(tables),
            derived=tuple(derived),
            samples=tuple(trials),
            notes=tuple(notes),
        )

    def _provenance(self, own: Mapping[str, Any]) -> Provenance:
        fields: dict[str, Any] = {
            "model": self.model,
            "replies": self.replies,
            "date": self.log.eval.created,
            "version": str(self.log.eval.task_version),
            "prompt_version": str((self.log.eval.metadata or {}).get(METADATA_KEY, "")),
            "temperature": 0.0 if self.asks_model else None,
            "samples": len(self.samples),
            "wanted": len(self.log.eval.dataset.sample_ids or ()) * (self.log.eval.config.epochs or 1),
            "failed": sum(one.failed for one in self.samples),
            "run": self.log.eval.task_id,
            "status": self.log.status,
            "tokens": sum(sample.tokens for sample in self.samples),
            "log": self.log.location,
            "packages": {name: _version(name) for name in PACKAGES},
            "arguments": self.arguments,
        }
        return Provenance.model_validate({**fields, **own})


def _logged(sample: EvalSample, scorer: str, stored: str) -> LoggedSample:
    score = None if sample.error else (sample.scores or {}).get(scorer)
    found = (sample.metadata[stored] if stored else score.metadata) if score else None
    return LoggedSample(
        id=str(sample.id),
        metadata=sample.metadata,
        found=found or {},
        value=score.value if score else None,
        seconds=sample.total_time or 0.0,
        error=sample.error.message if sample.error else "",
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def group_by(items: Iterable[T], key: Callable[[T], Any]) -> dict[Any, list[T]]:
    """Return the items by key, in the order in which keys occur."""
    groups: dict[Any, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def most_common_error(samples: Collection[LoggedSample]) -> str:
    """Return the most common error with its count; empty if there are no errors."""
    common = Counter(_shorten(one.error) for one in samples if one.error).most_common(1)
    return "".join(f"{count} ended by {message}" for message, count in common)


def share_cell(hits: int, of: int, *, scale: int = 1) -> Cell:
    """Return the share of `hits` in `of` with Wilson's interval, times `scale`.

    The share of nothing is n/a, and so is the interval of one sample.
    """
    low, high = (scale * end for end in wilson(hits, of)) if of > 1 else (None, None)
    return Cell(value=scale * hits / of if of else None, n=of, low=low, high=high, count=hits)


def mean_cell(values: Sequence[float]) -> Cell:
    """Return the mean of values with its bootstrap interval; n/a for none, and the interval of one is n/a."""
    if not values:
        return Cell(value=None, n=0)
    low, high = bootstrap(values) if len(values) > 1 else (None, None)
    return Cell(value=sum(values) / len(values), n=len(values), low=low, high=high)


def _shorten(message: str) -> str:
    line = REQUEST.sub("", " ".join(message.replace("\\n", " ").split()))
    return (
        line
        if len(line) <= HEAD_CHARACTERS + TAIL_CHARACTERS
        else f"{line[:HEAD_CHARACTERS]} … {line[-TAIL_CHARACTERS:]}"
    )
