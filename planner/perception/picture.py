"""Reading of picture files, and a PNG encoder."""

from __future__ import annotations

import zlib
from pathlib import Path
from struct import pack
from typing import Final

from scenecypher.chat.model import Image
from scenecypher.errors import InputError

MAX_BYTES: Final = 20_000_000
"""Size limit of a picture; services accept no larger ones."""

_SIGNATURES: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
)


def read_picture(file: Path) -> Image:
    """Read a picture file, its bytes unchanged. Raises InputError if it is no PNG, JPEG, GIF or WebP, or too large."""
    try:
        with file.open("rb") as opened:
            data = opened.read(MAX_BYTES + 1)
    except OSError as error:
        msg = f"{file}: can't be read ({error.strerror}); give the path of a picture"
        raise InputError(msg) from error
    if len(data) > MAX_BYTES:
        msg = f"{file}: the picture is too large; give one of at most {MAX_BYTES:,} bytes"
        raise InputError(msg)
    return Image(data, _media_type(data, file))


def encode_png(rgb: bytes, *, width: int, height: int) -> Image:
    """Encode rows of red, green and blue bytes as a PNG (RFC 2083), without a picture library."""
    stride = 3 * width
    rows = b"".join(b"\0" + rgb[start : start + stride] for start in range(0, height * stride, stride))
    header = pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return Image(_SIGNATURES[0][0] + b"".join(_chunk(*chunk) for chunk in chunks), "image/png")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return pack(">I", len(data)) + kind + data + pack(">I", zlib.crc32(kind + data))


def _media_type(data: bytes, file: Path) -> str:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    for signature, media_type in _SIGNATURES:
        if data.startswith(signature):
            return media_type
    msg = f"{file}: this is no picture that a model can be shown; give a PNG, JPEG, GIF or WebP file"
    raise InputError(msg)
