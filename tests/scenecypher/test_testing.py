"""The conformance kit: all of ours conform, and what is broken is found."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import pytest

from scenecypher.chat.model import Usage
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.graph.scene_document import scene_document
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.vocabulary import BUILT_IN
from scenecypher.errors import InputError
from scenecypher.importers import grasif, homes
from scenecypher.importers.detect import FORMATS, FileFormat, SceneFile
from scenecypher.importers.homes import small_home
from scenecypher.planner.actions.operator import Become, Operator, Parameter, Relate
from scenecypher.planner.methods import METHODS, matrix_cell
from scenecypher.planner.sessions.method import Act, Decision, Memory, MethodContext, Recipe
from scenecypher.planner.vocabularies.vocabulary import vocabulary_named
from scenecypher.testing import check_format, check_method, check_vocabulary
from tests.importers.test_bad_input import GOOD
from tests.importers.test_other_forms import GOOD as OTHERS
from tests.rooms import ROOT

GOODS: Final[dict[str, Callable[[], Any]]] = {name: GOOD[name][0] for name in ("grasif", "networkx")} | {
    "json": lambda: scene_document(small_home()),
    "dsg": lambda: json.loads((ROOT / "tests/data/dsg/apartment_dsg.json").read_text()),
    "virtualhome": lambda: json.loads((files("scenecypher.importers") / "data" / "small_home.json").read_text()),
    **{name: partial(dict, document) for name, document in OTHERS.items()},
}
NO_JSON: Final = frozenset({"graphml", "hovsg"})
"""The formats whose files are no JSON, or several; tests/importers/test_other_forms.py spoils them."""


def _graph(vocabulary: str) -> SceneGraph:
    if vocabulary == "babyai":
        pytest.importorskip("minigrid", reason="needs `pip install 'scenecypher[papers]'`")
        from scenecypher.importers import babyai

        return babyai.read_level("trv2", 3).graph
    if vocabulary == "grasif":
        return grasif.scene("our-office").graph
    return small_home().graph if vocabulary.startswith("virtualhome") else next(homes.scenes()).graph


@pytest.mark.parametrize("name", sorted({*FORMATS} - NO_JSON))
def test_our_formats_conform(name: str, tmp_path: Path) -> None:
    file = tmp_path / "good.json"
    file.write_text(json.dumps(GOODS[name]()), encoding="utf-8")
    assert check_format(FORMATS[name], file, tries=20 if name == "dsg" else 100).graph.nodes


@pytest.mark.parametrize("name", BUILT_IN)
def test_our_vocabularies_conform(name: str) -> None:
    assert sum(check_vocabulary(vocabulary_named(name), _graph(name)).values()) > 0


@pytest.mark.parametrize("name", METHODS)
def test_every_method_ends_whatever_its_model_says(name: str, store: SceneStore) -> None:
    """Nothing, apologies and half a query end a session in words, and leave the scene as its history says."""
    recipe = METHODS[name]
    if recipe.goal:
        pytest.skip("it needs a goal, and no model")
    if "no meaning" in matrix_cell(name, "eai"):
        with pytest.raises(InputError, match=r"docs/methods\.md tells which"):
            check_method(recipe, store)
        return
    trial = check_method(recipe, store, replies=["I am sorry.", "MATCH (n", "{", "[]"], steps=4)
    assert bool(trial.prompts) is recipe.model


class _Stubborn:
    """Method that does one thing again and again."""

    def decide(self, _memory: Memory) -> tuple[Decision, Usage]:
        return Act("go_to(nowhere)"), Usage()


class _Late:
    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        raise KeyError(len(memory.turns))


def _recipe(method: Any) -> Recipe:
    def build(context: MethodContext) -> Any:
        return method

    return Recipe(build, "for a test", extent="nothing", model=False)


def test_a_method_that_fails_is_found(store: SceneStore) -> None:
    assert check_method(_recipe(_Stubborn()), store).events
    with pytest.raises(KeyError):
        check_method(_recipe(_Late()), store)


def test_a_format_that_leaks_an_error_is_found(tmp_path: Path) -> None:
    def careless(file: SceneFile) -> Any:
        return replace(small_home(), name=file.document["name"])

    file = tmp_path / "named.json"
    file.write_text('{"name": "home"}', encoding="utf-8")
    with pytest.raises(AssertionError, match=r"spoilt copy \d+ of seed 0 ended in (KeyError|TypeError|AttributeError)"):
        check_format(FileFormat("named", careless, lambda document: "name" in document), file)


def test_a_format_that_reads_otherwise_each_time_is_found(tmp_path: Path) -> None:
    names = iter("abc")
    file = tmp_path / "any.json"
    file.write_text("{}", encoding="utf-8")
    with pytest.raises(AssertionError, match="another scene the second time"):
        check_format(FileFormat("any", lambda _: replace(small_home(), name=next(names)), lambda _: True), file)


def test_a_format_that_is_not_found_by_its_content_is_found(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text("{}", encoding="utf-8")
    with pytest.raises(AssertionError, match="is none of its own documents"):
        check_format(FileFormat("mine", lambda _: small_home()), file)
    with pytest.raises(KeyError, match="type"):
        check_format(FileFormat("mine", lambda _: small_home(), lambda document: document["type"] == "x"), file)


def test_actions_that_break_the_rules_are_found() -> None:
    """A thing that is put into a second place while it is in the first breaks the rule of one parent."""
    office = vocabulary_named("grasif")
    thing, place = Parameter("x", "a thing"), Parameter("y", "a place")
    torn = Operator("tear", (thing, place), (), (Relate("x", "INSIDE", "y"),), "tear it")
    with pytest.raises(AssertionError, match=r"tear with .* leaves a scene that breaks the rules"):
        check_vocabulary(replace(office, operators={**office.operators, "tear": torn}), _graph("grasif"))
    misnamed = Operator("wash", (thing,), (), (Become("x", "clean"),), "wash it")
    with pytest.raises(AssertionError, match="stand under other names"):
        check_vocabulary(replace(office, operators={**office.operators, "rinse": misnamed}), _graph("grasif"))


def test_a_method_sees_its_replies_and_its_prompts_are_kept(store: SceneStore) -> None:
    goal = '{"reason": "so", "impossible": false, "goal": []}'
    trial = check_method(METHODS["goal-then-plan"], store, replies=[goal] * 3, steps=3)
    assert "bring the cup to the bedroom" in trial.prompts[0].messages[-1].text
