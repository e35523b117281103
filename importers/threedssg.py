"""3RScan's scene graphs (3DSSG): the `relationships.json` and `objects.json` of many scans, each a scene."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import AliasChoices, BeforeValidator, Field

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.problems import RelationDraft, json_path, validated
from scenecypher.db.graph.scene import Node, Properties, SceneGraph
from scenecypher.db.schema import SHELL
from scenecypher.importers.assembly import NodeDraft, Read, declared_by, node_draft, own_words
from scenecypher.importers.word_tables import by_word, tables

NAME_PREFIX: Final = "3rscan/"
WORDS: Final = tables("words")["3rscan"]
RELATIONS, AFFORDANCES = (by_word(WORDS[key]) for key in ("relations", "affordances"))
STATE: Final = "state"
"""The attribute whose words are states; each other attribute is a property."""


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
