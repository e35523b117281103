"""Names that mean a belief or an earlier state are refused for new scenes, before anything is written."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.catalog import checked_new_name
from scenecypher.db.store.publish import Header, publish
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError
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
)
ACCEPTED = ("home", "virtualhome/963_2@final", "home@beliefs", "a@b", "home@7/kitchen", "home@7b", "ann@home.org", "@")


@pytest.mark.parametrize("name", REFUSED)
def test_a_world_is_not_named_as_a_belief_or_an_earlier_state(name: str) -> None:
    with pytest.raises(InputError, match="choose another name"):
        checked_new_name(name, "world")


@pytest.mark.parametrize("name", ACCEPTED)
def test_other_names_are_as_good_as_before(name: str) -> None:
    assert checked_new_name(name, "world") == name


def test_a_belief_may_be_named_as_one() -> None:
    assert checked_new_name("home@belief", "belief") == "home@belief"
    with pytest.raises(InputError):
        checked_new_name("home@7", "belief")


@pytest.mark.parametrize("end", ["@belief", "@3", "@2026-11-23T10:30"])
def test_nothing_is_written_of_what_is_refused(store: SceneStore, end: str) -> None:
    name = fresh("reserved")
    store.put(ImportedScene(name, small()))
    before = scene_nodes(store)
    with pytest.raises(InputError):
        store.put(ImportedScene(name + end, small()))
    with pytest.raises(InputError):
        store.copy(name, name + end)
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
    publish(store.database, small(), Header(name, "generic"))
    assert store.put(ImportedScene(name, small())).outcome == "unchanged"


def scene_nodes(store: SceneStore) -> int:
    """Count all generations, published, half-written or retired."""
    return int(
        store.database.read(lambda tx: tx.run("MATCH (s:Scene) RETURN count(s)").single(strict=True)[0], timeout_s=30)
    )
