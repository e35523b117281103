"""Scans in several files: 3RScan's `relationships.json` and `objects.json` (3DSSG), and HOV-SG's folders of parts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import AliasChoices, BeforeValidator, Field

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.problems import RelationDraft, json_path, validated
from scenecypher.db.graph.scene import Node, Properties, SceneGraph
from scenecypher.db.graph.value import class_of_name
from scenecypher.db.schema import SHELL
from scenecypher.errors import DocumentError
from scenecypher.importers import networkx_json
from scenecypher.importers.assembly import NodeDraft, Read, declared_by, node_draft, own_words
from scenecypher.importers.json_file import read_json
from scenecypher.importers.word_tables import by_word, tables

NAME_PREFIX: Final = "3rscan/"
WORDS: Final = tables("words")["3rscan"]
RELATIONS, AFFORDANCES = (by_word(WORDS[key]) for key in ("relations", "affordances"))
STATE: Final = "state"
"""The attribute whose words are states; each other attribute is a property."""
MAP_PREFIX: Final = "hovsg/"
TURNED: Final = "positions turned from y up to ours (z up): x, -z, y of the files"
PARTS: Final = (("floor", "Place"), ("room", "Place"), ("object", "Object"))
"""Words of parts, whose folders are their plurals, and kinds of their nodes; each is in one of the sort before."""


class _Object(Read):
    id: str | int
    label: str
    affordances: list[str] | None = None
    attributes: dict[str, list[str] | str] | None = None


def _four(given: Any) -> Any:
    """Return a relationship as subject, object, number and predicate, of which others leave out the number."""
    match given:
        case [source, target, str(predicate)]:
            return [source, target, 0, predicate]
        case {"subject": source, "object": target, "predicate": predicate}:
            return [source, target, 0, predicate]
    return given


_Four = Annotated[tuple[int | str, int | str, int, str], Field(strict=False), BeforeValidator(_four)]


class _Scan(Read):
    scan: str = Field(validation_alias=AliasChoices("scan", "scan_id"))
    objects: list[_Object] | dict[str, str]
    relationships: list[_Four] = Field([])


class _Scans(Read):
    scans: Annotated[list[_Scan], Field(min_length=1)]


def is_one(document: Any) -> bool:
    """Check if a document is one of the two files, or a scan of one."""
    match document:
        case {"scans": [{"objects": _}, *_] | []} | [{"scan": _, "objects": _}, *_]:
            return True
        case {"scan": _, "objects": _} | {"scan_id": _, "objects": _, "relationships": _}:
            return True
        case {}:
            return bool(document) and all(_is_facts(it) for it in document.values())
    return False


def _is_facts(value: Any) -> bool:
    return isinstance(value, dict) and {"objects", "relationships"} <= value.keys()


def scans(document: Any) -> Iterator[Any]:
    """Yield a document of each scan."""
    if isinstance(document, dict) and all(map(_is_facts, document.values())):
        document = [{"scan": scan, **facts} for scan, facts in document.items()]
    given = document if isinstance(document, list) else document.get("scans", [document])
    yield from ({"scans": [scan]} for scan in given) if given else (document,)


def from_document(document: Any, *, file: str, name: str | None = None) -> ImportedScene:
    """Return the scene of a document of one scan. Raises DocumentError with all its problems."""
    scan = validated(_Scans, document, file).scans[0]
    root = f"scan {scan.scan}"
    return own_words(_parts(scan, root), file=file, name=name or NAME_PREFIX + scan.scan)


def joined(one: ImportedScene, other: ImportedScene) -> ImportedScene:
    """Return the scene of both files of a scan: the facts and relations of each."""
    nodes = dict(one.graph.nodes)
    for id_, node in other.graph.nodes.items():
        first = nodes.setdefault(id_, node)
        kind = "Asset" if "Asset" in {first.kind, node.kind} else first.kind
        states, affordances = {*first.states, *node.states}, {*first.affordances, *node.affordances}
        words, facts = (tuple(sorted(states)), tuple(sorted(affordances))), {**first.properties, **node.properties}
        nodes[id_] = Node(id_, kind, first.name, first.class_, *words, Properties(facts))
    graph = SceneGraph.of(nodes.values(), one.graph.relations | other.graph.relations)
    return replace(one, graph=graph, declared=declared_by(graph), source=f"{one.source}, {other.source}")


def _parts(scan: _Scan, root: str) -> Iterator[NodeDraft | RelationDraft]:
    given = scan.objects
    objects = given if isinstance(given, list) else [_Object(id=id_, label=label) for id_, label in given.items()]
    for index, it in enumerate(objects):
        words = {key: [value] if isinstance(value, str) else value for key, value in (it.attributes or {}).items()}
        states = [_word(state) for state in words.pop(STATE, [])]
        affordances = [AFFORDANCES.get(word, _word(word)) for word in it.affordances or ()]
        kind = "Asset" if it.label in SHELL or {*affordances} & {*AFFORDANCES.values()} else "Object"
        place = json_path(("objects", index), root=root)
        name = f"{it.label}_{it.id}"
        facts: dict[str, Any] = {key: ", ".join(listed) for key, listed in words.items()}
        yield node_draft(place, str(it.id), kind, it.label, name=name, states=states, affordances=affordances, **facts)
    for index, (source, target, _, predicate) in enumerate(scan.relationships):
        place, type_ = json_path(("relationships", index), root=root), RELATIONS.get(predicate)
        if predicate != "none":
            yield RelationDraft(place, str(source), type_ or _word(predicate).upper(), str(target))
        if type_ == "CLOSE":
            yield RelationDraft(place, str(target), type_, str(source))


def _word(text: str) -> str:
    return re.sub(r"[\s/-]+", "_", text.strip().lower())


# --- HOV-SG


class _Part(Read):
    floor_id: str | int | None = None
    room_id: str | int | None = None
    object_id: str | int | None = None
    name: str | None = None
    corners: list[Annotated[list[float], Field(min_length=3, max_length=3)]] = Field([], alias="vertices")
    embedding: list[Any] | str | None = None


def is_folder(path: Path) -> bool:
    """Check if a folder is a map."""
    return all((path / name).is_dir() for name in ("rooms", "objects"))


def is_part(document: Any) -> bool:
    """Check if a document is a floor, a room or an object of a map."""
    marks = ({"floor_zero_level"}, {"room_zero_level"}, {"object_id", "room_id", "vertices"})
    return isinstance(document, dict) and any(mark <= document.keys() for mark in marks)


def read_folder(path: Path, *, name: str | None = None, strict: bool = False) -> ImportedScene:
    """Return the scene of a map: floors, rooms, and objects with their boxes and vectors.

    Its axes are right-handed with y up, as Habitat's. Raises DocumentError for the first file with problems.
    """
    if not path.is_dir():
        words = (
            f"this is a part of a map of HOV-SG; give its folder: `scenecypher import {path.resolve().parent.parent}`"
        )
        raise DocumentError(str(path), "$", words)
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    for level, (word, kind) in enumerate(PARTS):
        known = {it["id"] for it in nodes}
        for file in sorted((path / f"{word}s").glob("*.json")):
            part = validated(_Part, read_json(file), str(file))
            if (id_ := getattr(part, f"{word}_id")) is None:
                cause = f"is missing, which each of HOV-SG's {word}s has; add it, or give the file alone"
                raise DocumentError(str(file), f"$.{word}_id", cause)
            nodes.append(_node(part, str(id_), kind, word))
            if level and (parent := str(getattr(part, f"{PARTS[level - 1][0]}_id"))) in known:
                edges.append({"source": str(id_), "relation": "INSIDE", "target": parent})
    document = {"directed": True, "nodes": nodes, "edges": edges}
    named = name or MAP_PREFIX + path.resolve().name
    scene = networkx_json.from_document(document, file=str(path), name=named, strict=strict)
    return replace(scene, notes=(TURNED, *scene.notes))


def _node(part: _Part, id_: str, kind: str, word: str) -> dict[str, Any]:
    """Return a node; of its box, the corners with the least and the greatest coordinates."""
    name = part.name or word
    node: dict[str, Any] = {"id": id_, "kind": kind, "name": f"{name}_{id_}", "class": class_of_name(name)}
    if part.corners:
        x, y, z = zip(*part.corners, strict=True)
        node["bbox"] = [[min(x), -max(z), min(y)], [max(x), -min(z), max(y)]]
    if isinstance(part.embedding, list):
        node["embedding"] = part.embedding
    return node
