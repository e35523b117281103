"""`scenecypher observe` of several pictures, videos, boxes and detectors; previews, and files that are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scenecypher.db.graph.scene import Point
from scenecypher.db.store.catalog import SceneInfo, lookup_scene
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.perception.picture import encode_png
from tests.planner.actions.grasif_worlds import home
from tests.planner.actions.test_operators import put
from tests.planner.perception.test_footage import film
from tests.planner.perception.test_picture import animated
from tests.planner.perception.test_picture import encoded as picture_of
from tests.scenecypher.cli.conftest import CommandResult, RunCommand, Serve
from tests.scripted_model import Raw, Script

SEEN: dict[str, Any] = {"confidence": None, "count": 1, "relation": "ontop_of", "related_to": "table-1", "states": []}
RED, BLUE = (encode_png(bytes(color), width=1, height=1).data for color in ((255, 0, 0), (0, 0, 255)))


@pytest.fixture
def scene(store: SceneStore) -> SceneInfo:
    return put(store, home(), vocabulary="grasif")


def form(*names: str, **fields: Any) -> str:
    objects = [SEEN | {"name": name} for name in names]
    return json.dumps({"extent": "whole", "part": None, "reason": None, "objects": objects} | fields)


def kinds(seen: CommandResult) -> dict[str, str]:
    return {it["node"]: it["kind"] for it in seen.json["findings"] if it["kind"] != "partial"}


def sightings(folder: Path, *found: dict[str, Any], **fields: Any) -> str:
    file = folder / "sightings.json"
    file.write_text(json.dumps({"of": "table-1", "support": {"relation": "ON"}, "sightings": found} | fields))
    return str(file)


def test_two_pictures_are_one_look(
    scene: SceneInfo, store: SceneStore, command: RunCommand, model: Serve, tmp_path: Path
) -> None:
    for name, data in (("a.png", RED), ("b.png", BLUE)):
        (tmp_path / name).write_bytes(data)
    files = [str(tmp_path / name) for name in ("a.png", "b.png")]
    server = model(["All of it is in view: a cup and a mug.", form("cup-1", "mug")])
    seen = command("observe", scene.name, *files, "--at", "table-1", "--json")
    assert seen.code == 0, seen.err
    assert len(server.requests[0]["messages"][0]["content"]) == 3, "one text, two pictures"
    assert sorted(kinds(seen).values()) == ["confirmed", "new"]
    belief = f"{scene.name}@belief"
    assert command("undo", belief).code == 0
    assert store.load(belief).graph == store.as_of(belief, 0)


def test_a_film_is_one_look(scene: SceneInfo, command: RunCommand, model: Serve, tmp_path: Path) -> None:
    file = film(tmp_path / "look.mp4", ("black", "red", "white"))
    server = model(["A cup.", form("cup-1")])
    seen = command("observe", scene.name, str(file), "--at", "table-1", "--pictures", "2", "--json")
    assert kinds(seen) == {"cup-1": "confirmed"}
    assert len(server.requests[0]["messages"][0]["content"]) == 3, "one text, two frames"


def test_a_detector_needs_no_model(scene: SceneInfo, store: SceneStore, command: RunCommand, tmp_path: Path) -> None:
    file = sightings(tmp_path, {"class": "cup", "confidence": 0.9}, {"class": "fork", "position": [1, 2, 0.8]})
    seen = command("observe", scene.name, "--json", file)
    assert seen.code == 0, seen.err
    found = kinds(seen)
    (fork,) = found.keys() - {"cup-1"}
    assert found == {"cup-1": "confirmed", fork: "new"}
    assert (seen.json["tokens"], seen.json["extent"]["kind"]) == (0, "part")
    belief = f"{scene.name}@belief"
    after = store.load(belief).graph
    assert after.nodes[fork].properties["center"] == Point(1, 2, 0.8)
    assert after.nodes["cup-1"].properties["confidence"] == 0.9
    assert after.targets(fork, "ON") == ("table-1",)
    assert command("undo", belief).code == 0
    assert store.load(belief).graph == store.as_of(belief, 0)


def test_two_detections_of_one_thing_by_position_are_one(
    scene: SceneInfo, store: SceneStore, command: RunCommand, tmp_path: Path
) -> None:
    found = [
        {"class": "fork", "picture": picture, "position": [x, 2, 0.8]}
        for picture, x in (("a.png", 1.0), ("a.png", 3.0), ("b.png", 1.1))
    ]
    seen = command("observe", scene.name, "--json", sightings(tmp_path, *found))
    assert list(kinds(seen).values()).count("new") == 2
    again = command("observe", scene.name, "--json", sightings(tmp_path, *found))
    assert list(kinds(again).values()).count("confirmed") == 2, "the same places are the same forks"
    assert "new" not in kinds(again).values()


def test_a_dry_run_shows_why_and_changes_nothing(
    scene: SceneInfo, store: SceneStore, command: RunCommand, tmp_path: Path
) -> None:
    file = sightings(tmp_path, {"class": "fork"}, seen="whole")
    shown = command("observe", scene.name, file, "--dry-run")
    assert shown.code == 0, shown.err
    assert "cup-1  believed on table-1, not seen there" in shown.out
    assert shown.out.splitlines()[-1].endswith("with --dry-run nothing is merged")
    assert lookup_scene(store.database, f"{scene.name}@belief") is None
    preview = command("observe", scene.name, file, "--dry-run", "--json")
    done = command("observe", scene.name, file, "--json")
    assert (preview.json["findings"], preview.json["dry_run"]) == (done.json["findings"], True)
    before = store.find(f"{scene.name}@belief").version
    assert command("observe", scene.name, file, "--dry-run").code == 0
    assert store.find(f"{scene.name}@belief").version == before


def refused_file(folder: Path, what: str) -> Path:
    """Write a file that can't be observed."""
    contents = {
        "no picture": b"%PDF-1.7",
        "animated": animated("GIF"),
        "36 MB": b"\x89PNG\r\n\x1a\n" + bytes(36_000_000),
        "wide": picture_of("PNG", (12_000, 2)),
        "empty": b"",
        "cut off": picture_of("JPEG", (64, 64))[:-100],
        "pose": picture_of("PNG"),
    }
    file = folder / "table.png"
    file.write_bytes(contents[what])
    if what == "pose":
        (folder / "table.camera.json").write_text(
            '{"width": 4, "height": 3, "fx": 1, "fy": 1, "cx": 2, "cy": 1,'
            '"depth": "a.npy", "pose": [[NaN, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]}'
        )
    return file


