"""Names that mean a belief or an earlier state are refused for new scenes, before anything is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import LiteralString

import pytest

from scenecypher.db.archive.backup import back_up
from scenecypher.db.archive.restore import check_archive
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.catalog import checked_new_name, split_at
from scenecypher.db.store.publish import Header, publish
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError, SceneNotFound
from tests.db.store.test_store import fresh, small

REFUSED = (
    "home@belief",
    "home@Belief",
    "home@7",
    "home@-1",
    "home@1.5",
    "home@2026-11-23",
    "home@2026-11-23T10:30:00Z",
    "home@2026-11-23 10:30",
    "home@10:30",
    "home@10:30:05+01:00",
    "home@\u0661",
)
MISLEADING = (
    "--scene",
    "-",
    "../../x",
    "a/../b",
    "a\\..\\b",
    "./x",
    "/etc/x",
    "h\u043eme",
    "ko\u03bd",
    "\uff48ome",
    "cafe\u0301",
    "ﬁle",
    "home\u2460",
    "ho\u3164me",
    "home\ufe0f",
    "ho\u2800me",
)
ACCEPTED = (
    "home",
    "virtualhome/963_2@final",
    "home@beliefs",
    "a@b",
    "home@7/kitchen",
    "home@7b",
    "ann@home.org",
    "@",
    "virtualhome/кухня",
    "café",
    "θάλαμος_1",
    "日本のキッチン",
    "a-b",
    "...",
    "a/...",
)


@pytest.mark.parametrize("name", REFUSED)
def test_a_world_is_not_named_as_a_belief_or_an_earlier_state(name: str) -> None:
    with pytest.raises(InputError, match="choose another name"):
        checked_new_name(name, "world")


@pytest.mark.parametrize("name", MISLEADING)
def test_a_new_name_is_not_taken_for_something_else(name: str) -> None:
    """Names from outside: an option, a way out of a folder, or the look of another name."""
    with pytest.raises(InputError, match=r"can't name a new scene: .*; choose another name"):
        checked_new_name(name, "world")
    with pytest.raises(InputError, match=r"can't name a new scene: .*; choose another name"):
        checked_new_name(f"{name}@belief", "belief")


def test_digits_of_other_alphabets_are_no_version(store: SceneStore) -> None:
    """Other alphabets: `home@` with an Arabic one was version 1 of home."""
    name = fresh("digits")
    store.put(ImportedScene(name, small()))
    assert split_at(name + "@\u0661") is None
    with pytest.raises(SceneNotFound):
        store.load_at(name + "@\u0660")


@pytest.mark.parametrize("name", ACCEPTED)
def test_other_names_are_as_good_as_before(name: str) -> None:
    assert checked_new_name(name, "world") == name


def test_a_belief_may_be_named_as_one() -> None:
    assert checked_new_name("home@belief", "belief") == "home@belief"
    with pytest.raises(InputError):
        checked_new_name("home@7", "belief")


@pytest.mark.parametrize("end", ["@belief", "@3", "@2026-11-23T10:30", "@\u0663", "/../x", "\uff11"])
def test_nothing_is_written_of_what_is_refused(store: SceneStore, tmp_path: Path, end: str) -> None:
    """Names are checked at every door: a restored `home@1` answered for version 1 of `home`."""
    name = fresh("reserved")
    store.put(ImportedScene(name, small()))
    key, path = store.find(name).key, tmp_path / "a.archive"
    rename(store, key, name + end)
    back_up(store.database, path, scenes=[store.find(name + end)])
    rename(store, key, name)
    before = scene_nodes(store)
    with pytest.raises(InputError, match="can't name a new scene"):
        check_archive(store.database, path)
    with pytest.raises(InputError):
        store.put(ImportedScene(name + end, small()))
    with pytest.raises(InputError):
        store.copy(name, name + end)
    with pytest.raises(InputError), store.lease_imported(ImportedScene(name + end, small()), digest="d"):
        pass
    with pytest.raises(InputError):
        publish(store.database, small(), Header(name + end, "household"))
    assert scene_nodes(store) == before


def test_a_world_does_not_replace_a_belief(store: SceneStore) -> None:
    name = fresh("replacing") + "@belief"
    belief = ImportedScene(name, small(), role="belief")
    assert store.put(belief).outcome == "created"
    with pytest.raises(InputError):
        store.put(replace(belief, role="world"))
    assert store.find(name).role == "belief"


def test_a_world_that_has_such_a_name_already_is_brought_up_to_date(store: SceneStore) -> None:
    name = fresh("older") + "@7"
    rename(store, publish(store.database, small(), Header(fresh(), "generic")).key, name)
    assert store.put(ImportedScene(name, small())).outcome == "unchanged"
    assert store.load_at(name).graph == small()
    with store.lease(name) as copy:
        assert store.load(copy.name).graph == small()


def rename(store: SceneStore, key: str, name: str) -> None:
    """Give a scene a name as an earlier version would have done."""
    statement: LiteralString = "MATCH (s:Scene {key: $key}) SET s.name = $name"
    store.database.execute(statement, {"key": key, "name": name})


def scene_nodes(store: SceneStore) -> int:
    """Count all generations, published, half-written or retired."""
    return int(store.database.rows("MATCH (s:Scene) RETURN count(s)", timeout_s=30)[0][0])
