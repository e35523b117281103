"""The registry: declarations of scenes, and idempotent constraints and indexes."""

from __future__ import annotations

from typing import Any

import pytest

from scenecypher.db.schema import (
    CORE_PROPERTIES,
    EXTRA_PROPERTIES,
    HOLDING,
    KINDS,
    MAP_KINDS,
    PAST,
    PAST_HIDDEN,
    PAST_KINDS,
    PAST_PROPERTIES,
    PAST_RELATIONS,
    PROPERTY_NAME,
    RELATION_NAME,
    RELATION_TYPES,
    Declared,
    definitions,
    vocabulary_of,
)
from scenecypher.db.store.connection import Database
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.vocabulary import BUILT_IN, conventions_of
from scenecypher.errors import InputError


def test_the_registry_obeys_its_own_rules() -> None:
    assert all(RELATION_NAME.fullmatch(name) for name in RELATION_TYPES)
    assert all(PROPERTY_NAME.fullmatch(name) for name in (*CORE_PROPERTIES, *EXTRA_PROPERTIES))
    assert not {*CORE_PROPERTIES} & {*EXTRA_PROPERTIES}
    assert {*HOLDING} <= {*RELATION_TYPES}
    assert all({*conventions_of(name).containment} <= {*RELATION_TYPES} for name in BUILT_IN)


def test_the_past_has_names_of_its_own() -> None:
    """A query is about the past or the present by its labels, and what is hidden can't be declared."""
    assert not {PAST, *PAST_KINDS} & {"Entity", "Scene", "Event", *KINDS}
    assert not {*PAST_RELATIONS} & {*RELATION_TYPES}
    assert all(RELATION_NAME.fullmatch(name) for name in PAST_RELATIONS)
    assert {*PAST_PROPERTIES} == {*PAST_KINDS}
    assert all(PROPERTY_NAME.fullmatch(name) for names in PAST_PROPERTIES.values() for name in names)
    assert not PAST_HIDDEN & {name for names in PAST_PROPERTIES.values() for name in names}


def test_declared_names_join_the_vocabulary() -> None:
    declared = Declared(("NEXT_TO", "ON", "NEXT_TO"), ("weight", "color"))
    assert declared == Declared(("NEXT_TO",), ("weight",))
    vocabulary = vocabulary_of(declared)
    assert vocabulary.relation_types == {*RELATION_TYPES, "NEXT_TO"}
    assert vocabulary.properties == {*CORE_PROPERTIES, *EXTRA_PROPERTIES, "weight"}
    assert vocabulary.labels == {"Entity", *KINDS} - MAP_KINDS
    assert vocabulary_of(Declared(properties=("layer",))).labels == {"Entity", *KINDS}


@pytest.mark.parametrize(
    ("types", "properties", "says"),
    [
        (("next_to",), (), "relation type 'next_to' can't be declared"),
        (("ON\n",), (), "relation type 'ON.n' can't be declared"),
        (("A" * 65,), (), "at most 64 characters"),
        (("É",), (), "relation type 'É' can't be declared"),
        (("A]->() DETACH DELETE n//",), (), "can't be declared"),
        ((7,), (), "relation type 7 can't be declared"),
        ((), ("Weight",), "property 'Weight' can't be declared"),
        ((), ("a b",), "property 'a b' can't be declared"),
        ((), ("_key",), "property '_key' can't be declared"),
        ((), ("scene",), "property 'scene' is reserved"),
        ((), ("id",), "property 'id' is reserved"),
        pytest.param(("A" * 10_000_000,), (), "can't be declared", id="10 MB"),
    ],
)
def test_an_invalid_cypher_name_is_refused(types: Any, properties: Any, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        Declared(types, properties)
    assert len(str(caught.value)) < 200


def test_constraints_and_indexes_are_made_once(store: SceneStore, database: Database) -> None:
    store.prepare()
    names = [row[0] for row in database.rows("SHOW INDEXES YIELD name RETURN name", timeout_s=60)]
    wanted = [name for name, _ in definitions()]
    assert {*wanted} <= {*names}
    assert len({*wanted}) == len(wanted)
