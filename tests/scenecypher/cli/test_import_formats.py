"""`scenecypher import networkx`, `dsg` and pickled GraSIF: folders, globs, names, declared words, hostile files."""

from __future__ import annotations

import json
import os
import pickle
import pty
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from scenecypher.db.store.scene_store import SceneStore
from tests.importers.test_grasif_pickle import JSON_FORM, Calls, home
from tests.scenecypher.cli.conftest import RunCommand

APARTMENT: Final = Path(__file__).parents[2] / "data" / "dsg" / "apartment_dsg.json"


def node_link(**fields: Any) -> str:
    edge = {"source": "cup", "target": "cup", "relation": "on"}
    return json.dumps({"directed": True, "nodes": [{"id": "cup"}], "edges": [edge], **fields})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Of each format a good file in a folder of its own and one below it, and a bad one."""
    for form, good in (("networkx", node_link()), ("grasif", json.dumps(JSON_FORM)), ("dsg", APARTMENT.read_text())):
        below = tmp_path / form / "more"
        below.mkdir(parents=True)
        (tmp_path / form / "one.json").write_text(good, encoding="utf-8")
        (below / "two.json").write_text(good, encoding="utf-8")
        (tmp_path / form / "bad.json").write_text('{"nodes": 7}', encoding="utf-8")
    (tmp_path / "grasif" / "pickled.pkl").write_bytes(pickle.dumps(home()))
    (tmp_path / "grasif" / "trap.pickle").write_bytes(pickle.dumps(Calls(os.system, f"touch {tmp_path}/trace")))
    return tmp_path


@pytest.mark.parametrize(
    ("form", "names", "failed"),
    [
        ("networkx", ["networkx/more/two", "networkx/one"], ["bad.json"]),
        ("dsg", ["dsg/more/two", "dsg/one"], ["bad.json"]),
        ("grasif", ["grasif/more/two", "grasif/one", "grasif/pickled"], ["bad.json", "trap.pickle"]),
    ],
)
def test_a_folder_brings_all_that_can_be_read(
    command: RunCommand, folder: Path, form: str, names: list[str], failed: list[str]
) -> None:
    ran = command("import", form, str(folder / form), "--dry-run", "--json")
    assert ran.code == 2
    assert sorted(scene["name"] for scene in ran.json["scenes"]) == names
    assert sorted(Path(failure["source"]).name for failure in ran.json["failed"]) == failed
    assert not (folder / "trace").exists()


def test_globs_and_one_of_many(command: RunCommand, folder: Path) -> None:
    globbed = command("import", "networkx", f"{folder}/networkx/**/t*.json", "--dry-run", "--json")
    assert [scene["name"] for scene in globbed.json["scenes"]] == ["networkx/two"]
    only = command("import", "dsg", str(folder / "dsg"), "--only", "two", "--dry-run", "--json")
    assert [scene["name"] for scene in only.json["scenes"]] == ["dsg/more/two"]
    none = command("import", "dsg", str(folder / "dsg"), "--only", "three", "--dry-run")
    assert none.code == 2
    assert "none of the 3 files is three.json; leave out --only" in " ".join(none.err.split())
    empty = command("import", "networkx", f"{folder}/nothing/*.json", "--dry-run")
    assert empty.code == 2
    assert "no file that ends in .json, .jsonl, .ndjson is at" in empty.err


def test_a_folder_brings_its_yaml_and_options_may_stand_first(command: RunCommand, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("rooms:\n  - name: hall\n", encoding="utf-8")
    (tmp_path / "-x.json").write_text(node_link(), encoding="utf-8")
    ran = command("import", "--dry-run", "--json", str(tmp_path))
    assert ([scene["name"] for scene in ran.json["scenes"]], ran.json["failed"]) == (["networkx/-x", "rooms/mine"], [])
    assert command("import", "--", "-x.json").err == "error: there is no file '-x.json'; check the path\n"
    assert "Bring scenes into the database" in command("import", "--help").out


def test_of_several_files_the_one_that_can_t_be_adjusted_is_named(command: RunCommand, tmp_path: Path) -> None:
    for name, kind in (("bare", "Object"), ("manned", "Agent")):
        nodes = [{"id": name, "kind": kind}]
        (tmp_path / f"{name}.json").write_text(node_link(nodes=nodes, edges=[]), encoding="utf-8")
    ran = command("import", "networkx", str(tmp_path), "--agent", "robot", "--dry-run")
    assert ran.code == 2
    assert ran.err.startswith(f"{tmp_path}/manned.json: the scene has the agent 'manned' already; leave out --agent")


def test_a_pickle_and_a_document_of_one_name_are_not_imported_over_each_other(
    command: RunCommand, folder: Path
) -> None:
    shutil.copy(folder / "grasif" / "pickled.pkl", folder / "grasif" / "one.pkl")
    ran = command("import", "grasif", str(folder / "grasif" / "one*"), "--dry-run")
    assert ran.code == 2
    assert "would be the scene grasif/one again" in " ".join(ran.err.split())


def test_words_of_one_s_own_are_declared(command: RunCommand, tmp_path: Path) -> None:
    file = tmp_path / "flat.json"
    edge = {"source": "cup", "target": "cup", "relation": "beside"}
    file.write_text(node_link(nodes=[{"id": "cup", "mass": 7}], edges=[edge]), encoding="utf-8")
    assert command("import", "networkx", str(file), "--dry-run").code == 2
    assert command("import", "networkx", str(file), "--declare", "BESIDE", "--declare", "mass", "--dry-run").code == 0
    odd = command("import", "networkx", str(file), "--declare", "a b", "--dry-run")
    assert odd.code == 2
    assert "property 'a b' can't be declared: use lower_snake_case" in " ".join(odd.err.split())


@pytest.mark.parametrize("stem", ["home@belief", "home@7", "home@2026-11-23T10:30"])
def test_a_file_named_as_a_belief_or_an_earlier_state_is_refused(
    command: RunCommand, store: SceneStore, tmp_path: Path, stem: str
) -> None:
    (tmp_path / f"{stem}.json").write_text(node_link(), encoding="utf-8")
    for options in ((), ("--dry-run",)):
        ran = command("import", "networkx", str(tmp_path), *options)
        assert ran.code == 2
        assert "choose another name" in ran.err
    assert f"networkx/{stem}" not in [info.name for info in store.scenes()]


def test_reading_a_file_shows_progress_on_a_terminal(tmp_path: Path) -> None:
    """A map of 25 MB was read for half a minute without a sign."""
    (tmp_path / "x.json").write_text(json.dumps({"rooms": [{"name": "hall", "objects": ["mug"]}]}), encoding="utf-8")
    leader, follower = pty.openpty()
    try:
        args = ("-m", "scenecypher", "import", str(tmp_path / "x.json"), "--dry-run")
        subprocess.run(
            [sys.executable, *args], stderr=follower, timeout=60, check=True, env={**os.environ, "TERM": "xterm"}
        )
        assert b"reading" in os.read(leader, 10_000)
    finally:
        os.close(leader)
        os.close(follower)


def test_several_scenes_are_told_to_a_command_that_takes_one(command: RunCommand, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps([{"nodes": ["hall"], "edges": []}] * 2), encoding="utf-8")
    refused = command("import", "networkx", f"{tmp_path}/x.json", "--dry-run")
    assert refused.code == 2
    assert f"several, or under another key; if so, give it to `scenecypher import {tmp_path}/x.json`" in refused.err
    assert command("import", f"{tmp_path}/x.json", "--dry-run").code == 0
