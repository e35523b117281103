"""Tables of experiments keep their cells: those of recorded runs of one model, and of runs without a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.evaluation.tables import RUNS, kept_tables, played_tables

pytest.importorskip("eai_eval", reason="needs `pip install --no-deps eai-eval`")


def test_tables_have_the_cells_that_they_had(server_settings: Path) -> None:
    kept, played = kept_tables(), played_tables(server_settings)
    for name in RUNS:
        tables = zip(played[name], kept[name], strict=True)
        assert [without_new_columns(table, known) for table, known in tables] == kept[name], name


def without_new_columns(table: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """Return a table without the columns that its kept form does not have."""
    new = {column["key"] for column in table["columns"]} - {column["key"] for column in known["columns"]}
    columns = [column for column in table["columns"] if column["key"] not in new]
    rows = [row | {"cells": {key: row["cells"][key] for key in row["cells"].keys() - new}} for row in table["rows"]]
    return table | {"columns": columns, "rows": rows}
