"""Tests of the gate on graphs that are no scenes, in labels and properties of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, cast
from uuid import uuid4

import pytest
from neo4j import GraphDatabase

from scenecypher.db.gate.graph import read_graph
from scenecypher.db.gate.judge import check_plan
from scenecypher.db.gate.messages import EXPLAIN
from scenecypher.db.store.connection import Address, Database
from scenecypher.errors import InputError
from scenecypher.gate import Bounds, Gate, Graph, Limits, Plan, QueryRefused, Schema

TYPES: Final = frozenset({"PLAYED_IN", "DIRECTED"})
PROPERTIES: Final = frozenset({"name", "title", "year", "tags", "role", "scene"})
FILMS: Final = """
CREATE (m:Film {title: 'Metropolis', year: 1927, tags: ['silent', 'city'], scene: 'a word', studio: 'ufa'}),
    (n:Film {title: 'Nosferatu', year: 1922, studio: 'prana'}),
    (b:Actor:Person {name: 'Brigitte Helm', studio: 'ufa'})-[:PLAYED_IN {role: 'Maria'}]->(m),
    (s:Actor:Person {name: 'Max Schreck', studio: 'prana'})-[:PLAYED_IN {role: 'Orlok'}]->(n),
    (l:Person {name: 'Fritz Lang', studio: 'ufa'})-[:DIRECTED]->(m)
"""


class Films:
    """The graph above, its labels and its scoping property made unique by a word, so that tests share a server."""

    def __init__(self, database: Database, gate: Gate) -> None:
        self.word, self.database, self.gate = uuid4().hex[:8], database, gate
        self.studio = f"studio_{self.word}"
        labels = {f"{label}_{self.word}" for label in ("Film", "Actor", "Person")}
        self.all = Graph(schema=Schema(labels, TYPES, PROPERTIES))
        self.scoped = Schema(labels, TYPES, PROPERTIES, scope=self.studio)
        self.write(FILMS)

    def write(self, text: str) -> None:
        text = self.text(text).replace("studio:", f"{self.studio}:")
        self.database.transaction(lambda tx: tx.run(cast("Any", text)).consume(), access="write")

    def text(self, cypher: str) -> str:
        return re.sub(r":(Film|Actor|Person)\b", rf":\1_{self.word}", cypher)

    def of(self, studio: str) -> Graph:
        return Graph(studio, schema=self.scoped)

    def rows(self, cypher: str, graph: Graph | None = None, **parameters: object) -> list[list[Any]]:
        found: list[list[Any]] = self.gate.run(self.text(cypher), graph or self.all, parameters=parameters).rows
        return found

    def refusal(self, cypher: str, graph: Graph | None = None) -> str:
        refused = self.gate.check(self.text(cypher), graph or self.all).refused
        assert refused
        return f"{refused.code}: {refused}"


@pytest.fixture(scope="module")
def films(database: Database, address: Address) -> Iterator[Films]:
    with GraphDatabase.driver(address.uri, auth=(address.username, address.password)) as driver:
        found = Films(database, Gate(driver))
        yield found
        found.write("MATCH (n) WHERE n:Film OR n:Person DETACH DELETE n")


def test_a_graph_that_is_no_scene_is_read_by_the_names_of_its_own(films: Films) -> None:
    """The kind: the gate was tied to scenes; their label and key were inserted into every query."""
    text = films.text("MATCH (p:Actor)-[r:PLAYED_IN]->(f:Film) WHERE f.year > 1925 RETURN p.name, r.role, f")
    found = films.gate.explain(text, films.all)
    assert found.refused is None
    assert found.text == f"CYPHER 5 {text.replace('1925', '$__i0')}"
    assert found.cost
    assert found.plan
    film = {"title": "Metropolis", "year": 1927, "tags": ["silent", "city"], "scene": "a word", films.studio: "ufa"}
    assert films.rows(text) == [["Brigitte Helm", "Maria", film]]
    assert films.rows("MATCH (f:Film) RETURN count(f) AS n, max(f.scene)") == [[2, "a word"]]
    assert films.rows("MATCH (p:Person) RETURN datetime({year: 2020}).year + date().year > 4000 LIMIT 1") == [[True]]


def test_all_components_of_times_and_durations_are_known(films: Films) -> None:
    """The kind: a component that a list of names lacked was refused as an unknown property of a node."""
    day, hour = "date('2020-01-01')", "time('12:00+01:00')"
    rows = films.rows(f"RETURN {day}.weekday, {day}.weekYear, {day}.dayOfQuarter, {hour}.offsetMinutes, {hour}.offset")
    assert rows == [[3, 2020, 1, 60, "+01:00"]]
    rows = films.rows(
        "RETURN duration({months: 14, seconds: 61}).monthsOfYear, duration({seconds: 61}).secondsOfMinute"
    )
    assert rows == [[2, 1]]


def test_what_a_graph_has_not_is_refused_by_its_own_names_and_no_word_of_scenes(films: Films) -> None:
    assert films.refusal("MATCH (f:Flim) RETURN f").startswith("label: no label `Flim`; labels are Actor_")
    assert films.refusal("MATCH (r:Room) RETURN r").startswith("label: no label `Room`; labels are Actor_")
    assert films.refusal("MATCH (f:Film) RETURN f.titel") == "property: no property `titel`; did you mean `title`?"
    unknown = "relation_type: no relation type `near`; relation types are DIRECTED, PLAYED_IN"
    assert films.refusal("MATCH (f:Film)-[:near]->(g) RETURN g") == unknown
    assert films.refusal("MATCH (s:Step)-[:LED_TO]->(e:PastEvent) RETURN e").startswith("label: no label `Step`")


def test_names_that_a_scene_has_mean_nothing_special_in_another_graph(films: Films) -> None:
    """The kind: labels of a scene's past, its key and its ids had a meaning in every query."""
    races = Graph(schema=Schema({"Run", "Step"}, {"LED_TO", "BESIDE"}, {"id", "line"}), bounds=Bounds())
    pattern = (
        "MATCH (r:Run {id: %s})-[:BESIDE]->(s:Step)-[:LED_TO]->(r) WHERE s[%s] = %s RETURN r {.*}, keys(s), s.line"
    )
    found = films.gate.check(pattern % (1, "'line'", 2), races)
    assert found.refused is None
    assert found.text == "CYPHER 5 " + pattern % ("$__i0", "$__p1", "$__i2")
    for part in ("Run {id: 1})", "Run)"):
        found = films.gate.check(
            f"MATCH (r:{part}-[:LED_TO]->(s:Step) WITH r, collect(s.id) AS l RETURN size(l)", races
        )
        assert found.cost
        assert found.cost.rows == 1_000, "an id may repeat: it is no key"
    timed = Schema({"Run", "Step"}, {"LED_TO"}, {"id"}, scope="year", member="Timed")
    text = films.gate.check("MATCH (r:Run) RETURN r.id", Graph("x", schema=timed, bounds=Bounds())).text
    assert text == "CYPHER 5 MATCH (r:(Run)&Timed {year: $__scene}) RETURN r.id"


