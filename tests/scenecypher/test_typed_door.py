"""The front door as type checkers see it: real types for every public name, and an error for a misspelt one."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import scenecypher
from tests.rooms import ROOT

USES = {
    "connect": "connect()",
    "home": "connect().home('x')",
    "query": "connect().home('x').query('').rows",
    "answer": "connect().home('x').ask('').answer",
    "rows": "connect().home('x').ask('').rows",
    "act": "connect().home('x').act('')",
    "version": "connect().home('x').undo().version",
    "events": "connect().home('x').history()",
    "plan": "connect().home('x').plan('', method='sg2')",
    "plan_events": "connect().home('x').plan_events('')",
    "graph": "connect().home('x').graph",
    "schema": "connect().home('x').schema",
    "diff": "connect().home('x').diff(connect().home('y'))",
    "at": "connect().home('x').at(3).graph.nodes['cup'].states",
    "model": "connect(model=OpenAIModel(model='x'))",
}
"""Expressions of the README's main job."""
MISSPELT = "from scenecypher import SceneGraf\nimport scenecypher as sc\nsc.conect()\n"


def test_every_public_name_is_listed_once_and_lazy_names_are_the_typed_ones() -> None:
    assert scenecypher.__all__ == sorted(set(scenecypher.__all__), key=scenecypher.__all__.index)
    source = (ROOT / "scenecypher/__init__.py").read_text(encoding="utf-8")
    typed = source.split("if TYPE_CHECKING:")[1].split("else:")[0]
    names = {
        name.rpartition(" as ")[2].strip()
        for line in typed.splitlines()
        if " import " in line
        for name in line.partition(" import ")[2].split(",")
    }
    assert names == set(vars(scenecypher)["_LAZY"])
    assert set(vars(scenecypher)["_LAZY"]) <= set(scenecypher.__all__)


@pytest.mark.parametrize("name", scenecypher.__all__)
def test_every_public_name_can_be_imported(name: str) -> None:
    assert getattr(scenecypher, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="SceneGraf"):
        scenecypher.SceneGraf  # type: ignore[attr-defined] # noqa: B018


@pytest.fixture(scope="module", params=["mypy", "basedpyright"])
def printed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return what a checker prints of two files: one that reveals types, one with misspelt names."""
    program, folder = Path(sys.executable).with_name(request.param), tmp_path_factory.mktemp("typed")
    if not program.exists():
        pytest.skip(f"{program.name} is not installed: run `make setup`")
    files = [folder / "revealing.py", folder / "misspelt.py"]
    for file, code in zip(files, (revealing(), MISSPELT), strict=True):
        file.write_text(code, encoding="utf-8")
    words = ["--no-error-summary", *files] if program.name == "mypy" else pyright(folder)
    result = subprocess.run([program, *words], capture_output=True, text=True, cwd=ROOT, check=False)
    return result.stdout + result.stderr


def test_a_checker_knows_the_type_of_every_public_name(printed: str) -> None:
    types = re.findall(r'(?:Revealed type|Type of ".*") is "(.*)"', printed)
    assert len(types) == len(scenecypher.__all__) - 1 + len(USES), printed
    unclear = [found for found in types if re.search(r"\bAny\b|\bUnknown\b|^object$", found)]
    assert unclear == [], printed


def test_a_misspelt_import_is_an_error(printed: str) -> None:
    errors = "\n".join(line for line in printed.splitlines() if "misspelt.py" in line)
    assert "SceneGraf" in errors
    assert "conect" in errors
    assert "error" in errors


def revealing() -> str:
    names = [name for name in scenecypher.__all__ if name != "PlanEvent"]
    lines = [f"reveal_type({expression})" for expression in (*names, *USES.values())]
    return f"from scenecypher import {', '.join(names)}\nfrom typing import reveal_type\n" + "\n".join(lines) + "\n"


def pyright(folder: Path) -> list[str]:
    """The command's words, with settings under which it reports unknown names; the project's own leave them to mypy."""
    settings = {"typeCheckingMode": "standard", "reportMissingImports": "error", "include": ["."]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    return ["--pythonpath", sys.executable, "--project", str(folder)]
