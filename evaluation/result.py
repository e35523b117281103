"""Result document of an experiment: its tables and their provenance, as one JSON file.

The file ``logs-results/NAME.result.json`` belongs to Inspect's log ``logs/NAME.eval`` and holds one `ExperimentResult`.
Readers (Markdown, CSV, figures) need nothing else. For each `Table`:
- `columns` describe the cells; a `second` column is another reading of the same figure, or a cost;
- `rows` are ours, each by method and options, with a `Cell` for each column's key; a row that was not run has no cells,
  and a `note` with the reason;
- `published` are the paper's rows of the same table, with the same columns as far as the paper has them;
- `settings` are the paper's settings and our choices, each with its source.

`ExperimentResult.finished` is False if not all samples were played to a score, which every display must say. `samples`
has one line for each episode or question, for figures over sizes, costs and mistakes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scenecypher.errors import InputError
from scenecypher.files import write_file

SUFFIX: Final = ".result.json"
RESULTS: Final = "-results"
"""Ending of the folder of results, after the name of the folder of logs."""

Unit: TypeAlias = Literal["share", "percent", "count", "number", "change"]
"""A share is from 0 to 1, a percent from 0 to 100, a count is whole; a change is relative, in percent; a number is any
other, such as tokens."""
Better: TypeAlias = Literal["higher", "lower", "neither"]
Interval: TypeAlias = Literal["wilson", "bootstrap", "none"]
ReplySource: TypeAlias = Literal["live", "recorded", "scripted", "oracle", "reference", "none"]
"""Source of replies; ``none`` if no model was asked, ``reference`` if a set's own answers were used."""


class Document(BaseModel):
    """Base class of documents: they have no other keys than the named ones, and don't change."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Column(Document):
    """Column: its `key` in the rows, its `heading`, the unit of its values, and the kind of its intervals."""

    key: str
    heading: str
    unit: Unit = "share"
    better: Better = "higher"
    interval: Interval = "none"
    second: bool = False


class Cell(Document):
    """Figure over `n` trials; None is n/a, such as tokens per action without a success; "?" is unreadable.

    `low` and `high` are its 95% interval; `count` is the numerator if the value is a share of `n`.
    """

    value: float | Literal["?"] | None
    n: int | None = None
    low: float | None = None
    high: float | None = None
    count: int | None = None


class Row(Document):
    """Method with its options, such as ``{"ablation": "no-priors"}``; `label` is the paper's name for it.

    `kind` is ``paper`` if a paper has this row, ``ours`` if it is an addition. `model` is set if the rows differ by
    model. `failed` counts samples that ended in an error, and `lost` these and samples that were not played: a row that
    lost any has no cells. `retried` counts attempts beyond each sample's first. `note` explains the row, above all why
    it has no cells.
    """

    method: str
    label: str = ""
    options: Mapping[str, str] = Field(default_factory=dict)
    kind: Literal["paper", "ours"] = "paper"
    model: str = ""
    cells: Mapping[str, Cell] = Field(default_factory=dict)
    failed: int = 0
    lost: int = 0
    retried: int = 0
    note: str = ""


class TableSetting(Document):
    """Setting of a table: its value, and whether it is the paper's or ours."""

    name: str
    value: str
    source: str = "ours"


class Table(Document):
    """Table; `paper` and `paper_table` name the published table beside it, empty if there is none.

    `samples` is the `Trial.table` of its samples if that differs from its own `key`, since tables may share samples.
    """

    key: str
    samples: str = ""
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    published: tuple[Row, ...] = ()
    paper: str = ""
    paper_table: str = ""
    settings: tuple[TableSetting, ...] = ()
    notes: tuple[str, ...] = ()


class Trial(Document):
    """Sample: its table and row, the size of its graph, its cost and its outcome.

    `outcome` says how it ended (``failed`` after an error); `mistakes` counts refusals by cause; `figures` are the
    columns' values for this sample, such as ``{"sr": 0, "app": 0.5}``.
    """

    table: str
    id: str
    method: str
    options: Mapping[str, str] = Field(default_factory=dict)
    nodes: int | None = None
    outcome: str = ""
    success: bool = False
    actions: int = 0
    tokens: int = 0
    seconds: float = 0.0
    mistakes: Mapping[str, int] = Field(default_factory=dict)
    figures: Mapping[str, float] = Field(default_factory=dict)


class Provenance(Document):
    """Origin of a result; results with different `prompt_version` or `version` (of scoring) are not comparable.

    `samples` of the `wanted` ones were tried, of which `failed` ended in an error. `run` is shared by a run and those
    that resumed it; `status` is Inspect's: ``cancelled`` was stopped by a person, ``started`` was killed.
    """

    model: str
    replies: tuple[ReplySource, ...]
    date: str
    version: str
    prompt_version: str = ""
    seeds: tuple[int, ...] = ()
    temperature: float | None = None
    samples: int
    wanted: int
    failed: int = 0
    run: str = ""
    status: str = ""
    tokens: int = 0
    log: str = ""
    packages: Mapping[str, str] = Field(default_factory=dict)
    arguments: Mapping[str, Any] = Field(default_factory=dict)


class ExperimentResult(Document):
    """Result of one run; `document` is the version of this format.

    `derived` tables show what `tables` have as changes or by parts; no ranking counts them.
    """

    document: Literal[1] = 1
    experiment: str
    title: str
    finished: bool
    provenance: Provenance
    tables: tuple[Table, ...]
    derived: tuple[Table, ...] = ()
    samples: tuple[Trial, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def all_tables(self) -> tuple[Table, ...]:
        """The tables, those that are derived last."""
        return (*self.tables, *self.derived)


def reply_sources(sources: Collection[str]) -> tuple[ReplySource, ...]:
    """Return the sources of replies, each once; ``none`` if there are no replies."""
    return tuple(kind for kind in get_args(ReplySource) if kind in sources) or ("none",)


def results_folder(logs: Path) -> Path:
    """Return the folder of results, which is beside the folder of logs: Inspect takes any JSON there for a log."""
    whole = logs.resolve()
    return logs / ".." / f"{whole.name}{RESULTS}" if logs.name in {"", ".."} else logs.with_name(logs.name + RESULTS)


def result_path(log: str) -> Path:
    """Return the path of a log's result."""
    path = Path(log)
    return results_folder(path.parent) / (path.name.removesuffix(".eval").removesuffix(".json") + SUFFIX)


def write_result(result: ExperimentResult, path: Path) -> Path:
    """Write a result. Raises InputError if the file can't be written."""
    write_file(path, result.model_dump_json(indent=1) + "\n", makes_folder=True)
    return path


def read_result(path: Path) -> ExperimentResult:
    """Read a result. Raises InputError if the file is not a result."""
    try:
        return ExperimentResult.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: can't be read ({error.strerror}); give a *{SUFFIX} file") from error
    except ValidationError as error:
        raise InputError(
            f"{path}: is not a result of an experiment ({error.error_count()} problems); run the experiment again"
        ) from error
