"""Pictures of one look, with what the model is told of them, and the boxes that it gives of things."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final, Self

from pydantic import BaseModel, Field

from scenecypher.chat.model import Image
from scenecypher.db.graph.scene import Point
from scenecypher.planner.perception.camera_file import PosedCamera
from scenecypher.planner.perception.footage import Picture
from scenecypher.planner.perception.observation import Observation

SEVERAL: Final = """
There are {count} pictures, all of one moment, from several sides. What several of them show is one thing: name and \
count it once. What one of them shows of {name} is in view."""

BOXES: Final = """
Give of each thing its box too: left, top, right and bottom in thousandths of the picture's width and \
height{picture}."""

PARSE_BOXES: Final = """
- "boxes": for each thing with a box in the description one entry, with the thing's "name", the number of its \
"picture" (1 where there is one only) and "left", "top", "right", "bottom" in thousandths."""

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
class PictureSet:
    """Pictures of one look; `note` explains them to the model, `cameras` are those of pictures with a camera file."""

    images: tuple[Image, ...]
    note: str = ""
    cameras: tuple[PosedCamera | None, ...] = ()

    @classmethod
    def of(cls, pictures: Sequence[Picture]) -> Self:
        """Return the set of pictures read from files."""
        return cls(tuple(it.image for it in pictures), cameras=tuple(it.camera for it in pictures))

    @property
    def has_cameras(self) -> bool:
        """Return True if boxes can be located."""
        return any(self.cameras)

    def describe_words(self, name: str) -> str:
        """Return what the prompt of the first stage says of these pictures besides; empty for one plain picture."""
        count = len(self.images)
        words = f"\n{self.note}" if self.note else ""
        words += SEVERAL.format(count=count, name=name) if count > 1 else ""
        picture = ", and the number of the picture, from 1" if count > 1 else ""
        return words + (BOXES.format(picture=picture) if self.has_cameras else "")

    @property
    def parse_words(self) -> str:
        """Return what the prompt of the second stage says besides."""
        return PARSE_BOXES if self.has_cameras else ""

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
