"""`make check` sees every room: a fault planted in each is found by the checker that is there for it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rooms import FOLDERS, ROOMS, ROOT

FAULTS = '''"""A module with one fault for each checker."""

import db
from scenecypher import cli
from typing import LiteralString

WRONG: int = "text"


def run(text: LiteralString) -> None:
    """Take literal text only."""


def pass_on(text: str) -> None:
    """Pass on text that need not be literal."""
    run(text)
'''


@pytest.fixture(scope="module")
def skeleton(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's settings and links around packages that hold nothing but the planted faults."""
    root = tmp_path_factory.mktemp("skeleton")
    shutil.copy(ROOT / "pyproject.toml", root)
    named = ("db/connect", "db/gate", "db/local", "db/store")
    ours = ("cli", "floorplan", "mcp", "robots", "tools", "ui")
    checked = ("scenecypher", *(f"scenecypher/{it}" for it in ours), "tests", "benchmarks", "docs")
    for package in (*checked, *ROOMS, *named):
        (root / package).mkdir()
        (root / package / "__init__.py").write_text('"""A package."""\n', encoding="utf-8")
    modules = (
        "errors",
        "gate",
        "gym",
        "home",
        "meaning",
        "notebook",
        "plugins",
        "readable",
        "scenes",
        "settings",
        "testing",
        "tree",
        "waiting",
        "words",
        "files",
        "wording",
    )
    for module in modules:
        (root / "scenecypher" / f"{module}.py").write_text('"""A module."""\n', encoding="utf-8")
    for room in ROOMS:
        link = ROOT / "scenecypher" / room
        assert link.is_symlink(), "a checkout needs symbolic links: see CONTRIBUTING.md"
        (root / "scenecypher" / room).symlink_to(link.readlink())
        (root / room / "planted.py").write_text(FAULTS, encoding="utf-8")
    (root / "scenecypher" / "planted.py").write_text(FAULTS, encoding="utf-8")
    return root


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("mypy", "--no-error-summary"), "{module}.py:7: error"),
        (("basedpyright",), '"str" is not assignable to "LiteralString"'),
        (("ruff", "check", "--output-format", "concise", "."), "{file}:3:8: TID251"),
    ],
    ids=["mypy", "basedpyright", "ruff"],
)
def test_a_planted_fault_is_found_in_every_room(skeleton: Path, command: tuple[str, ...], told: str) -> None:
    printed = checked(skeleton, *command)
    for package in FOLDERS:
        module = f"{package.replace('.', '/')}/planted"
        file = f"{package.removeprefix('scenecypher.')}/planted.py"
        assert told.format(module=module, file=file) in printed, printed
        assert module in printed or file in printed, printed


def test_an_import_upwards_is_found_in_every_room(skeleton: Path) -> None:
    printed = checked(skeleton, "lint-imports")
    assert [room for room in ROOMS if f"scenecypher.{room}.planted -> scenecypher.cli" not in printed] == [], printed


def checked(root: Path, tool: str, *options: str) -> str:
    """Return a checker's output for the planted faults."""
    program = Path(sys.executable).parent / tool
    if not program.exists():
        pytest.skip(f"{tool} is not installed: run `make setup`")
    result = subprocess.run([str(program), *options], capture_output=True, text=True, cwd=root, check=False)
    assert result.returncode != 0, result.stdout + result.stderr
    return result.stdout + result.stderr
