"""The papers' figures and settings, as files keyed by paper, table and method: sister papers print different ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from scenecypher.evaluation.result import Cell, Row, Setting

FOLDER: Final = files("scenecypher.evaluation") / "data"


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PublishedRow(_Strict):
    """A row as the paper prints it; "?" where its text can't be read."""

    method: str
    label: str
    options: Mapping[str, str] = Field(default_factory=dict)
    model: str = ""
    cells: Mapping[str, float | Literal["?"]]


class PublishedTable(_Strict):
    """A part of a paper's table; `model` is that of all its rows, where they have one."""

    table: str
    model: str = ""
    rows: tuple[PublishedRow, ...]


class Published(_Strict):
    """A paper's tables by key."""

    paper: str
    tables: Mapping[str, PublishedTable]


def published(name: str, key: str) -> tuple[str, str, tuple[Row, ...]]:
    """The paper, its table and its rows: of the file `name`, such as ``lookplangraph``, and the key ``V``."""
    paper = Published.model_validate(_document("published", name))
    table = paper.tables[key]
    return paper.paper, table.table, tuple(_row(row, table) for row in table.rows)


def settings(name: str) -> tuple[Setting, ...]:
    """The settings of a table, each with who says so."""
    return TypeAdapter(tuple[Setting, ...]).validate_python(_document("settings", name))


def _row(row: PublishedRow, table: PublishedTable) -> Row:
    cells = {key: Cell(value=value) for key, value in row.cells.items()}
    return Row(method=row.method, label=row.label, options=row.options, model=row.model or table.model, cells=cells)


def _document(folder: str, name: str) -> Any:
    return json.loads((FOLDER / folder / f"{name}.json").read_text(encoding="utf-8"))
