import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenecypher.db.gate import Limits
from scenecypher.db.gate.scope import ScopedQuery, scope
from scenecypher.db.gate.syntax import parse
from scenecypher.errors import QueryRefused
from tests.db.gate.corpus import VOCABULARY, Case, cases

S = "{scene: $__scene}"
N = f":Entity {S}"

SCOPED = {
    "MATCH (n) RETURN n": f"MATCH (n{N}) RETURN n",
    "MATCH ( n ) RETURN n": f"MATCH ( n{N} ) RETURN n",
    "MATCH () RETURN 1": f"MATCH ({N}) RETURN 1",
    "MATCH (n:Object) RETURN n": f"MATCH (n:(Object)&Entity {S}) RETURN n",
    "MATCH (n:Object|Asset) RETURN n": f"MATCH (n:(Object|Asset)&Entity {S}) RETURN n",
    "MATCH (n:!Object) RETURN n": f"MATCH (n:(!Object)&Entity {S}) RETURN n",
    "MATCH (n:Entity:Object) RETURN n": f"MATCH (n:Entity:Object:Entity {S}) RETURN n",
    "MATCH (n IS Object) RETURN n": f"MATCH (n IS (Object)&Entity {S}) RETURN n",
    "MATCH (n:%) RETURN n": f"MATCH (n:(%)&Entity {S}) RETURN n",
    "MATCH (n {id: 1}) RETURN n": "MATCH (n:Entity {scene: $__scene, id: $__i0}) RETURN n",
    "MATCH (n {}) RETURN n": f"MATCH (n:Entity {S}) RETURN n",
    "MATCH (n:Door {id: 1} WHERE n.id = 1) RETURN n": (
        "MATCH (n:(Door)&Entity {scene: $__scene, id: $__i0} WHERE n.id = $__i0) RETURN n"
    ),
    "MATCH (n WHERE n.id = 1) RETURN n": f"MATCH (n:Entity {S} WHERE n.id = $__i0) RETURN n",
    "MATCH (a)-[:ON]->(b) RETURN a": f"MATCH (a{N})-[:ON]->(b{N}) RETURN a",
    "MATCH (a)<--(b) RETURN a": f"MATCH (a{N})<--(b{N}) RETURN a",
    "MATCH p = ((a)-[:ON]->(b))+ RETURN p": f"MATCH p = ((a{N})-[:ON]->(b{N}))+ RETURN p",
    "MATCH (a) WHERE (a)-->() RETURN a": f"MATCH (a{N}) WHERE (a{N})-->({N}) RETURN a",
    "MATCH (a) WHERE (a.id) = 1 RETURN a": f"MATCH (a{N}) WHERE (a.id) = $__i0 RETURN a",
    "MATCH (a) WHERE (a) < -(1) RETURN a": f"MATCH (a{N}) WHERE (a) < -(1) RETURN a",
    "RETURN [(a)-->(b) | b.id] AS l": f"RETURN [(a{N})-->(b{N}) | b.id] AS l",
    "RETURN COUNT { (n) } AS c": f"RETURN COUNT {{ (n{N}) }} AS c",
    "RETURN EXISTS { MATCH (n) } AS c": f"RETURN EXISTS {{ MATCH (n{N}) }} AS c",
    "CALL () { MATCH (n) RETURN n } RETURN n": f"CALL () {{ MATCH (n{N}) RETURN n }} RETURN n",
    "MATCH (n) RETURN keys(n)": f"MATCH (n{N}) RETURN [__k IN keys(n) WHERE __k <> 'scene']",
    "WITH [1] AS l, 0 AS i RETURN l[i]": "WITH [1] AS l, 0 AS i RETURN l[head([__i IN [i] WHERE __i <> 'scene'])]",
    "WITH [1] AS l RETURN l[0], l[-1], l[size(l) - 1], l[0..2]": (
        "WITH [1] AS l RETURN l[0], l[-1], l[size(l) - 1], l[0..2]"
    ),
    "WITH [1] AS l RETURN l[size(l) + l]": "WITH [1] AS l RETURN l[head([__i IN [size(l) + l] WHERE __i <> 'scene'])]",
    "RETURN datetime('2026-11-23T10:00+01:00') AS t": (
        "RETURN (datetime('1970-01-01T00:00Z') + duration.inSeconds(datetime('1970-01-01T00:00Z'), "
        "datetime($__p0))) AS t"
    ),
    "MATCH (n) FINISH": f"MATCH (n{N}) FINISH",
    "MATCH (n) // x\r\n RETURN /* y */ n;": f"MATCH (n{N}) RETURN n;",
    "MATCH (n) WHERE n.confidence > 0.5 RETURN n": f"MATCH (n{N}) WHERE n.confidence > $__f0 RETURN n",
    "MATCH (n) WHERE n.id = 'x' RETURN 'y', \"x\"": f"MATCH (n{N}) WHERE n.id = $__p0 RETURN $__p1, $__p0",
}

