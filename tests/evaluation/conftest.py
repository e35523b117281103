"""What Inspect itself warns of is no concern of ours: an old name in its retry library, streams that it leaves open."""

import gc
from collections.abc import Iterator

import pytest

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
def models_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inspect keeps one model of a name, with the address that it had: a server of another test, gone since."""
    monkeypatch.setattr("inspect_ai.model._model._models", {})


@pytest.fixture(scope="module", autouse=True)
def left_behind() -> Iterator[None]:
    """Streams that were left open are collected here, where the warning is ignored, not in another module's test."""
    yield
    gc.collect()
