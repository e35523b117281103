"""Files that a program writes again and again: each new version is read once it is whole."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from typing import Final, NamedTuple

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.errors import DocumentError, InputError

POLL_S: Final = 0.02
SETTLE_S: Final = 2.0
"""Seconds that an unreadable file must stay as it is to be reported: until then it may be half-written."""


class Stamp(NamedTuple):
    """One version of a file, ordered by time; `size` and `inode` tell versions of one time apart."""

    time_ns: int
    path: Path
    size: int
    inode: int


@dataclass(frozen=True, slots=True)
class FileVersion:
    """A new version of a file: its scene, or the error if it can't be read; `skipped` older ones were not read."""

    path: Path
    read: ImportedScene | DocumentError
    skipped: int = 0


@dataclass(slots=True)
class Watch:
    """A watched file, or a folder of which each file is a version of one scene."""

    place: Path
    suffix: str = ".json"
    settle_s: float = SETTLE_S
    poll_s: float = POLL_S
    _done: Stamp | None = field(default=None, init=False)
    _failed: tuple[Stamp, float] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if not self.place.is_dir() and not self.place.parent.is_dir():
            raise InputError(f"no folder {self.place.parent} is there to be watched; check the path")

    def versions(self, read: Callable[[Path], ImportedScene]) -> Iterator[FileVersion]:
        """Yield each new version as it is written, without end; of several that wait, the newest."""
        while True:
            found = self.next_version(read)
            if found is None:
                sleep(self.poll_s)
            else:
                yield found

    def next_version(self, read: Callable[[Path], ImportedScene]) -> FileVersion | None:
        """Return the newest version if it has not been returned and is whole; None otherwise."""
        waiting = self._waiting()
        if not waiting:
            return None
        newest = max(waiting)
        result: ImportedScene | DocumentError
        try:
            result = read(newest.path)
        except DocumentError as error:
            if not self._has_settled(newest):
                return None
            result = error
        if _stamp(newest.path) != newest:
            return None
        self._done = newest
        return FileVersion(newest.path, result, len(waiting) - 1)

    def _waiting(self) -> list[Stamp]:
        """Return the versions that are newer than the one returned last."""
        if not self.place.is_dir():
            stamp = _stamp(self.place)
            return [] if stamp is None or stamp == self._done else [stamp]
        files = (Path(entry.path) for entry in os.scandir(self.place) if entry.name.endswith(self.suffix))
        stamps = (stamp for stamp in map(_stamp, files) if stamp is not None)
        return [stamp for stamp in stamps if self._done is None or stamp > self._done]

    def _has_settled(self, stamp: Stamp) -> bool:
        """Check if an unreadable version has stayed as it is for long enough."""
        if self._failed is None or self._failed[0] != stamp:
            self._failed = (stamp, monotonic())
        return monotonic() - self._failed[1] >= self.settle_s


def _stamp(path: Path) -> Stamp | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    return Stamp(facts.st_mtime_ns, path, facts.st_size, facts.st_ino)
