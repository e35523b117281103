"""Pictures of one look: files, a folder of them, or a short video, of which sharp, different frames are taken.

With them goes what the model is told of them, and the boxes that it gives of things.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Self

from pydantic import BaseModel, Field

from scenecypher.chat.model import Image
from scenecypher.db.graph.scene import Point
from scenecypher.errors import InputError
from scenecypher.planner.perception.naming import TEXTS
from scenecypher.planner.perception.observation import Observation
from scenecypher.planner.perception.picture import (
    SUFFIXES,
    PosedCamera,
    camera_of,
    encode_jpeg,
    media_type_of,
    read_picture,
)
from scenecypher.waiting import waiting_for

if TYPE_CHECKING:
    from PIL.Image import Image as PillowImage

MAX_SENT: Final = 8
"""Default of the largest number of pictures in one look."""
MAX_FILES: Final = 500
VIDEO_SECONDS: Final = 120.0
"""Limit of a video's length."""
FRAMES_A_SECOND: Final = 2.0
"""Rate at which frames of a video are compared."""
CHANGE: Final = 0.03
"""Least mean difference (0 to 1) of a frame's small grey copy from those of all chosen ones."""
COPY_SIDE: Final = 24
SHARP_SIDE: Final = 256
"""Longest side of the grey copy in which sharpness is measured."""
FLAT: Final = 2.0
"""Sharpness (of 255) that a frame of one colour has by compression alone."""
SHARP_SHARE: Final = 0.25
"""Least share of the sharpness of the sharpest third; a frame below is blurred, black, or of one colour."""

Thousandth = Annotated[float, Field(ge=0, le=1000)]


class SeenBox(BaseModel):
    """Box of a thing in a reply: edges in thousandths of the picture's width and height; pictures count from 1."""

    name: str
    picture: Annotated[int, Field(ge=1, le=100)]
    left: Thousandth
    top: Thousandth
    right: Thousandth
    bottom: Thousandth


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture of a look: its name for people, its bytes, and its camera if a file beside it gives one."""

    name: str
    image: Image
    camera: PosedCamera | None = None


@dataclass(frozen=True, slots=True)
class PictureSet:
    """Pictures of one look; `note` explains them to the model, `cameras` are those of pictures with a camera file."""

    images: tuple[Image, ...]
    note: str = ""
    cameras: tuple[PosedCamera | None, ...] = ()

    def describe_words(self, name: str) -> str:
        """Return what the prompt of the first stage says of these pictures besides; empty for one plain picture."""
        count = len(self.images)
        words = f"\n{self.note}" if self.note else ""
        words += TEXTS["several"].format(count=count, name=name) if count > 1 else ""
        picture = ", and the number of the picture, from 1" if count > 1 else ""
        return words + (TEXTS["boxes"].format(picture=picture) if any(self.cameras) else "")

    @property
    def parse_words(self) -> str:
        """Return what the prompt of the second stage says besides."""
        return TEXTS["parse_boxes"] if any(self.cameras) else ""

    def located(self, observation: Observation, boxes: Sequence[SeenBox]) -> Observation:
        """Return the observation with positions of things whose boxes have a camera and a known depth."""
        found = list(observation.sightings)
        for box in boxes:
            position = self._position_of(box)
            fits = (number for number, it in enumerate(found) if it.name == box.name and it.position is None)
            number = next(fits, None)
            if position is not None and number is not None:
                found[number] = replace(found[number], position=position)
        return replace(observation, sightings=tuple(found))

    def _position_of(self, box: SeenBox) -> Point | None:
        camera = self.cameras[box.picture - 1] if box.picture <= len(self.cameras) else None
        if camera is None or box.left >= box.right or box.top >= box.bottom:
            return None
        return camera.position_of((box.left / 1000, box.top / 1000, box.right / 1000, box.bottom / 1000))


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame to choose from: a small grey copy of one size for all, and the mean contrast of neighbouring pixels."""

    grey: bytes
    sharpness: float

    @classmethod
    def of(cls, picture: PillowImage) -> Self:
        """Return the frame of a picture."""
        import numpy as np

        grey = picture.convert("L")
        small = bytes(grey.resize((COPY_SIDE, COPY_SIDE)).tobytes())
        grey.thumbnail((SHARP_SIDE, SHARP_SIDE))
        light = np.asarray(grey, dtype=np.float64)
        edges = light[1:, 1:] - light[:-1, :-1]
        return cls(small, float(np.sqrt(np.mean(edges**2))) if edges.size else 0.0)


def read_look(files: Sequence[Path], *, at_most: int = MAX_SENT) -> tuple[Picture, ...]:
    """Read the pictures of one look, at most `at_most` of them.

    Pictures that are named are all taken; of a folder or a video sharp ones that differ most. Raises InputError.
    """
    if len(files) == 1 and files[0].is_dir():
        return _of_folder(files[0], at_most)
    if len(files) == 1 and _is_video(files[0]):
        return _of_video(files[0], at_most)
    if len(files) > at_most:
        raise InputError(f"{len(files)} pictures; at most {at_most} are sent: name fewer, or raise --pictures")
    return tuple(_picture(file) for file in files)


