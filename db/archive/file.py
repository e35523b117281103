"""The file of an archive: gzip members of lines, written whole or not at all, and read line by line."""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import IO, Final

from scenecypher.db.archive.lines import (
    End,
    Header,
    Line,
    NodeLine,
    RecordLine,
    SceneEnd,
    SceneLine,
    line_bytes,
    parse_line,
)
from scenecypher.db.store.publish import Progress
from scenecypher.errors import DocumentError, InputError

LINE_BYTES: Final = 64 * 2**20
"""The longest line that is written and read."""
LINE_VALUES: Final = 2_000_000
"""The most lists, maps and items of them in a line, also in the texts in it: each takes a hundred times its bytes."""
SCENE_BYTES: Final = 256 * 2**20
"""The most bytes of all first lines of scenes, which are held in memory."""
WHOLE_BYTES: Final = 2**40
"""The most bytes of all lines."""
RATIO: Final = 200
"""The most bytes of lines for one of the file, above the longest line; homes have 10 to 20."""
LEVEL: Final = 6
"""Of compression."""
LINES_PER_NOTE: Final = 1_000
"""Lines between two notes of progress."""
NODES, RELATIONS = "nodes", "relations"
"""Names of counts; records are counted by label."""

CUT_OFF: Final = "the archive is cut off; copy the file again, or make another backup"
CHANGED: Final = "the lines are not as they were written; copy the file again, or make another backup"


class SceneWriter:
    """Writes the lines of one scene, as a gzip member of its own."""

    def __init__(self, file: IO[bytes]) -> None:
        self._stream = gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=LEVEL, mtime=0)
        self._digest = sha256()
        self.counts: Counter[str] = Counter()

    def write(self, line: SceneLine | NodeLine | RecordLine) -> None:
        """Write a line."""
        data = line_bytes(line)
        if fault := _over_budget(data):
            msg = f"a line of the scene is {fault}: no archive of it could be read again; split what it holds"
            raise InputError(msg)
        self._digest.update(data)
        self._stream.write(data)
        count_line(self.counts, line)

    def drop(self) -> None:
        """End the scene without its last line; what it wrote is for its file to cut off."""
        self._stream.close()

    def close(self) -> bytes:
        """Write and return the scene's last line."""
        data = line_bytes(SceneEnd(self.counts, self._digest.hexdigest()))
        self._stream.write(data)
        self._stream.close()
        return data


class ArchiveWriter:
    """Writes scenes one after another; one that is begun again replaces what was written of it."""

    def __init__(self, file: IO[bytes], header: Header) -> None:
        self._file, self._digest = file, sha256()
        self.totals: Counter[str] = Counter()
        self.scenes = 0
        self._begun: SceneWriter | None = None
        self._append(line_bytes(header))

    def begin_scene(self) -> SceneWriter:
        """Return the writer of the next scene, in place of one that was not kept."""
        if self._begun is not None:
            # Left open, it would write its end into a later scene, whenever Python collects it.
            self._begun.drop()
        self._file.seek(self._end)
        self._file.truncate()
        self._begun = SceneWriter(self._file)
        return self._begun

    def keep(self, scene: SceneWriter) -> None:
        """Close a scene, so that the next one follows it."""
        self._digest.update(scene.close())
        self._begun = None
        self._end = self._file.tell()
        self.totals.update(scene.counts)
        self.scenes += 1

    def end(self) -> None:
        """Write the last line."""
        self._append(line_bytes(End(self.scenes, self._digest.hexdigest())))

    def _append(self, data: bytes) -> None:
        self._file.write(gzip.compress(data, mtime=0))
        self._digest.update(data)
        self._end = self._file.tell()


def read_lines(path: Path, *, progress: Progress | None = None) -> Iterator[tuple[int, Line]]:
    """Yield the lines with their numbers, from 1; their order, digests and counts are checked on the way.

    `progress` gets bytes of the file. Raises DocumentError naming the line.
    """
    checks = _Checks(path)
    for number, data in _raw_lines(path, progress):
        try:
            line = parse_line(data)
        except InputError as error:
            raise DocumentError(str(path), f"line {number:,}", str(error)) from error
        checks.check(number, line, data)
        yield number, line
    if not checks.is_ended:
        raise DocumentError(str(path), "the end", CUT_OFF)


