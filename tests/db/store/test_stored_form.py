"""The version of the stored form: older scenes are brought up to date, a newer form is refused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from neo4j import ManagedTransaction

from scenecypher.db.connect import connect
from scenecypher.db.store.connection import Address, Database
from scenecypher.db.store.prepare import prepare
from scenecypher.db.store.publish import Header, publish
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.store.stored_form import FORM, STEPS, Step, bring_up_to_date, current_form
from scenecypher.errors import DatabaseUnavailable
from scenecypher.settings import Settings
from tests.db.store.test_store import fresh, odd, small


@pytest.fixture
def marked(store: SceneStore) -> Iterator[SceneStore]:
    """Yield a store whose number of the form may be changed; it is that of today again afterwards."""
    yield store
    set_form(store.database, FORM)


def set_form(database: Database, number: int | None) -> None:
    statement = "MERGE (f:StoredForm {of: 'scenes'}) SET f.number = $number"
    if number is None:
        statement = "MATCH (f:StoredForm) DELETE f"
    database.execute(statement, {"number": number})


def settings_of(address: Address) -> Settings:
    named = {"neo4j_uri": address.uri, "neo4j_username": address.username, "neo4j_password": address.password}
    return Settings(**named)


def without_bounds(store: SceneStore, name: str) -> None:
    """Store a scene as before its bounds were kept."""
    publish(store.database, odd(), Header(name, "virtualhome"))
    statement = "MATCH (s:Scene {name: $name}) UNWIND [k IN keys(s) WHERE k STARTS WITH 'most_'] AS k SET s[k] = null"
    store.database.execute(statement, {"name": name})
    assert store.find(name).bounds is None


def test_a_prepared_database_has_the_form_of_today(store: SceneStore) -> None:
    assert current_form(store.database) == FORM == len(STEPS)


def test_an_older_form_is_brought_up_to_date_at_the_first_connection(marked: SceneStore, address: Address) -> None:
    name = fresh("older")
    without_bounds(marked, name)
    set_form(marked.database, None)
    told: list[str] = []
    with connect(settings_of(address), tell=told.append) as database:
        assert current_form(database) == FORM
    assert [line for line in told if f"to the stored form {FORM}" in line]
    known = publish(marked.database, odd(), Header(f"{name}-new", "virtualhome"))
    assert marked.find(name).bounds == known.bounds
    with connect(settings_of(address), tell=told.append):
        assert len(told) == FORM


def test_a_newer_form_is_refused_and_nothing_is_changed(marked: SceneStore, address: Address) -> None:
    set_form(marked.database, FORM + 1)
    with pytest.raises(DatabaseUnavailable, match=f"has form {FORM + 1}, written by a newer SceneCypher"):
        connect(settings_of(address), tell=lambda _: None)
    with pytest.raises(DatabaseUnavailable, match="upgrade it"):
        prepare(marked.database)


def test_steps_are_taken_in_turn_and_go_on_after_one_broke_off(marked: SceneStore) -> None:
    name = fresh("steps")
    key = publish(marked.database, small(), Header(name, "virtualhome")).key
    taken: list[str] = []

    def step(letter: str, *, fails_first: bool = False) -> Step:
        def work(tx: ManagedTransaction, at: str) -> None:
            if at != key:
                return
            tx.run("MATCH (s:Scene {key: $key}) SET s.source = s.source + $letter", key=at, letter=letter).consume()
            taken.append(letter)
            if fails_first and taken.count(letter) == 1:
                raise ValueError(letter)

        return work

    steps = (*STEPS, step("A"), step("B", fails_first=True), step("C"))
    with pytest.raises(ValueError, match="B"):
        bring_up_to_date(marked.database, steps=steps)
    assert current_form(marked.database, newest=len(steps)) == FORM + 1
    for _ in range(2):
        bring_up_to_date(marked.database, steps=steps)
        assert taken == ["A", "B", "B", "C"]
        assert current_form(marked.database, newest=len(steps)) == len(steps)
    assert marked.find(name).source == "ABC"
