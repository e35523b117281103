"""Files of every door with parts dropped, doubled or of another type: read, or refused in words, never a traceback."""

from __future__ import annotations

import copy
import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scenecypher.errors import DocumentError, InputError, SceneCypherError
from scenecypher.importers import detect, dsg, dsg_format, grasif, homes, virtualhome
from scenecypher.importers.detect import read_any
from scenecypher.importers.homes import small_home
from scenecypher.importers.pddl.domain_data import read_mapping
from scenecypher.planner.perception.look import read_look_files
from scenecypher.planner.vocabularies.own_actions import read_pddl_scene
from tests.importers.test_bad_input import GOOD, good_networkx
from tests.importers.test_foreign_files import READ
from tests.scenecypher.cli.conftest import RunCommand, command

__all__ = ["command"]

Reader: TypeAlias = Callable[[Path], object]

PDDL_DOMAIN: Final = """(define (domain fetch) (:requirements :strips :typing)
  (:types room cup robot - object)
  (:predicates (robot-in ?r - room) (in ?c - cup ?r - room) (holding ?c - cup) (hand-empty))
  (:action go :parameters (?w - robot ?a ?b - room) :precondition (robot-in ?a)
    :effect (and (not (robot-in ?a)) (robot-in ?b)))
  (:action take :parameters (?w - robot ?c - cup ?r - room)
    :precondition (and (robot-in ?r) (in ?c ?r) (hand-empty))
    :effect (and (holding ?c) (not (hand-empty)) (not (in ?c ?r)))))"""
PDDL_PROBLEM: Final = """(define (problem p) (:domain fetch) (:objects hall kitchen - room mug - cup robby - robot)
  (:init (robot-in hall) (in mug kitchen) (hand-empty)) (:goal (and (holding mug) (not (robot-in kitchen)))))"""
LABELS: Final = "label_names:\n- {label: 0, name: room}\n- {label: 5, name: chair}\n- label: 6\n  name: table\n"
MAPPING: Final = (
    'agent = "robby"\n[predicates]\nin = "INSIDE"\nholding = "HOLDS"\n[types]\nroom = "Place"\ncup = "class cup"\n'
)


def _links() -> dict[str, Any]:
    document = good_networkx()
    document["links"] = document.pop("edges")
    return document | {"metadata": {"made_by": "a mapper"}}


def _sayplan() -> dict[str, Any]:
    return {
        "nodes": {
            "room": [{"id": "bathroom1"}, {"id": "kitchen"}],
            "asset": [{"room": "kitchen", "state": "closed", "affordances": ["open", "close"], "id": "fridge"}],
            "object": [{"parent": "fridge", "affordances": ["pickup"], "attributes": "blue", "id": "apple1"}],
            "agent": [{"location": "bathroom1", "id": "agent"}],
        },
        "links": ["bathroom1↔kitchen", "fridge↔kitchen", "apple1↔fridge", "agent↔bathroom1"],
    }


def _objects() -> list[dict[str, Any]]:
    return [
        {"id": 1, "object_tag": "cup", "bbox_center": [0, 0, 1], "bbox_extent": [1, 1, 1], "object_caption": "red"},
        {"id": 2, "object_tag": "table", "bbox": {"min": [0, 0, 0], "max": [1, 1, 1]}, "clip_ft": [0.1, 0.2]},
        {"id": 3, "object_tag": "chair", "bbox": [[0, 0], [1, 1]], "possible_tags": ["chair"]},
    ]


def _pairs() -> list[dict[str, Any]]:
    first, second, _ = _objects()
    return [{"object1": first, "object2": second, "object_relation": "a on b", "reason": "seen"}]


def _tasks() -> dict[str, Any]:
    name = next(node.id for node in small_home().graph.nodes.values() if node.kind == "Object")
    return {"tasks": [{"id": "t", "instruction": "put it on", "goal": [f"{name} ON", f"{name} INSIDE fridge"]}]}


def _sightings() -> dict[str, Any]:
    seen = {"class": "cup", "name": "cup", "confidence": 0.5, "position": [0, 0, 0], "states": ["open"]}
    boxed = {"class": "cup", "picture": "a.png", "box": [0, 0, 1, 1], "support": {"relation": "ON", "related_to": "b"}}
    return {"seen": "part", "sightings": [seen, boxed]}


FOREIGN: Final = ("adjacency", "parents by attribute", "a building by names", "scans by name", "relations as calls")
SCENES: Final[Mapping[str, Callable[[], Any]]] = {
    **{form: good for form, (good, _, _) in GOOD.items() if form != "pickle"},
    "networkx links": _links,
    "SayPlan": _sayplan,
    "objects": _objects,
    "objects by name": lambda: {str(it["id"]): it for it in _objects()},
    "pairs": _pairs,
    "objects and relations": lambda: {
        "objects": _objects(),
        "relations": [{"source": 1, "target": 2, "relation": "on"}],
    },
    **{name: partial(copy.deepcopy, READ[name][0]) for name in FOREIGN},
}
READERS: Final[Mapping[str, Reader]] = {
    "json": partial(read_any, file_format="json"),
    "virtualhome": virtualhome.read_graph,
    "grasif": grasif.read_scene,
    "networkx": partial(read_any, file_format="networkx"),
    "dsg": dsg.read_scene,
    "any": detect.read_any,
}
OTHERS: Final[Mapping[str, tuple[Callable[[], Any], Reader]]] = {
    "tasks": (_tasks, lambda file: homes.read_tasks(file, small_home())),
    "sightings": (_sightings, lambda file: read_look_files([file], at_most=4)),
}
TEXTS: Final[Mapping[str, tuple[str, Reader]]] = {
    "domain.pddl": (PDDL_DOMAIN, lambda file: read_pddl_scene(_beside(file, PDDL_PROBLEM), file, name="x")),
    "problem.pddl": (PDDL_PROBLEM, lambda file: read_pddl_scene(file, _beside(file, PDDL_DOMAIN), name="x")),
    "labels.yaml": (LABELS, dsg_format.read_labels),
    "mapping.toml": (MAPPING, read_mapping),
}
VALUES: Final[st.SearchStrategy[Any]] = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        2**70,
        0.5,
        float("inf"),
        float("nan"),
        "",
        "x",
        "\ud800",
        "INSIDE",
        [],
        {},
        [[]],
        {"a": {}},
        [None],
    ]
)
WORDS: Final = st.sampled_from(
    ["(", ")", "-", "?a", "not", "and", "either", ":", "[", "]", "{", "}", "=", '"', "1", "\t", "\0", "é"]
)