class _Checks:
    """Checks the order of lines, and their digests and counts where these are told."""

    def __init__(self, path: Path) -> None:
        self.is_ended = False
        self._path, self._scenes, self._begun = path, 0, 0
        self._scene, self._whole = sha256(), sha256()
        self._held = 0
        self._counts: Counter[str] = Counter()

    def check(self, number: int, line: Line, data: bytes) -> None:
        if self.is_ended or (number == 1) != isinstance(line, Header):
            cause = "no line may stand here; give a file of `scenecypher db backup`"
            raise DocumentError(str(self._path), f"line {number:,}", cause)
        match line:
            case Header():
                self._whole.update(data)
            case SceneEnd():
                self._require(line == SceneEnd(dict(self._counts), self._scene.hexdigest()), self._begun, number)
                self._require(self._begun > 0, number, number)
                self._whole.update(data)
                self._scenes, self._begun = self._scenes + 1, 0
            case End():
                self._require(self._begun == 0 and line == End(self._scenes, self._whole.hexdigest()), 1, number)
                self.is_ended = True
            case _:
                self._follow(number, line, data)

    def _follow(self, number: int, line: SceneLine | NodeLine | RecordLine, data: bytes) -> None:
        """Follow a line of a scene."""
        self._require(isinstance(line, SceneLine) == (self._begun == 0), number, number)
        if self._begun == 0:
            self._held += len(data)  # such a line is held in memory
            if self._held > SCENE_BYTES:
                cause = f"over {SCENE_BYTES // 2**20} MB of facts of scenes; restore archives of fewer scenes"
                raise DocumentError(str(self._path), f"line {number:,}", cause)
            self._begun, self._scene, self._counts = number, sha256(), Counter()
        count_line(self._counts, line)
        self._scene.update(data)

    def _require(self, holds: bool, first: int, last: int) -> None:  # noqa: FBT001  one test a call
        if not holds:
            place = f"lines {first:,} to {last:,}" if first < last else f"line {last:,}"
            raise DocumentError(str(self._path), place, CHANGED)


def count_line(counts: Counter[str], line: SceneLine | NodeLine | RecordLine) -> None:
    """Add what a line holds to the counts of its scene."""
    if isinstance(line, NodeLine):
        counts[NODES] += 1
        counts[RELATIONS] += sum(map(len, line.targets.values()))
    elif isinstance(line, RecordLine):
        counts[line.label] += 1


def _over_budget(data: bytes) -> str:
    """Return what a line has too much of, in words, or no text."""
    if len(data) > LINE_BYTES:
        return f"over {LINE_BYTES // 2**20} MB, which no line has"
    values = sum(map(data.count, (b"[", b"{", b",")))
    return f"of over {LINE_VALUES:,} values, which no line has" if values > LINE_VALUES else ""


def _fault_of(data: bytes, total: int, read: int) -> str:
    """Return what is wrong with a line, in words, after `total` bytes of lines and `read` bytes of the file."""
    if total > min(WHOLE_BYTES, LINE_BYTES + RATIO * read):
        return f"{total:,} bytes by here, more than a file of this size may hold; make another backup"
    return _over_budget(data) or ("" if data.endswith(b"\n") else CUT_OFF)


def _raw_lines(path: Path, progress: Progress | None) -> Iterator[tuple[int, bytes]]:
    number = total = 0
    try:
        size = path.stat().st_size
        with path.open("rb") as file, gzip.GzipFile(fileobj=file, mode="rb") as stream:
            while data := stream.readline(LINE_BYTES + 1):
                number, total = number + 1, total + len(data)
                fault = _fault_of(data, total, file.tell())
                if fault:
                    raise DocumentError(str(path), f"line {number:,}", fault)
                yield number, data
                if progress and number % LINES_PER_NOTE == 0:
                    progress(file.tell(), size)
    except EOFError as error:
        raise DocumentError(str(path), f"after line {number:,}", CUT_OFF) from error
    except gzip.BadGzipFile as error:
        cause = CHANGED if number else "no archive; give a file of `scenecypher db backup`, or import it as a scene"
        raise DocumentError(str(path), f"after line {number:,}" if number else "the file", cause) from error
    except zlib.error as error:
        raise DocumentError(str(path), f"after line {number:,}", CHANGED) from error
    except OSError as error:
        raise DocumentError(str(path), "the file", f"can't be read ({error.strerror}); check its path") from error
