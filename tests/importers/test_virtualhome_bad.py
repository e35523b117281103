"""Malformed VirtualHome files: refused with file, JSON path and cause, all problems at once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from scenecypher.db.graph import problems
from scenecypher.errors import PROBLEMS_SHOWN, DocumentError
from scenecypher.importers import json_file
from scenecypher.importers.virtualhome import read_graph


def good() -> dict[str, Any]:
    return {
        "nodes": [
            {"id": 1, "class_name": "kitchen", "category": "Rooms", "properties": [], "states": []},
            {"id": 2, "class_name": "cup", "properties": ["GRABBABLE"], "states": ["CLEAN"]},
        ],
        "edges": [{"from_id": 1, "relation_type": "CLOSE", "to_id": 1}],
    }


def node(**fields: Any) -> Callable[[dict[str, Any]], object]:
    """Change fields of the second node; None removes one."""

    def change(graph: dict[str, Any]) -> None:
        changed = {**graph["nodes"][1], **fields}
        graph["nodes"][1] = {key: value for key, value in changed.items() if value is not None}

    return change


def edge(**fields: Any) -> Callable[[dict[str, Any]], object]:
    return lambda graph: graph["edges"][0].update(fields)


def deep(levels: int) -> list[Any]:
    nested: list[Any] = []
    for _ in range(levels):
        nested = [nested]
    return nested


BOX: Final = {"center": [0, 0, 0], "size": [1, 1, 1]}

ROWS: Final[list[tuple[str, Callable[[dict[str, Any]], object], str, str]]] = [
    ("no nodes", lambda g: g.pop("nodes"), "$.nodes", "is missing; add it"),
    ("no edges", lambda g: g.pop("edges"), "$.edges", "is missing; add it"),
    ("nodes no list", lambda g: g.update(nodes={}), "$.nodes", "should be a list, not {}"),
    ("null node", lambda g: g["nodes"].append(None), "$.nodes[2]", "should be a map, not None"),
    ("unknown field of the graph", lambda g: g.update(name="x"), "$.name", "no field that is known"),
    ("missing id", node(id=None), "$.nodes[1].id", "is missing; add it"),
    ("missing class", node(class_name=None), "$.nodes[1].class_name", "is missing; add it"),
    ("missing states", node(states=None), "$.nodes[1].states", "is missing; add it"),
    ("missing properties", node(properties=None), "$.nodes[1].properties", "is missing; add it"),
    ("unknown field", node(colour="red"), "$.nodes[1].colour", "no field that is known"),
    ("odd field", node(**{"a b`": 1}), "$.nodes[1]['a b`']", "no field that is known"),
    ("text id", node(id="2"), "$.nodes[1].id", "should be a whole number, not '2'"),
    ("boolean id", node(id=True), "$.nodes[1].id", "a whole number, not True"),
    ("decimal id", node(id=2.0), "$.nodes[1].id", "a whole number, not 2.0"),
    (
        "id of 2**63",
        node(id=2**63),
        "$.nodes[1].id",
        "should be below 9223372036854775808, not a whole number of 64 bits",
    ),
    ("id below", node(id=-(2**63) - 1), "$.nodes[1].id", "should be at least -9223372036854775808"),
    ("repeated id", node(id=1), "$.nodes[1].id", "1 is the id of $.nodes[0].id already"),
    ("unknown state", node(states=["OPN"]), "$.nodes[1].states[0]", "unknown state 'OPN' (did you mean 'OPEN'"),
    ("state in lower case", node(states=["open"]), "$.nodes[1].states[0]", "did you mean 'OPEN'"),
    ("state far from all", node(states=["XYZZY"]), "$.nodes[1].states[0]", "VirtualHome knows OPEN, CLOSED"),
    ("nested states", node(states=[["OPEN"]]), "$.nodes[1].states[0]", "should be text, not ['OPEN']"),
    ("unknown property", node(properties=["GRABABLE"]), "$.nodes[1].properties[0]", "did you mean 'GRABBABLE'"),
    ("10 MB class", node(class_name="x" * 10_000_000), "$.nodes[1].class_name", "10,000,000 characters; at most"),
    ("10 MB state", node(states=["x" * 10_000_000]), "$.nodes[1].states[0]", "unknown state"),
    (
        "10 MB field",
        node(**{"x" * 10_000_000: 1}),
        "$.nodes[1]['xxxxxxxxxxxx...xxxxxxxxxxxxx']",
        "no field that is known",
    ),
    ("empty class", node(class_name=""), "$.nodes[1].class_name", "is empty or has a blank"),
    ("blank at an end", node(class_name="cup "), "$.nodes[1].class_name", "is empty or has a blank"),
    ("control character", node(class_name="c\x07up"), "$.nodes[1].class_name", r"holds '\x07'"),
    ("newline", node(class_name="cup\n"), "$.nodes[1].class_name", r"holds '\n'"),
    ("half a surrogate pair", node(class_name="c\ud800"), "$.nodes[1].class_name", r"holds '\ud800'"),
    ("Cypher", node(class_name="cup`}) DETACH DELETE (n"), "$.nodes[1].class_name", "holds '`'"),
    ("Cypher's quotes", node(class_name="cup' OR 1"), "$.nodes[1].class_name", 'holds "\'"'),
    ("text of an action", node(class_name="cup)"), "$.nodes[1].class_name", "holds ')'"),
    ("surrogate in a prefab", node(prefab_name="\udfff"), "$.nodes[1]", "prefab"),
    ("10 MB category", node(category="x" * 10_000_000), "$.nodes[1]", "category: 10,000,000 characters"),
    ("short box", node(bounding_box={**BOX, "size": [1, 2]}), "$.nodes[1].bounding_box.size[2]", "missing"),
    (
        "long box",
        node(bounding_box={**BOX, "size": [1, 2, 3, 4]}),
        "$.nodes[1].bounding_box.size",
        "has 4 items; 3 are needed",
    ),
    ("half a box", node(bounding_box={"center": [0, 0, 0]}), "$.nodes[1].bounding_box.size", "missing"),
    (
        "text in a box",
        node(bounding_box={**BOX, "size": ["1", 2, 3]}),
        "$.nodes[1].bounding_box.size[0]",
        "should be a number, not '1'",
    ),
    ("NaN", node(bounding_box={**BOX, "center": [0, float("nan"), 0]}), "$.nodes[1].bounding_box.center[1]", "not NaN"),
    (
        "infinity",
        node(bounding_box={**BOX, "size": [float("-inf"), 1, 1]}),
        "$.nodes[1].bounding_box.size[0]",
        "not -Inf",
    ),
    (
        "huge number",
        node(bounding_box={**BOX, "size": [10**400, 1, 1]}),
        "$.nodes[1].bounding_box.size[0]",
        "number",
    ),
    ("NaN id", node(id=float("nan")), "$.nodes[1].id", "a whole number, not NaN"),
    ("nested 96 deep", node(states=deep(96)), "$.nodes[1].states[0]", "should be text"),
    ("nested 101 deep", node(states=deep(97)), "$", "nested over 100 deep"),
    ("nested 100,000 deep", node(prefab_name=0), "$", "nested over 100 deep"),
    ("unknown relation", edge(relation_type="INSDE"), "$.edges[0].relation_type", "did you mean 'INSIDE'"),
    ("relation in lower case", edge(relation_type="inside"), "$.edges[0].relation_type", "did you mean 'INSIDE'"),
    ("Cypher as a relation", edge(relation_type="ON]-() DELETE r//"), "$.edges[0].relation_type", "unknown relation"),
    ("no source", lambda g: g["edges"][0].pop("from_id"), "$.edges[0].from_id", "is missing; add it"),
    ("relation to nowhere", edge(to_id=7), "$.edges[0].to_id", "no node has the id 7"),
    ("relation from nowhere", edge(from_id=7), "$.edges[0].from_id", "no node has the id 7"),
    (
        "the same twice",
        lambda g: g["edges"].append(dict(g["edges"][0])),
        "$.edges[1]",
        "the same relation as $.edges[0]",
    ),
    ("weighted relation", edge(weight=1), "$.edges[0].weight", "no field that is known"),
]


def text_of(name: str, graph: dict[str, Any]) -> str:
    text = json.dumps(graph)
    if name == "nested 100,000 deep":
        return text.replace('"prefab_name": 0', '"prefab_name": ' + "[" * 100_000 + "]" * 100_000)
    return text


@pytest.mark.parametrize(("name", "change", "place", "cause"), ROWS, ids=[row[0] for row in ROWS])
def test_it_is_refused_at_its_place(
    tmp_path: Path, name: str, change: Callable[[dict[str, Any]], object], place: str, cause: str
) -> None:
    graph = good()
    change(graph)
    path = tmp_path / "home.json"
    path.write_text(text_of(name, graph), encoding="utf-8")
    with pytest.raises(DocumentError) as caught:
        read_graph(path)
    assert caught.value.problems == ((place, caught.value.cause),)
    assert cause in caught.value.cause
    assert str(caught.value).startswith(f"{path}: {place}: ")
    assert len(str(caught.value)) < 1_000


def test_the_good_file_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "home.json"
    path.write_text(json.dumps(good()), encoding="utf-8")
    assert len(read_graph(path).graph.nodes) == 2


def test_the_path_leads_into_a_pair(tmp_path: Path) -> None:
    bad = good()
    bad["nodes"][0]["states"] = ["AJAR"]
    path = tmp_path / "pair.json"
    path.write_text(json.dumps({"init_graph": good(), "final_graph": bad}), encoding="utf-8")
    assert read_graph(path).name == "virtualhome/pair"
    with pytest.raises(DocumentError, match=r"\$\.final_graph\.nodes\[0\]\.states\[0\]: unknown state 'AJAR'"):
        read_graph(path, part="final")


def test_all_problems_are_reported_at_once(tmp_path: Path) -> None:
    graph = good()
    graph["nodes"][0]["states"] = ["OPN"]
    graph["nodes"][1]["id"] = 1
    graph["edges"] += [{"from_id": 1, "relation_type": "ON", "to_id": 9}] * 2
    path = tmp_path / "home.json"
    path.write_text(json.dumps(graph), encoding="utf-8")
    with pytest.raises(DocumentError) as caught:
        read_graph(path)
    assert [place for place, _ in caught.value.problems] == [
        "$.nodes[0].states[0]",
        "$.nodes[1].id",
        "$.edges[1].to_id",
        "$.edges[2].to_id",
        "$.edges[2]",
    ]


def test_a_message_stays_short_whatever_the_number_of_problems(tmp_path: Path) -> None:
    path = tmp_path / "home.json"
    path.write_text(json.dumps({"nodes": [{}] * 3_000, "edges": []}), encoding="utf-8")
    with pytest.raises(DocumentError) as caught:
        read_graph(path)
    lines = str(caught.value).splitlines()
    assert len(lines) == PROBLEMS_SHOWN + 1
    assert "more problems" in lines[-1]
    assert len(caught.value.problems) == problems.PROBLEMS_LIMIT


@pytest.mark.parametrize(
    ("data", "place", "cause"),
    [
        (b"", "line 1, column 1", "no valid JSON"),
        (b'{"nodes": [', "line 1, column 12", "no valid JSON"),
        (b'{"nodes": [],\n "edges": [],}', "line 2, column 14", "no valid JSON"),
        (b"[]", "$", "no VirtualHome graph"),
        (b"null", "$", "no VirtualHome graph"),
        (b'"nodes edges"', "$", "no VirtualHome graph"),
        (b'{"graph_state_list": []}', "$", "no VirtualHome graph"),
        (b'{"init_graph": null}', "$.init_graph", "should be a map, not None"),
        (b'{"nodes": [], "edges": [], "nodes": []}', "$", "the key 'nodes' is given twice"),
        (b'{"nodes": [{"id": 1, "id": 2}], "edges": []}', "$.nodes[0]", "the key 'id' is given twice"),
        (b'{"nodes": [' + b"9" * 5_000 + b"]}", "$", "thousands of digits"),
        ('{"nodes": []}'.encode("utf-16"), "$.edges", "is missing"),
        ('{"nodes": "café"}'.encode("latin-1"), "byte 14", "not UTF-8 but some other encoding"),
        (b"\x80\x04\x95", "byte 0", "not UTF-8"),
    ],
)
def test_files_without_json_or_a_graph_are_refused(tmp_path: Path, data: bytes, place: str, cause: str) -> None:
    path = tmp_path / "home.json"
    path.write_bytes(data)
    with pytest.raises(DocumentError) as caught:
        read_graph(path)
    assert caught.value.place == place
    assert cause in caught.value.cause


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "home.json"
    path.write_text(json.dumps(good()), encoding="utf-8-sig")
    assert len(read_graph(path).graph.nodes) == 2


def test_missing_files_and_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"can't be read \(No such file or directory\); check its path"):
        read_graph(tmp_path / "nowhere.json")
    with pytest.raises(DocumentError, match=r"can't be read \(Is a directory\)"):
        read_graph(tmp_path)


def test_a_file_too_big_is_not_parsed(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(json_file.FILE_BYTES + 1)
    with pytest.raises(DocumentError, match="over 512 MB, the most that is read: split the file"):
        read_graph(path)


def test_an_endless_file_is_refused() -> None:
    with pytest.raises(DocumentError, match="over 512 MB"):
        read_graph(Path("/dev/zero"))
