"""Any scene in any format: the export is read as the same scene, or refused with the first loss."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Properties, Relation, SceneGraph
from scenecypher.db.graph.scene_document import scene_from_document
from scenecypher.db.schema import Declared
from scenecypher.errors import InputError
from scenecypher.importers import dsg, virtualhome
from scenecypher.importers.export import FORMATS, export_document
from scenecypher.importers.homes import small_home
from tests.importers.test_grasif_pickle import EXPECTED
from tests.strategies import KEYS, TYPES, scene_graphs

DATA: Final = Path(__file__).parent.parent / "data"


def apartment() -> ImportedScene:
    return dsg.read_scene(DATA / "dsg" / "apartment_dsg.json")


def oddities() -> ImportedScene:
    return virtualhome.read_graph(DATA / "virtualhome" / "oddities.json")


def read(document: dict[str, Any], form: str, name: str) -> ImportedScene:
    document = json.loads(json.dumps(document, allow_nan=False))
    reader = FORMATS[form].read
    return scene_from_document(document, file="x") if reader is None else reader(document, file="x", name=name)


@pytest.mark.parametrize(
    ("make", "form"),
    [
        *((lambda: EXPECTED, form) for form in ("json", "grasif", "networkx")),
        *((small_home, form) for form in ("json", "virtualhome", "networkx")),
        *((apartment, form) for form in ("json", "dsg", "networkx")),
        *((oddities, form) for form in ("json", "virtualhome")),
    ],
)
def test_a_scene_round_trips_through_each_format_that_fits(make: Callable[[], ImportedScene], form: str) -> None:
    scene = make()
    back = read(export_document(scene, form), form, scene.name)
    assert back.graph == scene.graph
    assert (back.name, back.vocabulary, back.role) == (scene.name, scene.vocabulary, scene.role)


@pytest.mark.parametrize(
    ("make", "form", "cause"),
    [
        (small_home, "grasif", "its vocabulary virtualhome would become grasif"),
        (small_home, "dsg", "has no layer of a 3D scene graph"),
        (apartment, "grasif", "GraSIF has no nodes of the kind Waypoint"),
        (lambda: replace(EXPECTED, graph=SceneGraph.of()), "grasif", "exactly one agent in a scene, this one has 0"),
        (apartment, "virtualhome", "VirtualHome has no property"),
        (oddities, "networkx", "position would be read as something else"),
        (lambda: EXPECTED, "virtualhome", "does not end in '_' and a number"),
        (lambda: replace(EXPECTED, vocabulary="household"), "grasif", "its vocabulary household would become grasif"),
        (lambda: replace(EXPECTED, role="belief"), "grasif", "its role belief would become world"),
        (lambda: EXPECTED, "pickle", "no format 'pickle' is known; give one of json, grasif"),
    ],
)
def test_an_export_names_the_first_loss(make: Callable[[], ImportedScene], form: str, cause: str) -> None:
    with pytest.raises(InputError, match=cause):
        export_document(make(), form)


def altered(**changes: Any) -> ImportedScene:
    nodes = dict(EXPECTED.graph.nodes)
    nodes["mug-1"] = replace(nodes["mug-1"], **changes)
    return replace(EXPECTED, graph=SceneGraph.of(nodes.values(), EXPECTED.graph.relations))


@pytest.mark.parametrize(
    ("scene", "lost"),
    [
        (altered(name="my mug"), "name of 'mug-1'"),
        (altered(class_="cup"), "class of 'mug-1'"),
        (altered(kind="Door"), "relation 'mug-1' INSIDE 'tray-1'"),
        (altered(properties=Properties({"color": "red"})), "color of 'mug-1'"),
        (
            replace(
                EXPECTED,
                graph=SceneGraph.of(
                    EXPECTED.graph.nodes.values(), EXPECTED.graph.relations | {Relation("mug-1", "CLOSE", "tray-1")}
                ),
            ),
            "relation 'mug-1' CLOSE 'tray-1'",
        ),
    ],
)
def test_an_export_names_what_grasif_lacks(scene: ImportedScene, lost: str) -> None:
    with pytest.raises(InputError, match=f"grasif/home can't be written as grasif: .*({lost})"):
        export_document(scene, "grasif")


@given(scene_graphs(), st.sampled_from(list(FORMATS)), st.sampled_from(["household", "virtualhome"]))
def test_any_scene_round_trips_or_is_refused(graph: SceneGraph, form: str, vocabulary: str) -> None:
    scene = ImportedScene("home", graph, vocabulary, declared=Declared(TYPES, KEYS))
    try:
        document = export_document(scene, form)
    except InputError as error:
        refused = str(error)
        assert refused.startswith(f"home can't be written as {form}: ")
        return
    assert read(document, form, "home").graph == graph


def test_an_empty_scene_fits_where_nothing_is_demanded() -> None:
    empty = ImportedScene("home", SceneGraph.of([Node("a", "Place", "a", "a")]))
    assert export_document(empty, "networkx")["nodes"][0]["id"] == "a"
