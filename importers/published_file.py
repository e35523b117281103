"""Data inside other people's packages: downloaded once by name and hash, without what those packages depend on."""

from __future__ import annotations

import ensurepip
import hashlib
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from scenecypher.errors import InputError, ServiceError

DOWNLOAD_S: Final = 1_800


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A wheel or source archive of the package index: requirement, file name, SHA-256, and what it holds.

    `by_hand` says what to do without pip, and ends each error.
    """

    requirement: str
    file: str
    sha256: str
    holds: str
    by_hand: str

    def fetch(self, folder: Path, *, tell: Callable[[str], None]) -> Path:
        """Return the file in `folder`, downloaded with pip if it is not there. Raises InputError, ServiceError."""
        kept = folder / self.file
        if kept.is_file():
            if self._is_published(kept):
                return kept
            tell(f"{kept} is not the published file; downloading it again")
        tell(f"downloading {self.holds} with pip, once, into {folder}…")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder) as draft:
            self._download(Path(draft))
            found = Path(draft) / self.file
            if not found.is_file() or not self._is_published(found):
                raise InputError(
                    f"the download is not {self.file} as published: check pip's index settings, or {self.by_hand}"
                )
            found.replace(kept)
        return kept

    def _is_published(self, path: Path) -> bool:
        try:
            with path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest() == self.sha256
        except OSError as error:
            raise InputError(f"{path} can't be read ({error.strerror}); {self.by_hand}") from error

    def _download(self, folder: Path) -> None:
        """Download with pip, its output on standard error; nothing is installed.

        Of a source archive pip asks the name and version, which runs its `setup.py` in an environment of its own.
        """
        pip = _pip()
        if pip is None:
            raise InputError(f"this Python has no pip, which downloads {self.holds}; {self.by_hand}")
        form = (
            ("--only-binary", ":all:")
            if self.file.endswith(".whl")
            else ("--no-binary", self.requirement.partition("==")[0])
        )
        asked = ("--no-deps", *form, "--disable-pip-version-check", "--no-input")
        command = [sys.executable, *pip, "download", *asked, "--dest", str(folder), self.requirement]
        try:
            done = subprocess.run(command, check=False, stdout=sys.stderr, timeout=DOWNLOAD_S)  # noqa: S603
        except subprocess.TimeoutExpired as error:
            raise ServiceError(
                f"pip did not download {self.requirement} within {DOWNLOAD_S} s; {self.by_hand}", retryable=True
            ) from error
        if done.returncode:
            raise ServiceError(
                f"pip could not download {self.requirement} for the reason above; try again, or {self.by_hand}"
            )


def _pip() -> tuple[str, ...] | None:
    """Return Python's arguments that run pip: the installed one, or the wheel inside Python itself, as under uvx."""
    if find_spec("pip") is not None:
        return "-m", "pip"
    wheels = sorted((Path(ensurepip.__file__).parent / "_bundled").glob("pip-*.whl"))
    return (str(wheels[-1] / "pip"),) if wheels else None
