"""Bounded reading of files of untrusted origin."""

from __future__ import annotations

from pathlib import Path

from scenecypher.errors import DocumentError


def read_bytes(path: Path, *, max_bytes: int, part: slice | None = None) -> bytes:
    """Return a file's bytes, at most `max_bytes`, or those of a `part` of it.

    Raises DocumentError for a larger file, or one that can't be read.

    The size in the directory is not relied upon: a device or a pipe reports 0 and may never end.
    """
    try:
        with path.open("rb") as file:
            if part is not None:
                file.seek(part.start)
                return file.read(part.stop - part.start)
            data = file.read(max_bytes + 1)
    except OSError as error:
        raise DocumentError(str(path), "the file", f"can't be read ({error.strerror}); check its path") from error
    if len(data) > max_bytes:
        raise DocumentError(str(path), "$", f"over {max_bytes // 2**20} MB, the most that is read: split the file")
    return data
