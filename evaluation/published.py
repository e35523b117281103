"""The papers' figures and settings, as files keyed by paper, table and method: sister papers print different ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from scenecypher.evaluation.result import Cell, Row, TableSetting

FOLDER: Final = files("scenecypher.evaluation") / "data"


class _StrictModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PublishedRow(_StrictModel):
    """A row as the paper prints it; "?" where its text can't be read."""

    method: str
    label: str
    options: Mapping[str, str] = Field(default_factory=dict)
    model: str = ""
    cells: Mapping[str, float | Literal["?"]]


class PublishedTable(_StrictModel):
    """A part of a paper's table; `model` is that of all its rows, where they have one."""

    table: str
    model: str = ""
    rows: tuple[PublishedRow, ...]


class PublishedPaper(_StrictModel):
    """A paper's tables by key."""

    paper: str
    tables: Mapping[str, PublishedTable]


def published_rows(name: str, key: str) -> tuple[str, str, tuple[Row, ...]]:
    """The paper, its table and its rows: of the file `name`, such as ``lookplangraph``, and the key ``V``."""
    paper = PublishedPaper.model_validate(_document("published", name))
    table = paper.tables[key]
    return paper.paper, table.table, tuple(_row(row, table) for row in table.rows)


def table_settings(name: str) -> tuple[TableSetting, ...]:
    """The settings of a table, each with who says so."""
    return TypeAdapter(tuple[TableSetting, ...]).validate_python(_document("settings", name))


def _row(row: PublishedRow, table: PublishedTable) -> Row:
    cells = {key: Cell(value=value) for key, value in row.cells.items()}
    return Row(method=row.method, label=row.label, options=row.options, model=row.model or table.model, cells=cells)


def _document(folder: str, name: str) -> Any:
    return json.loads((FOLDER / folder / f"{name}.json").read_text(encoding="utf-8"))
