"""Bounded reading of files of untrusted origin."""

from __future__ import annotations

import codecs
import gzip
import zlib
from functools import lru_cache
from pathlib import Path
from typing import Final

from scenecypher.errors import DocumentError

_GZIP: Final = b"\x1f\x8b"
_ENCODINGS: Final = {
    codecs.BOM_UTF8: "utf-8-sig",
    **dict.fromkeys((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE), "utf-32"),
    **dict.fromkeys((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "utf-16"),
}
"""Encodings by the mark that a file begins with; UTF-8 without one."""


def read_bytes(path: Path, *, max_bytes: int, part: slice | None = None) -> bytes:
    """Return a file's bytes, at most `max_bytes`, or those of a `part` of it; a gzip file is unpacked.

    Raises DocumentError for a larger file, or one that can't be read.

    The size in the directory is not relied upon: a device or a pipe reports 0 and may never end.
    """
    try:
        with path.open("rb") as file:
            if file.peek(2).startswith(_GZIP):
                unpack = _unpacked_again if part is not None else _unpacked
                data = unpack(path, path.stat().st_mtime_ns, max_bytes)
                return _within(path, data if part is None else data[part], max_bytes)
            if part is not None:
                file.seek(part.start)
                return file.read(part.stop - part.start)
            data = file.read(max_bytes + 1)
    except OSError as error:
        raise DocumentError(
            str(path), "the file", f"can't be read ({error.strerror or error}); check its path"
        ) from error
    except (EOFError, zlib.error) as error:
        raise DocumentError(str(path), "the file", f"no whole gzip file ({error}); copy it again") from error
    return _within(path, data, max_bytes)


def read_text(path: Path, *, max_bytes: int, part: slice | None = None) -> str:
    """Return a file's text, or that of a part of it, in the encoding that its mark tells. Raises DocumentError."""
    data = read_bytes(path, max_bytes=max_bytes, part=part)
    encoding = next((it for mark, it in _ENCODINGS.items() if data.startswith(mark)), "utf-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        cause = "not UTF-8 but some other encoding; save the file as UTF-8"
        cause = "no text; give a file of a format that is read" if b"\0" in data[:512] else cause
        raise DocumentError(str(path), f"byte {error.start:,}", cause) from error


def _unpacked(path: Path, _changed: int, max_bytes: int) -> bytes:
    with gzip.open(path) as file:
        return file.read(max_bytes + 1)


_unpacked_again: Final = lru_cache(maxsize=1)(_unpacked)
"""The unpacked file whose lines are read one after another."""


def _within(path: Path, data: bytes, max_bytes: int) -> bytes:
    if len(data) > max_bytes:
        raise DocumentError(str(path), "$", f"over {max_bytes // 2**20} MB, the most that is read: split the file")
    return data
