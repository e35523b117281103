"""The map of the code is true: its packages are those of the import contract, and what it names is there."""

from __future__ import annotations

import re
import tomllib
from typing import Final

from tests.rooms import ROOT

MAP: Final = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def test_the_packages_are_those_of_the_import_contract_in_its_order() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    assert re.findall(r"^\| `(scenecypher\.\w+)` \|", MAP, re.MULTILINE) == layers


def test_the_files_and_folders_that_are_named_are_there() -> None:
    named = {*re.findall(r"`((?:db|planner|retriever|chat|tests|importers)/[\w/.]*)`", MAP)}
    assert len(named) > 15
    assert sorted(name for name in named if not (ROOT / name).exists()) == []
