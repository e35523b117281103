"""The result document of an experiment: its tables with all that one must know to believe them, as one JSON file.

Beside Inspect's log ``NAME.eval`` stands ``NAME.result.json``: one `Result`. A reader (Markdown, CSV, figures) needs
nothing else. For each `Table`:

- `columns` say what the cells are; a `second` one is another reading of the same figure, or a cost beside it;
- `rows` are ours, each by method and options, with a `Cell` for each column's key; a row that was not run has a `note`
  that says why, and no cells;
- `published` are the paper's rows of the same table, with the same columns where it has them;
- `settings` are what the paper says of it and what we chose, each marked with where it is from.

`Result.finished` is false where not all samples were tried: whoever shows it must say so. `samples` has one line for
each episode or question, for figures over sizes, costs and mistakes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scenecypher.errors import InputError

SUFFIX: Final = ".result.json"

Unit: TypeAlias = Literal["share", "percent", "count", "number"]
"""A share is 0 to 1, a percent 0 to 100, a count is whole; a number is anything, such as tokens."""
Better: TypeAlias = Literal["higher", "lower", "neither"]
Interval: TypeAlias = Literal["wilson", "bootstrap", "none"]
ReplySource: TypeAlias = Literal["live", "recorded", "scripted", "oracle", "reference", "none"]
"""Where the replies came from; ``none`` where no model was asked, ``reference`` where a set's own answers stood in."""

UNREADABLE: Final = "?"
"""A published cell that the paper's text does not show."""


class Document(BaseModel):
    """What all parts have in common."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Column(Document):
    """A column: its `key` in the rows, its `heading`, what its values are, and how its intervals were made."""

    key: str
    heading: str
    unit: Unit = "share"
    better: Better = "higher"
    interval: Interval = "none"
    second: bool = False


class Cell(Document):
    """A figure over `n` trials; None is n/a, such as tokens per action where nothing succeeded; "?" is unreadable.

    `low` and `high` are its interval at 95%; `count` is how many of the `n`, where the value is a share.
    """

    value: float | Literal["?"] | None
    n: int | None = None
    low: float | None = None
    high: float | None = None
    count: int | None = None


class Row(Document):
    """A method with its options, such as ``{"ablation": "no-priors"}``; `label` is how the paper writes it.

    `kind` is ``paper`` where a paper has this row, ``ours`` where it is an addition. `model` is set where the row's
    model is its point. `failed` counts samples that ended in an error, which are failures in every figure. `note` says
    what one must know, above all why a row has no cells.
    """

    method: str
    label: str = ""
    options: Mapping[str, str] = Field(default_factory=dict)
    kind: Literal["paper", "ours"] = "paper"
    model: str = ""
    cells: Mapping[str, Cell] = Field(default_factory=dict)
    failed: int = 0
    note: str = ""


class TableSetting(Document):
    """One setting of a table: its value, and whether the paper or we say so."""

    name: str
    value: str
    source: str = "ours"


class Table(Document):
    """One table. `paper` and `paper_table` name the published one that it stands beside, empty where there is none.

    `samples` is what its samples have as `Trial.table`, where that is not its own `key`: tables may share samples.
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
    """One sample: what was tried, in which table and row, on how large a graph, at what cost, and what came of it.

    `outcome` is how it ended (``failed`` where an error ended it); `mistakes` counts refusals by cause; `figures` has
    the values of the columns for this sample alone, such as ``{"sr": 0, "app": 0.5}``.
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
    """Where a result is from. `prompt_version` and `version` are of prompts and scoring; results differ across them."""

    model: str
    replies: tuple[ReplySource, ...]
    date: str
    version: str
    prompt_version: str = ""
    seeds: tuple[int, ...] = ()
    temperature: float | None = None
    samples: int
    wanted: int
    tokens: int = 0
    log: str = ""
    packages: Mapping[str, str] = Field(default_factory=dict)
    arguments: Mapping[str, Any] = Field(default_factory=dict)


class ExperimentResult(Document):
    """All of one run. `document` is this format's version."""

    document: Literal[1] = 1
    experiment: str
    title: str
    finished: bool
    provenance: Provenance
    tables: tuple[Table, ...]
    samples: tuple[Trial, ...] = ()
    notes: tuple[str, ...] = ()


def reply_sources(sources: Collection[str]) -> tuple[ReplySource, ...]:
    """Where replies came from, each source once; ``none`` where there are no replies."""
    return tuple(kind for kind in get_args(ReplySource) if kind in sources) or ("none",)


def result_path(log: str) -> Path:
    """Where the result of a log stands: beside it."""
    path = Path(log)
    return path.with_name(path.name.removesuffix(".eval").removesuffix(".json") + SUFFIX)


def write_result(result: ExperimentResult, path: Path) -> Path:
    """Write a result. Raises InputError where that can't be."""
    try:
        path.write_text(result.model_dump_json(indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: can't be written ({error.strerror}); choose another folder for the log") from error
    return path


def read_result(path: Path) -> ExperimentResult:
    """Read a result. Raises InputError for what is none."""
    try:
        return ExperimentResult.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: can't be read ({error.strerror}); give a *{SUFFIX} file") from error
    except ValidationError as error:
        raise InputError(
            f"{path}: is no result of an experiment ({error.error_count()} problems); run the experiment again"
        ) from error
