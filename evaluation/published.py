"""Figures and settings of the papers, in files keyed by paper, table and method, since related papers differ."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final, Literal

from pydantic import Field, TypeAdapter

from scenecypher.evaluation.result import Cell, Column, Document, Row, TableSetting

FOLDER: Final = files("scenecypher.evaluation") / "data"


class PublishedRow(Document):
    """Row as the paper prints it; "?" is a cell that its text does not show legibly."""

    method: str
    label: str
    options: Mapping[str, str] = Field(default_factory=dict)
    model: str = ""
    cells: Mapping[str, float | Literal["?"]]


class PublishedTable(Document):
    """Part of a paper's table; `model` is the model of all its rows, if they share one."""

    table: str
    model: str = ""
    rows: tuple[PublishedRow, ...]


class PublishedPaper(Document):
    """Tables of a paper by key."""

    paper: str
    tables: Mapping[str, PublishedTable]


def read_paper(name: str) -> PublishedPaper:
    """Return what a paper prints, for a file such as ``lookplangraph``."""
    return PublishedPaper.model_validate(_document("published", name))


def published_rows(name: str, key: str) -> tuple[str, str, tuple[Row, ...]]:
    """Return the paper, the number of its table and the rows, for a file (``lookplangraph``) and a key (``V``)."""
    paper = read_paper(name)
    table = paper.tables[key]
    return paper.paper, table.table, tuple(_row(row, table) for row in table.rows)


def table_settings(name: str) -> tuple[TableSetting, ...]:
    """Return the settings of a table, each with its source."""
    return TypeAdapter(tuple[TableSetting, ...]).validate_python(_document("settings", name))


def data_table(name: str) -> dict[str, Any]:
    """Return a table of our data, a TOML file."""
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def data_columns(experiment: str) -> tuple[Column, ...]:
    """Return the columns of an experiment without episodes."""
    return tuple(Column(key=key, **fields) for key, fields in data_table("columns")[experiment].items())


def _row(row: PublishedRow, table: PublishedTable) -> Row:
    cells = {key: Cell(value=value) for key, value in row.cells.items()}
    return Row(method=row.method, label=row.label, options=row.options, model=row.model or table.model, cells=cells)


def _document(folder: str, name: str) -> Any:
    return json.loads((FOLDER / folder / f"{name}.json").read_text(encoding="utf-8"))