def _beside(file: Path, text: str) -> Path:
    other = file.with_name("other.pddl")
    other.write_text(text, encoding="utf-8")
    return other


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each place in a document: the list or map, and the index or key."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in list(keys):
        yield value, key
        yield from _places(value[key])


def mutated(document: Any, data: st.DataObject) -> Any:
    """Return a copy of a document in which one to three parts are dropped, doubled, renamed or of another type."""
    document = {"": copy.deepcopy(document)}
    for _ in range(data.draw(st.integers(1, 3))):
        within, key = data.draw(st.sampled_from([*_places(document)]))
        other = data.draw(st.sampled_from([*_places(document)]))
        match data.draw(st.sampled_from(["drop", "double", "retype", "replace"])):
            case "drop" if key != "":
                del within[key]
            case "double":
                copied = copy.deepcopy(within[key])
                within.append(copied) if isinstance(within, list) else within.update({f"{key}x": copied})
            case "replace":
                within[key] = copy.deepcopy(other[0][other[1]])
            case _:
                within[key] = copy.deepcopy(data.draw(VALUES))
    return document[""]


def check_told(file: Path, read: Reader) -> None:
    """Check that a file is read, or refused with exit code 2 and, where its content is at fault, file, place, cause."""
    error = _refusal(file, read)
    assert error is None or (isinstance(error, InputError) and error.exit_code == 2 and str(error))
    if isinstance(error, DocumentError):
        assert file.parent.name in error.file
        assert all(place and cause for place, cause in error.problems)


def _refusal(file: Path, read: Reader) -> SceneCypherError | None:
    try:
        read(file)
    except SceneCypherError as error:
        return error
    return None


anywhere = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@anywhere
@given(st.data(), st.sampled_from([*SCENES]), st.sampled_from([*READERS]))
def test_a_mutated_scene_is_read_or_refused_in_words(
    tmp_path: Path, data: st.DataObject, form: str, reader: str
) -> None:
    file = tmp_path / "scene.json"
    file.write_text(json.dumps(mutated(SCENES[form](), data)), encoding="utf-8")
    check_told(file, READERS[reader])


@anywhere
@given(st.data(), st.sampled_from([*OTHERS]))
def test_a_mutated_file_of_tasks_or_sightings_is_read_or_refused_in_words(
    tmp_path: Path, data: st.DataObject, form: str
) -> None:
    good, read = OTHERS[form]
    file = tmp_path / "file.json"
    file.write_text(json.dumps(mutated(good(), data)), encoding="utf-8")
    check_told(file, read)


@anywhere
@given(st.data(), st.sampled_from([*TEXTS]))
def test_a_mutated_text_is_read_or_refused_in_words(tmp_path: Path, data: st.DataObject, form: str) -> None:
    text, read = TEXTS[form]
    parts = re.findall(r"\w+|\s+|.", text)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(parts) - 1))
        other = data.draw(st.sampled_from(parts) | WORDS)
        parts[at : at + 1] = data.draw(st.sampled_from([[], [parts[at]] * 2, [other], [parts[at], other]]))
    file = tmp_path / form
    file.write_text("".join(parts), encoding="utf-8")
    check_told(file, read)


@pytest.mark.parametrize("key", ["id", "kind", "name", "class", "states", "center", "properties"])
def test_a_part_of_a_node_may_be_anything(tmp_path: Path, key: str) -> None:
    """A fault of this kind looks up a list or a map in a table of names."""
    for form, value in itertools.product(SCENES, ([], {}, 1, None)):
        document = SCENES[form]()
        nodes = [within for within, at in _places({"": document}) if at in {"id", "name"}]
        (nodes or [document])[-1][key] = value
        file = tmp_path / "scene.json"
        file.write_text(json.dumps(document), encoding="utf-8")
        check_told(file, READERS["any"])


@pytest.mark.parametrize("form", [*SCENES])
@pytest.mark.parametrize("reader", [*READERS])
def test_a_file_of_another_format_is_read_or_refused_in_words(tmp_path: Path, form: str, reader: str) -> None:
    file = tmp_path / "scene.json"
    file.write_text(json.dumps(SCENES[form]()), encoding="utf-8")
    check_told(file, READERS[reader])


@pytest.mark.parametrize("form", ["networkx links", "SayPlan"])
def test_the_command_line_names_file_place_and_cause(command: RunCommand, tmp_path: Path, form: str) -> None:
    """A fault of this kind is a traceback: the fallback form was made with two names of the edges."""
    file = tmp_path / "scene.json"
    file.write_text(json.dumps(SCENES[form]()), encoding="utf-8")
    for word in ("networkx", "grasif", "json"):
        ran = command("import", word, str(file))
        is_read = form.startswith(word)
        assert ran.code == (0 if is_read else 2)
        assert is_read or f"{file}: $" in ran.err
        assert "Traceback" not in ran.err
