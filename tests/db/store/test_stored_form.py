"""The version of the stored form: older scenes are brought up to date, a newer form is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from neo4j import ManagedTransaction

from scenecypher.db.connect import connect
from scenecypher.db.graph.axes import exchanged
from scenecypher.db.graph.delta import diff
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Point, Properties, SceneGraph
from scenecypher.db.past import build_past
from scenecypher.db.store.connection import Address, Database
from scenecypher.db.store.load import from_driver
from scenecypher.db.store.publish import Header, publish
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.store.stored_form import (
    FORM,
    STEPS,
    Step,
    bring_up_to_date,
    current_form,
    prepare,
    take_step,
    turn_upright,
)
from scenecypher.errors import DatabaseUnavailable
from scenecypher.importers.homes import our_home
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


def turned(graph: SceneGraph) -> SceneGraph:
    """Return a graph with y and z exchanged."""
    return SceneGraph.of(map(exchanged, graph.nodes.values()), graph.relations)


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


def test_a_home_with_y_up_is_turned_with_all_of_its_history(marked: SceneStore) -> None:
    """A home that an older version stored as Unity has it, with a commit and a past."""
    name, home = fresh("y-up"), our_home("cottage")[0]
    unity = replace(home, name=name, graph=turned(home.graph))
    marked.put(unity)
    marked.database.execute("MATCH (s:Scene {name: $name}) REMOVE s.up", {"name": name})
    info, plate = marked.find(name), unity.graph.nodes["plate_74"]
    lifted = Properties({**plate.properties, "center": Point(3.7, 1.9, 2.5), "size_y": 0.03})
    after = SceneGraph.of({**unity.graph.nodes, "plate_74": replace(plate, properties=lifted)}.values(), [])
    after = SceneGraph.of(after.nodes.values(), unity.graph.relations)
    marked.commit(info, diff(unity.graph, after), actor="t", action="lift", action_id="lift")
    build_past(marked.database, marked.find(name))
    for _ in range(2):
        take_step(marked.database, [info.key], turn_upright)
        assert marked.load(name).graph == turned(after)
        assert SceneStore(marked.database).as_of(name, 0) == home.graph
        assert build_past(marked.database, marked.find(name)).is_current
    told = "MATCH (f:PastFact {scene: $key, property: 'center'}) RETURN f.value AS value"
    values = [from_driver(row["value"]) for row in marked.database.rows(told, {"key": info.key})]
    assert Point(3.7, 2.5, 1.9) in values
    assert marked.commit(info, diff(home.graph, turned(after)), actor="t", action="lift", action_id="lift").version == 1
    connected = SceneStore(marked.database)
    connected.undo(connected.find(name))
    assert connected.put(replace(home, name=name)).outcome == "unchanged"


def test_a_scene_that_declares_its_axes_or_is_of_another_source_is_left_as_it_is(marked: SceneStore) -> None:
    upright, other = fresh("upright"), fresh("other")
    marked.put(ImportedScene(upright, odd(), "virtualhome"))
    marked.put(ImportedScene(other, odd()))
    marked.database.execute("MATCH (s:Scene {name: $name}) REMOVE s.up", {"name": other})
    take_step(marked.database, [marked.find(name).key for name in (upright, other)], turn_upright)
    declared = "MATCH (s:Scene {name: $name}) RETURN s.up AS up"
    for name in (upright, other):
        assert marked.load(name).graph == odd()
        assert [row["up"] for row in marked.database.rows(declared, {"name": name})] == ["z"]


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
