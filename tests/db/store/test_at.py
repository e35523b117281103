"""What NAME@VERSION and NAME@TIME mean: names, versions, clocks, and words for what means nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import LiteralString
from zoneinfo import ZoneInfo

import pytest

from scenecypher.db.graph.delta import ChangeList, Delta, invert
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.catalog import split_at
from scenecypher.db.store.history import declare_time
from scenecypher.db.store.rewind import SceneAt, find_at, read_moment, scene_at
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError, SceneNotFound
from tests.db.store.test_store import fresh, small

SOIL = Delta.of([ChangeList("cup", "states", ("dirty",), ())])
DAY = "2026-11-23T"
# Each later one a version; the clock was set back before the third.
CLOCK = ("10:00:00", "12:00:00", "11:00:00", "13:00:00")
SET_CLOCK: LiteralString = """
MATCH (s:Scene {key: $key}) SET s.published = datetime($published)
WITH s UNWIND range(1, size($times)) AS version
MATCH (e:Event {scene: $key, version: version}) SET e.at = datetime($times[version - 1])
"""


@pytest.fixture(scope="module")
def name(store: SceneStore) -> str:
    """The name of a scene of four events at the times of CLOCK, imported at nine, all UTC."""
    name = fresh("clock")
    store.put(ImportedScene(name, small()))
    info = store.find(name)
    for number in range(len(CLOCK)):
        store.commit(info, invert(SOIL) if number % 2 else SOIL, actor="t", action="soil")
    given = {"key": info.key, "published": f"{DAY}09:00:00Z", "times": [f"{DAY}{it}Z" for it in CLOCK]}
    store.database.execute(SET_CLOCK, given, timeout_s=30)
    return name


@pytest.fixture
def cairo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the user live two hours east of Greenwich."""
    monkeypatch.setenv("TZ", "EET-2")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("home", None),
        ("home@belief", None),
        ("home@7b", None),
        ("@7", None),
        ("home@7", ("home", "7")),
        ("a@b@7", ("a@b", "7")),
        ("home@belief@2026-11-23T10:15", ("home@belief", "2026-11-23T10:15")),
        ("home@ 2026-11-23 10:15 ", ("home", "2026-11-23 10:15")),
    ],
)
def test_a_name_is_split_before_its_last_at_sign(text: str, parts: tuple[str, str] | None) -> None:
    assert split_at(text) == parts


def test_a_moment_is_a_version_or_a_time() -> None:
    assert read_moment("7", name="x@7") == 7
    assert read_moment("2026-11-23", name="") == datetime(2026, 11, 23)
    assert read_moment("2026-11-23 10:15Z", name="") == datetime(2026, 11, 23, 10, 15, tzinfo=UTC)
    there = timezone(timedelta(hours=1))
    assert read_moment("2026-11-23t10:15:00.5+01:00", name="") == datetime(2026, 11, 23, 10, 15, 0, 500_000, there)


@pytest.mark.parametrize("text", ["-1", "+1", "1.5", "10:15", "2026-11-31", "2026-11-23T25:00", "1" * 5_000])
def test_what_is_neither_is_told_how_to_write_one(text: str) -> None:
    with pytest.raises(InputError, match=r"write NAME@7, NAME@2026-11-23T10:15, or"):
        read_moment(text, name=f"home@{text}")


@pytest.mark.parametrize(
    ("moment", "version"),
    [
        ("0", 0),
        ("3", 3),
        (f"{DAY}09:30Z", 0),
        (f"{DAY}09:59:59.999Z", 0),
        (f"{DAY}10:00Z", 1),
        (f"{DAY}11:30Z", 1),
        (f"{DAY}12:00Z", 3),
        (f"{DAY}12:30Z", 3),
        (f"{DAY}13:30Z", 4),
        (f"{DAY}12:30+02:00", 1),
        ("2030-01-01T00:00Z", 4),
    ],
)
def test_a_time_means_the_version_before_the_first_later_event(
    store: SceneStore, name: str, moment: str, version: int
) -> None:
    found = find_at(store.database, f"{name}@{moment}")
    assert isinstance(found, SceneAt)
    assert (found.scene.name, found.version, found.name) == (name, version, f"{name}@{version}")