@pytest.mark.parametrize(
    ("cypher", "code"),
    [
        ("CREATE (f:Film)", "write"),
        ("MATCH (f:Film) SET f.year = 1", "write"),
        ("CALL db.labels()", "procedure"),
        ("LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line", "file"),
        ("RETURN reduce(a = 0, x IN [1] | a + x) AS s", "function"),
        ("MATCH (f:Film) RETURN [a IN range(1, 9999) | [b IN range(1, 9999) | a * b]] AS l", "cost"),
        ("MATCH (a)-[*1..9]-(b) RETURN a", "cost"),
        ("MATCH (f:Film) WHERE f.title =~ '(a+)+' RETURN f", "regex"),
    ],
)
def test_without_a_scope_all_limits_hold(films: Films, cypher: str, code: str) -> None:
    """The kind: only what belongs to the scope may fall away with it."""
    assert films.refusal(cypher).startswith(f"{code}: ")


@pytest.mark.parametrize(
    ("cypher", "code"),
    [
        ("CALL dbms.components() YIELD name RETURN name", "procedure"),
        ("LOAD CSV FROM 'file:///x' AS l RETURN l", "file"),
    ],
)
def test_what_a_check_of_the_query_type_lets_through_is_refused(films: Films, cypher: str, code: str) -> None:
    """The kind: for the server, procedures and files are reading, which read mode allows."""
    with films.database.run_read_only(EXPLAIN + cypher, {}, timeout_s=30, mark="test") as result:
        assert "w" not in (result.consume().query_type or "")
    assert films.refusal(cypher).startswith(f"{code}: ")


