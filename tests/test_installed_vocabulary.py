"""A vocabulary of somebody else's package, built as a wheel, installed in an environment, used on the command line."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Final
from uuid import uuid4

import pytest

from tests.test_packaging import built, run

PROJECT: Final = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "orchard-actions"
version = "1.0"

[project.entry-points."scenecypher.vocabularies"]
orchard = "orchard_actions:VOCABULARY"
"""
VOCABULARY: Final = '''\
"""What a robot can do among trees."""

from scenecypher.db.condition import HasState, Not
from scenecypher.db.vocabulary import Conventions
from scenecypher.planner.actions.operator import Become, Operator, Parameter, Requirement
from scenecypher.planner.vocabularies.vocabulary import Planning, Vocabulary, Words

WATER = Operator(
    "water",
    (Parameter("x", "a tree"),),
    (Requirement(Not(HasState("x", "wet")), "{x} is wet already", "already"),),
    (Become("x", "wet", instead_of="dry"),),
    "water a tree",
)
VOCABULARY = Vocabulary(
    name="orchard",
    about="A robot that waters trees.",
    conventions=Conventions(containment=("INSIDE",), one_parent=True, notes=(), texts=__name__),
    operators={"water": WATER},
    words=Words(environment="The environment is an orchard."),
    planning=Planning(keeps_one_parent=True),
)
'''
ORCHARD: Final = {
    "directed": True,
    "nodes": [
        {"id": "meadow", "kind": "room"},
        {"id": "apple_tree", "kind": "Asset", "states": ["dry"]},
        {"id": "robot", "kind": "Agent"},
    ],
    "edges": [
        {"source": "apple_tree", "target": "meadow", "relation": "in"},
        {"source": "robot", "target": "meadow", "relation": "in"},
    ],
}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return a folder of packages into which the wheel of the project is installed."""
    project = tmp_path / "project"
    (project / "orchard_actions").mkdir(parents=True)
    (project / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    (project / "orchard_actions" / "__init__.py").write_text(VOCABULARY, encoding="utf-8")
    wheel, folder = built("wheel", source=project, folder=tmp_path / "dist"), tmp_path / "site"
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index")
    run(*pip, "--target", str(folder), str(wheel), cwd=tmp_path)
    return folder


def test_a_built_and_installed_package_brings_its_actions(
    site: Path, user_env: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"orchard-{uuid4().hex[:8]}"
    (tmp_path / f"{name}.json").write_text(json.dumps(ORCHARD), encoding="utf-8")
    for key, value in user_env.items():
        monkeypatch.setenv(key, value)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(site), os.environ.get("PYTHONPATH", ""))))
    scenecypher = (sys.executable, "-m", "scenecypher")
    scene = f"networkx/{name}"
    run(*scenecypher, "import", "networkx", f"{name}.json", "--vocabulary", "orchard", cwd=tmp_path)
    try:
        assert run(*scenecypher, "act", scene, "--list", cwd=tmp_path) == "water(x): water a tree (x: a tree)\n"
        assert "done" in run(*scenecypher, "act", scene, "water(apple_tree)", cwd=tmp_path)
        rows = run(*scenecypher, "query", scene, "MATCH (t:Asset) RETURN t.states", "--json", cwd=tmp_path)
        assert json.loads(rows)["rows"] == [[["wet"]]]
        monkeypatch.delenv("PYTHONPATH")
        code = "from scenecypher.planner.vocabularies.registry import operators_of; operators_of('orchard')"
        with pytest.raises(AssertionError, match="no vocabulary is called 'orchard'"):
            run(sys.executable, "-c", code, cwd=tmp_path)
    finally:
        run(*scenecypher, "scenes", "delete", scene, "--yes", cwd=tmp_path)
