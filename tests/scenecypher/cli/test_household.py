"""A new user's own home: written by hand for NetworkX, imported, acted in with a refusal, planned in, undone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from scenecypher.db.store.scene_store import SceneStore
from tests.scenecypher.cli.conftest import RunCommand
from tests.scenes import delete_scenes

HOME: dict[str, Any] = {
    "directed": True,
    "nodes": [
        {"id": "kitchen", "kind": "room"},
        {"id": "hall", "kind": "room"},
        {"id": "table", "kind": "furniture"},
        {"id": "fridge", "kind": "appliance", "states": ["closed"]},
        {"id": "shelf", "kind": "furniture"},
        {"id": "mug"},
        {"id": "milk"},
    ],
    "edges": [
        {"source": "table", "target": "kitchen", "relation": "in"},
        {"source": "fridge", "target": "kitchen", "relation": "in"},
        {"source": "shelf", "target": "hall", "relation": "in"},
        {"source": "mug", "target": "table", "relation": "on"},
        {"source": "milk", "target": "fridge", "relation": "in"},
    ],
}


@pytest.fixture
def file(tmp_path: Path, store: SceneStore) -> Iterator[Path]:
    path = tmp_path / f"flat-{uuid4().hex[:8]}.json"
    path.write_text(json.dumps(HOME), encoding="utf-8")
    yield path
    delete_scenes(store, path.stem)


def test_a_home_of_ones_own_acts(command: RunCommand, file: Path) -> None:
    name = f"networkx/{file.stem}"
    assert command("import", "networkx", str(file)).code == 0

    refused = command("act", name, "pick_up(milk)")
    assert refused.code == 1
    assert f"no agent: `scenecypher scenes set {name} --agent robot --in ROOM` adds one" in refused.err
    several = command("scenes", "set", name, "--agent", "robot")
    assert (several.code, several.out) == (2, "")
    assert "say where the agent is, as in --in hall" in several.err
    assert "'cellar' is no room" in command("scenes", "set", name, "--agent", "robot", "--in", "cellar").err
    assert command("scenes", "set", name, "--agent", "robot", "--in", "hall").out == f"{name}: robot added, version 1\n"

    refused = command("act", name, "pick_up(milk)")
    assert refused.code == 1
    assert (
        "milk is not in the agent's room: go_to(kitchen) first; milk is inside fridge, which is closed" in refused.err
    )
    assert command("act", name, "put_on(milk, shelf)", "--fix").code == 0
    shown = command("query", name, "MATCH (m {id: 'milk'})-[r]->(t) RETURN type(r), t.id", "--json").json
    assert shown["rows"] == [["ON", "shelf"]]

    planned = command("plan", name, "--goal", "mug IN fridge; fridge is closed", "--method", "symbolic")
    assert planned.code == 0, planned.err
    rows = command("query", name, "MATCH (m {id: 'mug'})-[r]->(t) RETURN type(r), t.id, t.states", "--json").json
    assert rows["rows"] == [["INSIDE", "fridge", ["closed"]]]

    assert command("undo", name, "--to", "1").code == 0
    assert command("scenes", "diff", name, "--since", "1", "--json").json == []


def test_an_agent_and_a_vocabulary_at_import(command: RunCommand, file: Path, store: SceneStore) -> None:
    name = f"networkx/{file.stem}"
    both = ("--vocabulary", "grasif", "--agent", "robot", "--in", "kitchen")
    assert command("import", "networkx", str(file), *both, "--dry-run").code == 0
    assert command("import", "networkx", str(file), *both).code == 0
    assert store.find(name).vocabulary == "grasif"
    assert "unchanged" in command("import", "networkx", str(file), *both).out
    lone = command("import", "networkx", str(file), "--in", "kitchen")
    assert lone.code == 2
    assert "name the agent too" in lone.err


def test_a_vocabulary_is_changed_in_place(command: RunCommand, file: Path, store: SceneStore) -> None:
    """The history goes on, and a later import of the file keeps what was set."""
    name = f"networkx/{file.stem}"
    command("import", "networkx", str(file), "--agent", "robot", "--in", "hall")
    command("act", name, "go_to(kitchen)")
    assert command("scenes", "set", name, "--vocabulary", "grasif").out == f"{name}: vocabulary grasif\n"
    assert [event.action for event in store.history(store.find(name))] == ["go_to(kitchen)", "vocabulary grasif"]
    assert command("import", "networkx", str(file), "--agent", "robot", "--in", "hall").code == 0
    assert (store.find(name).vocabulary, store.find(name).version) == ("grasif", 3)
    assert (
        command("import", "networkx", str(file), "--vocabulary", "household", "--agent", "robot", "--in", "hall").code
        == 0
    )
    assert (store.find(name).vocabulary, store.find(name).version) == ("household", 4)

    unknown = command("scenes", "set", name, "--vocabulary", "houshold")
    assert (unknown.code, unknown.out) == (2, "")
    assert "no vocabulary is called 'houshold' (did you mean 'household'?)" in unknown.err


def test_rules_that_a_scene_does_not_keep(command: RunCommand, home: str, store: SceneStore) -> None:
    """VirtualHome's things are in several places; nothing is changed."""
    refused = command("scenes", "set", home, "--vocabulary", "grasif")
    assert refused.code == 2
    assert f"{home} does not keep the rules of 'grasif'" in refused.err
    assert store.find(home).vocabulary == "virtualhome"


def test_what_to_set_has_to_be_said(command: RunCommand, home: str) -> None:
    assert "say what to change" in command("scenes", "set", home).err


def test_a_home_is_seen_as_a_tree(command: RunCommand, file: Path, store: SceneStore) -> None:
    name = f"networkx/{file.stem}"
    graph = {**HOME, "nodes": [*HOME["nodes"], {"id": "wall-1"}, {"id": "wall-2"}]}
    file.write_text(json.dumps(graph), encoding="utf-8")
    command("import", "networkx", str(file), "--agent", "robot", "--in", "kitchen")
    command("act", name, "pick_up(mug)")
    seen = command("scenes", "tree", name)
    assert seen.out.splitlines() == [
        "hall",
        "  shelf",
        "kitchen",
        "  fridge [closed]",
        "    inside: milk",
        "  robot",
        "    held: mug",
        "  table",
    ]
    assert "left off: wall 2; --all shows them" in seen.err
    assert "wall-2" in command("scenes", "tree", name, "--all").out
    assert command("scenes", "tree", name, "fridge").out.splitlines() == ["fridge [closed]", "  inside: milk"]

    command("act", name, "open(fridge)")
    assert "pick_up(mug)" in command("history", name, "mug").out
    assert "open(fridge)" not in command("history", name, "mug").out
    assert [it["action"] for it in command("history", name, "fridge", "--json").json] == ["open(fridge)"]
    assert command("history", name, "mugg").code == 1
