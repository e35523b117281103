"""Causes of an empty result: one for each absent value or pattern, none if everything occurs."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenecypher.db.schema import SCENES
from scenecypher.db.store.enumerate import count_graph
from scenecypher.db.store.enumerations import ClassUse, Enumerations, Pattern, PropertyUse, ValueUse
from scenecypher.meaning import NO_MEANING
from scenecypher.retriever.empty_answers import CAUSES, MAY_MISS, causes, hints, unnamed_advice
from scenecypher.retriever.query_claims import PropertyClaim, RelationClaim, claims_of
from tests.db.gate.corpus import DATA, cases, graph_of

HOME = Enumerations(
    kinds=(("Place", 1), ("Asset", 3), ("Object", 2)),
    classes=(
        ClassUse("Asset", "couch", 1, "couch_352"),
        ClassUse("Asset", "fridge", 2, "fridge_1"),
        ClassUse("Object", "cup", 2, "cup_2009"),
        ClassUse("Place", "bathroom", 1, "bathroom_1"),
    ),
    states=(ValueUse("closed", ("Asset",), 1), ValueUse("open", ("Asset",), 1), ValueUse("dirty", ("Object",), 1)),
    affordances=(ValueUse("can_open", ("Asset",), 2), ValueUse("grabbable", ("Object",), 2)),
    patterns=(
        Pattern("Entity", "CLOSE", "Entity", 20),
        Pattern("Asset", "INSIDE", "Place", 3),
        Pattern("Object", "INSIDE", "Asset", 1),
        Pattern("Object", "ON", "Asset", 1),
    ),
    properties=(PropertyUse("color", ("text",), 2, ("blue", "it's red")), PropertyUse("prefab", ("text",), 6)),
    names=("bathroom_1", "couch_352", "cup_2009", "cup_2010", "fridge_1", "fridge_2"),
    ids=("1", "2009", "2010", "352", "4", "5"),
)

OCCURS = "does not occur; what occurs is"
CAUSES_FOUND = [
    ("MATCH (n {class: 'Couch'}) RETURN n", "no node has class 'Couch' (did you mean 'couch'?)"),
    ("MATCH (o:Object {class: 'couch'}) RETURN o", "no (:Object) has class 'couch' (but (:Asset) does)"),
    ("MATCH (o:Object) WHERE o.class = 'fridge' RETURN o", "no (:Object) has class 'fridge' (but (:Asset) does)"),
    (
        "MATCH (o)-[:INSIDE]->(:Place {name: 'bathroom'}) RETURN o.name",
        "no (:Place) has name 'bathroom' (but 'bathroom' occurs as a class)",
    ),
    ("MATCH (n) WHERE 'opened' IN n.states RETURN n", "no node has 'opened' in its states (did you mean 'open'?)"),
    (
        "MATCH (n:Asset) WHERE 'can_open' IN n.states RETURN n",
        "no (:Asset) has 'can_open' in its states (but 'can_open' occurs as an affordance)",
    ),
    (
        "MATCH (n:Object) WHERE 'open' IN n.states RETURN n",
        "no (:Object) has 'open' in its states (but (:Asset) does)",
    ),
    ("MATCH (n) WHERE n.states = 'open' RETURN n", "states is a list; test it with 'open' IN n.states"),
    ("MATCH (n) WHERE n.class IN ['mug', 'beaker'] RETURN n", "no node has class 'mug' or 'beaker'"),
    (
        "MATCH (n) WHERE n.name CONTAINS 'Cup' RETURN n",
        "no node has a name that contains 'Cup' (but 'cup' occurs as a class)",
    ),
    ("MATCH (n) WHERE n.name STARTS WITH 'mug' RETURN n", "no node has a name that starts with 'mug'"),
    ("MATCH (n) WHERE toLower(n.name) ENDS WITH 'mug' RETURN n", "no node has a name that ends with 'mug'"),
    ("MATCH (n) WHERE toLower(n.class) = toLower('Mug') RETURN n", "no node has class 'mug'"),
    ("MATCH (n) WHERE n.class = toLower('Mug') RETURN n", "no node has class 'mug'"),
    ("MATCH (n) WHERE n.class =~ 'Cup' RETURN n", "no node has class 'Cup' (did you mean 'cup'?)"),
    ("MATCH (n) WHERE n.class =~ '.*mug.*' RETURN n", "no node has a class that contains 'mug'"),
    ("MATCH (n)-[r]->() WHERE type(r) = 'on' RETURN n", "no relation has type 'on' (did you mean 'ON'?)"),
    ("MATCH (n) WHERE 'object' IN labels(n) RETURN n", "no node has 'object' in its labels (did you mean 'Object'?)"),
    ("MATCH (n) WHERE 'Cup' = n.class RETURN n", "no node has class 'Cup' (did you mean 'cup'?)"),
    ("MATCH (n) WHERE toLower(n.class) = 'Cup' RETURN n", "no node has class 'Cup' (did you mean 'cup'?)"),
    (
        "UNWIND ['Cup', 'Mug'] AS c MATCH (n {class: c}) RETURN n",
        "no node has class 'Cup' or 'Mug' (did you mean 'cup'?)",
    ),
    (
        "WITH ['Cup'] AS all_of MATCH (n) WHERE n.class IN all_of RETURN n",
        "no node has class 'Cup' (did you mean 'cup'?)",
    ),
    (
        "MATCH (n) WHERE any(s IN ['Open'] WHERE s IN n.states) RETURN n",
        "no node has 'Open' in its states (did you mean 'open'?)",
    ),
    (
        "MATCH (p:Place)-[:INSIDE*1..3]->(o:Object) RETURN o",
        f"(:Place)-[:INSIDE*]->(:Object) {OCCURS} (:Asset)-[:INSIDE]->(:Place), (:Object)-[:INSIDE]->(:Asset)",
    ),
    (
        "MATCH (n:PastNode)-[:ABOUT]->(f:PastFact) RETURN f",
        f"(:PastNode)-[:ABOUT]->(:PastFact) {OCCURS} (:PastFact)-[:ABOUT]->(:PastNode)",
    ),
    ("MATCH (e:PastEvent {kind: 'Act'}) RETURN e", "no (:PastEvent) has kind 'Act' (did you mean 'act'?)"),
    ("MATCH (f:PastFact {relation: 'inside'}) RETURN f", "no relation has type 'inside' (did you mean 'INSIDE'?)"),
    (
        "MATCH (n) WHERE any(s IN n.states WHERE s = 'OPEN') RETURN n",
        "no node has 'OPEN' in its states (did you mean 'open'?)",
    ),
    ("MATCH (n {id: '3520'}) RETURN n", "no node has id '3520' (did you mean '352'?)"),
    ("MATCH (n {color: 'it\\'s rad'}) RETURN n", "no node has color 'it\\'s rad' (did you mean \"it's red\"?)"),
    (
        "MATCH (a:Asset)-[:INSIDE]->(o:Object) RETURN o",
        f"(:Asset)-[:INSIDE]->(:Object) {OCCURS} (:Object)-[:INSIDE]->(:Asset), (:Asset)-[:INSIDE]->(:Place)",
    ),
    (
        "MATCH (o:Object), (p:Place) MATCH (o)<-[:INSIDE]-(p) RETURN o",
        f"(:Place)-[:INSIDE]->(:Object) {OCCURS} (:Asset)-[:INSIDE]->(:Place), (:Object)-[:INSIDE]->(:Asset)",
    ),
    (
        "MATCH (b {class: 'bathroom'})-[:INSIDE]->(c {class: 'cup'}) RETURN b",
        f"(:Place)-[:INSIDE]->(:Object) {OCCURS} (:Asset)-[:INSIDE]->(:Place), (:Object)-[:INSIDE]->(:Asset)",
    ),
    (
        "MATCH (b {class: 'bathroom'}), (c:Object) MATCH (b)-[:ON]->(c) RETURN b",
        f"(:Place)-[:ON]->(:Object) {OCCURS} (:Object)-[:ON]->(:Asset)",
    ),
    (
        "MATCH (o:Place)-[:ON]-(:Object) RETURN o",
        "(:Place)-[:ON]-(:Object) does not occur; what occurs is (:Object)-[:ON]->(:Asset)",
    ),
]

NO_CAUSES = [
    "MATCH (n {class: 'couch'}) RETURN n",
    "MATCH (o:Object)-[:ON]->(:Asset {class: 'couch'}) RETURN o",
    "MATCH (n) WHERE toLower(n.class) = 'couch' RETURN n",
    "MATCH (n) WHERE toLower(n.name) CONTAINS 'cup' RETURN n",
    "MATCH (n) WHERE toUpper(n.class) = toUpper('Couch') RETURN n",
    "MATCH (n) WHERE n.class IN ['mug', 'cup'] RETURN n",
    "MATCH (n) WHERE NOT 'shut' IN n.states AND NOT n.class = 'mug' AND n.class <> 'beaker' RETURN n",
    "MATCH (n) WHERE NOT (n.class = 'mug' OR n.name = 'x' OR (n.id = 'y' AND n.class = 'z')) RETURN n",
    "MATCH (n) WHERE n.prefab = 'unknown values are not judged' RETURN n",
    "MATCH (n) WHERE n.class =~ '(?i)CUP' OR n.class =~ 'c.p' RETURN n",
    "MATCH (n)-[r]->() WHERE type(r) IN ['UNDER', 'FACING'] RETURN n",
    "MATCH (n) WHERE any(a IN n.affordances WHERE a STARTS WITH 'can') RETURN n",
    "MATCH (n)-[:UNDER]->(m) RETURN n",
    "MATCH (n) WITH n.class AS c, {c: 'Mug'} AS other MATCH (m {class: c}) RETURN m, 'Cup' AS c",
    "UNWIND ['mug', 'cup'] AS c MATCH (n {class: c}) RETURN n",
    "MATCH (o:Object)-[:INSIDE|ON*]->(p:Place) RETURN o",
    "MATCH (p:Place)-[:INSIDE*]-(o:Object) RETURN o",
    "MATCH (e:Past)-[:CHANGED]->(n:PastNode {kind: 'Object'}) RETURN e",
    "MATCH (f:PastFact {relation: 'INSIDE', state: 'shut'})-[:ABOUT]->(n) RETURN n",
    "MATCH (n:Object)-[:CLOSE]-(m:Place) RETURN n",
    "MATCH (o:Object)-[:INSIDE*1..3]->(p:Place) RETURN o",
    "MATCH (p:Place)<-[:INSIDE]-(a) RETURN a",
    "MATCH (n) // (a:Place)-[:ON]->(b:Object) n.class = 'mug'\nRETURN 'n.class = \\'mug\\''",
    "RETURN 1 AS one",
    "",
]


@pytest.mark.parametrize(("cypher", "cause"), CAUSES_FOUND)
def test_absent_values_and_patterns_are_causes(cypher: str, cause: str) -> None:
    assert causes(cypher, HOME) == (cause,)


@pytest.mark.parametrize("cypher", NO_CAUSES)
def test_occurring_values_and_patterns_are_no_causes(cypher: str) -> None:
    assert causes(cypher, HOME) == ()


BESIDE_ROWS = [
    ("MATCH (o) WHERE NOT (o)-[:ON]->({class: 'cuch'}) RETURN o", "no node has class 'cuch' (did you mean 'couch'?)"),
    ("MATCH (o) WHERE o.class <> 'Cup' RETURN o", "no node has class 'Cup' (did you mean 'cup'?)"),
    ("MATCH (o) WHERE NOT 'Open' IN o.states RETURN o", "no node has 'Open' in its states (did you mean 'open'?)"),
    (
        "MATCH (p:Place) RETURN COUNT { (p)<-[:INSIDE]-(:Object {class: 'couch'}) } AS n",
        "no (:Object) has class 'couch' (but (:Asset) does)",
    ),
    (
        "MATCH (p:Place) WHERE NOT (p)-[:INSIDE]->(:Asset) RETURN p",
        f"(:Place)-[:INSIDE]->(:Asset) {OCCURS} (:Asset)-[:INSIDE]->(:Place), (:Object)-[:INSIDE]->(:Asset)",
    ),
]
NOTHING_BESIDE_ROWS = [
    "MATCH (o) WHERE NOT o.class = 'mug' AND o.name <> 'cup_2011' RETURN o",
    "MATCH (p:Place) RETURN COUNT { (p)<-[:INSIDE]-({class: 'cub'}) } + COUNT { (:Object)-[:ON]->(:Object) } AS n",
    "MATCH (o:Object) RETURN o.name AS n UNION MATCH (o) WHERE o.class = 'couch' RETURN o.name AS n",
]


@pytest.mark.parametrize(("cypher", "told"), [*BESIDE_ROWS, *((cypher, "") for cypher in NOTHING_BESIDE_ROWS)])
def test_rows_have_a_hint_beside_them_where_the_query_has_a_slip(cypher: str, told: str) -> None:
    assert MAY_MISS.search(cypher)
    assert hints(cypher, HOME, NO_MEANING, SCENES, is_empty=False) == ((told,) if told else ())


def test_a_right_query_has_no_hint_beside_its_rows() -> None:
    home = count_graph(graph_of(json.loads((DATA / "scenes.json").read_text("utf-8"))["home"]))
    right = [it.cypher for it in cases() if it.kind == "benign" and it.rows and MAY_MISS.search(it.cypher)]
    told = [cypher for cypher in right if hints(cypher, home, NO_MEANING, SCENES, is_empty=False)]
    assert len(right) > 100
    assert told == []


def test_a_relation_type_that_does_not_occur_is_told_to_people() -> None:
    told = "no relation UNDER occurs in this scene; what occurs is CLOSE, INSIDE, ON"
    assert hints("MATCH (n)-[:UNDER]->(m) RETURN n", HOME, NO_MEANING, SCENES, is_empty=True) == (told,)


@pytest.mark.parametrize(
    ("cypher", "told"),
    [
        ("MATCH ({class: 'cup'})<-[:ON]-({class: 'couch'}) RETURN 1", True),
        ("MATCH (a {class: 'cup'}), (b {class: 'couch'}) MATCH (b)-[:ON]->(a) RETURN 1", True),
        ("MATCH ({class: 'cup'})-[:ON]-({class: 'couch'}) RETURN 1", False),
        ("MATCH ({class: 'cup'})-[:ON]->({class: 'couch'}) RETURN 1", False),
        ("MATCH (x)-[:ON]->({class: 'cup'}) RETURN x", False),
        ("MATCH (x {class: 'fridge'})-[:ON]->({class: 'cup'}) RETURN x", False),
    ],
)
def test_classes_that_are_related_the_other_way_round_are_a_cause(cypher: str, *, told: bool) -> None:
    both = Pattern("Asset", "ON", "Object", 1), *HOME.patterns
    home = replace(HOME, patterns=both, class_links=frozenset({("cup", "ON", "couch"), ("fridge", "ON", "mat")}))
    said = "({class: 'couch'})-[:ON]->({class: 'cup'}) does not occur; what occurs is ({class: 'cup'})-[:ON]->"
    assert causes(cypher, home) == ((f"{said}({{class: 'couch'}})",) if told else ())
    assert causes(cypher, home, corrections_only=True) == (), "an answer that says no may be right"


def test_the_number_of_causes_is_bounded() -> None:
    wanted = " OR ".join(f"n.class = 'mug_{i}'" for i in range(20))
    assert len(causes(f"MATCH (n) WHERE {wanted} RETURN n", HOME)) == CAUSES


def test_unknown_names_of_a_large_scene_are_no_causes() -> None:
    assert causes("MATCH (n {name: 'couch'}) RETURN n", Enumerations(classes=HOME.classes)) == ()


def test_claims_on_properties_and_relations_are_read() -> None:
    claims = claims_of("MATCH (o:Object {class: \"it's\"})-[r:INSIDE|ON]->(x:`Asset`) WHERE x.name = 'y' RETURN o")
    assert claims.properties == (
        PropertyClaim("name", "=", ("y",), "Asset"),
        PropertyClaim("class", "=", ("it's",), "Object"),
    )
    assert claims.relations == (RelationClaim("Object", ("INSIDE", "ON"), "Asset"),)


@given(
    st.lists(st.sampled_from([*"()[]{}<>-:|'\"`*.,=1n\\ ", "MATCH", "IN", "NOT", "class"]), max_size=40).map("".join)
)
def test_any_text_can_be_read(text: str) -> None:
    causes(text, HOME)


@pytest.mark.parametrize(
    ("query", "advice"),
    [
        (
            "MATCH (o:Object {name: 'cup_2009'})-[:ON]->(f:Asset) RETURN f.name AS furniture, r.name AS room",
            "r is in no pattern: add one before, MATCH (f)-[:INSIDE|ON|UNDER|ATTACHED_TO*1..5]->(r:Place)",
        ),
        (
            "MATCH p = SHORTEST 1 (a)-[*1..3]->(b) RETURN [r IN nodes(p) | r.name] AS way ORDER BY r.name",
            "r is known within its list alone: leave out what reads it elsewhere, such as ORDER BY r.name",
        ),
        (
            "MATCH (f:Asset) WITH f, count(DISTINCT r) AS objects RETURN f.name AS furniture, objects",
            "r is in no pattern: add one before, MATCH (r:Object)-[:ON|INSIDE]->(f)",
        ),
        (
            "MATCH (f:PastFact)-[:TARGET]->(:PastNode {name: 'sink_64'}) RETURN r.name AS thing",
            (
                "r is in no pattern; what was so is a fact: "
                "(n:PastNode)<-[:ABOUT]-(f:PastFact {relation: 'INSIDE'})-[:TARGET]->(t:PastNode)"
            ),
        ),
        ("MATCH (f:Asset) RETURN r.name AS weather", ""),
    ],
)
def test_a_variable_of_no_pattern_is_told_with_the_pattern_that_it_needs(query: str, advice: str) -> None:
    """A small model that is told only that the variable has no name writes the same query again."""
    assert unnamed_advice(query, "Variable `r` not defined at `r`", HOME) == advice
    assert unnamed_advice(query, "no label `Room`", HOME) == ""
