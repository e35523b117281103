"""Reading of picture files as models can be sent them, encoders, and the camera file beside a picture.

``table.camera.json`` belongs to ``table.png``: intrinsics, pose and depth, by which a box in the picture gets a
position. The model is the pinhole camera: axes x right, y down, z forward, as in OpenCV; lengths in metres, in the
scene's frame.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Self, TypeAlias

from pydantic import Field, FiniteFloat, model_validator

from scenecypher.chat.model import Image
from scenecypher.db.graph.problems import validated
from scenecypher.db.graph.scene import Point
from scenecypher.errors import DocumentError, InputError
from scenecypher.importers.json_file import read_json
from scenecypher.planner.perception.observation import StrictModel

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL.Image import Image as PillowImage

MAX_BYTES: Final = 20_000_000
"""Size limit of a picture file; services accept no larger ones."""
MAX_SIDE: Final = 10_000
"""Limit of a picture's width and height in pixels."""
SENT_SIDE: Final = 2_048
"""Longest side in pixels of a picture that is sent; services scale larger ones down themselves, and charge for them."""
SENT_QUALITY: Final = 90
"""JPEG quality of a picture that was scaled down."""

SUFFIXES: Final = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp"})
"""Ends of the names of picture files that are looked for in folders."""

_SIGNATURES: Final = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}
_FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP")
_ORIENTATION: Final = 0x0112
"""EXIF's tag of a picture that is stored turned; 1 is upright."""
_TOO_WIDE: Final = f"at most {MAX_SIDE:,} pixels a side are read; scale the picture down"

CAMERA_SUFFIX: Final = ".camera.json"
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


def read_picture(file: Path) -> Image:
    """Read a picture file, its bytes unchanged if a model can be sent them.

    A picture with a side over SENT_SIDE is scaled down, and one that is stored turned is turned upright: both become
    JPEG. Raises InputError if the file is no whole, single picture of PNG, JPEG, GIF or WebP, or is too large.
    """
    try:
        with file.open("rb") as opened:
            data = opened.read(MAX_BYTES + 1)
    except OSError as error:
        msg = f"{file}: can't be read ({error.strerror}); give the path of a picture"
        raise InputError(msg) from error
    return picture_of(data, str(file))


def picture_of(data: bytes, name: str) -> Image:
    """Return what `read_picture` does, of a file's bytes. Raises as it does, with `name` for the file."""
    if not data:
        raise InputError(f"{name}: the file is empty, so it is no picture; take the picture again")
    if len(data) > MAX_BYTES:
        msg = f"{name}: the picture is too large; give one of at most {MAX_BYTES:,} bytes"
        raise InputError(msg)
    if (media_type := media_type_of(data)) is None:
        msg = f"{name}: this is no picture that a model can be shown; give a PNG, JPEG, GIF or WebP file"
        raise InputError(msg)
    return _sendable(Image(data, media_type), name)


def media_type_of(data: bytes) -> str | None:
    """Return the media type of a picture by its first bytes, None if it is of no kind that models take."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((media_type for signature, media_type in _SIGNATURES.items() if data.startswith(signature)), None)


def encode_jpeg(picture: PillowImage) -> Image:
    """Encode a picture of Pillow as a JPEG, scaled down to SENT_SIDE if it is larger."""
    scaled = picture.convert("RGB")
    scaled.thumbnail((SENT_SIDE, SENT_SIDE))
    file = BytesIO()
    scaled.save(file, "JPEG", quality=SENT_QUALITY)
    return Image(file.getvalue(), "image/jpeg")


def encode_png(rgb: bytes, *, width: int, height: int) -> Image:
    """Encode rows of red, green and blue bytes as a PNG."""
    from PIL import Image as Pillow

    file = BytesIO()
    Pillow.frombytes("RGB", (width, height), rgb).save(file, "PNG")
    return Image(file.getvalue(), "image/png")


def _sendable(image: Image, name: str) -> Image:
    """Return a whole, single picture as it is sent. Raises InputError."""
    from PIL import Image as Pillow
    from PIL import ImageOps

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Pillow.DecompressionBombWarning)  # our own limit is told in words
            picture = Pillow.open(BytesIO(image.data), formats=_FORMATS)
        with picture:
            _check_shape(picture, name)
            picture.load()
            if max(picture.size) <= SENT_SIDE and picture.getexif().get(_ORIENTATION, 1) == 1:
                return image
            return encode_jpeg(ImageOps.exif_transpose(picture) or picture)
    except Pillow.DecompressionBombError as error:
        raise InputError(f"{name}: {_TOO_WIDE}") from error
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        msg = f"{name}: the picture is cut off or damaged; copy it again, or take it again"
        raise InputError(msg) from error


def _check_shape(picture: PillowImage, name: str) -> None:
    """Check that a picture is of one frame and not too wide or high. Raises InputError."""
    if max(picture.size) > MAX_SIDE:
        raise InputError(f"{name}: {picture.width:,} x {picture.height:,} pixels: {_TOO_WIDE}")
    if picture.format != "JPEG" and getattr(picture, "is_animated", False):
        raise InputError(f"{name}: the picture is animated; give one frame of it, or a video")


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

    def has_shape(self, width: int, height: int) -> bool:
        """Check if a picture of this size has the shape of the camera's."""
        return abs(width / height * self.height / self.width - 1) <= ASPECT_TOLERANCE

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
    """Read the camera file beside a picture, if any. Raises DocumentError, and InputError for its depth file."""
    file = picture.with_suffix(CAMERA_SUFFIX)
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
    from PIL import Image as Pillow

    if file.stat().st_size > MAX_DEPTH_BYTES:
        raise InputError(f"{file}: the depth file is too large; at most {MAX_DEPTH_BYTES:,} bytes are read")
    is_array = file.suffix == ".npy"
    try:
        if is_array:
            found = np.load(file, allow_pickle=False)
        else:
            with Pillow.open(file, formats=("PNG",)) as picture:
                found = np.asarray(picture)
    except (OSError, SyntaxError, ValueError, EOFError, Pillow.DecompressionBombError) as error:
        msg = f"{file}: no depth can be read of it; give a .npy of metres, or a 16-bit PNG of millimetres"
        raise InputError(msg) from error
    shape = tuple(getattr(found, "shape", ()))
    if len(shape) != 2 or not all(shape) or found.dtype.kind not in "fiu" or found.dtype.itemsize < 2:
        msg = f"{file}: depth has one number of at least 16 bits a pixel, not {shape} of {found.dtype}; save it so"
        raise InputError(msg)
    if not content.has_shape(shape[1], shape[0]):
        msg = f"{file}: depth is {shape[1]} x {shape[0]}, the picture {content.width} x {content.height}: align them"
        raise InputError(msg)
    metres: NDArray[Any] = found.astype(np.float64) / (content.depth_scale or (1.0 if is_array else MILLIMETRES))
    return metres
