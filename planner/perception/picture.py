"""Reading of picture files as models can be sent them, and encoders."""

from __future__ import annotations

import warnings
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scenecypher.chat.model import Image
from scenecypher.errors import InputError

if TYPE_CHECKING:
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
