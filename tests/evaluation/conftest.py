"""Fixtures for runs of Inspect; warnings that Inspect itself causes are ignored: deprecated names, unclosed streams."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from scenecypher.db.store.connection import Address

IGNORED = (
    "ignore:The 'initial' parameter is deprecated:DeprecationWarning",
    "ignore:Unclosed <Memory:ResourceWarning",
    "ignore:unclosed transport:ResourceWarning",
    "ignore:unclosed <socket:ResourceWarning",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/evaluation/" in item.path.as_posix():
            for warning in IGNORED:
                item.add_marker(pytest.mark.filterwarnings(warning))


@pytest.fixture(autouse=True)
def fresh_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clear Inspect's cache of models by name, which would keep the address of another test's server."""
    monkeypatch.setattr("inspect_ai.model._model._models", {})


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Direct Inspect's cache of replies to the test's folder."""
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Direct logs and Inspect's own files to the test's folder."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def server_settings(address: Address, own_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Point the user's settings to the throw-away server; return the test's folder."""
    monkeypatch.setenv("NEO4J_URI", address.uri)
    monkeypatch.setenv("NEO4J_USERNAME", address.username)
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)
    monkeypatch.setenv("NEO4J_DATABASE", address.database)
    return own_folder


@pytest.fixture(scope="module", autouse=True)
def collect_streams() -> Iterator[None]:
    """Collect unclosed streams here, where the warning is ignored, not in another module's test."""
    yield
    gc.collect()
