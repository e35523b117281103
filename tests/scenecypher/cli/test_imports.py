"""`scenecypher import virtualhome`: what it finds, what it says, and its exit codes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pytest
import typer
from typer.testing import CliRunner, Result

from scenecypher.cli.imports import import_app
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError, SceneCypherError

DATA: Final = Path(__file__).parents[2] / "data" / "virtualhome"
APP: Final = typer.Typer()
APP.add_typer(import_app, name="import")


def run(*arguments: object, env: Mapping[str, str] | None = None) -> Result:
    return CliRunner().invoke(APP, ["import", "virtualhome", *map(str, arguments)], env=env)


def told(result: Result) -> Any:
    return json.loads(result.stdout)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two good files and two bad ones, in folders, with a random name in front."""
    home = tmp_path / f"t{uuid4().hex[:8]}"
    (home / "one").mkdir(parents=True)
    (home / "two").mkdir()
    shutil.copy(DATA / "oddities.json", home / "one")
    shutil.copy(DATA / "file12_1.json", home / "two")
    (home / "one" / "broken.json").write_text('{"nodes": [', encoding="utf-8")
    (home / "two" / "oddities.json").write_text('{"nodes": [{"id": 1}], "edges": []}', encoding="utf-8")
    return home


def test_a_dry_run_counts_and_writes_nothing() -> None:
    result = run("--only", "963_2", "--dry-run", env={"NEO4J_URI": "bolt://nowhere.invalid:1"})
    assert result.exit_code == 0
    counts = "1 Agent, 200 Asset, 6 Door, 72 Object, 4 Place"
    assert result.stdout == f"virtualhome/963_2: {counts}, 283 nodes, 5,674 relations\n"


def test_the_final_graph_comes_on_demand() -> None:
    scenes = told(run("--only", "963_2", "--final", "--dry-run", "--json"))["scenes"]
    assert [scene["name"] for scene in scenes] == ["virtualhome/963_2", "virtualhome/963_2@final"]
    assert scenes[1]["relation_types"]["HOLDS_RH"] == 1


def test_one_bad_file_does_not_stop_the_others(folder: Path) -> None:
    result = run(folder, "--dry-run")
    assert result.exit_code == 2
    assert result.stdout.splitlines()[-1] == "2 scenes checked, nothing written; 2 failed"
    assert f"{folder}/one/broken.json: line 1, column 12: no valid JSON" in result.stderr
    assert f"{folder}/two/oddities.json: $.nodes[0].class_name: is missing" in result.stderr


def test_problems_are_data_too(folder: Path) -> None:
    document = told(run(folder, "--dry-run", "--json"))
    assert [scene["name"] for scene in document["scenes"]] == ["virtualhome/one/oddities", "virtualhome/two/12_1"]
    assert [failure["source"] for failure in document["failed"]] == [
        f"{folder}/one/broken.json",
        f"{folder}/two/oddities.json",
    ]
    assert document["failed"][1]["problems"][0] == {
        "place": "$.nodes[0].class_name",
        "cause": "is missing; add it",
    }


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*/file*.json", ["virtualhome/12_1"]),
        ("*/*.json", ["virtualhome/one/oddities", "virtualhome/two/12_1"]),
        ("**/odd*.json", ["virtualhome/one/oddities"]),
    ],
)
def test_globs(folder: Path, pattern: str, names: list[str]) -> None:
    assert [scene["name"] for scene in told(run(folder / pattern, "--dry-run", "--json"))["scenes"]] == names


def test_only_chooses_among_files(folder: Path) -> None:
    assert [
        scene["name"] for scene in told(run(folder / "two", "--only", "12_1", "--dry-run", "--json"))["scenes"]
    ] == ["virtualhome/12_1"]
    assert isinstance(run(folder, "--only", "9_9", "--dry-run").exception, InputError)


def test_two_files_of_one_name_are_not_imported_over_each_other(folder: Path) -> None:
    result = run(folder / "one" / "oddities.json", folder / "two" / "oddities.json", "--dry-run")
    assert result.exit_code == 2
    assert "would be the scene virtualhome/oddities again" in result.stderr


def test_a_name_that_no_scene_may_have(tmp_path: Path) -> None:
    path = tmp_path / f"{'x' * 220}.json"
    shutil.copy(DATA / "oddities.json", path)
    result = run(path, "--dry-run")
    assert result.exit_code == 2
    assert "can't name a scene" in result.stderr


@pytest.mark.parametrize("arguments", [("--only", "963_9"), ("*.nothing",), ("/nowhere/at/all/*.json",), ("",)])
def test_what_is_not_there_is_bad_input(arguments: tuple[str, ...], tmp_path: Path) -> None:
    result = run(*arguments, "--dry-run")
    assert isinstance(result.exception, SceneCypherError)
    assert result.exception.exit_code == 2
    missing = run(tmp_path / "nowhere.json", "--dry-run")
    assert (missing.exit_code, missing.stdout) == (2, "")
    assert (
        missing.stderr
        == f"{tmp_path / 'nowhere.json'}: the file: can't be read (No such file or directory); check its path\n"
    )


def test_good_files_are_in_the_database_although_others_are_bad(
    folder: Path, store: SceneStore, user_env: dict[str, str]
) -> None:
    parent = folder.parent
    first, again = (run(parent, "--json", env=user_env) for _ in range(2))
    assert (first.exit_code, again.exit_code) == (2, 2)
    assert [scene["outcome"] for scene in told(first)["scenes"]] == ["created", "created"]
    assert [scene["outcome"] for scene in told(again)["scenes"]] == ["unchanged", "unchanged"]
    names = [scene["name"] for scene in told(first)["scenes"]]
    assert names == [f"virtualhome/{folder.name}/one/oddities", f"virtualhome/{folder.name}/two/12_1"]
    assert len(store.load(names[0]).graph.nodes) == 12
    for name in names:
        store.delete(name)
