"""Accepted picture files."""

from __future__ import annotations

import zlib
from io import BytesIO
from pathlib import Path
from struct import pack
from typing import Any

import pytest
from PIL import Image as Pillow

from scenecypher.errors import InputError
from scenecypher.planner.perception.picture import MAX_BYTES, SENT_SIDE, encode_png, read_picture


def encoded(kind: str, size: tuple[int, int] = (4, 3), **options: Any) -> bytes:
    """Return the bytes of a red picture of a kind of file."""
    file = BytesIO()
    Pillow.new("RGB", size, (200, 30, 30)).save(file, kind, **options)
    return file.getvalue()


def saved(folder: Path, data: bytes) -> Path:
    (folder / "picture").write_bytes(data)
    return folder / "picture"


def animated(kind: str) -> bytes:
    """Return the bytes of a picture of two frames."""
    file, frames = BytesIO(), [Pillow.new("RGB", (4, 3), color) for color in ("red", "blue")]
    frames[0].save(file, kind, save_all=True, append_images=frames[1:])
    return file.getvalue()


def wide_png(width: int, height: int) -> bytes:
    """Return a PNG whose header promises a size; most of its pixels are missing."""
    parts = ((b"IHDR", pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(b"\0" * 100)))
    chunks = [pack(">I", len(data)) + kind + data + pack(">I", zlib.crc32(kind + data)) for kind, data in parts]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


@pytest.mark.parametrize(
    ("kind", "media_type"),
    [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("GIF", "image/gif"), ("WEBP", "image/webp")],
)
def test_a_pictures_bytes_are_kept_as_they_are(kind: str, media_type: str, tmp_path: Path) -> None:
    data = encoded(kind)
    image = read_picture(saved(tmp_path, data))
    assert (image.data, image.media_type) == (data, media_type)


def test_our_own_png_is_one(tmp_path: Path) -> None:
    made = encode_png(bytes([255, 0, 0]) * 6, width=3, height=2)
    assert read_picture(saved(tmp_path, made.data)) == made


def test_a_large_picture_is_scaled_down(tmp_path: Path) -> None:
    image = read_picture(saved(tmp_path, encoded("PNG", (3 * SENT_SIDE, SENT_SIDE))))
    assert image.media_type == "image/jpeg"
    with Pillow.open(BytesIO(image.data)) as sent:
        assert sent.size == (SENT_SIDE, -(-SENT_SIDE // 3))


def test_a_picture_that_is_stored_turned_is_sent_upright(tmp_path: Path) -> None:
    exif = Pillow.Exif()
    exif[0x0112] = 6
    image = read_picture(saved(tmp_path, encoded("JPEG", (40, 20), exif=exif)))
    with Pillow.open(BytesIO(image.data)) as sent:
        assert sent.size == (20, 40)


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"", "the file is empty"),
        (b"%PDF-1.7", "no picture that a model can be shown"),
        (b"<html>", "no picture that a model can be shown"),
        (encoded("PNG", (64, 64))[:90], r"cut off or damaged"),
        (encoded("JPEG", (64, 64))[:-100], r"cut off or damaged"),
        (encoded("WEBP", (64, 64))[:30], r"cut off or damaged"),
        (b"GIF89a", r"cut off or damaged"),
        (animated("GIF"), "animated; give one frame"),
        (animated("WEBP"), "animated; give one frame"),
        (animated("PNG"), "animated; give one frame"),
        (encoded("PNG", (12_000, 2)), r"12,000 x 2 pixels: at most 10,000 pixels a side"),
        (wide_png(2**30, 2**30), r"at most 10,000 pixels a side"),
    ],
)
def test_a_file_that_is_no_whole_single_picture_is_refused(data: bytes, cause: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"picture: .*{cause}") as told:
        read_picture(saved(tmp_path, data))
    assert "\n" not in str(told.value)


def test_a_file_of_36_mb_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "picture").open("wb") as opened:
        opened.truncate(36_000_000)
    with pytest.raises(InputError, match=rf"too large; give one of at most {MAX_BYTES:,} bytes"):
        read_picture(tmp_path / "picture")


def test_a_file_that_never_ends_is_given_up() -> None:
    with pytest.raises(InputError, match="is too large"):
        read_picture(Path("/dev/zero"))


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_picture(tmp_path / "none.png")
