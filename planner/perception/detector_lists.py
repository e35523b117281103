"""Lists of detections as Ultralytics (`to_json`) and COCO results have them, read as a file of detections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_NAMES: Final = (
    "person,bicycle,car,motorcycle,airplane,bus,train,truck,boat,traffic light,fire hydrant,,stop sign,parking meter,"
    "bench,bird,cat,dog,horse,sheep,cow,elephant,bear,zebra,giraffe,,backpack,umbrella,,,handbag,tie,suitcase,frisbee,"
    "skis,snowboard,sports ball,kite,baseball bat,baseball glove,skateboard,surfboard,tennis racket,bottle,,wine glass,"
    "cup,fork,knife,spoon,bowl,banana,apple,sandwich,orange,broccoli,carrot,hot dog,pizza,donut,cake,chair,couch,"
    "potted plant,bed,,dining table,,,toilet,,tv,laptop,mouse,remote,keyboard,cell phone,microwave,oven,toaster,sink,"
    "refrigerator,,book,clock,vase,scissors,teddy bear,hair drier,toothbrush"
)
COCO: Final[Mapping[int, str]] = {number: name for number, name in enumerate(_NAMES.split(","), 1) if name}
"""The names of COCO's categories by their ids."""
NO_THINGS: Final = frozenset(
    {"person", "man", "woman", "child", "cat", "dog", "bench", "chair", "couch", "bed", "dining table", "table"}
    | {"toilet", "tv", "microwave", "oven", "sink", "refrigerator", "sofa", "fridge", "television", "desk"}
)
"""Classes of persons, animals and furniture: a detector's names that mean no thing to be moved."""


def detections_document(document: object) -> object:
    """Return a document of detections for a detector's own list; any other document as it is."""
    if not isinstance(document, list) or not all(isinstance(it, dict) for it in document):
        return document
    return {"sightings": [_detection(it) for it in document]}


def _detection(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a detection; a row of another form as it is, so that it is refused with its place."""
    box = row.get("box")
    if isinstance(box, dict) and "name" in row:
        edges = [box.get(edge) for edge in ("x1", "y1", "x2", "y2")]
        found: dict[str, object] = {"class": row["name"], "box": edges}
        return found | _confidence(row.get("confidence"))
    corner = row.get("bbox")
    category = row.get("category_id")
    if not isinstance(category, int) or not isinstance(corner, list) or len(corner) != 4:
        return row
    name = row.get("category_name") or COCO.get(category, f"category {category}")
    if not all(isinstance(it, int | float) for it in corner):
        return row
    left, top, width, height = corner
    edges = [left, top, left + width, top + height]
    picture: dict[str, object] = {} if row.get("image_id") is None else {"picture": f"image {row['image_id']}"}
    return picture | {"class": name, "box": edges} | _confidence(row.get("score"))


def _confidence(score: object) -> dict[str, object]:
    return {} if score is None else {"confidence": score}
