"""Commands in forks of one process: what is not installed does not end it."""

from __future__ import annotations

import sys

import pytest

from tests.forking import import_if_installed


@pytest.mark.parametrize(
    ("library", "module"),
    [("neo4j_graphrag", "scenecypher.chat.graphrag"), ("uvicorn", "uvicorn")],
)
def test_a_module_whose_library_is_missing_is_left_out(
    library: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in list(sys.modules):
        if name == module or name.partition(".")[0] == library:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    import_if_installed(module)
    assert sys.modules.get(module) is None
