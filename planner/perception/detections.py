"""Sightings from a JSON file, as any detector can write it; no model is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, FiniteFloat, ValidationError, model_validator

from scenecypher.db.graph.problems import Problem, document_error, problems_of
from scenecypher.db.graph.scene import Node, Point
from scenecypher.errors import InputError
from scenecypher.importers.json_file import read_json
from scenecypher.planner.perception.camera_file import Box, PosedCamera, camera_of
from scenecypher.planner.perception.detector_lists import NO_THINGS, detections_document
from scenecypher.planner.perception.naming import KnownNode, meaning_of_name, with_names
from scenecypher.planner.perception.observation import MAX_THINGS, Extent, Observation, Sighting, Support
from scenecypher.planner.perception.placing import fixtures_of
from scenecypher.planner.perception.seen_thing import DetectedSupport, Name, SeenThing, StrictModel
from scenecypher.planner.perception.spatial import fuse, support_at
from scenecypher.planner.perception.wording import normal_form


class Detection(SeenThing):
    """One detected thing.

    `box` is left, top, right, bottom in pixels of `picture`; with a camera file beside that picture it gives the
    position.
    """

    picture: Name | None = None
    box: tuple[FiniteFloat, FiniteFloat, FiniteFloat, FiniteFloat] | None = None

    @model_validator(mode="after")
    def _is_box(self) -> Self:
        if self.box and (self.box[0] >= self.box[2] or self.box[1] >= self.box[3]):
            raise ValueError("the box is empty; give left, top, right and bottom in pixels")
        return self


class DetectionsFile(StrictModel):
    """Content of a file: detections of one look at the node `of`.

    Only if `seen` is ``whole`` are believed things absent that were not detected; a detector finds what it was trained
    on, so ``part`` is the default. `classes` are those that it knows: it says nothing of others. `support` is that of
    all detections without one of their own.
    """

    of: Name | None = None
    seen: Literal["whole", "part"] = "part"
    support: DetectedSupport | None = None
    classes: Annotated[list[Name], Field(max_length=10_000)] | None = None
    sightings: Annotated[list[Detection], Field(max_length=8 * MAX_THINGS)]

    @model_validator(mode="after")
    def _are_few(self) -> Self:
        most = Counter(it.picture for it in self.sightings).most_common(1)
        if most and most[0][1] > MAX_THINGS:
            msg = f"{most[0][1]} things in one picture; at most {MAX_THINGS} are merged: look at one place"
            raise ValueError(msg)
        return self


@dataclass(frozen=True, slots=True)
class Detections:
    """A file's content, with the cameras of its pictures by their names."""

    content: DetectionsFile
    cameras: dict[str, PosedCamera]

    def observation(self, known: KnownNode, *, step: int) -> Observation:
        """Return the observation of a node, each thing once that several pictures show."""
        fixtures = fixtures_of(known.belief, known.id, vocabulary=known.vocabulary)
        supports = [known.belief.nodes[it] for it in (*fixtures, known.id)]
        by_picture: dict[str | None, list[Sighting]] = {}
        placed, others = self._things(known)
        for it in placed:
            by_picture.setdefault(it.picture, []).append(self._sighting(it, known, supports))
        part = "" if self.content.seen == "whole" else "what was detected"
        shut = ("ON",) if "closed" in known.states else ("INSIDE", "ON")
        extent = Extent(self.content.seen, part)
        things = fuse(by_picture.values())
        if len(things) > MAX_THINGS:
            msg = f"{len(things)} things in one look; at most {MAX_THINGS} are merged: look at one place"
            raise InputError(msg)
        classes = self.content.classes
        names = None if classes is None else frozenset(normal_form(meaning_of_name(it, known).class_) for it in classes)
        notes = tuple(self._notes(others, things))
        seen = Observation(known.id, things, step, shut, partial_states=True, extent=extent, classes=names, notes=notes)
        return with_names(seen, known)

    def _things(self, known: KnownNode) -> tuple[list[Detection], list[str]]:
        """Return the detections of things, and the classes of those of persons and furniture."""
        others = [normal_form(it.class_) for it in self.content.sightings]
        fixed = [word in NO_THINGS and word not in known.things for word in others]
        things = [it for it, is_fixed in zip(self.content.sightings, fixed, strict=True) if not is_fixed]
        return things, [word for word, is_fixed in zip(others, fixed, strict=True) if is_fixed]

    def _notes(self, others: Sequence[str], things: Sequence[Sighting]) -> Iterator[str]:
        """Yield what is not merged, and why."""
        if others:
            yield f"persons and furniture are not merged: {', '.join(sorted({*others}))}"
        placeless = sum(it.support is None and it.position is None for it in things)
        if placeless and any(it.box for it in self.content.sightings):
            yield f"{placeless} boxes have no place: give `support`, or a camera file beside the picture"

    def _sighting(self, it: Detection, known: KnownNode, supports: Sequence[Node]) -> Sighting:
        meaning = meaning_of_name(it.class_, known)
        position = Point(*it.position) if it.position else self._located(it)
        support = _support(it.support or self.content.support, known)
        if support is None and position is not None:
            found = [at for node in supports if (at := support_at(position, node)) is not None]
            support = min(found, key=lambda at: at[0] != "ON", default=None)
        return Sighting(
            it.name or it.class_,
            meaning.class_,
            support,
            tuple(sorted({*it.states})) or None,
            position=position,
            traits=meaning.traits,
            confidence=it.confidence,
        )

    def _located(self, it: Detection) -> Point | None:
        camera = self.cameras.get(it.picture or "")
        if camera is None or it.box is None:
            return None
        width, height = camera.file.width, camera.file.height
        box: Box = (it.box[0] / width, it.box[1] / height, it.box[2] / width, it.box[3] / height)
        return camera.position_of(box)


def read_detections(file: Path) -> Detections:
    """Read a file of detections, and the camera files beside the pictures that it names.

    Raises DocumentError with the file's problems, and InputError for a camera's depth.
    """
    document = read_json(file)
    try:
        content = DetectionsFile.model_validate(detections_document(document))
    except ValidationError as error:
        raise document_error(str(file), problems_of(error, document)) from error
    if problems := [*_outside(content, file.parent)]:
        raise document_error(str(file), problems)
    names = dict.fromkeys(it.picture for it in content.sightings if it.picture and it.box)
    found = {name: camera_of(file.parent / name) for name in names}
    cameras = {name: camera for name, camera in found.items() if camera is not None}
    if problems := [*_beside(content, cameras)]:
        raise document_error(str(file), problems)
    return Detections(content, cameras)


def _beside(content: DetectionsFile, cameras: dict[str, PosedCamera]) -> Iterator[Problem]:
    """Yield boxes that lie outside their picture."""
    for number, it in enumerate(content.sightings):
        if it.box and (camera := cameras.get(it.picture or "")):
            width, height = camera.file.width, camera.file.height
            if it.box[0] >= width or it.box[1] >= height or it.box[2] <= 0 or it.box[3] <= 0:
                place = f"$.sightings[{number}].box"
                yield place, f"lies outside the picture of {width} x {height} pixels; give it in pixels of that picture"


def _outside(content: DetectionsFile, folder: Path) -> Iterator[Problem]:
    """Yield pictures outside the file's folder."""
    for number, it in enumerate(content.sightings):
        if it.picture and not (folder / it.picture).resolve().is_relative_to(folder.resolve()):
            yield f"$.sightings[{number}].picture", "leads out of the file's folder; give a path within it"


def _support(given: DetectedSupport | None, known: KnownNode) -> Support | None:
    return None if given is None else (given.relation, given.related_to or known.id)
