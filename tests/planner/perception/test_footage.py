"""Pictures of one look: named files, folders, and the frames of a video that differ."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Pillow
from PIL import ImageFilter

from scenecypher.errors import InputError
from scenecypher.planner.perception.footage import VIDEO_SECONDS, Frame, choose_frames, read_look
from tests.pictures import table
from tests.planner.perception.test_camera_file import UPRIGHT, VIEW

COLORS = ("black", "red", "lime", "white")


def shot(folder: Path, name: str, color: str) -> Path:
    """Write a picture of one colour."""
    file = BytesIO()
    Pillow.new("RGB", (8, 8), color).save(file, "PNG")
    (folder / name).write_bytes(file.getvalue())
    return folder / name


def film(file: Path, colors: tuple[str, ...], *, seconds_each: float = 1.0, rate: int = 4) -> Path:
    """Write a video that shows each colour for some seconds."""
    av = pytest.importorskip("av", reason="needs `pip install 'scenecypher[video]'`")
    with av.open(str(file), "w") as made:
        stream = made.add_stream("mpeg4", rate=rate)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for color in colors:
            frame = Pillow.new("RGB", (64, 48), color)
            for _ in range(int(seconds_each * rate)):
                made.mux(stream.encode(av.VideoFrame.from_image(frame)))
        made.mux(stream.encode())
    return file


def test_pictures_that_are_named_are_all_taken_in_their_order(tmp_path: Path) -> None:
    files = [shot(tmp_path, f"{number}.png", "red") for number in (2, 1)]
    assert [it.name for it in read_look(files)] == ["2.png", "1.png"]
    with pytest.raises(InputError, match="2 pictures; at most 1 are sent: name fewer, or raise --pictures"):
        read_look(files, at_most=1)


def test_of_a_folder_those_are_taken_that_differ(tmp_path: Path) -> None:
    for number, color in enumerate(("black", "black", "red", "red", "white")):
        shot(tmp_path, f"{number}.png", color)
    (tmp_path / "notes.txt").write_text("no picture")
    assert len(read_look([tmp_path])) == 5, "few pictures are all taken"
    assert [it.name for it in read_look([tmp_path], at_most=4)] == ["0.png", "2.png", "4.png"]
    assert [it.name for it in read_look([tmp_path], at_most=2)] == ["0.png", "4.png"]


def test_a_folder_without_pictures_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no picture in it"):
        read_look([tmp_path])


@pytest.mark.parametrize("suffix", ["mp4", "mkv", "avi", "mov"])
def test_of_a_video_a_frame_of_each_scene_is_taken(suffix: str, tmp_path: Path) -> None:
    pictures = read_look([film(tmp_path / f"look.{suffix}", COLORS)])
    assert [it.name for it in pictures] == [f"look.{suffix} at {second}.0 s" for second in range(4)]
    with Pillow.open(BytesIO(pictures[1].image.data)) as red:
        color = red.convert("RGB").getpixel((30, 20))
        assert isinstance(color, tuple)
        assert color[0] > 200


def test_a_video_gives_no_more_frames_than_are_sent(tmp_path: Path) -> None:
    assert len(read_look([film(tmp_path / "look.mp4", COLORS)], at_most=2)) == 2


def test_a_video_that_stands_still_is_one_picture(tmp_path: Path) -> None:
    assert len(read_look([film(tmp_path / "look.mp4", ("red",) * 3)])) == 1


def test_a_video_that_is_cut_off_or_too_long_is_refused(tmp_path: Path) -> None:
    file = film(tmp_path / "look.mp4", ("red", "white"))
    file.write_bytes(file.read_bytes()[:200])
    with pytest.raises(InputError, match="the video can't be read"):
        read_look([file])
    long = film(tmp_path / "long.mp4", ("red",), seconds_each=VIDEO_SECONDS + 2, rate=1)
    with pytest.raises(InputError, match="longer than 120 s; cut out the part"):
        read_look([long])


def test_a_camera_file_of_another_picture_is_refused(tmp_path: Path) -> None:
    import numpy as np

    file = shot(tmp_path, "table.png", "red")
    np.save(tmp_path / "table.npy", np.ones((3, 4)))
    document = VIEW | {"pose": UPRIGHT, "width": 4, "height": 3}
    (tmp_path / "table.camera.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match=r"table\.png: 8 x 8 pixels, but its camera file says 4 x 3"):
        read_look([file])


def test_blurred_and_black_frames_are_left_out(tmp_path: Path) -> None:
    """Of above, above, half, blurred, black and garden, three were sent: above, black and garden."""
    shown = table(["red ball", "blue key", "green box", "red ball"])
    above = Pillow.open(BytesIO(shown.data)).convert("RGB")
    half = above.crop((0, 0, above.width // 2, above.height)).resize(above.size)
    garden = Pillow.effect_noise(above.size, 90).convert("RGB")
    blurred = above.filter(ImageFilter.GaussianBlur(12))
    black = Pillow.new("RGB", above.size, "black")
    for number, picture in enumerate((above, above, half, blurred, black, garden)):
        picture.save(tmp_path / f"{number}.png")
    assert [it.name for it in read_look([tmp_path], at_most=3)] in (
        ["0.png", "2.png", "5.png"],
        ["1.png", "2.png", "5.png"],
    )


@given(
    st.lists(
        st.builds(Frame, st.binary(min_size=4, max_size=4), st.sampled_from([0.0, 1.0, 10.0, 40.0])),
        min_size=1,
        max_size=12,
    ),
    st.integers(1, 6),
)
def test_chosen_frames_are_sharp_and_different_and_in_order(frames: list[Frame], at_most: int) -> None:
    chosen = choose_frames(frames, at_most=at_most)
    sharpest = max(it.sharpness for it in frames)
    assert sharpest in {frames[it].sharpness for it in chosen}
    assert sharpest <= 2 or all(frames[it].sharpness > 2 for it in chosen)
    assert len(chosen) <= at_most
    assert list(chosen) == sorted(set(chosen))
    assert len({frames[it].grey for it in chosen}) == len(chosen)
