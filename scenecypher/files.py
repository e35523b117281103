"""Writing of files: whole or not at all, so that a full disk or a kill leaves the file that was there before."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import IO, Final

from scenecypher.errors import InputError

PART: Final = ".part"
"""Suffix of a file that is being written, beside the one whose place it takes."""
NAME_BYTES: Final = 200
"""Bytes of a file's name that the name of its part keeps: with what follows them it is never too long."""
ADVICE: Final = {
    errno.ENOENT: "choose a file in a folder that exists",
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), "free some space, or choose another file"),
}


def write_file(path: Path, content: str | bytes, *, mode: int = 0o666, makes_folder: bool = False) -> None:
    """Write one file; see `write_files`."""
    write_files({path: content}, mode=mode, makes_folder=makes_folder)


def write_files(contents: Mapping[Path, str | bytes], *, mode: int = 0o666, makes_folder: bool = False) -> None:
    """Write files, text as UTF-8; none takes its place before all are on the disk. See `new_file`."""
    with ExitStack() as stack:
        for path, content in contents.items():
            file = stack.enter_context(new_file(path, mode=mode, makes_folder=makes_folder))
            with write_errors(path):
                file.write(content.encode() if isinstance(content, str) else content)
                _flush(file)


@contextmanager
def new_file(path: Path, *, mode: int = 0o666, makes_folder: bool = False) -> Iterator[IO[bytes]]:
    """Yield a file that takes the place of `path` when the block ends; an error in the block leaves what was there.

    It is written beside the file that `path` leads to by symbolic links, flushed, and renamed onto that one, whose mode
    and owner stay; `mode` is that of a file which is new, before the umask. What a killed writer of the same file left
    beside it is removed. A pipe, a device and this process's own
    output are written to as they are. Raises InputError naming the file if it can't be written.
    """
    with write_errors(path):
        if makes_folder:
            path.parent.mkdir(parents=True, exist_ok=True)
        with _opened_directly(path) or _beside(path.resolve(), mode) as file:
            yield file
            _flush(file)


@contextmanager
def log_file(path: Path, *, is_new: bool = False) -> Iterator[Callable[[str], None]]:
    """Yield a function that appends text to a log: all of it, or none if the disk is full.

    Raises InputError, and so does the function, if the file can't be written, or `is_new` and is there.
    """
    with write_errors(path):
        if is_new:
            path.touch(exist_ok=False)
        opened = path.open("ab", buffering=0)
    with opened as file:

        def append(text: str) -> None:
            with write_errors(path):
                _append(file, text.encode())

        yield append


@contextmanager
def write_errors(path: Path) -> Iterator[None]:
    """Raise InputError that names the file for an OSError in the block."""
    try:
        yield
    except OSError as error:
        advice = ADVICE.get(error.errno or 0, "choose another file")
        raise InputError(f"{path}: can't be written ({error.strerror or error}); {advice}") from error


def _opened_directly(path: Path) -> IO[bytes] | None:
    """Return our own output, a pipe or a device, opened; None if `path` is a plain file or none yet."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    for output in (1, 2):
        with suppress(OSError):
            if os.path.samestat(found, os.fstat(output)):
                return os.fdopen(os.dup(output), "wb")
    return None if stat.S_ISREG(found.st_mode) else path.open("wb")


@contextmanager
def _beside(target: Path, mode: int) -> Iterator[IO[bytes]]:
    """Yield a file beside `target` that is renamed onto it when the block ends. Raises OSError."""
    before = target.stat() if target.exists() else None
    if before and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    name = os.fsdecode(os.fsencode(target.name)[:NAME_BYTES])
    _remove_parts(target.parent, name)
    part = target.with_name(f"{name}.{secrets.token_hex(4)}{PART}")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        try:
            with suppress(OSError):  # some network file systems have no locks
                _lock(file)
            if before:
                _keep_owner_and_mode(part, before)
            yield file
            file.close()
            part.replace(target)
        except BaseException:
            with suppress(OSError):
                part.unlink()
            raise


def _remove_parts(folder: Path, name: str) -> None:
    """Remove the parts of a file whose writers have ended: the operating system has released their locks.

    An empty one may not be locked yet.
    """
    for part in folder.glob(f"{escape(name)}.*{PART}"):
        with suppress(OSError), part.open("rb") as file:
            if _lock(file) and part.stat().st_size:
                part.unlink()


def _lock(file: IO[bytes]) -> bool:
    """Lock a file as long as it is open; return False where locks are not known (Windows). Raises OSError if it is."""
    try:
        import fcntl
    except ImportError:
        return False
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return True


def _keep_owner_and_mode(part: Path, before: os.stat_result) -> None:
    if hasattr(os, "chown"):
        with suppress(PermissionError):
            os.chown(part, before.st_uid, before.st_gid)
    part.chmod(stat.S_IMODE(before.st_mode))


def _append(file: IO[bytes], data: bytes) -> None:
    """Append to an unbuffered file; cut off what was written before an error. Raises OSError."""
    before = os.fstat(file.fileno()).st_size
    try:
        while data:
            data = data[file.write(data) :]
    except OSError:
        with suppress(OSError):
            file.truncate(before)
        raise


def _flush(file: IO[bytes]) -> None:
    file.flush()
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        os.fsync(file.fileno())
