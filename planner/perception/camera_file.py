"""Camera file beside a picture: intrinsics, pose and depth, by which a box in the picture gets a position.

``table.camera.json`` belongs to ``table.png``. The model is the pinhole camera: axes x right, y down, z forward, as in
OpenCV; lengths in metres, in the scene's frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Self, TypeAlias

from pydantic import Field, FiniteFloat, model_validator

from scenecypher.db.graph.problems import validated
from scenecypher.db.graph.scene import Point
from scenecypher.errors import DocumentError, InputError
from scenecypher.importers.json_file import read_json
from scenecypher.planner.perception.observation import StrictModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

SUFFIX: Final = ".camera.json"
MAX_DEPTH_BYTES: Final = 100_000_000
MILLIMETRES: Final = 1_000.0
ROTATION_TOLERANCE: Final = 1e-3
"""Largest deviation of an entry of R times its transpose from the identity."""
ASPECT_TOLERANCE: Final = 0.02
"""Largest relative difference in shape between a picture, its camera file and its depth."""
CENTRE_SHARE: Final = 0.5
"""Share of a box's width and height in which depth is read; its edges often show what is behind a thing."""

Box: TypeAlias = tuple[float, float, float, float]
"""Left, top, right and bottom in a picture, as shares (0 to 1) of its width and height."""
Row = tuple[FiniteFloat, FiniteFloat, FiniteFloat, FiniteFloat]


class CameraFile(StrictModel):
    """Content of a camera file; `pose` takes the camera's coordinates to the scene's, row by row."""

    width: Annotated[int, Field(gt=0, le=100_000)]
    height: Annotated[int, Field(gt=0, le=100_000)]
    fx: Annotated[FiniteFloat, Field(gt=0)]
    fy: Annotated[FiniteFloat, Field(gt=0)]
    cx: FiniteFloat
    cy: FiniteFloat
    pose: tuple[Row, Row, Row, Row]
    depth: Annotated[str, Field(min_length=1, max_length=1_000)]
    depth_scale: Annotated[FiniteFloat, Field(gt=0)] | None = None

    @model_validator(mode="after")
    def _is_rigid(self) -> Self:
        """Check that the pose turns and moves, and neither mirrors nor scales."""
        import numpy as np

        turn = np.array(self.pose)[:3, :3]
        off = np.abs(turn @ turn.T - np.eye(3)).max()
        if off > ROTATION_TOLERANCE or np.linalg.det(turn) < 0 or self.pose[3] != (0, 0, 0, 1):
            raise ValueError(
                "the pose is no rotation with a translation; give the camera's 4 x 4 matrix in the scene's frame, "
                "row by row, the last row 0 0 0 1"
            )
        return self


@dataclass(frozen=True, slots=True)
class PosedCamera:
    """Camera of one picture: its file's content, and the depth in metres, one value a pixel of the depth image."""

    file: CameraFile
    depth: NDArray[Any]

    def position_of(self, box: Box) -> Point | None:
        """Return the position of the surface seen in the middle of a box; None where the depth is unknown there."""
        import numpy as np

        rows, columns = self.depth.shape
        left, top, right, bottom = (min(max(edge, 0.0), 1.0 - 1e-9) for edge in box)
        beside, above = (right - left) * (1 - CENTRE_SHARE) / 2, (bottom - top) * (1 - CENTRE_SHARE) / 2
        left, top, right, bottom = left + beside, top + above, right - beside, bottom - above
        across = slice(int(left * columns), max(int(right * columns), int(left * columns) + 1))
        down = slice(int(top * rows), max(int(bottom * rows), int(top * rows) + 1))
        values = self.depth[down, across]
        values = values[np.isfinite(values) & (values > 0)]
        if not values.size:
            return None
        it, depth = self.file, float(np.median(values))
        x, y = (left + right) / 2 * it.width, (top + bottom) / 2 * it.height
        seen = ((x - it.cx) / it.fx * depth, (y - it.cy) / it.fy * depth, depth, 1.0)
        return Point(*(sum(a * b for a, b in zip(row, seen, strict=True)) for row in it.pose[:3]))


def camera_of(picture: Path) -> PosedCamera | None:
    """Read the camera file beside a picture, None if there is none.

    Raises DocumentError with the file's problems, and InputError for a depth file that can't be used.
    """
    file = picture.with_suffix(SUFFIX)
    if not file.is_file():
        return None
    content = validated(CameraFile, read_json(file), str(file))
    depth = (file.parent / content.depth).resolve()
    if not depth.is_relative_to(file.parent.resolve()) or not depth.is_file():
        raise DocumentError(str(file), "$.depth", f"there is no file {content.depth!r} in the picture's folder")
    return PosedCamera(content, _read_depth(depth, content))


def _read_depth(file: Path, content: CameraFile) -> NDArray[Any]:
    """Read depth in metres: floats of a .npy, or whole numbers of a 16-bit PNG. Raises InputError."""
    import numpy as np
    from PIL import Image

    if file.stat().st_size > MAX_DEPTH_BYTES:
        raise InputError(f"{file}: the depth file is too large; at most {MAX_DEPTH_BYTES:,} bytes are read")
    is_array = file.suffix == ".npy"
    try:
        if is_array:
            found = np.load(file, allow_pickle=False)
        else:
            with Image.open(file, formats=("PNG",)) as picture:
                found = np.asarray(picture)
    except (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError) as error:
        msg = f"{file}: no depth can be read of it; give a .npy of metres, or a 16-bit PNG of millimetres"
        raise InputError(msg) from error
    shape = tuple(getattr(found, "shape", ()))
    if len(shape) != 2 or not all(shape) or found.dtype.kind not in "fiu" or found.dtype.itemsize < 2:
        msg = f"{file}: depth has one number of at least 16 bits a pixel, not {shape} of {found.dtype}; save it so"
        raise InputError(msg)
    if abs(shape[1] / shape[0] * content.height / content.width - 1) > ASPECT_TOLERANCE:
        msg = f"{file}: depth is {shape[1]} x {shape[0]}, the picture {content.width} x {content.height}: align them"
        raise InputError(msg)
    metres: NDArray[Any] = found.astype(np.float64) / (content.depth_scale or (1.0 if is_array else MILLIMETRES))
    return metres
