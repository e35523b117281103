"""Downloads of jars: complete and verified, or none; a failed download is resumed."""

from __future__ import annotations

import gc
import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from scenecypher.db.local.jars import Pin, Release, download_missing, library_jar
from scenecypher.errors import DatabaseUnavailable, InputError
from tests.server import OLDEST

CONTENTS = {"one": b"the first jar", "two": b"the second jar"}
PINS = tuple(
    Pin("org.example", name, "1.0", "linux" if name == "two" else "", hashlib.sha256(content).hexdigest())
    for name, content in CONTENTS.items()
)


class Repository(ThreadingHTTPServer):
    """A Maven repository in a folder that records its requests."""

    asked: list[str]


class Handler(SimpleHTTPRequestHandler):
    server: Repository

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        super().do_GET()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
        pass


@contextmanager
def repository(folder: Path) -> Iterator[Repository]:
    with Repository(("127.0.0.1", 0), partial(Handler, directory=folder)) as server:
        server.asked = []
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[Repository]:
    for pin in PINS:
        place = tmp_path / "remote" / "org/example" / pin.artifact / pin.version
        place.mkdir(parents=True)
        (place / pin.file).write_bytes(CONTENTS[pin.artifact])
    with repository(tmp_path / "remote") as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "jars"
    folder.mkdir()
    return folder


def download(folder: Path, remote: Repository) -> list[str]:
    lines: list[str] = []
    download_missing(
        Release("1.0", 1, PINS), folder, tell=lines.append, repository=f"http://127.0.0.1:{remote.server_port}"
    )
    return lines


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_jars_are_downloaded_once(folder: Path, remote: Repository) -> None:
    assert "once" in download(folder, remote)[0]
    assert names(folder) == {"one-1.0.jar", "two-1.0-linux.jar"}
    assert (folder / "one-1.0.jar").read_bytes() == CONTENTS["one"]
    remote.asked.clear()
    assert download(folder, remote) == []
    assert remote.asked == []


def test_a_library_is_fetched_once_into_the_cache(tmp_path: Path, remote: Repository) -> None:
    lines = list[str]()
    for _ in range(2):
        address = f"http://127.0.0.1:{remote.server_port}"
        jar = library_jar(PINS[0], tell=lines.append, cache=tmp_path / "cache", repository=address)
        assert jar.read_bytes() == CONTENTS["one"]
    assert lines == ["fetching one 1.0 (once)…"]


def test_a_library_that_is_not_what_it_should_be_is_refused(tmp_path: Path, remote: Repository) -> None:
    (tmp_path / "remote/org/example/one/1.0/one-1.0.jar").write_bytes(b"something else")
    address = f"http://127.0.0.1:{remote.server_port}"
    with pytest.raises(DatabaseUnavailable, match=r"can't use one: .*SHA-256") as caught:
        library_jar(PINS[0], tell=lambda _: None, cache=tmp_path / "cache", repository=address)
    assert "docker" not in str(caught.value)
    assert not (tmp_path / "cache/libraries/one-1.0.jar").exists()


# pooch leaves the response 404 open until it is collected.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_failed_download_is_resumed_with_the_missing_files(folder: Path, remote: Repository, tmp_path: Path) -> None:
    lost = tmp_path / "remote/org/example/two/1.0/two-1.0-linux.jar"
    content = lost.read_bytes()
    lost.unlink()
    with pytest.raises(DatabaseUnavailable, match=r"two-1\.0-linux\.jar") as caught:
        download(folder, remote)
    for advice in ("try again", "docker compose up", "NEO4J_URI"):
        assert advice in str(caught.value)
    assert "404" in str(caught.value)
    assert "127.0.0.1" not in str(caught.value), "no address is named"
    assert "two-1.0-linux.jar" not in names(folder)
    del caught
    gc.collect()
    lost.write_bytes(content)
    remote.asked.clear()
    download(folder, remote)
    assert names(folder) == {"one-1.0.jar", "two-1.0-linux.jar"}
    assert not any("/one/" in path for path in remote.asked)


def test_a_wrong_checksum_is_refused(folder: Path, remote: Repository, tmp_path: Path) -> None:
    (tmp_path / "remote/org/example/one/1.0/one-1.0.jar").write_bytes(b"something else")
    with pytest.raises(DatabaseUnavailable, match="SHA-256"):
        download(folder, remote)
    assert "one-1.0.jar" not in names(folder)
    assert "draft" not in names(folder)


def test_a_partial_file_of_a_killed_run_is_not_used(folder: Path, remote: Repository) -> None:
    half = folder / "draft/org/example/one/1.0/one-1.0.jar"
    half.parent.mkdir(parents=True)
    half.write_bytes(b"the fi")
    download(folder, remote)
    assert (folder / "one-1.0.jar").read_bytes() == CONTENTS["one"]


def test_without_network_the_error_names_alternatives(folder: Path, remote: Repository) -> None:
    remote.shutdown()
    remote.server_close()
    with pytest.raises(DatabaseUnavailable, match="docker compose up"):
        download(folder, remote)


@pytest.mark.parametrize("release", [Release.of(), Release.of(OLDEST)], ids=lambda release: release.version)
def test_the_pinned_jars_have_unique_file_names(release: Release) -> None:
    wanted = release.pins
    assert len({pin.file for pin in wanted}) == len(wanted) > 200
    assert all(len(pin.sha256) == 64 for pin in wanted)
    assert {f"neo4j-server-{release.version}.jar", "neo4j-browser-5.24.0.jar"} <= {pin.file for pin in wanted}


def test_a_file_that_lists_no_jars_is_told_as_such(tmp_path: Path) -> None:
    for text in ("", "neo4j-5.26.30.jar\n"):
        (tmp_path / "jars.txt").write_text(text)
        with pytest.raises(InputError, match=r"jars\.txt is no list of jars"):
            Release.of(tmp_path / "jars.txt")
    with pytest.raises(InputError, match="no list of jars"):
        Release.of(tmp_path / "missing.txt")
