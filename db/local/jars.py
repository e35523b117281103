"""The server's jars, and those of libraries for pages: downloaded once per user, each checked against its SHA-256."""

from __future__ import annotations

import logging
import re
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Self

from platformdirs import user_cache_path

from scenecypher.db.local.process import exclusive_lock
from scenecypher.errors import DatabaseUnavailable, InputError

PARALLEL_DOWNLOADS: Final = 8
MAVEN_CENTRAL: Final = "https://repo.maven.apache.org/maven2"
CHUNK_BYTES: Final = 1 << 16
TIMEOUT_S: Final = 30
LIBRARY_TIMEOUT_S: Final = 5
"""Longest silence of the repository while a library for pages is fetched, without which they work too."""
ALTERNATIVES: Final = (
    "use a server of your own: `docker compose up -d`, or set NEO4J_URI, NEO4J_USERNAME and NEO4J_PASSWORD"
)
TRY_AGAIN: Final = f"try again (finished downloads are kept), or {ALTERNATIVES}"
HEADER: Final = re.compile(r"^# Neo4j (\S+), (\d+) MB")

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Pin:
    """A jar: its Maven coordinates and the SHA-256 of its content."""

    group: str
    artifact: str
    version: str
    classifier: str
    sha256: str

    @property
    def file(self) -> str:
        """The file name; unique in this list without the group."""
        return f"{self.artifact}-{self.version}{self.classifier and '-'}{self.classifier}.jar"

    @property
    def path(self) -> str:
        """The path in a Maven repository."""
        return f"{self.group.replace('.', '/')}/{self.artifact}/{self.version}/{self.file}"


@dataclass(frozen=True, slots=True)
class Use:
    """What jars are fetched for, the advice where that fails, and the longest silence of the repository."""

    of: str
    advice: str
    timeout_s: int = TIMEOUT_S


@dataclass(frozen=True, slots=True)
class Release:
    """A version of Neo4j: its jars and their size together."""

    version: str
    size_mb: int
    pins: tuple[Pin, ...]

    @property
    def main_class(self) -> str:
        """The class that Java runs."""
        return f"org.neo4j.server.{'CommunityEntryPoint' if self.version.startswith('5.') else 'Neo4jCommunity'}"

    @classmethod
    def of(cls, table: Path | None = None) -> Self:
        """Read a table that `pins.py` wrote; by default `jars.txt`, the version that users get. Raises InputError."""
        source = table or files("scenecypher.db.local").joinpath("jars.txt")
        try:
            first, *rows = source.read_text(encoding="utf-8").splitlines()
            version, size_mb = HEADER.findall(first)[0]
            return cls(version, int(size_mb), tuple(map(_pin, rows)))
        except (OSError, ValueError, IndexError) as error:
            msg = f"{source} is no list of jars: python -m scenecypher.db.local.pins VERSION writes one"
            raise InputError(msg) from error


def class_path(release: Release, *, tell: Tell, cache: Path | None = None) -> tuple[Path, ...]:
    """Return the server's jars in a fixed order, downloaded on first use into the user's cache folder.

    Raises DatabaseUnavailable with alternatives.
    """
    folder = (cache or user_cache_path("scenecypher")) / f"neo4j-{release.version}"
    jars = tuple(folder / pin.file for pin in release.pins)
    if all(jar.exists() for jar in jars):
        return jars
    with exclusive_lock(folder / "lock", tell=tell):
        download_missing(release, folder, tell=tell)
    return jars


def download_missing(release: Release, folder: Path, *, tell: Tell, repository: str | None = None) -> None:
    """Download the jars that `folder` lacks; each is moved there after its checksum is verified.

    `repository` is the address of a Maven repository, Maven Central by default. Raises DatabaseUnavailable.
    """
    missing = [pin for pin in release.pins if not (folder / pin.file).exists()]
    if not missing:
        return
    tell(f"fetching Neo4j {release.version} ({release.size_mb} MB, once; {len(missing)} files)…")
    _fetch(missing, folder, Use("the local server", TRY_AGAIN), tell=tell, repository=repository)


def library_jar(pin: Pin, *, tell: Tell, cache: Path | None = None, repository: str | None = None) -> Path:
    """Return the jar of a library for pages, downloaded on first use into the user's cache folder.

    Raises DatabaseUnavailable if it can't be fetched, or is not what the pin says.
    """
    folder = (cache or user_cache_path("scenecypher")) / "libraries"
    if not (folder / pin.file).exists():
        with exclusive_lock(folder / "lock", tell=tell):
            if not (folder / pin.file).exists():
                tell(f"fetching {pin.artifact} {pin.version} (once)…")
                use = Use(pin.artifact, "try again with a network connection", LIBRARY_TIMEOUT_S)
                _fetch([pin], folder, use, tell=tell, repository=repository)
    return folder / pin.file


def _fetch(missing: Sequence[Pin], folder: Path, use: Use, *, tell: Tell, repository: str | None) -> None:
    import pooch

    pooch.get_logger().setLevel(logging.ERROR)  # `tell` reports progress
    draft, pool = folder / "draft", ThreadPoolExecutor(PARALLEL_DOWNLOADS)
    shutil.rmtree(draft, ignore_errors=True)
    address = repository or MAVEN_CENTRAL
    try:
        for number, _ in enumerate(pool.map(lambda pin: _download_one(pin, folder, use, address), missing), start=1):
            if number % 60 == 0:
                tell(f"  {number} of {len(missing)} files")
    finally:
        pool.shutdown(cancel_futures=True)
        shutil.rmtree(draft, ignore_errors=True)


def _download_one(pin: Pin, folder: Path, use: Use, address: str) -> None:
    from pooch import HTTPDownloader, retrieve
    from requests import RequestException

    # Its type is not pooch's own protocol.
    downloader: Any = HTTPDownloader(chunk_size=CHUNK_BYTES, timeout=use.timeout_s)
    try:
        fetched = retrieve(
            f"{address}/{pin.path}", pin.sha256, fname=pin.file, path=folder / "draft", downloader=downloader
        )
    except (RequestException, OSError) as error:
        msg = f"can't fetch {use.of}: {pin.file}: {_reason(error)}; {use.advice}"
        raise DatabaseUnavailable(msg, retryable=True) from error
    except ValueError as error:
        msg = f"can't use {use.of}: {pin.file} is not what it should be (its SHA-256 differs); {use.advice}"
        raise DatabaseUnavailable(msg, retryable=True) from error
    Path(fetched).replace(folder / pin.file)


def _reason(error: OSError) -> str:
    """Return the cause without the address, which may be a private mirror."""
    response = getattr(error, "response", None)
    if response is not None:
        return f"the repository answers {response.status_code} {response.reason}"
    return error.strerror or type(error).__name__


def _pin(line: str) -> Pin:
    coordinates, sha256 = line.split()
    group, artifact, version, classifier = (*coordinates.split(":"), "")[:4]
    return Pin(group, artifact, version, classifier, sha256)
