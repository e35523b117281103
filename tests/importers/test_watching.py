"""Watched files: each whole version once, half-written ones tried again, of a backlog the newest."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.errors import DocumentError, InputError
from scenecypher.importers.detect import read_any
from scenecypher.importers.watching import FileVersion, Watch

read_scene = partial(read_any, file_format="networkx")

WHOLE = '{"directed": true, "nodes": [{"id": "cup"}], "edges": []}'


def write(file: Path, text: str, *, time: int) -> None:
    """Write a file in place, as of `time`: versions of one moment could not be told apart."""
    file.write_text(text, encoding="utf-8")
    os.utime(file, ns=(time, time))


def scene_of(version: FileVersion | None) -> ImportedScene:
    assert version is not None
    assert isinstance(version.read, ImportedScene)
    return version.read


def test_each_version_of_a_file_is_read_once(tmp_path: Path) -> None:
    file = tmp_path / "map.json"
    watch = Watch(file)
    assert watch.next_version(read_scene) is None, "the file is not there yet"
    write(file, WHOLE, time=1)
    assert [*scene_of(watch.next_version(read_scene)).graph.nodes] == ["cup"]
    assert watch.next_version(read_scene) is None
    write(file, WHOLE.replace("cup", "mug"), time=2)
    assert [*scene_of(watch.next_version(read_scene)).graph.nodes] == ["mug"]


def test_a_half_written_file_is_tried_again(tmp_path: Path) -> None:
    file = tmp_path / "map.json"
    watch = Watch(file)
    for end in (0, 10, 30):
        write(file, WHOLE[:end], time=end)
        assert watch.next_version(read_scene) is None
    write(file, WHOLE, time=50)
    assert scene_of(watch.next_version(read_scene)).name == "networkx/map"


def test_a_file_that_stays_unreadable_is_told_once(tmp_path: Path) -> None:
    file = tmp_path / "map.json"
    watch = Watch(file, settle_s=0.0)
    write(file, WHOLE[:20], time=1)
    told = watch.next_version(read_scene)
    assert told is not None
    assert isinstance(told.read, DocumentError)
    assert "line 1" in str(told.read)
    assert watch.next_version(read_scene) is None
    write(file, WHOLE, time=2)
    assert watch.next_version(read_scene) is not None


def test_a_file_that_changes_while_it_is_read_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "map.json"
    watch = Watch(file)
    write(file, WHOLE, time=1)

    def read_slowly(path: Path) -> ImportedScene:
        found = read_scene(path)
        write(file, WHOLE.replace("cup", "mug"), time=2)
        return found

    assert watch.next_version(read_slowly) is None
    assert [*scene_of(watch.next_version(read_scene)).graph.nodes] == ["mug"]


def test_of_a_folder_s_backlog_the_newest_is_read_and_the_others_counted(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    for number in (1, 3, 2):
        write(tmp_path / f"{number}.json", WHOLE.replace("cup", f"cup_{number}"), time=number)
    write(tmp_path / "9.txt", "no map", time=9)
    version = watch.next_version(read_scene)
    assert [*scene_of(version).graph.nodes] == ["cup_3"]
    assert version is not None
    assert version.skipped == 2
    assert watch.next_version(read_scene) is None
    write(tmp_path / "1.json", WHOLE, time=4)
    write(tmp_path / "5.json", WHOLE[:9], time=5)
    assert watch.next_version(read_scene) is None, "the newest is half-written"
    write(tmp_path / "6.json", WHOLE, time=6)
    newer = watch.next_version(read_scene)
    assert newer is not None
    assert (newer.path.name, newer.skipped) == ("6.json", 2)


def test_a_place_that_can_t_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere is there to be watched"):
        Watch(tmp_path / "nowhere" / "map.json")
