"""Bad files of every format in one table: exit code 2, the file and the place, and nothing stored."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import networkx as nx
import pytest

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import DocumentError
from scenecypher.importers import dsg, grasif, grasif_pickle, virtualhome
from scenecypher.importers.detect import read_any
from scenecypher.importers.dsg import symbol_number
from tests.importers.test_grasif_pickle import Calls
from tests.scenecypher.cli.conftest import RunCommand, command

__all__ = ["command"]

Change: TypeAlias = Callable[[Any], object]

DEEP: Final[Any] = json.loads("[" * 97 + "]" * 97)
NAN: Final = float("nan")
INJECTION: Final = "cup`}) DETACH DELETE (n) //"


def good_json() -> dict[str, Any]:
    return {
        "format": "scenecypher/scene",
        "version": 1,
        "name": "test/bad-input",
        "vocabulary": "grasif",
        "nodes": [
            {"id": "room", "kind": "Place", "name": "room", "class": "room"},
            {"id": "box", "kind": "Asset", "name": "box", "class": "box", "properties": {"center": {"point": [0, 0]}}},
            {"id": "cup", "kind": "Object", "name": "cup", "class": "cup"},
        ],
        "relations": [["box", "INSIDE", "room"], ["cup", "INSIDE", "box"]],
    }


def good_virtualhome() -> dict[str, Any]:
    facts = {"properties": [], "states": [], "bounding_box": {"center": [0, 0, 0], "size": [1, 1, 1]}}
    names = enumerate(("room", "box", "cup"), 1)
    return {
        "nodes": [{"id": number, "class_name": name, **facts} for number, name in names],
        "edges": [vh(2, "INSIDE", 1), vh(3, "INSIDE", 2)],
    }


def good_grasif() -> dict[str, Any]:
    return {
        "nodes": {
            "rooms": [{"name": "room"}],
            "asset": [{"name": "box", "room": "room"}],
            "objects": [
                {"name": "cup", "relation": "inside_of", "related_to": "box"},
                {"name": "bag", "relation": "ontop_of", "related_to": "box"},
            ],
            "agent": {"name": "agent", "location": "room"},
        }
    }


def good_pickle() -> Any:
    graph = nx.MultiDiGraph()
    graph.add_node("room", type="room")
    graph.add_node("box", type="asset")
    graph.add_node("cup", type="object")
    graph.add_edge("box", "room", relation="inside_of")
    graph.add_edge("cup", "box", relation="inside_of")
    return graph


def good_networkx() -> dict[str, Any]:
    return {
        "directed": True,
        "multigraph": False,
        "graph": {"vocabulary": "grasif"},
        "nodes": [{"id": "room", "kind": "Place"}, {"id": "box", "kind": "Asset", "pos": [0, 0]}, {"id": "cup"}],
        "edges": [
            {"source": "box", "target": "room", "relation": "INSIDE"},
            {"source": "cup", "target": "box", "relation": "INSIDE"},
        ],
    }


def good_dsg() -> dict[str, Any]:
    attributes = {"type": "SemanticNodeAttributes", "position": [0, 0, 0], "name": ""}
    nodes = [("R(1)", 4), ("O(1)", 2), ("O(2)", 2)]
    return {
        "nodes": [{"id": symbol_number(s), "layer": layer, "attributes": dict(attributes)} for s, layer in nodes],
        "edges": [{"source": symbol_number("O(1)"), "target": symbol_number("R(1)")}],
    }


GOOD: Final[dict[str, tuple[Callable[[], Any], Callable[[Path], ImportedScene], str]]] = {
    "json": (good_json, partial(read_any, file_format="json"), "json"),
    "virtualhome": (good_virtualhome, virtualhome.read_graph, "virtualhome"),
    "grasif": (good_grasif, grasif.read_scene, "grasif"),
    "pickle": (good_pickle, grasif_pickle.read_scene, "grasif"),
    "networkx": (good_networkx, partial(read_any, file_format="networkx"), "networkx"),
    "dsg": (good_dsg, dsg.read_scene, "dsg"),
}


def put(path: str, value: Any) -> Change:
    """Set the value at a path such as `nodes.1.id`."""

    def change(document: Any) -> None:
        *way, last = path.split(".")
        for step in way:
            document = document[int(step) if isinstance(document, list) else step]
        document[int(last) if isinstance(document, list) else last] = value

    return change


def also(path: str, value: Any) -> Change:
    """Append to the list at a path."""

    def change(document: Any) -> None:
        for step in path.split("."):
            document = document[step]
        document.append(value)

    return change


def edge(*ends: str, relation: str = "inside_of") -> Change:
    return lambda graph: graph.add_edge(*ends, relation=relation)


def attribute(name: str, value: Any, node: Any = "cup") -> Change:
    return lambda graph: graph.add_node(node, type="object", **{name: value})


def vh(*edge: Any) -> dict[str, Any]:
    return dict(zip(("from_id", "relation_type", "to_id"), edge, strict=True))


def nl(source: Any, relation: str, target: Any) -> dict[str, Any]:
    return {"source": source, "target": target, "relation": relation}


# Each fault in each format: a change of the good file, and a piece of the error. None if the form can't express it
# (a graph of NetworkX has each node once), or if it is no fault (VirtualHome guarantees no tree).
FAULTS: Final[dict[str, dict[str, tuple[Change, str] | None]]] = {
    "a cycle": {
        "json": (put("relations.0", ["box", "INSIDE", "cup"]), "leads back to it"),
        "virtualhome": None,
        "grasif": (put("nodes.objects.0.related_to", "cup"), "leads back to it"),
        "pickle": (lambda g: (g.remove_edge("cup", "box"), edge("cup", "cup")(g)), "leads back to it"),
        "networkx": (put("edges.0.target", "cup"), "leads back to it"),
        "dsg": None,
    },
    "two parents": {
        "json": (also("relations", ["cup", "ON", "room"]), "at once"),
        "virtualhome": None,
        "grasif": (put("nodes.agent.holding", "cup"), "at once"),
        "pickle": (edge("cup", "room"), "at once"),
        "networkx": (also("edges", nl("cup", "on", "room")), "at once"),
        "dsg": None,
    },
    "a relation to a missing node": {
        "json": (put("relations.1.2", "bix"), "no node has the id 'bix'"),
        "virtualhome": (put("edges.1.to_id", 9), "no node has the id 9"),
        "grasif": (put("nodes.objects.0.related_to", "bix"), "no node is called 'bix'"),
        "pickle": (attribute("room", "bix"), "no node is called 'bix'"),
        "networkx": (put("edges.1.target", "bix"), "no node is called 'bix'"),
        "dsg": (put("edges.0.target", symbol_number("R(7)")), r"no node is called 'R\(7\)'"),
    },
    "the same id twice": {
        "json": (put("nodes.2.id", "box"), "is the id at .* already"),
        "virtualhome": (put("nodes.2.id", 2), "2 is the id of \\$.nodes.1..id already"),
        "grasif": (put("nodes.objects.0.name", "box"), "'box' is the id of .* already"),
        "pickle": (attribute("name", "box"), "'box' is the id of .* already"),
        "networkx": (put("nodes.2.id", "box"), "'box' is the id of .* already"),
        "dsg": (put("nodes.2.id", symbol_number("O(1)")), r"'O\(1\)' is the id of .* already"),
    },
    "the same relation twice": {
        "json": (also("relations", ["cup", "INSIDE", "box"]), "the same relation"),
        "virtualhome": (also("edges", vh(3, "INSIDE", 2)), "the same relation"),
        "grasif": None,
        "pickle": (edge("cup", "box"), "the same relation"),
        "networkx": (also("edges", nl("cup", "in", "box")), "the same relation"),
        "dsg": (also("edges", {"source": symbol_number("R(1)"), "target": symbol_number("O(1)")}), "the same relation"),
    },
    "an unknown relation type": {
        "json": (put("relations.1.1", "BESIDE"), "is no known relation type .*; add it to declared"),
        "virtualhome": (put("edges.1.relation_type", "BESIDE"), "unknown relation type 'BESIDE'"),
        "grasif": (put("nodes.objects.0.relation", "beside"), "'ontop_of', 'inside_of'"),
        "pickle": (edge("cup", "box", relation="beside"), "relation should be one of"),
        "networkx": (put("edges.1.relation", "beside"), "BESIDE is no known relation type"),
        "dsg": None,
    },
    "an undeclared property": {
        "json": (put("nodes.2.properties", {"weight": 1}), "weight is no known property; add it to declared"),
        "virtualhome": (put("nodes.2.weight", 1), "no field that is known here"),
        "grasif": (put("nodes.objects.0.weight", 1), "no field that is known here"),
        "pickle": (attribute("weight", 1), "no field that is known here"),
        "networkx": (put("nodes.2.weight", 1), "weight is no known property; declare it"),
        "dsg": None,
    },
    "a number that Neo4j can't hold": {
        "json": (put("nodes.2.properties", {"color": 2**63}), "64-bit"),
        "virtualhome": (put("nodes.2.id", 2**63), "should be below 9223372036854775808"),
        "grasif": (put("nodes.objects.0.states", [2**63]), "should be text"),
        "pickle": (attribute("states", [2**63]), "should be text"),
        "networkx": (put("nodes.2.color", 2**63), "64-bit"),
        "dsg": (put("nodes.2.attributes.last_update_time_ns", 2**63), "64-bit"),
    },
    "a map as a value": {
        "json": (put("nodes.2.properties", {"color": {"r": 1}}), "a map can't be a value"),
        "virtualhome": (put("nodes.2.prefab_name", {"r": 1}), "should be text"),
        "grasif": (put("nodes.objects.0.properties", {"r": 1}), "should be a list"),
        "pickle": (attribute("properties", {"r": 1}), "should be a list"),
        "networkx": (put("nodes.2.color", {"r": 1}), "a map can't be a value"),
        "dsg": (put("nodes.2.attributes.distance", {"r": 1}), "should be a number"),
    },
    "nested 100 deep": {
        "json": (put("nodes.2.properties", {"color": DEEP}), "nested over 100 deep"),
        "virtualhome": (put("nodes.2.prefab_name", [DEEP]), "nested over 100 deep"),
        "grasif": (put("nodes.objects.0.states", [DEEP]), "nested over 100 deep"),
        "pickle": (attribute("states", DEEP), "should be text"),
        "networkx": (put("nodes.2.color", [DEEP]), "nested over 100 deep"),
        "dsg": (put("nodes.2.attributes.anything", DEEP), "nested over 100 deep"),
    },
    "a position of NaN": {
        "json": (put("nodes.1.properties.center.point", [0, NAN]), "finite numbers, not NaN"),
        "virtualhome": (put("nodes.1.bounding_box.center", [0, NAN, 0]), "should be a number, not NaN"),
        "grasif": None,
        "pickle": None,
        "networkx": None,
        "dsg": None,
    },
    "a control character in a name": {
        "json": (put("nodes.2.name", "cu\x07p"), "control character"),
        "virtualhome": (put("nodes.2.class_name", "cu\x07p"), r"holds '\\x07'"),
        "grasif": (put("nodes.objects.0.name", "cu\x07p"), "control character"),
        "pickle": (attribute("name", "cu\x07p"), "control character"),
        "networkx": (put("nodes.2.name", "cu\x07p"), "control character"),
        "dsg": (put("nodes.2.attributes.name", "cu\x07p"), "control character"),
    },
    "half a character": {
        "json": (put("nodes.2.name", "\ud800"), "half a surrogate pair"),
        "virtualhome": (put("nodes.2.class_name", "\ud800"), r"holds '\\ud800'"),
        "grasif": (put("nodes.objects.0.name", "\ud800"), "half a surrogate pair"),
        "pickle": (attribute("name", "\ud800"), "half a surrogate pair"),
        "networkx": (put("nodes.2.name", "\ud800"), "half a surrogate pair"),
        "dsg": (put("nodes.2.attributes.name", "\ud800"), "half a surrogate pair"),
    },
    "a name of 501 characters": {
        "json": (put("nodes.2.id", "x" * 501), "501 characters; at most 500"),
        "virtualhome": (put("nodes.2.class_name", "x" * 501), "501 characters"),
        "grasif": (put("nodes.objects.0.name", "x" * 501), "501 characters; at most 500"),
        "pickle": (attribute("name", "x" * 501), "501 characters; at most 500"),
        "networkx": (put("nodes.2.id", "x" * 501), "501 characters; at most 500"),
        "dsg": (put("nodes.2.attributes.name", "x" * 501), "501 characters; at most 500"),
    },
    "Cypher as a relation": {
        "json": (put("relations.1.1", "ON]-() DELETE r//"), "must be UPPER_SNAKE_CASE"),
        "virtualhome": (put("edges.1.relation_type", "ON]-() DELETE r//"), "unknown relation type"),
        "grasif": (put("nodes.objects.0.relation", "ON]-() DELETE r//"), "should be 'ontop_of'"),
        "pickle": (edge("cup", "box", relation="ON]-() DELETE r//"), "relation should be one of"),
        "networkx": (put("edges.1.relation", "ON]-() DELETE r//"), "must be UPPER_SNAKE_CASE"),
        "dsg": None,
    },
    "Cypher as a property": {
        "json": (put("nodes.2.properties", {"x`})//": 1}), "is no property name"),
        "virtualhome": (put("nodes.2.x`})//", 1), "no field that is known here"),
        "grasif": (put("nodes.objects.0.x`})//", 1), "no field that is known here"),
        "pickle": (attribute("x`})//", 1), "no field that is known here"),
        "networkx": (put("nodes.2.x`})//", 1), "is no property name"),
        "dsg": None,
    },
    "a hostile pickle": {
        **dict.fromkeys(("json", "virtualhome", "grasif", "networkx", "dsg")),
        "pickle": (attribute("states", Calls(print, "run")), "builtins.print"),
    },
}  # fmt: skip

CASES: Final = [
    pytest.param(form, fault, id=f"{fault}, {form}")
    for fault, by_form in FAULTS.items()
    for form, told in by_form.items()
    if told is not None
]


def written(folder: Path, form: str, changed: Any) -> Path:
    if form == "pickle":
        file = folder / "bad.pkl"
        file.write_bytes(changed if isinstance(changed, bytes) else pickle.dumps(changed))
        return file
    file = folder / "bad.json"
    file.write_text(json.dumps(changed), encoding="utf-8")
    return file


def broken(folder: Path, form: str, fault: str) -> tuple[Path, str]:
    """Return a file with that fault, and its error message."""
    told = FAULTS[fault][form]
    assert told is not None
    change, cause = told
    made = copy.deepcopy(GOOD[form][0]())
    bytes_instead = change(made)
    return written(folder, form, bytes_instead if isinstance(bytes_instead, bytes) else made), cause


@pytest.mark.parametrize("form", GOOD)
def test_the_good_file_is_accepted(tmp_path: Path, form: str) -> None:
    make, read, _ = GOOD[form]
    assert len(read(written(tmp_path, form, make())).graph.nodes) in {3, 5}


def test_each_fault_has_a_file_for_every_format() -> None:
    assert all(set(by_form) == set(GOOD) for by_form in FAULTS.values())


@pytest.mark.parametrize(("form", "fault"), CASES)
def test_a_bad_file_is_refused_with_file_place_and_cause(tmp_path: Path, form: str, fault: str) -> None:
    file, cause = broken(tmp_path, form, fault)
    with pytest.raises(DocumentError, match=cause) as refused:
        GOOD[form][1](file)
    assert refused.value.exit_code == 2
    assert refused.value.file == str(file)
    assert all(place for place, _ in refused.value.problems)
    assert len(str(refused.value)) < 2_000


@pytest.mark.parametrize("form", GOOD)
@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"", "no valid JSON|no whole pickle"),
        ('{"nodes": "caf\u00e9"}'.encode("latin-1"), "not UTF-8|no whole pickle|makes no graph"),
        ('{"nodes": "caf\u00e9"'.encode("utf-16"), "no valid JSON|no whole pickle"),
        (b"\x80\x04\x95", "not UTF-8|no whole pickle"),
        (b"[" * 100_000, "nested over 100 deep|no whole pickle"),
        (b'{"nodes": [], "nodes": []}', "given twice|no whole pickle|makes no graph"),
    ],
)
def test_other_encodings_and_truncated_files_are_refused(tmp_path: Path, form: str, data: bytes, cause: str) -> None:
    file = tmp_path / ("bad.pkl" if form == "pickle" else "bad.json")
    file.write_bytes(data)
    with pytest.raises(DocumentError, match=cause):
        GOOD[form][1](file)


CYPHER_NAMES: Final[dict[str, Change]] = {
    "json": put("nodes.2.name", INJECTION),
    "grasif": put("nodes.objects.1.name", INJECTION),
    "pickle": attribute("states", [], INJECTION),
    "networkx": put("nodes.2.name", INJECTION),
    "dsg": put("nodes.2.attributes.name", INJECTION),
}
"""Names that VirtualHome's classes forbid; other formats take them as text."""


@pytest.mark.parametrize("form", CYPHER_NAMES)
def test_cypher_in_a_name_stays_text(tmp_path: Path, form: str) -> None:
    make, read, _ = GOOD[form]
    made = make()
    CYPHER_NAMES[form](made)
    assert INJECTION in read(written(tmp_path, form, made)).graph.by_name


@pytest.mark.parametrize("form", GOOD)
def test_nothing_is_left_of_bad_files(command: RunCommand, store: SceneStore, tmp_path: Path, form: str) -> None:
    """All the format's bad files at once: exit code 2, an error for each, and no scene or part of one."""
    word = GOOD[form][2]
    faults = [fault for fault, by_form in FAULTS.items() if by_form[form] is not None]
    for number, fault in enumerate(faults):
        file, _ = broken(tmp_path, form, fault)
        file.rename(file.with_stem(f"bad-{number}"))
    ran = command("import", word, str(tmp_path), "--json")
    assert ran.code == 2
    assert ran.json["scenes"] == []
    assert len(ran.json["failed"]) == len(faults)
    names = {"test/bad-input", *(f"{word}/bad-{number}" for number in range(len(faults)))}
    assert not names & {info.name for info in store.scenes()}