def choose_frames(frames: Sequence[Frame], *, at_most: int) -> tuple[int, ...]:
    """Return the numbers of the sharp frames that differ most, in their order; the sharpest is always among them.

    Frame by frame that one is added which differs most from all chosen ones, until none differs by CHANGE.
    """
    ranked = sorted((it.sharpness for it in frames if it.sharpness > FLAT), reverse=True)
    least = SHARP_SHARE * ranked[len(ranked) // 3] if ranked else 0.0
    sharp = [number for number, it in enumerate(frames) if it.sharpness >= least]
    nearest, chosen = dict.fromkeys(sharp, 1.0), list[int]()
    candidate = max(sharp, key=lambda it: frames[it].sharpness, default=0)
    while sharp and len(chosen) < at_most and (not chosen or nearest[candidate] >= CHANGE):
        chosen.append(candidate)
        nearest = {it: min(old, _difference(frames[it].grey, frames[candidate].grey)) for it, old in nearest.items()}
        candidate = max(sharp, key=nearest.__getitem__)
    return tuple(sorted(chosen))


def _picture(file: Path) -> Picture:
    image, camera = read_picture(file), camera_of(file)
    if camera is not None:
        width, height = _opened(image).size
        if not camera.file.has_shape(width, height):
            size = f"{camera.file.width} x {camera.file.height}"
            raise InputError(f"{file}: {width} x {height} pixels, but its camera file says {size}: mend that file")
    return Picture(file.name, image, camera)


def _of_folder(folder: Path, at_most: int) -> tuple[Picture, ...]:
    files = sorted(it for it in folder.iterdir() if it.suffix.casefold() in SUFFIXES)
    if not files:
        raise InputError(f"{folder}: there is no picture in it; put PNG, JPEG, GIF or WebP files there")
    if len(files) > MAX_FILES:
        raise InputError(f"{folder}: {len(files):,} pictures; at most {MAX_FILES} are compared: split the folder")
    pictures = tuple(map(_picture, files))
    if len(pictures) <= at_most:
        return pictures
    return tuple(
        pictures[it] for it in choose_frames([Frame.of(_opened(it.image)) for it in pictures], at_most=at_most)
    )


def _is_video(file: Path) -> bool:
    """Check if a file can only be a video: no picture by its first bytes, a container of films by them."""
    try:
        with file.open("rb") as opened:
            head = opened.read(16)
    except OSError:
        return False  # told when it is read as a picture
    is_film = head[4:8] == b"ftyp" or head.startswith((b"\x1aE\xdf\xa3", b"\0\0\x01")) or head[8:12] == b"AVI "
    return media_type_of(head) is None and is_film


def _of_video(file: Path, at_most: int) -> tuple[Picture, ...]:
    try:
        import av
    except ImportError as error:
        raise InputError("a video is read by PyAV: run `pip install 'scenecypher[video]'`") from error
    try:
        with waiting_for(f"the frames of {file.name}"):
            frames = tuple(_frames(file))
    except (av.FFmpegError, OSError, ValueError) as error:
        raise InputError(f"{file}: the video can't be read; give an MP4, WebM, MOV or AVI file, or pictures") from error
    if not frames:
        raise InputError(f"{file}: there is no picture in the video; take it again")
    chosen = choose_frames([frame for _, _, frame in frames], at_most=at_most)
    return tuple(Picture(f"{file.name} at {frames[it][0]:.1f} s", frames[it][1]) for it in chosen)


def _frames(file: Path) -> Iterator[tuple[float, Image, Frame]]:
    """Yield frames at FRAMES_A_SECOND: time in seconds, picture, and what it is chosen by."""
    import av

    with av.open(str(file)) as opened:
        if not opened.streams.video:
            return
        wanted_s = 0.0
        for frame in opened.decode(opened.streams.video[0]):
            time_s = float(frame.time or 0.0)
            if time_s > VIDEO_SECONDS:
                raise InputError(f"{file}: the video is longer than {VIDEO_SECONDS:g} s; cut out the part of this look")
            if time_s >= wanted_s:
                picture: PillowImage = frame.to_image()  # type: ignore[no-untyped-call]
                yield time_s, encode_jpeg(picture), Frame.of(picture)
                wanted_s = time_s + 1 / FRAMES_A_SECOND


def _opened(image: Image) -> PillowImage:
    from PIL import Image as Pillow

    return Pillow.open(BytesIO(image.data))


def _difference(one: bytes, other: bytes) -> float:
    """Return the mean difference of two grey copies, 0 to 1."""
    return sum(abs(a - b) for a, b in zip(one, other, strict=True)) / (255 * len(one))
