"""`scenecypher db backup`, `db restore` and `scenes export --with-history` at the command line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from scenecypher.db.archive.file import read_lines
from scenecypher.db.archive.lines import SceneLine
from scenecypher.db.store.runs import latest_runs
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.store.stored_form import FORM
from tests.db.archive import story
from tests.planner.test_own_actions import HOME
from tests.scenecypher.cli.conftest import RunCommand

pytest.importorskip("unified_planning", reason="needs `pip install 'scenecypher[pddl]'`")

KEPT = Path(__file__).resolve().parents[2] / "data" / "archive" / f"form-{FORM}.archive"
"""An archive that version 0.2.0 wrote."""


@pytest.fixture(scope="module")
def told(store: SceneStore, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """Return the name of the story's home, and its archive."""
    folder, name = tmp_path_factory.mktemp("story"), f"test/story-{uuid4().hex[:8]}"
    story.tell_story(store, name, folder)
    story.save_story(store, name, folder / "story.archive")
    return name, folder / "story.archive"


def runs_of(store: SceneStore, name: str) -> list[tuple[Any, ...]]:
    """Return all that is known of the runs in a scene but their numbers, its key and its name."""
    found = [*latest_runs(store.database, name)]
    assert all(run.scene == store.find(name).key for run in found)
    steps = """
MATCH (:Run {number: $number})-[:HAS_STEP]->(s:Past:Step {scene: $scene, run: $number})
RETURN s {.*, scene: null, run: null, at: toString(s.at)} AS step ORDER BY s.number
"""
    return [
        (
            replace(run, number=0, scene="", scene_name=""),
            [row["step"] for row in store.database.rows(steps, {"number": run.number, "scene": run.scene})],
        )
        for run in found
    ]


def test_a_home_moves_with_its_whole_past(command: RunCommand, store: SceneStore, told: tuple[str, Path]) -> None:
    name, path = told
    new = f"{name}-moved"

    done = command("db", "restore", str(path), "--as", new)

    assert (done.code, done.out) == (0, "restored 2 scenes, 12 nodes, 8 relations, 7 events, 1 run\n")
    assert command("scenes", "diff", name, new).out == "no difference\n"
    assert command("history", new, "--json").out == command("history", name, "--json").out
    assert command("domain", "show", new).out == command("domain", "show", name).out
    for version in range(8):
        assert store.as_of(new, version) == store.as_of(name, version)
    assert runs_of(store, new) == runs_of(store, name)
    (run,) = command("runs", "list", new, "--json").json
    assert (run["instruction"], run["steps"], run["state"]) == ("fetch the mug", 2, "done")
    assert command("runs", "show", str(run["run"])).code == 0
    for words in (["redo"], ["undo"], ["act", "take(mug, box, hall)"], ["act", "serve(mug, kitchen)", "--fix"]):
        answers = [command(words[0], one, *words[1:]) for one in (name, new)]
        assert answers[0].code == answers[1].code == 0
        assert answers[0].out.replace(name, new) == answers[1].out
    belief = store.find(f"{new}@belief")
    assert (belief.world, belief.world_version) == (store.find(new).key, 7)


def test_a_second_restore_is_refused_and_changes_nothing(
    command: RunCommand, store: SceneStore, told: tuple[str, Path]
) -> None:
    name, path = told
    before = store.find(name)
    done = command("db", "restore", str(path))
    assert done.code == 2
    assert f"scenes of these names are there: {name}, {name}@belief" in done.err
    assert "--prefix" in done.err
    assert store.find(name) == before


def test_an_archive_of_an_earlier_version_is_restored_for_good(command: RunCommand, store: SceneStore) -> None:
    prefix = f"test/{uuid4().hex[:8]}/"
    done = command("db", "restore", str(KEPT), "--prefix", prefix, "--json")
    name = prefix + story.NAME
    assert (done.code, done.json["scenes"]) == (0, [f"{name}@belief", name])
    info = store.find(name)
    assert [event.action for event in store.history(info) if event.kind != "declare"] == [*story.ACTIONS]
    assert store.as_of(name, 0) == HOME
    assert store.find(f"{name}@belief").world == info.key
    ((run, steps),) = runs_of(store, name)
    assert (run.instruction, run.outcome, len(steps)) == ("fetch the mug", "done", 2)
    assert command("redo", name).code == 0
    assert command("act", name, "go(hall, kitchen)").code == 0


def test_one_scene_is_exported_with_its_history(
    command: RunCommand, store: SceneStore, told: tuple[str, Path], tmp_path: Path
) -> None:
    name, _ = told
    path = tmp_path / "one.archive"
    assert command("scenes", "export", name, "--with-history").code == 2
    assert command("scenes", "export", name, "--with-history", "--format", "dsg", "--out", str(path)).code == 2
    assert not path.exists()
    done = command("scenes", "export", name, "--with-history", "--out", str(path))
    assert done.out.startswith(f"wrote {path}: 1 scene, 6 nodes, ")
    done = command("db", "restore", str(path), "--as", f"{name}-exported", "--json")
    assert done.json["scenes"] == [f"{name}-exported"]
    assert store.load(f"{name}-exported").graph == store.load(name).graph


def test_a_backup_has_all_scenes(
    command: RunCommand, store: SceneStore, told: tuple[str, Path], tmp_path: Path
) -> None:
    path = tmp_path / "all.archive"
    done = command("db", "backup", str(path), "--json")
    # Lines alone: other tests on this server plant events that no archive may hold.
    names = [line.name for _, line in read_lines(path) if isinstance(line, SceneLine)]
    assert (done.json["file"], done.json["scenes"]) == (str(path), len(names))
    assert {info.name for info in store.scenes()} <= {*names}
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("content", [b"no archive", b""])
def test_a_file_that_is_no_archive_is_refused_in_words(command: RunCommand, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "no.archive"
    path.write_bytes(content)
    done = command("db", "restore", str(path))
    assert done.code == 2
    assert str(path) in done.err
    assert command("db", "restore", str(path), "--as", "a", "--prefix", "b").code == 2