def test_rows_and_time_are_limited(films: Films, database: Database) -> None:
    gate = Gate(database, limits=Limits(rows=2, seconds=0.5))
    answer = gate.run("UNWIND range(1, 5) AS x RETURN x", films.all)
    assert (answer.rows, answer.truncated, answer.version) == ([[1], [2]], "the first 2 rows; there are more", 0)
    slow = "UNWIND range(1, 30000) AS x UNWIND range(1, 30000) AS y WITH x * y AS z WHERE z = 0 RETURN count(z)"
    with pytest.raises(QueryRefused, match=r"took longer than 0\.5 seconds"):
        gate.run(slow, films.all)


def test_a_cost_is_of_the_graph_as_it_was_measured(database: Database, films: Films) -> None:
    """The kind: with bounds of a small graph, what a large one can hold would count as cheap."""
    text = films.text("MATCH (f:Film) WITH collect(f.title) AS l RETURN [x IN l WHERE x IN l] AS r")
    small = films.gate.check(text, films.of("ufa")).cost
    database.transaction(
        lambda tx: tx.run(
            cast(
                "Any",
                films.text(f"UNWIND range(1, 3000) AS x CREATE (:Film {{{films.studio}: 'big', title: 'x' + x}})"),
            )
        ).consume(),
        access="write",
    )
    large = films.gate.check(text, films.of("big")).cost
    assert small
    assert large
    assert large.row_steps > 100_000 > small.row_steps


def test_a_scope_shows_its_own_part_alone(films: Films) -> None:
    ufa, prana = films.of("ufa"), films.of("prana")
    for cypher, first, second in (
        ("MATCH (f:Film) RETURN f.title", [["Metropolis"]], [["Nosferatu"]]),
        ("MATCH (p)-[:PLAYED_IN]->(f) RETURN p.name", [["Brigitte Helm"]], [["Max Schreck"]]),
        ("MATCH (n) RETURN count(n)", [[3]], [[2]]),
        ("MATCH (f:Film) RETURN COUNT { (p:Person)-[:DIRECTED]->(f) } AS n", [[1]], [[0]]),
        ("MATCH (p:Person) WHERE NOT EXISTS { (p)-[:DIRECTED]->() } RETURN count(p)", [[1]], [[1]]),
        ("MATCH (p:Person {name: 'Max Schreck'}) RETURN p", [], [[{"name": "Max Schreck"}]]),
        ("MATCH (p:Actor) RETURN properties(p), keys(p)", [[{"name": "Brigitte Helm"}, ["name"]]], None),
        ("MATCH path = (:Actor)--(:Film) RETURN size(nodes(path))", [[2]], [[2]]),
    ):
        assert films.rows(cypher, ufa) == first
        assert second is None or films.rows(cypher, prana) == second
    studio = films.studio
    for cypher in (
        f"MATCH (f) RETURN f.{studio}",
        f"MATCH (f {{{studio}: 'prana'}}) RETURN f",
        f"RETURN x['{studio}']",
    ):
        assert films.refusal(cypher, ufa).startswith(f"scene_key: a query can't name the property `{studio}`")
    text = films.text("MATCH (f:Film) RETURN f")
    assert films.gate.check(text, ufa).text == f"CYPHER 5 {text.replace(')', f' {{{studio}: $__scene}})', 1)}"


@pytest.mark.parametrize(
    "cypher",
    [
        "MATCH (f:Film) RETURN f",
        "MATCH (n) RETURN count(n)",
        "MATCH (a:Film {%(studio)s: $__scene}), (b:Film) RETURN b",
        "MATCH (f:Film {title: $__scene}) RETURN f",
        "MATCH (f:Film {%(studio)s: $__scene}) RETURN EXISTS { MATCH (g:Film) } AS e",
        "MATCH (f:Film {%(studio)s: $__scene}) WHERE f.title = $__scene RETURN f, COUNT { (g) } AS n",
    ],
)
def test_a_plan_that_leaves_the_scope_is_refused_whatever_was_inserted(films: Films, cypher: str) -> None:
    """The kind: the plan's judge knew one property alone, the scene's; it must hold for any, and for that one only."""
    text = films.text(cypher % {"studio": films.studio})
    with films.database.run_read_only(EXPLAIN + text, {"__scene": "ufa"}, timeout_s=30, mark="test") as result:
        summary = result.consume()
    plan = Plan.of(summary.plan or {})
    check_plan(plan, summary.query_type, films.all.schema)
    with pytest.raises(QueryRefused, match="read more than this studio"):
        check_plan(plan, summary.query_type, films.scoped)