SPACED = "a class stands in the map, ({{class: '{}'}}); a label of several words in backticks"
REFUSED = {
    "": "syntax",
    "RETURN": "syntax",
    "MATCH (n:Fridge) RETURN n": "label",
    "MATCH (n) WHERE n:Event RETURN n": "label",
    "MATCH (a)-[:IN]->(b) RETURN a": "relation_type",
    "MATCH (n) RETURN n.colour": "property",
    "MATCH (n {size: 1}) RETURN n": "property",
    "MATCH (n) RETURN n {.secret}": "property",
    "MATCH (a)-[r {since: 1}]->(b) RETURN a": "property",
    "MATCH (n) RETURN n.scene": "scene_key",
    "MATCH (n {scene: 'other'}) RETURN n": "scene_key",
    "MATCH (n) RETURN n['scene']": "scene_key",
    "MATCH (n) RETURN {scene: 1} AS m": "scene_key",
    "MATCH (n) RETURN elementId(n)": "function",
    "MATCH (n) RETURN `size`(n.name)": "syntax",
    "RETURN reduce(a = 0, x IN [1] | a + x)": "function",
    "RETURN apoc.version()": "function",
    "CALL db.labels()": "procedure",
    "CREATE (n)": "write",
    "MATCH (n) SET n.id = 1": "write",
    "CALL { MERGE (n) RETURN n } RETURN n": "write",
    "MATCH (n) CALL (n) { RETURN 1 AS x } IN TRANSACTIONS RETURN x": "write",
    "LOAD CSV FROM 'x' AS l RETURN l": "file",
    "MATCH (n) LOAD CSV FROM 'x' AS l RETURN l": "file",
    "WITH 1 AS x LOAD CSV FROM 'x' AS l RETURN l": "file",
    "MATCH (n) WHERE n.id = 'a' LOAD CSV FROM 'x' AS l RETURN l": "file",
    "UNWIND [1] AS load LOAD CSV FROM 'x' AS l RETURN l": "file",
    "MATCH (n) CALL (n) { LOAD CSV FROM 'x' AS l RETURN l } RETURN l": "file",
    "SHOW INDEXES": "admin",
    "USE neo4j MATCH (n) RETURN n": "admin",
    "CYPHER runtime=slotted RETURN 1": "option",
    "CYPHER 4.4 RETURN 1": "option",
    "RETURN 1; RETURN 2": "statements",
    "RETURN 1;;": "statements",
    "MATCH (where) RETURN 1": "syntax",
    "MATCH (n) RETURN (n": "syntax",
    "MATCH (n) RETURN n)": "syntax",
    "MATCH (a)-(b) RETURN a": "syntax",
    "MATCH (a)-->b RETURN a": "syntax",
    "MATCH n RETURN n": "syntax",
    "MATCH (5)--(1) RETURN 1": "syntax",
    "RETURN (5)--(1) AS x": "syntax",
    "RETURN size('a')--(1) AS x": "syntax",
    "MATCH (n) RETURN n.id GROUP BY n.id": "syntax",
    "MATCH (n) RETURN date()": "function",
    "RETURN " + "(" * 41 + "1" + ")" * 41: "nesting",
    "RETURN 1" + " " * 4_000: "length",
}


def scoped(text: str) -> ScopedQuery:
    return scope(text, VOCABULARY, Limits())


@pytest.mark.parametrize("text", SCOPED)
def test_scope_is_inserted(text: str) -> None:
    assert scoped(text).text == f"CYPHER 5 {SCOPED[text]}"


@pytest.mark.parametrize("text", REFUSED)
def test_refusals_have_a_code_and_a_hint(text: str) -> None:
    with pytest.raises(QueryRefused) as refusal:
        scoped(text)
    assert refusal.value.code == REFUSED[text]
    assert refusal.value.hint


def test_newer_clauses_ask_for_the_newer_language() -> None:
    assert scoped("MATCH (n) LET x = n.id FILTER x = 'a' RETURN x").text.startswith("CYPHER 25 MATCH")
    assert scoped("RETURN 1 AS x NEXT RETURN x").text.startswith("CYPHER 25 RETURN")
    assert scoped("CYPHER 25 RETURN 1").text == "CYPHER 25 RETURN 1"


