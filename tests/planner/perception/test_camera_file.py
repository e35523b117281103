"""Positions of boxes by a camera's intrinsics, pose and depth."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenecypher.errors import InputError
from scenecypher.planner.perception.picture import CameraFile, PosedCamera, camera_of

UPRIGHT = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
LOOKING_DOWN = [[1, 0, 0, 2], [0, -1, 0, 3], [0, 0, -1, 4], [0, 0, 0, 1]]
"""A camera 4 m above the floor at (2, 3), which looks straight down."""
VIEW: dict[str, Any] = {"width": 640, "height": 480, "fx": 500, "fy": 500, "cx": 320, "cy": 240, "depth": "table.npy"}
MIDDLE = (0.4, 0.4, 0.6, 0.6)


def written(folder: Path, metres: Any = None, **fields: Any) -> Path:
    """Write a picture's camera and depth; return the picture's path."""
    np.save(folder / "table.npy", np.full((48, 64), 3.0) if metres is None else metres)
    document = VIEW | {"pose": UPRIGHT} | fields
    (folder / "table.camera.json").write_text(json.dumps({k: v for k, v in document.items() if v is not None}))
    return folder / "table.png"


def located(folder: Path, box: tuple[float, float, float, float] = MIDDLE, **fields: Any) -> tuple[float, ...] | None:
    camera = camera_of(written(folder, **fields))
    assert camera is not None
    found = camera.position_of(box)
    return None if found is None else (found.x, found.y, found.z or 0.0)


def test_a_picture_without_a_camera_file_has_no_camera(tmp_path: Path) -> None:
    assert camera_of(tmp_path / "table.png") is None


def test_the_middle_of_the_picture_is_straight_ahead(tmp_path: Path) -> None:
    assert located(tmp_path) == pytest.approx((0, 0, 3))


def test_a_box_at_the_right_lies_to_the_right(tmp_path: Path) -> None:
    """Pixel 480 is 160 from the middle: at 3 m, with 500 pixels of focal length, 0.96 m."""
    assert located(tmp_path, (0.7, 0.4, 0.8, 0.6)) == pytest.approx((0.96, 0, 3))


def test_the_pose_takes_it_into_the_scene(tmp_path: Path) -> None:
    assert located(tmp_path, (0.7, 0.4, 0.8, 0.6), pose=LOOKING_DOWN) == pytest.approx((2.96, 3, 1))


def test_depth_is_the_median_of_what_is_known_in_the_middle_of_the_box(tmp_path: Path) -> None:
    depth = np.full((48, 64), 9.0)
    depth[22:26, 29:36] = 2.0
    depth[22, 29:32] = np.nan
    depth[23, 29:32] = 0.0
    assert located(tmp_path, (0.4, 0.42, 0.6, 0.58), metres=depth) == pytest.approx((0, 0, 2))


def test_where_depth_is_unknown_there_is_no_position(tmp_path: Path) -> None:
    assert located(tmp_path, metres=np.zeros((48, 64))) is None


def test_a_16_bit_png_holds_millimetres(tmp_path: Path) -> None:
    from PIL import Image

    file = BytesIO()
    Image.fromarray(np.full((48, 64), 1_500, dtype=np.uint16)).save(file, "PNG")
    (tmp_path / "depth.png").write_bytes(file.getvalue())
    document = VIEW | {"pose": UPRIGHT, "depth": "depth.png"}
    (tmp_path / "table.camera.json").write_text(json.dumps(document))
    camera = camera_of(tmp_path / "table.png")
    assert camera is not None
    found = camera.position_of(MIDDLE)
    assert found is not None
    assert found.z == pytest.approx(1.5)


unit = st.floats(0.05, 0.95)


@given(across=unit, down=unit, depth=st.floats(0.2, 20))
def test_a_point_that_is_projected_is_found_again(across: float, down: float, depth: float) -> None:
    """The law of the pinhole camera: project a point of the scene, and locate its pixel at its depth."""
    content = CameraFile.model_validate(VIEW | {"pose": LOOKING_DOWN})
    camera = PosedCamera(content, np.full((480, 640), depth))
    found = camera.position_of((across, down, across, down))
    assert found is not None
    ahead = 4 - (found.z or 0.0)
    assert ahead == pytest.approx(depth)
    assert 320 + 500 * (found.x - 2) / ahead == pytest.approx(across * 640)
    assert 240 + 500 * (3 - found.y) / ahead == pytest.approx(down * 480)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"pose": [[float("nan"), 0, 0, 0], *UPRIGHT[1:]]}, r"\$\.pose\[0\]\[0\]: should be a .*number"),
        ({"pose": UPRIGHT[:3]}, r"\$\.pose\[3\]: is missing"),
        ({"pose": [[2, 0, 0, 0], *UPRIGHT[1:]]}, "no rotation with a translation"),
        ({"pose": [[-1, 0, 0, 0], *UPRIGHT[1:]]}, "no rotation with a translation"),
        ({"fx": 0}, r"\$\.fx: "),
        ({"depth": None}, r"\$\.depth: is missing; add it"),
        ({"depth": "../table.npy"}, r"\$\.depth: there is no file"),
        ({"depth": "none.npy"}, r"\$\.depth: there is no file"),
        ({"focal": 1}, r"\$\.focal: is no field"),
        ({"width": 480}, "align them"),
    ],
)
def test_a_camera_file_that_can_not_be_used_is_refused(fields: dict[str, Any], told: str, tmp_path: Path) -> None:
    picture = written(tmp_path, **fields)
    with pytest.raises(InputError, match=told) as error:
        camera_of(picture)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("depth", "told"),
    [
        (np.zeros((48, 64, 3)), "one number of at least 16 bits a pixel"),
        (np.zeros((48, 64), dtype=np.uint8), "at least 16 bits"),
        (np.zeros((0, 64)), "one number"),
        (np.array([["a"]]), "one number"),
    ],
)
def test_depth_of_another_form_is_refused(depth: Any, told: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=told):
        camera_of(written(tmp_path, metres=depth))


def test_depth_that_is_no_array_is_refused(tmp_path: Path) -> None:
    picture = written(tmp_path)
    (tmp_path / "table.npy").write_bytes(b"\x80\x04K*.")
    with pytest.raises(InputError, match=r"give a \.npy of metres"):
        camera_of(picture)
