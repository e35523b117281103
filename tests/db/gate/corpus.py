"""The corpus as rows, and answers in a form for comparison: lists and rows in any order."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scenecypher.db.graph.scene import Node, Properties, Relation, SceneGraph
from scenecypher.db.schema import Declared, vocabulary_of
from scenecypher.db.store.bounds import Bounds, bounds_of

DATA = Path(__file__).resolve().parents[2] / "data" / "cypher"
CANARY = "LEAK7"
VOCABULARY = vocabulary_of(Declared())


CORE = ("id", "kind", "name", "class", "states", "affordances")


def graph_of(document: dict[str, Any]) -> SceneGraph:
    """Return a scene of the corpus as a SceneGraph, names unchanged."""
    nodes = [
        Node(
            node["id"],
            node["kind"],
            node["name"],
            node["class"],
            tuple(node["states"]),
            tuple(node["affordances"]),
            Properties({key: value for key, value in node.items() if key not in CORE}),
        )
        for node in document["nodes"]
    ]
    relations = [Relation(one["source"], one["type"], one["target"]) for one in document["relations"]]
    return SceneGraph.of(nodes, relations)


def home_bounds() -> Bounds:
    """Return the bounds of `home`."""
    return bounds_of(graph_of(json.loads((DATA / "scenes.json").read_text("utf-8"))["home"]))


HOME_BOUNDS = home_bounds()


@dataclass(frozen=True, slots=True)
class Case:
    id: str
    cypher: str
    kind: str
    category: str
    expect: str
    rows: list[Any] | None
    why: str = ""
    confirmed: bool | None = None


def cases() -> list[Case]:
    files = (DATA / "corpus.jsonl", DATA / "more.jsonl")
    return [Case(**json.loads(line)) for file in files for line in file.read_text("utf-8").split("\n") if line]


def plain_form(value: Any) -> Any:
    """Return a value of the corpus as the gate writes it, lists sorted."""
    if isinstance(value, list):
        return sorted((plain_form(item) for item in value), key=text_of)
    if isinstance(value, dict) and "_n" in value:
        return plain_form(value["p"])
    if isinstance(value, dict) and "_r" in value:
        return {"type": value["_r"], **plain_form(value["p"])}
    if isinstance(value, dict):
        return {key: plain_form(item) for key, item in value.items()}
    return value


def text_of(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def rows_of(rows: list[Any]) -> list[str]:
    return sorted(text_of([plain_form(value) for value in row]) for row in rows)
