"""The version of the stored form: an older and a newer form are refused, with what to do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from scenecypher.db.connect import connect
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.connection import Address, Database
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.store.stored_form import FORM, check_stored_form, prepare
from scenecypher.errors import DatabaseUnavailable
from scenecypher.settings import Settings
from tests.db.store.test_store import fresh, small


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


def test_a_prepared_database_has_the_form_of_today(store: SceneStore) -> None:
    check_stored_form(store.database)
    (record,) = store.database.rows("MATCH (f:StoredForm {of: 'scenes'}) RETURN f.number AS number")
    assert record["number"] == FORM


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (FORM + 1, f"has form {FORM + 1}, written by a newer SceneCypher.*upgrade"),
        (FORM - 1, f"has form {FORM - 1}, written by SceneCypher before 0.2.*connect to the database once with"),
        (None, "has form 0, written by SceneCypher before 0.2"),
    ],
)
def test_another_form_is_refused_and_nothing_is_changed(
    marked: SceneStore, address: Address, number: int | None, says: str
) -> None:
    marked.put(ImportedScene(fresh("form"), small()))
    set_form(marked.database, number)
    with pytest.raises(DatabaseUnavailable, match=says):
        connect(settings_of(address), tell=lambda _: None)
    with pytest.raises(DatabaseUnavailable, match=says):
        prepare(marked.database)
