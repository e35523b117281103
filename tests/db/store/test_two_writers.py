"""Two writers of one name: at every door the second is told, and nothing that holds the name is replaced."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from scenecypher.db.archive.backup import back_up
from scenecypher.db.archive.restore import Naming, check_archive, restore_archive
from scenecypher.db.graph.delta import Delta, SetProperty
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store import publish as publishing
from scenecypher.db.store import scene_store
from scenecypher.db.store.publish import Header, Progress, publish
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import NameTaken
from scenecypher.planner.worlds.belief import find_or_create_belief
from tests.db.store.test_store import big, fresh, small

RED = Delta.of([SetProperty("cup", "color", "blue", "red")])


def generations(store: SceneStore, name: str) -> list[str]:
    """Return the statuses of all generations that have, had or were to have a name."""
    statement = """
    MATCH (s:Scene) WHERE $name IN [s.name, s.was] OR s.source = $name RETURN s.status AS status ORDER BY status
    """
    return [record["status"] for record in store.database.rows(statement, {"name": name})]


def others(store: SceneStore, name: str) -> Progress:
    """Return a progress that makes the scene of that name while one is written, and acts in it, as others would."""
    done: list[bool] = []

    def make(_done: int, _total: int) -> None:
        if not done:
            done.append(True)
            store.put(ImportedScene(name, small()))
            store.commit(store.find(name), RED, actor="other", action="paint the cup")

    return make


def importing(store: SceneStore, name: str, _folder: Path, progress: Progress) -> Any:
    return store.put(ImportedScene(name, big(40), source=name), progress=progress)


def copying(store: SceneStore, name: str, _folder: Path, progress: Progress) -> Any:
    store.put(ImportedScene(f"{name}-from", big(40), source=name))
    return store.copy(f"{name}-from", name, progress=progress)


def restoring(store: SceneStore, name: str, folder: Path, progress: Progress, *, replaces: bool = False) -> Any:
    store.put(ImportedScene(f"{name}-from", big(40), source=name))
    path = folder / "one.archive"
    back_up(store.database, path, scenes=[store.find(f"{name}-from")])
    naming = Naming(name, replaces=replaces)
    contents = check_archive(store.database, path, naming)
    return restore_archive(store.database, path, contents, naming, progress=progress)


def restoring_over(store: SceneStore, name: str, folder: Path, progress: Progress) -> Any:
    return restoring(store, name, folder, progress, replaces=True)


DOORS = (importing, copying, restoring, restoring_over)


@pytest.mark.parametrize("door", DOORS, ids=lambda it: it.__name__)
def test_a_scene_that_got_the_name_meanwhile_is_not_replaced(
    store: SceneStore, tmp_path: Path, door: Callable[..., Any]
) -> None:
    """Lost name: a scene is written for seconds, and published over what somebody else made meanwhile."""
    name = fresh("meanwhile")
    with pytest.raises(NameTaken, match="nothing was replaced"):
        door(store, name, tmp_path, others(store, name))
    kept = store.load(name)
    assert (kept.info.version, kept.graph.nodes["cup"].properties["color"]) == (1, "red")
    assert [event.actor for event in store.history(kept.info)] == ["other"]
    assert "importing" not in generations(store, name)


def test_a_replacing_import_names_the_generation_that_it_replaces(
    store: SceneStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lost name: an import that replaces a scene looked at it before another import had replaced it too."""
    monkeypatch.setattr(scene_store, "CHANGES_PER_COMMIT", 50)
    name = fresh("replaced")
    store.put(ImportedScene(name, small()))

    def replace_it(_done: int, _total: int) -> None:
        if store.load(name).graph == small():
            store.put(ImportedScene(name, big(50)))

    with pytest.raises(NameTaken):
        store.put(ImportedScene(name, big(60)), progress=replace_it)
    assert store.load(name).graph == big(50)
    assert generations(store, name) == ["ready", "retired"]


def test_a_deleted_scene_does_not_come_back_by_an_import_that_was_to_replace_it(store: SceneStore) -> None:
    """Lost name: deleting is an answer too, which a slower import must not undo without a word."""
    name = fresh("deleted")
    key = publish(store.database, small(), Header(name, "household")).key
    store.delete(name)
    with pytest.raises(NameTaken):
        publish(store.database, small(), Header(name, "household"), replaces=key)


def let_two_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let two writers meet after all is written and before either publishes."""
    barrier, write = Barrier(2, timeout=60), publishing.write_generation

    def and_wait(*args: Any, **options: Any) -> str:
        key = write(*args, **options)
        barrier.wait()
        return key

    monkeypatch.setattr(publishing, "write_generation", and_wait)


def test_of_two_imports_of_a_new_name_one_is_told(store: SceneStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lost name: both said "created", and one was gone (6 of 6 tries)."""
    name = fresh("both")
    let_two_meet(monkeypatch)

    def create(nodes: int) -> str:
        try:
            return store.put(ImportedScene(name, big(nodes), source=name)).outcome
        except NameTaken as error:
            return str(error)

    with ThreadPoolExecutor(2) as pool:
        one, other = sorted(pool.map(create, (40, 41)))
    assert one == "created"
    assert "do this again" in other
    assert generations(store, name) == ["ready"]


def test_two_who_need_a_belief_share_one(store: SceneStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lost name: the belief of one robot was replaced by that of another, with what it had seen."""
    name = fresh("shared")
    store.put(ImportedScene(name, small()))
    world = store.find(name)
    let_two_meet(monkeypatch)
    with ThreadPoolExecutor(2) as pool:
        made = [*pool.map(lambda _: find_or_create_belief(store, world).key, range(2))]
    assert made[0] == made[1] == store.find(f"{name}@belief").key