@pytest.mark.parametrize("what", ["no picture", "animated", "36 MB", "wide", "empty", "cut off", "pose"])
def test_a_file_that_can_not_be_observed_is_refused_in_a_line(
    what: str,
    scene: SceneInfo,
    *,
    store: SceneStore,
    command: RunCommand,
    model: Serve,
    tmp_path: Path,
) -> None:
    server = model([])
    seen = command("observe", scene.name, str(refused_file(tmp_path, what)), "--at", "table-1")
    assert (seen.code, len(seen.err.splitlines()), seen.out) == (2, 1, ""), seen.err
    assert server.requests == []
    assert lookup_scene(store.database, f"{scene.name}@belief") is None


@pytest.mark.parametrize(
    ("script", "code"), [([Raw(b"<html>login</html>", "text/html")] * 9, 2), (["A cup.", "<html>"] + ["<p>"] * 9, 1)]
)
def test_a_service_that_answers_with_a_web_page_merges_nothing(
    script: Script,
    code: int,
    scene: SceneInfo,
    *,
    store: SceneStore,
    command: RunCommand,
    model: Serve,
    tmp_path: Path,
) -> None:
    (tmp_path / "a.png").write_bytes(RED)
    model(script)
    seen = command("observe", scene.name, str(tmp_path / "a.png"), "--at", "table-1")
    assert (seen.code, len(seen.err.splitlines())) == (code, 1), seen.err
    assert lookup_scene(store.database, f"{scene.name}@belief") is None


def test_what_was_looked_at_has_to_be_named(scene: SceneInfo, command: RunCommand, tmp_path: Path) -> None:
    seen = command("observe", scene.name, sightings(tmp_path, of=None))
    assert (seen.code, "say --at table-1" in seen.err) == (2, True)
    (tmp_path / "a.png").write_bytes(RED)
    both = command("observe", scene.name, sightings(tmp_path), str(tmp_path / "a.png"))
    assert (both.code, "give it alone" in both.err) == (2, True)


@pytest.mark.parametrize("replies", [["A cup.", "no", "{}", "[]"], ["I'm sorry, I can't view images."]])
def test_a_model_that_can_not_be_read_is_told_to_the_person_with_its_tokens(
    replies: list[str],
    scene: SceneInfo,
    command: RunCommand,
    model: Serve,
    tmp_path: Path,
) -> None:
    """The person was told what the model should do ("answer with one JSON object"), and what it cost was lost."""
    (tmp_path / "a.png").write_bytes(RED)
    model(replies)
    seen = command("observe", scene.name, str(tmp_path / "a.png"), "--at", "table-1", "--json")
    assert seen.code == 1
    assert (seen.json["code"], seen.json["tokens"]) == ("refused", 18 * len(replies))
    assert "choose a" in seen.json["message"]
    assert not [it for it in ("Subgraph", "JSON") if it in seen.err + seen.json["message"]]
