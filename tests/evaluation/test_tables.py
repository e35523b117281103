"""Tables of experiments keep their cells: those of recorded runs of one model, and of runs without a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.evaluation.tables import RUNS, kept_tables, played_tables

pytest.importorskip("eai_eval", reason="needs `pip install --no-deps eai-eval`")


def test_tables_have_the_cells_that_they_had(server_settings: Path) -> None:
    kept, played = kept_tables(), played_tables(server_settings)
    for name in RUNS:
        assert played[name] == kept[name], name