def test_strings_are_lifted() -> None:
    first = scoped("MATCH (n {name: 'a'}) WHERE n.id <> 'a' RETURN n")
    second = scoped('MATCH (n {name: "b\\"c"}) WHERE n.id <> "b\\"c" RETURN n')
    assert first.text == second.text
    assert (first.parameters, second.parameters) == ({"__p0": "a"}, {"__p0": 'b"c'})


def test_no_string_and_no_comment_of_the_model_reaches_the_server() -> None:
    text = scoped("MATCH (n) WHERE n.id = 'x // y' /* 'z' */ RETURN n // '").text
    assert "'" not in text
    assert "//" not in text
    assert "/*" not in text


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("MATCH (n) WHERE n.id = 'x' RETURN n", "USING INDEX `n`:Entity(scene) WHERE n.id = $__p0"),
        ("MATCH (e:PastEvent) RETURN e", "USING INDEX SEEK `e`:PastEvent(scene) RETURN e"),
        ("MATCH (p:PastEvent|PastNode) RETURN p", "USING INDEX SEEK `p`:Past(scene) RETURN p"),
    ],
)
def test_a_query_has_another_form_with_an_index_hint(text: str, hint: str) -> None:
    query = scoped(text)
    (hinted,) = query.hinted
    assert hint in hinted.text
    assert hinted.text.replace(hint.partition(") ")[0] + ") ", "") == query.text
    assert (hinted.cost, hinted.parameters) == (query.cost, query.parameters)
    assert scoped("RETURN 1").hinted == ()


def test_an_offset_in_the_text_leads_to_the_token_of_the_model() -> None:
    query = scoped("MATCH (n {}) /* note */ WHERE n.`name` = 'x' RETURN n;")
    tokens = {
        "CYPHER": "",
        "MATCH": "MATCH",
        "Entity": "n",
        "WHERE": "WHERE",
        "`name`": "name",
        "$__p0": "'x'",
        ";": ";",
    }
    assert {part: query.piece_at(query.text.index(part)) for part in tokens} == tokens
    assert query.piece_at(query.text.index("WHERE") - 1) == ")", "the blank before it"
    assert query.piece_at(len(query.text) + 10) == ";"


def test_columns_are_named_as_the_model_wrote_them() -> None:
    assert scoped("MATCH (n) RETURN n.id, 'a' + n.name, [(n)-->(m)|m.id], count(*) AS `how many`").columns == (
        "n.id",
        "'a' + n.name",
        "[(n)-->(m)|m.id]",
        "how many",
    )


