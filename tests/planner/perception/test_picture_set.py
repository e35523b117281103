"""Several pictures of one look, and boxes that become positions: what a model is sent and what comes of its reply."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scenecypher.db.graph.scene import Point
from scenecypher.planner.perception.footage import PictureSet
from scenecypher.planner.perception.picture import PosedCamera, camera_of, encode_png
from scenecypher.planner.perception.vision import ImageReading, read_pictures
from scenecypher.planner.worlds.belief import initial_belief
from tests.planner.actions.grasif_worlds import home
from tests.planner.perception.test_camera_file import LOOKING_DOWN, written
from tests.planner.perception.test_vision import known, said, scripted

RED, BLUE = (encode_png(bytes(color), width=1, height=1) for color in ((255, 0, 0), (0, 0, 255)))


def camera(folder: Path) -> PosedCamera:
    """Return a camera 4 m over (2, 3) that measures 3.2 m everywhere."""
    found = camera_of(written(folder, np.full((48, 64), 3.2), pose=LOOKING_DOWN))
    assert found is not None
    return found


def box(name: str, left: int, *, picture: int = 1) -> dict[str, Any]:
    return {"name": name, "picture": picture, "left": left, "top": 450, "right": left + 100, "bottom": 550}


def read(pictures: PictureSet, *things: dict[str, Any], boxes: Any = None) -> tuple[ImageReading, list[Any]]:
    """Return the reading of a scripted reply, and the messages of both stages."""
    reply = json.loads(said(*things)) | ({} if boxes is None else {"boxes": boxes})
    with scripted(["A cup.", json.dumps(reply)]) as (model, server):
        reading = read_pictures(model, pictures, known(initial_belief(home())), step=1)
    return reading, [request["messages"][0]["content"] for request in server.requests]


def test_all_pictures_of_a_look_go_in_one_request() -> None:
    _, (first, second) = read(PictureSet((RED, BLUE)), {"name": "cup-1"})
    assert [it["image_url"]["url"] for it in first[1:]] == [RED.data_url, BLUE.data_url]
    assert "There are 2 pictures, all of one moment" in first[0]["text"]
    assert "box" not in first[0]["text"].partition("There are 2 pictures")[2]
    assert isinstance(second, str)


def test_one_plain_picture_changes_no_prompt() -> None:
    assert PictureSet((RED,)).describe_words("table-1") == ""
    assert PictureSet((RED,), cameras=(None,)).describe_words("table-1") == ""
    assert PictureSet((RED,)).parse_words == ""


def test_a_note_explains_the_picture() -> None:
    _, (first, _) = read(PictureSet((RED,), "The red triangle is you."), {"name": "cup-1"})
    assert first[0]["text"].endswith("\nThe red triangle is you.")


def test_a_box_becomes_a_position(tmp_path: Path) -> None:
    pictures = PictureSet((RED, BLUE), cameras=(camera(tmp_path), None))
    things = {"name": "cup-1"}, {"name": "fork", "count": 2}, {"name": "pen-1"}
    boxes = [box("cup-1", 450), box("fork", 750), box("fork", 450), box("pen-1", 450, picture=2), box("spoon", 450)]
    reading, (first, second) = read(pictures, *things, boxes=boxes)
    assert "thousandths of the picture's width and height, and the number of the picture" in first[0]["text"]
    assert '"boxes"' in second
    found = [(it.name, it.position) for it in reading.observation.sightings]
    assert [name for name, _ in found] == ["cup-1", "fork", "fork", "pen-1"]
    middle = found[0][1]
    assert isinstance(middle, Point)
    assert (middle.x, middle.y, middle.z) == pytest.approx((2, 3, 0.8))
    assert (found[1][1].x if found[1][1] else None) == pytest.approx(2 + 0.3 * 640 / 500 * 3.2)
    assert found[2][1] == middle
    assert found[3][1] is None, "the second picture has no camera"


@pytest.mark.parametrize("edges", [{"left": 900}, {"picture": 9}, {"bottom": 100}])
def test_a_box_that_can_not_be_is_left_out(edges: dict[str, int], tmp_path: Path) -> None:
    pictures = PictureSet((RED,), cameras=(camera(tmp_path),))
    reading, _ = read(pictures, {"name": "cup-1"}, boxes=[box("cup-1", 450) | edges])
    assert [it.position for it in reading.observation.sightings] == [None]