@pytest.mark.parametrize("stored", ["+00:00", "+05:30", "-08:00"])
@pytest.mark.parametrize(
    "asked", [UTC, timezone(timedelta(hours=1)), timezone(timedelta(hours=-3)), ZoneInfo("Asia/Tokyo")]
)
def test_one_moment_is_one_version_in_any_zone(store: SceneStore, stored: str, asked: tzinfo) -> None:
    """A fault of this kind orders equal moments by their zones: 10:00+01:00 and 09:00Z were two versions."""
    name, ten = fresh("zones"), datetime(2026, 11, 23, 10, tzinfo=UTC)
    store.put(ImportedScene(name, small()))
    info = store.find(name)
    store.commit(info, SOIL, actor="t", action="soil")
    zone = datetime.fromisoformat(f"2026-11-23T10:00{stored}").tzinfo
    given = {"key": info.key, "published": f"{DAY}09:00:00Z", "times": [ten.astimezone(zone).isoformat()]}
    store.database.execute(SET_CLOCK, given, timeout_s=30)
    found = [
        scene_at(store.database, store.find(name), at.astimezone(asked)) for at in (ten, ten - timedelta(seconds=1))
    ]
    assert [it.version for it in found] == [1, 0]
    assert store.history(info)[0].at == ten
    assert store.history(info)[0].at.utcoffset() == timedelta(0)


@pytest.mark.usefixtures("cairo")
def test_a_time_without_a_zone_is_the_users(store: SceneStore, name: str) -> None:
    found = find_at(store.database, f"{name}@{DAY}12:30")
    assert isinstance(found, SceneAt)
    assert found.version == 1


def test_of_a_scene_with_a_clock_of_its_own_times_are_that_clocks(store: SceneStore) -> None:
    name = fresh("declared")
    store.put(ImportedScene(name, small()))
    info = store.find(name)
    store.commit(info, SOIL, actor="t", action="soil")
    for hour, delta in ((8, invert(SOIL)), (9, SOIL)):
        declare_time(store.database, info, datetime(2001, 5, 1, hour, tzinfo=UTC))
        store.commit(info, delta, actor="t", action="change")
    found = [find_at(store.database, f"{name}@2001-05-01T{it}Z") for it in ("08:00", "08:59", "09:00")]
    assert [it.version for it in found] == [2, 2, 3]
    with pytest.raises(InputError, match="begins at 2001-05-01T08:00:00"):
        find_at(store.database, f"{name}@2001-05-01T07:59Z")


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        ("5", "has versions 0 to 4, not 5; `scenecypher history"),
        (f"{DAY}08:59Z", "begins at 2026-11-23T09:00:00.00:00, after 2026-11-23T08:59:00.*ask for a later time"),
        ("0001-01-01T00:00+14:00", "begins at|out of range"),
        ("0001-01-01T00:00", "begins at|out of range"),
    ],
)
def test_a_version_or_a_time_that_the_scene_does_not_have_is_told(
    store: SceneStore, name: str, moment: str, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        find_at(store.database, f"{name}@{moment}")


def test_a_scene_of_exactly_that_name_wins(store: SceneStore, name: str) -> None:
    """Such names are refused now, but a database may have one from before."""
    text: LiteralString = "MATCH (s:Scene {name: $name}) SET s.name = $new"
    other = fresh("exact")
    store.put(ImportedScene(other, small()))
    exact = {"name": other, "new": f"{name}@2"}
    store.database.execute(text, exact, timeout_s=30)
    for found in (find_at(store.database, f"{name}@2"), store.find(f"{name}@2")):
        assert not isinstance(found, SceneAt)
        assert (found.name, found.version) == (f"{name}@2", 0)
    assert store.load_at(f"{name}@2").info.version == 0
    store.delete(f"{name}@2")


def test_of_a_scene_that_is_not_there_the_scene_is_told(store: SceneStore, name: str) -> None:
    with pytest.raises(SceneNotFound, match=f"no scene named '{name}x' .did you mean '{name}'"):
        find_at(store.database, f"{name}x@3")
    with pytest.raises(SceneNotFound):
        store.find(f"{name}x@3")


def test_a_state_before_a_lease_began_is_not_the_workers(store: SceneStore, name: str) -> None:
    with store.lease(name) as first:
        store.commit(first, invert(Delta.of([ChangeList("cup", "states", (), ("dirty",))])), actor="t", action="soil")
    with store.lease(name) as again:
        assert again.version == 2
        assert find_at(store.database, f"{again.name}@2") is not None
        with pytest.raises(InputError, match="has versions 2 to 2, not 1"):
            find_at(store.database, f"{again.name}@1")
