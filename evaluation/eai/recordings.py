"""EAI's wheel with the prompts of goal interpretation (and recorded outputs): downloaded once and read as a zip."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from scenecypher.errors import InputError, ServiceError

PACKAGE: Final = "virtualhome_eval==0.1.1"
WHEEL: Final = "virtualhome_eval-0.1.1-py3-none-any.whl"
SHA256: Final = "a4e244f423edfc0da2ec7b7daf48f2fca8af00afe6f2af07b8f1e53d8c79de37"

SCENE_PREFIX: Final = "scene_1_"
"""Prefix of a task's id in sub-goal decomposition."""
DOWNLOAD_S: Final = 1_800
BY_HAND: Final = f"run `pip download --no-deps {PACKAGE}`, and give the file with --recordings WHEEL"


def fetch_recordings(home: Path, *, tell: Callable[[str], None]) -> Path:
    """Return the wheel in the folder `home`, downloading it with pip if needed. Raises InputError, ServiceError."""
    kept = home / "recordings" / WHEEL
    if kept.is_file():
        if _sha256_of(kept) == SHA256:
            return kept
        tell(f"{kept} is not the published file; downloading it again")
    tell(f"downloading EAI's prompts of goal interpretation ({PACKAGE}, 27 MB) with pip, once, into {kept.parent}…")
    kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with TemporaryDirectory(dir=kept.parent) as folder:
        _download(Path(folder))
        found = Path(folder) / WHEEL
        if not found.is_file() or _sha256_of(found) != SHA256:
            raise InputError(f"the download is not {WHEEL} as published: check pip's index settings, or {BY_HAND}")
        found.replace(kept)
    return kept


def _sha256_of(path: Path) -> str:
    """Return the file's SHA-256 in hexadecimal. Raises InputError if it can't be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path} can't be read ({error.strerror}); {BY_HAND}") from error


def _download(folder: Path) -> None:
    """Download with this Python's pip, its output on standard error; nothing is unpacked, built or run."""
    if find_spec("pip") is None:
        raise InputError(f"this Python has no pip, which downloads them; {BY_HAND}")
    asked = ("--no-deps", "--only-binary", ":all:", "--disable-pip-version-check", "--no-input", "--dest", str(folder))
    command = [sys.executable, "-m", "pip", "download", *asked, PACKAGE]
    try:
        done = subprocess.run(command, check=False, stdout=sys.stderr, timeout=DOWNLOAD_S)  # noqa: S603
    except subprocess.TimeoutExpired as error:
        raise ServiceError(
            f"pip did not download {PACKAGE} within {DOWNLOAD_S} s; {BY_HAND}", retryable=True
        ) from error
    if done.returncode:
        raise ServiceError(f"pip could not download {PACKAGE} for the reason above; try again, or {BY_HAND}")
