"""Sightings from a JSON file, as any detector can write it, or as a list of Ultralytics or COCO; no model is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, FiniteFloat, model_validator

from scenecypher.db.graph.problems import Problem, document_error, validated
from scenecypher.db.graph.scene import Node, Point
from scenecypher.errors import InputError
from scenecypher.importers.json_file import read_json
from scenecypher.planner.perception.matching import fuse, support_at
from scenecypher.planner.perception.naming import KnownNode, meaning_of_name, with_names
from scenecypher.planner.perception.observation import (
    MAX_THINGS,
    DetectedSupport,
    Extent,
    Name,
    Observation,
    SeenThing,
    Sighting,
    StrictModel,
    Support,
)
from scenecypher.planner.perception.picture import Box, PosedCamera, camera_of
from scenecypher.planner.perception.placing import fixtures_of
from scenecypher.planner.perception.wording import WORDS, normal_form


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
        for it in self.content.sightings:
            by_picture.setdefault(it.picture, []).append(self._sighting(it, known, supports))
        things = fuse(by_picture.values())
        if len(things) > MAX_THINGS:
            msg = f"{len(things)} things in one look; at most {MAX_THINGS} are merged: look at one place"
            raise InputError(msg)
        told = self.content.classes
        observation = Observation(
            known.id,
            things,
            step,
            ("ON",) if "closed" in known.node.states else ("INSIDE", "ON"),
            partial_states=True,
            extent=Extent(self.content.seen, "" if self.content.seen == "whole" else "what was detected"),
            classes=None if told is None else frozenset(normal_form(meaning_of_name(it, known).class_) for it in told),
        )
        seen = with_names(observation, known)
        placeless = sum(it.support is None and it.position is None for it in seen.sightings)
        if not placeless or not any(it.box for it in self.content.sightings):
            return seen
        missing = f"{placeless} boxes have no place: give `support`, or a camera file beside the picture"
        return replace(seen, notes=(*seen.notes, missing))

    def _sighting(self, it: Detection, known: KnownNode, supports: Sequence[Node]) -> Sighting:
        meaning = meaning_of_name(it.class_, known)
        position = Point(*it.position) if it.position else self._located(it)
        given = it.support or self.content.support
        support: Support | None = None if given is None else (given.relation, given.related_to or known.id)
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
    """Read detections, and the cameras beside their pictures. Raises DocumentError, and InputError for a depth file."""
    content = validated(DetectionsFile, _document(read_json(file)), str(file))
    inside = {it.picture for it in content.sightings if it.picture and _is_within(file.parent, it.picture)}
    names = sorted(inside & {it.picture for it in content.sightings if it.box} - {None})
    cameras = {name: camera for name in names if (camera := camera_of(file.parent / name)) is not None}
    if problems := [*_problems(content, inside, cameras)]:
        raise document_error(str(file), problems)
    return Detections(content, cameras)


def _is_within(folder: Path, name: str) -> bool:
    return (folder / name).resolve().is_relative_to(folder.resolve())


def _problems(content: DetectionsFile, inside: Container[str], cameras: Mapping[str, PosedCamera]) -> Iterator[Problem]:
    """Yield pictures that are not `inside` the file's folder, and boxes that lie outside their picture."""
    for number, it in enumerate(content.sightings):
        name, (left, top, right, bottom) = it.picture or "", it.box or (0.0, 0.0, 0.0, 0.0)
        if name and name not in inside:
            yield f"$.sightings[{number}].picture", "leads out of the file's folder; give a path within it"
        elif it.box and name in cameras:
            width, height = cameras[name].file.width, cameras[name].file.height
            if left >= width or top >= height or right <= 0 or bottom <= 0:
                words = f"lies outside the picture of {width} x {height} pixels; give it in pixels of that picture"
                yield f"$.sightings[{number}].box", words


def _document(document: object) -> object:
    """Return a document of detections for a detector's own list; any other document as it is."""
    if not isinstance(document, list) or not all(isinstance(it, dict) for it in document):
        return document
    return {"sightings": [_detection(it) for it in document]}


def _detection(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a detection; a row of another form as it is, so that it is refused with its place."""
    match row:
        case {"name": name, "box": dict(box)}:
            edges, score, image = [box.get(edge) for edge in ("x1", "y1", "x2", "y2")], row.get("confidence"), None
        case {"category_id": int(number), "bbox": [int() | float(), int() | float(), int() | float(), int() | float()]}:
            left, top, width, height = row["bbox"]
            name = row.get("category_name") or dict(enumerate(WORDS["coco"])).get(number) or f"category {number}"
            edges, score, image = [left, top, left + width, top + height], row.get("score"), row.get("image_id")
        case _:
            return row
    found = {"class": name, "box": edges, "confidence": score, "picture": None if image is None else f"image {image}"}
    return {key: value for key, value in found.items() if value is not None}
