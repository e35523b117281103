"""Figures and settings of the papers, in files keyed by paper, table and method, since related papers differ."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter

from scenecypher.evaluation.result import Column, Document, Row, TableSetting

D = TypeVar("D", bound=Document)
FOLDER: Final = files("scenecypher.evaluation") / "data"


def published_rows(name: str, key: str) -> tuple[str, str, tuple[Row, ...]]:
    """Return the paper, the number of its table and the rows, for a file (``lookplangraph``) and a key (``V``).

    "?" is a cell that the paper's text does not show legibly.
    """
    paper = read_paper(name)
    table: Mapping[str, Any] = paper["tables"][key]
    rows = ({"model": table.get("model", ""), **row} for row in table["rows"])
    cells = ({of: {"value": value} for of, value in row["cells"].items()} for row in table["rows"])
    found = (Row.model_validate(row | {"cells": of}) for row, of in zip(rows, cells, strict=True))
    return paper["paper"], table["table"], tuple(found)


def read_paper(name: str) -> dict[str, Any]:
    """Return what a paper prints, for a file such as ``lookplangraph``."""
    return dict(_document("published", name))


def table_settings(name: str) -> tuple[TableSetting, ...]:
    """Return the settings of a table, each with its source."""
    return TypeAdapter(tuple[TableSetting, ...]).validate_python(_document("settings", name))


def data_table(name: str) -> dict[str, Any]:
    """Return a table of our data, a TOML file."""
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def data_lines(name: str, of: type[D]) -> tuple[D, ...]:
    """Return the lines of a file of our data."""
    text = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8")
    return tuple(of.model_validate_json(line) for line in text.split("\n") if line)


def data_columns(experiment: str) -> tuple[Column, ...]:
    """Return the columns of an experiment without episodes."""
    return tuple(Column(key=key, **fields) for key, fields in data_table("columns")[experiment].items())


def _document(folder: str, name: str) -> Any:
    return json.loads((FOLDER / folder / f"{name}.json").read_text(encoding="utf-8"))