def test_parameters_are_read_as_values_of_the_text(films: Films) -> None:
    """The kind: values of a caller are checked and priced like literals, and never become text."""
    rows = films.rows("MATCH (f:Film) WHERE f.title IN $t AND f.year > $y RETURN f.year", t=["Nosferatu", "x'"], y=-3)
    assert rows == [[1922]]
    assert films.rows("RETURN $a AS a, $b, $c, $d, $e", a="'; x", b=None, c=[True, -1, 0.5], d=-0.5, e=[]) == [
        ["'; x", None, [True, -1, 0.5], -0.5, []]
    ]

    class Measured(float):
        """A number of a library's own, as NumPy has them."""

        def __repr__(self) -> str:
            return f"Measured({float(self)})"

    assert films.rows("RETURN $a AS a, $b AS b", a=Measured(1.5), b=Measured(-0.5)) == [[1.5, -0.5]]
    for value in ({"a": 1}, 2**63, float("nan"), object(), "\ud800"):
        with pytest.raises(QueryRefused):
            films.rows("RETURN $a AS a", a=value)
    with pytest.raises(QueryRefused, match=r"no parameter `\$b`; parameters are \$a"):
        films.rows("RETURN $b AS b", a=1)
    with pytest.raises(QueryRefused, match="may take too long"):
        films.rows("UNWIND range(1, 9) AS x RETURN replace($a, '', $a) AS b", a="x" * 100_000)


def test_a_driver_that_its_owner_closed_is_no_fault_of_ours(address: Address) -> None:
    driver = GraphDatabase.driver(address.uri, auth=(address.username, address.password))
    gate, graph = Gate(driver), Graph(schema=Schema({"Film"}, {"PLAYED_IN"}, {"title"}))
    driver.close()
    for call in (gate.graph, lambda: gate.run("RETURN 1 AS one", graph)):
        with pytest.raises(InputError, match="this connection is closed"):
            call()


def test_a_graph_is_read_with_its_names_and_sizes(films: Films) -> None:
    films.write(
        "CREATE (:Film {studio: 'small', title: 'äöü', tags: ['a', 'bcd']})-[:PLAYED_IN {role: 'x'}]->"
        "(:Film {studio: 'small'})"
    )
    found = films.gate.graph(scope=(films.studio, "small"))
    film = f"Film_{films.word}"
    assert found.schema == Schema({film}, {"PLAYED_IN"}, {"title", "tags", "role"}, scope=films.studio)
    assert found.bounds is None, "it is measured again when it is old"
    _, bounds = read_graph(films.gate._database, (films.studio, "small"), "")
    assert bounds.entries == {
        ("nodes", film, 2),
        *((measure, "PLAYED_IN", 1) for measure in ("relations", "out", "in")),
        *(("text", name, number) for name, number in (("title", 12), ("tags", 12), ("role", 4), (films.studio, 20))),
        *(("items", name, number) for name, number in (("title", 0), ("tags", 2), ("role", 0), (films.studio, 0))),
    }
    assert films.rows("MATCH (f:Film) RETURN f.title ORDER BY f.title", found) == [["äöü"], [None]]
    whole = films.gate.graph()
    assert whole.schema.labels >= {film, f"Actor_{films.word}"}
    assert whole.schema.scope == ""


def test_a_part_that_relations_join_with_the_rest_is_no_scope(films: Films) -> None:
    """The kind: a path goes along relations, so that one which leaves the scope would show another one's nodes."""
    films.write("CREATE (:Film {studio: 'open'})<-[:DIRECTED]-(:Person {studio: 'other'})")
    with pytest.raises(InputError, match=r"`DIRECTED` joins nodes of studio_\w+ 'other' with others"):
        films.gate.graph(scope=(films.studio, "other"))
    with pytest.raises(InputError, match=r"`DIRECTED` joins nodes of studio_\w+ 'open' with others"):
        films.gate.check("RETURN 1 AS x", films.of("open"))
    with pytest.raises(InputError, match="no node has the studio"):
        films.gate.graph(scope=(films.studio, "nobody"))
    with pytest.raises(InputError, match="can't mark a part"):
        Schema(frozenset(), frozenset(), frozenset(), scope="a b")
