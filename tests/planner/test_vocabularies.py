"""Vocabularies: one row and one package each; one's own from an installed package, or added in Python."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from scenecypher.db import vocabulary as names
from scenecypher.db.graph.delta import apply
from scenecypher.db.vocabulary import BUILT_IN, FORMER_NAMES, add_vocabulary, conventions_of, vocabulary_names
from scenecypher.errors import InputError
from scenecypher.planner.actions.execution import simulate
from scenecypher.planner.actions.operator import AGENT
from scenecypher.planner.prompts.texts import functions
from scenecypher.planner.vocabularies.household import VOCABULARY as HOUSEHOLD
from scenecypher.planner.vocabularies.vocabulary import operators_of, vocabulary_named
from tests.planner.actions.household_worlds import ROBOT, SILENT
from tests.rooms import ROOT

OWN = """
from dataclasses import replace

from scenecypher.planner.actions.operator import Become, Operator, Parameter
from scenecypher.planner.vocabularies.household import VOCABULARY

WASH = Operator("wash", (Parameter("x", "anything"),), (), (Become("x", "clean", instead_of="dirty"),), "wash it")
KITCHEN = replace(VOCABULARY, name="kitchen", operators={**VOCABULARY.operators, "wash": WASH})
MISNAMED = replace(KITCHEN, name="scullery")
"""
"""A package of somebody else's: household's vocabulary with an action more."""
OWN_PLACES = {ROOT / "db" / "vocabulary.py", ROOT / "db" / "graph" / "axes.py"}
"""The rows; and whose scenes had Unity's axes before they declared their own."""
POINTS = """[scenecypher.vocabularies]
kitchen = own_kitchen:KITCHEN
lost = own_kitchen:NOWHERE
gone = no_such_package:VOCABULARY
number = math:pi
other = own_kitchen:MISNAMED
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a package with entry points, as pip leaves it in a folder of packages."""
    (tmp_path / "own_kitchen.py").write_text(OWN, encoding="utf-8")
    facts = tmp_path / "own_kitchen-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: own-kitchen\nVersion: 1.0\n", encoding="utf-8")
    (facts / "entry_points.txt").write_text(POINTS, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    names._load.cache_clear()


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_vocabulary_names_what_there_is(name: str) -> None:
    """Its words, PDDL problems and looks name its own actions; its files are there."""
    vocabulary = vocabulary_named(name)
    assert vocabulary.name == name
    known = {*vocabulary.operators, *vocabulary.macros}
    assert all(key == operator.name for key, operator in vocabulary.operators.items())
    assert {*(vocabulary.words.stepwise or ()), *(vocabulary.words.whole or ())} <= known
    assert vocabulary.looking.revealing <= known
    if vocabulary.words.approach is not None:
        assert {vocabulary.words.approach.look, *vocabulary.words.approach.go} <= known
    if vocabulary.problems is not None:
        assert {*vocabulary.problems.argument_places} <= known
    texts = files(vocabulary.conventions.texts)
    assert (texts / "domain.pddl").is_file() is (vocabulary.problems is not None)
    assert (texts / "queries.jsonl").is_file()


@pytest.mark.parametrize("folder", ["planner", "retriever", "db", "chat"])
def test_no_other_module_names_a_vocabulary(folder: str) -> None:
    """A name stands in its row and in its package; what differs is read from the value."""
    found = []
    for file in sorted((ROOT / folder).rglob("*.py")):
        if file.is_relative_to(ROOT / "planner" / "vocabularies") or file in OWN_PLACES:
            continue
        constants = (
            node for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.Constant)
        )
        found += [
            f"{file.relative_to(ROOT)}:{node.lineno}" for node in constants if node.value in {*BUILT_IN, *FORMER_NAMES}
        ]
    assert found == []


def test_a_folder_of_packages_that_is_added_later_is_searched_too(request: pytest.FixtureRequest) -> None:
    before = vocabulary_names()
    request.getfixturevalue("installed")
    assert {"kitchen", "lost"} <= {*vocabulary_names()} - {*before}


@pytest.mark.usefixtures("installed")
def test_a_vocabulary_of_an_installed_package() -> None:
    """Its actions are offered and carried out like any other's."""
    assert "kitchen" in vocabulary_names()
    assert conventions_of("kitchen") == HOUSEHOLD.conventions
    assert functions("kitchen", "whole").endswith("wash(x): wash it (x: anything)")
    done = apply(
        SILENT, simulate(operators_of("kitchen")["wash"], SILENT, {AGENT: ROBOT, "x": "cup"}, action="wash(cup)")
    )
    assert done.nodes["cup"].states == ("clean",)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("lost", "can't be read from own_kitchen:NOWHERE"),
        ("gone", "can't be read from no_such_package:VOCABULARY: No module named"),
        ("number", "it is a float, no Vocabulary"),
        ("other", "its name is 'scullery'"),
        ("kitchn", "no vocabulary is called 'kitchn' (did you mean 'kitchen'?)"),
    ],
)
def test_a_package_that_brings_none_is_told(name: str, says: str) -> None:
    with pytest.raises(InputError) as raised:
        vocabulary_named(name)
    assert says in str(raised.value)


def test_a_vocabulary_added_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "_added", {})
    lab = replace(HOUSEHOLD, name="lab", operators={"go_to": HOUSEHOLD.operators["go_to"]})
    with pytest.raises(InputError, match="no vocabulary is called 'lab'"):
        vocabulary_named("lab")
    add_vocabulary(lab)
    assert [*operators_of("lab")] == ["go_to"]
    assert "lab" in vocabulary_names()


@pytest.mark.parametrize("name", [*BUILT_IN, *FORMER_NAMES])
def test_a_built_in_name_is_not_replaced(name: str) -> None:
    with pytest.raises(InputError, match="comes with SceneCypher; choose another"):
        add_vocabulary(replace(HOUSEHOLD, name=name))


def test_scenes_of_earlier_versions_act_as_household() -> None:
    assert vocabulary_named("generic") is HOUSEHOLD