def test_a_property_may_be_unknown_where_only_its_absence_is_asked() -> None:
    assert scoped("MATCH (o) WHERE o.foo IS NULL AND o.bar IS NOT NULL RETURN count(*)")
    assert scoped("WITH {foo: 1} AS m RETURN m.foo")
    assert scoped("MATCH (o) RETURN coalesce(o.foo, 'none') AS foo")
    assert scoped("MATCH (o) WITH o.center AS c, o {.name, x: 1} AS o RETURN c.x, o.x, date('2026-01-01').year")
    with pytest.raises(QueryRefused, match="no property `year`"):
        scoped("MATCH (o) WHERE o.year > 1 RETURN o.id")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("MATCH (n:Fridge) RETURN n", "objects have `class`: did you mean `.class = 'Fridge'`?"),
        ("MATCH (b:Floor Lamp) RETURN b.name", SPACED.format("floor_lamp")),
        ("MATCH (b:Wall Mounted Shelf)-[:ON]->(x) RETURN x", SPACED.format("wall_mounted_shelf")),
        (
            "MATCH (n:Door) RETURN apoc.text.join(collect(n.id))",
            "return the list itself, such as collect(n.name)",
        ),
        ("MATCH (n:fridges) RETURN n", "objects have `class`: did you mean `.class = 'Fridge'`?"),
        ("MATCH (n:Room) RETURN n", "did you mean `Place`?"),
        ("MATCH (n:object) RETURN n", "did you mean `Object`?"),
        ("MATCH (n)-[:INSIDES]->() RETURN n", "did you mean `INSIDE`?"),
        ("MATCH (n) WHERE n.is_dirty RETURN n", "`states` is a list: did you mean `'dirty' IN n.states`?"),
        ("MATCH (n) WHERE n.isOpen RETURN n", "`states` is a list: did you mean `'open' IN n.states`?"),
        ("MATCH (n) WHERE n.sittable RETURN n", "`affordances` is a list: did you mean `'sittable' IN n.affordances`?"),
        ("MATCH (n) RETURN n.nam", "did you mean `name`?"),
        (
            "MATCH (n) WHERE NOT EXISTS { (n)-[:ON]->() OR (n)-[:INSIDE]->() } RETURN n",
            "write EXISTS { … } OR EXISTS { … }",
        ),
        ("MATCH (n) WHERE n.z > 1 RETURN n", "a position is a point: write n.center.z"),
        ("MATCH (n {x: 1}) RETURN n", "a position is a point: write n.center.x"),
        ("MATCH (n) RETURN n.clas", "did you mean `class`?"),
        (
            "MATCH (n) WHERE n.state = 'open' RETURN n",
            "did you mean `states`? It is a list: write `'…' IN n.states`",
        ),
        ("MATCH (n)-[:IN]->() RETURN n", "did you mean `INSIDE`?"),
        ("MATCH (n)-[:LOCATED_IN]->() RETURN n", "did you mean `INSIDE`?"),
        ("MATCH (n)-[:contains]->() RETURN n", "did you mean `INSIDE`, from what is inside to what it is in?"),
        ("MATCH (n)-[:on_top_of]->() RETURN n", "did you mean `ON`?"),
        ("MATCH (n)-[:NEXT_TO]->() RETURN n", "did you mean `CLOSE`?"),
        (
            "MATCH (n)-[:SITTABLE]->() RETURN n",
            "'sittable' is in the list `affordances` of a node: write `'sittable' IN n.affordances`",
        ),
        ("MATCH (n:Thing) RETURN n", "did you mean `Entity`?"),
        ("MATCH (n:Objekt) RETURN n", "did you mean `Object`?"),
        ("MATCH (n:Plates) RETURN n", "objects have `class`: did you mean `.class = 'plate'`?"),
        ("MATCH (n) RETURN tolowr(n.name)", "did you mean `tolower` or `lower` or `tofloat`?"),
        ("MATCH (n) RETURN len(n.name)", "write size() for lists and text, length() for paths"),
    ],
)
def test_hints_name_what_is_there(text: str, hint: str) -> None:
    """A fault of this kind compares a name with values first: `clas` was taken for the state clean."""
    known = {
        "class": ["Fridge", "Cup", "Objective", "plate"],
        "states": ["clean", "dirty", "open"],
        "affordances": ["sittable"],
    }
    with pytest.raises(QueryRefused) as refusal:
        scope(text, VOCABULARY, Limits(), known=known)
    assert refusal.value.hint == hint


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (n) RETURN range(1, 100000000000) AS",
        "MATCH (n:PastNode)-[:ON]->(m) RETURN n)",
        "MATCH (n) RETURN date() AS day, nofunction(n)",
    ],
)
def test_a_text_that_is_no_query_is_not_priced(text: str) -> None:
    """The kind: a bound of what will never be read, told in place of the fault that makes the text unreadable."""
    with pytest.raises(QueryRefused) as refusal:
        scoped(text)
    assert refusal.value.code == ("function" if "nofunction" in text else "syntax")
    assert refusal.value.piece not in {"date", "range", "ON"}


def test_the_tree_has_its_parts_in_the_order_of_the_text() -> None:
    """Visitors tell the first unknown name, and insert each text once: no part stands before one that encloses it."""
    for case in cases():
        if case.expect == "rows":
            parts = parse(case.cypher, Limits().nesting, VOCABULARY).parts
            places = [part.at for part in parts]
            assert places == sorted(places), case.cypher


@given(st.sampled_from([case for case in cases() if case.expect == "rows"]), st.data())
def test_a_damaged_query_is_refused_or_still_wholly_scoped(case: Case, data: st.DataObject) -> None:
    """Cut out or double a part of a text: the result is refused, or each of its nodes is bound."""
    start = data.draw(st.integers(0, len(case.cypher)))
    end = data.draw(st.integers(start, min(len(case.cypher), start + 12)))
    damaged = case.cypher[:start] + case.cypher[start:end] * data.draw(st.sampled_from([0, 2])) + case.cypher[end:]
    try:
        text = scoped(damaged).text
    except QueryRefused:
        return
    assert text.count("Entity {scene: $__scene") >= text.count("]-")


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    code = "read"
    try:
        scoped(text)
    except QueryRefused as refusal:
        code = refusal.code
    assert code


@pytest.mark.parametrize(
    "where", ["RETURN n.name WHERE n.class = 'cup'", "RETURN n.name AS name ORDER BY name WHERE true"]
)
def test_a_condition_after_return_is_told_where_it_belongs(where: str) -> None:
    """A small model writes WHERE last, as in other languages: what is wrong is its place, not the clause."""
    with pytest.raises(QueryRefused, match=r"WHERE can't stand here.*put it before RETURN"):
        scope(f"MATCH (n:Object) {where}", VOCABULARY, Limits())
