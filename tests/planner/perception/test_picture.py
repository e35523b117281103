"""Accepted picture files."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenecypher.errors import InputError
from scenecypher.planner.perception.picture import MAX_BYTES, encode_png, read_picture


def test_a_pictures_bytes_are_kept_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "red.png"
    made = encode_png(bytes([255, 0, 0]) * 6, width=3, height=2)
    file.write_bytes(made.data)
    assert read_picture(file) == made
    assert made.media_type == "image/png"


@pytest.mark.parametrize(("size", "cause"), [(0, "no picture"), (7, "no picture"), (MAX_BYTES + 1, "is too large")])
def test_what_is_no_picture_or_too_large_is_refused(tmp_path: Path, size: int, cause: str) -> None:
    file = tmp_path / "other.png"
    with file.open("wb") as opened:
        opened.truncate(size)
    with pytest.raises(InputError, match=rf"other\.png: .*{cause}"):
        read_picture(file)


def test_a_file_that_never_ends_is_given_up() -> None:
    with pytest.raises(InputError, match="is too large"):
        read_picture(Path("/dev/zero"))
