"""Settings come from their own variables only."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenecypher.settings import Settings


def test_other_programs_variables_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Settings()
    for name in ("HOME", "MODEL", "HEAP_MB", "QUERY_ROWS"):
        monkeypatch.setenv(name, "/elsewhere" if name == "HOME" else "777")
    assert Settings() == before


def test_each_setting_has_its_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SCENECYPHER_HOME", str(tmp_path))
    monkeypatch.setenv("SCENECYPHER_HEAP_MB", "777")
    monkeypatch.setenv("NEO4J_URI", "bolt://elsewhere:7687")
    monkeypatch.setenv("OPENAI_API_KEY", "")
    settings = Settings()
    assert (settings.home, settings.heap_mb, settings.neo4j_uri) == (tmp_path, 777, "bolt://elsewhere:7687")
    assert not settings.live_model
