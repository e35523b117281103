"""`scenecypher import grasif --subset` and `import homes`: what comes with the package, and homes of anyone's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from uuid import uuid4

import pytest
import typer
from typer.testing import CliRunner, Result

from scenecypher.cli.imports import import_app
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError, SceneCypherError

APP = typer.Typer()
APP.add_typer(import_app, name="import")
HOME = files("scenecypher.importers") / "data" / "homes" / "cottage"


def run(*arguments: object, env: Mapping[str, str] | None = None) -> Result:
    return CliRunner().invoke(APP, ["import", *map(str, arguments)], env=env)


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (
            ("grasif", "--subset", "sayplan-office"),
            "grasif/sayplan-office: 1 Agent, 71 Asset, 94 Object, 37 Place, 203 nodes, 166 relations\n",
        ),
        (
            ("grasif", "--subset", "our-office"),
            "grasif/our-office: 1 Agent, 75 Asset, 130 Object, 7 Place, 213 nodes, 206 relations\n",
        ),
        (
            ("grasif", "--subset", "robothow", "--only", "8_1"),
            "grasif/robothow/8_1: 1 Agent, 111 Asset, 80 Object, 4 Place, 196 nodes, 192 relations\n",
        ),
        (
            ("homes",),
            (
                "homes/apartment: 1 Agent, 48 Asset, 3 Door, 59 Object, 4 Place, 115 nodes, 583 relations\n"
                "homes/cottage: 1 Agent, 52 Asset, 4 Door, 53 Object, 5 Place, 115 nodes, 467 relations\n"
                "on average 4.50 places and 115.0 nodes a scene\n2 scenes checked, nothing written; 0 failed\n"
            ),
        ),
    ],
    ids=lambda given: given[-1] if isinstance(given, tuple) else "",
)
def test_a_dry_run_of_what_comes_with_the_package(arguments: tuple[str, ...], printed: str) -> None:
    result = run(*arguments, "--dry-run", env={"NEO4J_URI": "bolt://nowhere.invalid:1"})
    assert (result.exit_code, result.stdout) == (0, printed)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("grasif", "--subset", "robothov"), "no subset 'robothov' is known .did you mean 'robothow'"),
        (("grasif", "--subset", "all"), "no subset 'all' is known; give one of sayplan-office, behavior-1k"),
        (("grasif", "--subset", "our-office", "--only", "kitchen"), "our-office is one scene; leave out --only"),
        (("grasif", "--subset", "robothow", "--only", "3_1"), "RobotHow's filters leave out 'Relax on sofa'"),
        (("homes", "nowhere"), "no home is at nowhere"),
    ],
)
def test_what_is_refused(arguments: tuple[str, ...], said: str) -> None:
    result = run(*arguments, "--dry-run")
    assert isinstance(result.exception, InputError)
    with pytest.raises(SceneCypherError, match=said):
        raise result.exception


def test_a_home_of_anyone_s_is_imported_and_a_bad_one_does_not_stop_it(
    store: SceneStore, user_env: dict[str, str], tmp_path: Path
) -> None:
    good, bad = (tmp_path / f"{name}{uuid4().hex[:10]}" for name in ("a", "b"))
    for folder in (good, bad):
        folder.mkdir()
        for name in ("graph.json", "tasks.json"):
            (folder / name).write_text((HOME / name).read_text(encoding="utf-8"), encoding="utf-8")
    (bad / "tasks.json").write_text(json.dumps({"title": "Mine", "tasks": [{"id": "x"}]}), encoding="utf-8")
    result = run("homes", tmp_path, env=user_env)
    try:
        assert result.exit_code == 2
        assert f"homes/{good.name}: created, 115 nodes, 467 relations" in result.stdout
        assert "$.tasks[0].instruction: is missing" in result.stderr
        info = store.find(f"homes/{good.name}")
        assert (info.vocabulary, info.nodes) == ("virtualhome_ext", 115)
    finally:
        store.delete(f"homes/{good.name}")
