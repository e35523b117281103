"""The gate on the past: hostile queries see nothing of other scenes or of what is hidden, benign ones are answered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, LiteralString
from zoneinfo import ZoneInfo

import pytest

from scenecypher.db.gate import Gate, Limits, SceneRef
from scenecypher.db.gate.judge import Plan
from scenecypher.db.gate.messages import EXPLAIN
from scenecypher.db.gate.names import HIDDEN, reads_past
from scenecypher.db.gate.scope import ScopedQuery, scope
from scenecypher.db.graph.delta import AddRelation, Delta, RemoveRelation
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.past import PastNotBuilt, build
from scenecypher.db.schema import PAST_KINDS, PAST_PROPERTIES
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.history import declare_time, declare_times, parse_time
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError, QueryRefused
from tests.db.gate.corpus import CANARY, DATA, VOCABULARY, Case, rows_of, text_of
from tests.db.past.test_build import OPEN, SHUT, TAKE, ReadOnly
from tests.db.store.test_store import fresh, small

CASES: Final = [Case(**json.loads(line)) for line in (DATA / "past.jsonl").read_text("utf-8").splitlines()]
PUT: Final = Delta.of([RemoveRelation(Relation("robot", "HOLDS", "cup")), AddRelation(Relation("cup", "ON", "fridge"))])
RUNS: Final[LiteralString] = """
UNWIND $rows AS row
CREATE (r:Past:Run {scene: row.key, number: row.number, instruction: row.told, method: 'lookplangraph', line: $hidden,
                    settings: $hidden, host: $hidden, scene_name: $hidden, pid: 7, started: $hidden})
CREATE (r)-[:HAS_STEP]->(:Past:Step {scene: row.key, run: row.number, number: 1, kind: 'proposed', question: row.told,
                                     line: $hidden})
CREATE (r)-[:HAS_STEP]->(:Past:Step {scene: row.key, run: row.number, number: 2, kind: 'acted', version: 2,
                                     line: $hidden})
"""


@dataclass(frozen=True, slots=True)
class Pair:
    """A scene with a past, and another one, every word of which is the canary."""

    home: SceneInfo
    other: SceneInfo

    def ask(self, gate: Gate, cypher: str) -> str:
        """Return what a query tells, as text."""
        return text_of(gate.run(self.filled(cypher), self.ref).rows)

    @property
    def ref(self) -> SceneRef:
        return SceneRef(self.home.key, self.home.name)

    def filled(self, cypher: str) -> str:
        return cypher.replace("%OTHER%", self.other.key).replace("%KEY%", self.home.key)


@pytest.fixture(scope="module")
def gate(database: Database) -> Gate:
    return Gate(database)


@pytest.fixture(scope="module")
def pair(store: SceneStore) -> Iterator[Pair]:
    home, other = fresh("past"), fresh("past")
    store.put(ImportedScene(home, small()))
    leak = Node(f"{CANARY}1", "Object", f"{CANARY} name", f"{CANARY} class", (f"{CANARY}_state".lower(),))
    store.put(ImportedScene(other, SceneGraph.of([leak, Node("r", "Place", CANARY, CANARY)], [])))
    both = Pair(store.find(home), store.find(other))
    live(store, both.home)
    inside = Delta.of([AddRelation(Relation(leak.id, "INSIDE", "r"))])
    store.commit(both.other, inside, actor=f"{CANARY} actor", action=f"{CANARY} action", action_id=CANARY)
    told = [(both.home.key, 901, "get the cup"), (both.other.key, 902, CANARY)]
    given = {"rows": [{"key": key, "number": number, "told": told} for key, number, told in told], "hidden": CANARY}
    store.database.execute(RUNS, given)
    Gate(store.database).run("MATCH (e:PastEvent) RETURN e", SceneRef(both.other.key, other))
    yield both
    clear: LiteralString = "MATCH (n:Past) WHERE n.scene IN $keys DETACH DELETE n"
    store.database.execute(clear, {"keys": [both.home.key, both.other.key]})


def live(store: SceneStore, home: SceneInfo) -> None:
    """Let something happen from eight to eleven, in the scene's own clock."""

    def at(hour: int, minute: int = 0) -> None:
        declare_time(store.database, home, datetime(2026, 11, 23, hour, minute, tzinfo=UTC))

    at(7)
    for hour, minute, actor, action, delta in (
        (8, 0, "ann", "open fridge", OPEN),
        (10, 0, "robot", "take cup", TAKE),
        (10, 5, "robot", "close fridge", SHUT),
    ):
        at(hour, minute)
        store.commit(home, delta, actor=actor, action=action)
    at(10, 10)
    store.undo(home, version=3, actor="ann")
    at(11)
    store.commit(home, PUT, actor="robot", action="put cup on fridge")


def of_kind(kind: str) -> list[object]:
    return [pytest.param(case, id=f"{case.id}-{case.category}") for case in CASES if case.kind == kind]


def test_there_are_sixty_attacks() -> None:
    assert len(of_kind("attack")) >= 60


@pytest.mark.parametrize("case", of_kind("benign"))
def test_benign_queries_are_answered_right(gate: Gate, pair: Pair, case: Case) -> None:
    assert rows_of(gate.run(case.cypher, pair.ref).rows) == rows_of(case.rows or [])


@pytest.mark.parametrize("case", of_kind("attack"))
def test_nothing_of_another_scene_nor_of_what_is_hidden_is_shown(gate: Gate, pair: Pair, case: Case) -> None:
    try:
        told = pair.ask(gate, case.cypher)
    except QueryRefused as refusal:
        told = "" if CANARY in case.cypher or "%" in case.cypher else str(refusal)
    else:
        assert case.category != "write"
        if case.category == "hidden":
            assert "_open" not in told
            assert '"line"' not in told
    assert CANARY not in told
    assert pair.home.key not in told
    assert pair.other.key not in told


@pytest.mark.parametrize("case", of_kind("attack"))
def test_the_judge_alone(database: Database, pair: Pair, case: Case) -> None:
    """Judge the texts as a model wrote them: none that reads another scene's past passes without the parser's part."""
    from neo4j.exceptions import Neo4jError

    from scenecypher.db.gate.judge import Plan, check_plan
    from scenecypher.errors import QueryFailed, QueryTimeout
    from tests.db.gate.test_layers import READING

    text = pair.filled(case.cypher)
    try:
        with database.run_read_only(EXPLAIN + text, {"__scene": pair.home.key}, timeout_s=20.0, mark="test") as result:
            summary = result.consume()
    except (QueryFailed, QueryTimeout, Neo4jError):
        return
    plan = Plan.of(summary.plan or {"operatorType": "none"})
    if summary.query_type == "r" and not any(step.operator in READING for step in plan) and "{" not in plan.text():
        return
    with pytest.raises(QueryRefused):
        check_plan(plan, summary.query_type)


@pytest.mark.parametrize(
    ("cypher", "says"),
    [
        ("MATCH (n:PastNode)-[:INSIDE]->(m) RETURN m", "what was so is a fact"),
        ("MATCH (n:PastNode)--(m:Object) RETURN m", "join them by id"),
        ("MATCH (n:Object) MATCH (n)--(p:PastNode) RETURN p", "join them by id"),
        ("MATCH (n)-[:BEGAN]->(m) RETURN m", "give its nodes labels of the past"),
        ("MATCH (f:PastFact) RETURN f.version", "properties of PastFact are"),
        ("MATCH (e:PastEvent {since: 1}) RETURN e", "properties of PastEvent are"),
        ("MATCH (e:PastEvnt) RETURN e", "did you mean `PastEvent`"),
        ("MATCH (e:Event) RETURN e", "did you mean `PastEvent`"),
        ("MATCH (e:PastEvent) RETURN properties(e)", "name the properties"),
        (
            "MATCH (e:PastEvent), (n:Object) WHERE n.since = 1 RETURN n",
            "a node as it is now; .:PastFact. and .:PastNode. have it",
        ),
        ("MATCH (n:Object) RETURN n.actor", "no property `actor`"),
    ],
)
def test_a_refusal_says_how_to_ask_about_the_past(gate: Gate, pair: Pair, cypher: str, says: str) -> None:
    with pytest.raises(QueryRefused, match=says):
        gate.run(cypher, pair.ref)


def test_queries_about_the_present_are_sent_as_ever() -> None:
    """A query about the present neither builds a past nor has a word of it in its text."""
    text = "MATCH (n:Object)-[:INSIDE]->(m) WHERE n['x' + 'y'] = 1 RETURN keys(n), n.name, m"
    assert not reads_past(text)
    assert "Past" not in scope(text, VOCABULARY, Limits()).text
    assert "line" not in scope(text, VOCABULARY, Limits()).text
    assert reads_past("MATCH (e:PastEvent) RETURN e")
    assert not reads_past("MATCH (n {name: 'Run'}) RETURN n // Step")
    assert not HIDDEN & {name for names in PAST_PROPERTIES.values() for name in names}


def test_an_answer_has_a_past_of_its_own_version(store: SceneStore, gate: Gate) -> None:
    name = fresh("past")
    store.put(ImportedScene(name, small()))
    info = store.find(name)
    for number, delta in enumerate([OPEN, SHUT, OPEN], 1):
        store.commit(info, delta, actor="ann", action="act")
        answer = gate.run("MATCH (e:PastEvent) RETURN max(e.version) AS v", SceneRef(info.key, name))
        assert (answer.version, answer.rows) == (number, [[number]])


def test_a_reader_gets_what_is_built_or_words(store: SceneStore, database: Database) -> None:
    name = fresh("past")
    store.put(ImportedScene(name, small()))
    info = store.find(name)
    ref, text = SceneRef(info.key, name), "MATCH (e:PastEvent) RETURN e.version AS v"
    store.commit(info, OPEN, actor="ann", action="act")
    with pytest.raises(PastNotBuilt, match="may only read"):
        Gate(ReadOnly(database)).run(text, ref)
    assert Gate(database).run(text, ref).rows == [[1]]
    store.commit(info, SHUT, actor="ann", action="act")
    answer = Gate(ReadOnly(database)).run(text, ref)
    assert answer.rows == [[1]]
    assert "up to version 1 of 2" in (answer.truncated or "")


def test_times_may_run_backwards(store: SceneStore, gate: Gate) -> None:
    """As of a time means the last version before the first later one."""
    name = fresh("past")
    store.put(ImportedScene(name, small()))
    info = store.find(name)
    for hour, delta in ((9, OPEN), (12, SHUT), (10, OPEN), (13, SHUT)):
        declare_time(store.database, info, datetime(2026, 11, 23, hour, tzinfo=UTC))
        store.commit(info, delta, actor="ann", action="act")
    text = (
        "MATCH (f:PastFact)-[:ABOUT]->(n:PastNode {class: 'fridge'}) WHERE f.since_at <= datetime('2026-11-23T%s') "
        "AND (f.until_at IS NULL OR f.until_at > datetime('2026-11-23T%s')) RETURN f.state AS s, f.since AS v"
    )

    def at(time: str) -> list[list[object]]:
        rows = gate.run(text % (time, time), SceneRef(info.key, name)).rows
        return [row for row in rows if row[0]]  # type: ignore[misc]

    assert at("10:30Z") == [["open", 1]]
    assert at("12:30Z") == [["open", 3]]
    assert at("14:30+01:00") == [["closed", 4]]


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York"])
def test_times_of_the_past_are_utc_whatever_zone_the_clock_was_set_in(store: SceneStore, gate: Gate, zone: str) -> None:
    """A fault of this kind keeps the zone of a declaration: equal moments then compare as unequal."""
    name = fresh("past")
    store.put(ImportedScene(name, small()))
    info = store.find(name)
    ten = datetime(2026, 11, 23, 10, tzinfo=UTC)
    declare_time(store.database, info, ten.astimezone(ZoneInfo(zone)))
    store.commit(info, OPEN, actor="ann", action="act")
    declare_times(store.database, info, ten.astimezone(ZoneInfo(zone)), {1: ten.astimezone(ZoneInfo(zone))})
    text = (
        "MATCH (f:PastFact {state: 'open'}) WHERE f.since_at <= datetime('2026-11-23T10:00Z') "
        "AND f.since_at = datetime('2026-11-23T10:00Z') RETURN f.since AS v"
    )
    assert gate.run(text, SceneRef(info.key, name)).rows == [[1]]
    assert gate.run("MATCH (e:PastEvent) RETURN e.at", SceneRef(info.key, name)).rows == [
        ["2026-11-23T10:00:00.000000000+00:00"]
    ]


ZONED: Final = [
    ("MATCH (e:PastEvent) WHERE e.at = datetime('2026-11-23T11:00+01:00') RETURN e.action AS x", ["take cup"]),
    ("MATCH (e:PastEvent) WHERE e.at = datetime('2026-11-23T11:00[Europe/Berlin]') RETURN e.action AS x", ["take cup"]),
    ("MATCH (e:PastEvent) WHERE e.at <= datetime('2026-11-23T03:00-05:00') RETURN e.action AS x", ["open fridge"]),
    ("MATCH (e:PastEvent) WHERE e.at >= datetime('20261123T133000+0230') RETURN e.action AS x", ["put cup on fridge"]),
    ("MATCH (e:PastEvent) WHERE e.at IN [datetime('2026-11-23T11:05+01:00')] RETURN e.action AS x", ["close fridge"]),
    ("MATCH (e:PastEvent {at: datetime('2026-11-23T02:00-08:00')}) RETURN e.action AS x", ["take cup"]),
    (
        "MATCH (e:PastEvent {at: datetime({year: 2026, month: 11, day: 23, hour: 15, timezone: '+05:00'})}) RETURN 1",
        [1],
    ),
    ("MATCH (e:PastEvent) WHERE e.at = datetime('2026-11-23' + 'T11:00+01:00') RETURN e.action AS x", ["take cup"]),
    (
        "UNWIND [datetime('2026-11-23T11:00+01:00'), datetime('2026-11-23T10:00Z')] AS t RETURN count(DISTINCT t) AS x",
        [1],
    ),
    ("RETURN datetime('2026-11-23T10:00:00.123456789+01:00') AS x", ["2026-11-23T09:00:00.123456789+00:00"]),
    ("RETURN datetime('2026-11-23T10:00+01:00').hour AS x", [9]),
    ("RETURN datetime(null) AS x", [None]),
]


@pytest.mark.parametrize(("cypher", "found"), ZONED)
def test_times_in_a_query_compare_by_instant(gate: Gate, pair: Pair, cypher: str, found: list[object]) -> None:
    """A fault of this kind compares a time in another zone with a stored one of the same instant as unequal."""
    assert [row[0] for row in gate.run(cypher, pair.ref).rows] == found


@pytest.mark.parametrize(
    ("time", "says"),
    [("'at noon'", "Text cannot be parsed to a DateTime"), ("'+999999999-12-31T23:59-18:00'", "out of range")],
)
def test_what_is_no_time_is_refused_in_the_servers_words(gate: Gate, pair: Pair, time: str, says: str) -> None:
    with pytest.raises(QueryRefused, match=says):
        gate.run(f"RETURN datetime({time}) AS x", pair.ref)


def test_a_clock_needs_a_time_with_a_zone(store: SceneStore) -> None:
    assert parse_time("2026-11-23T10:15").tzinfo is not None
    with pytest.raises(InputError, match="write it as"):
        parse_time("yesterday")
    name = fresh("past")
    store.put(ImportedScene(name, small()))
    with pytest.raises(InputError, match="has no zone"):
        declare_time(store.database, store.find(name), datetime(2026, 11, 23))


def test_batches_are_read_as_one(store: SceneStore, gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "EVENTS_PER_BATCH", 2)
    name = fresh("past")
    store.put(ImportedScene(name, small()))
    info = store.find(name)
    for delta in [OPEN, SHUT] * 3:
        store.commit(info, delta, actor="ann", action="act")
    answer = gate.run("MATCH (e:PastEvent) RETURN count(e) AS n", SceneRef(info.key, name))
    assert answer.rows == [[6]]


def test_a_query_that_its_first_hints_do_not_help_is_tried_with_hints_at_all_nodes(
    pair: Pair, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which plan the server makes depends on the counts of the moment: here all with fewer hints are refused."""
    gate, judged = Gate(database), list[str]()
    check = gate._checked_plan

    def strict(scoped: ScopedQuery, scene: SceneRef) -> Plan:
        judged.append(scoped.text)
        if scoped.text.count("USING INDEX SEEK") < 2:
            raise QueryRefused("plan", "it scans")
        return check(scoped, scene)

    monkeypatch.setattr(gate, "_checked_plan", strict)
    home = SceneRef(pair.home.key, pair.home.name)
    query = "MATCH (f:PastFact {relation: 'INSIDE'})-[:ABOUT]->(n:PastNode) RETURN DISTINCT n.name"
    assert ["cup"] in [[*row] for row in gate.run(query, home).rows]
    assert [text.count("USING INDEX SEEK") for text in judged] == [0, 1, 2]


@pytest.mark.parametrize("kind", PAST_KINDS)
def test_each_kind_of_the_past_has_the_index_that_its_hint_names(
    pair: Pair, database: Database, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """By its counts the server may join a scene's index with a scan of a kind of which all scenes have few."""
    gate, plans = Gate(database), list[Plan]()
    check = gate._checked_plan

    def strict(scoped: ScopedQuery, scene: SceneRef) -> Plan:
        if "USING INDEX SEEK" not in scoped.text:
            raise QueryRefused("plan", "it scans")
        plans.append(check(scoped, scene))
        return plans[-1]

    monkeypatch.setattr(gate, "_checked_plan", strict)
    gate.run(f"MATCH (p:{kind}) RETURN count(p) AS n", SceneRef(pair.home.key, pair.home.name))
    *_, leaf = plans[0]
    assert (leaf.operator, f"p:{kind}(scene)" in leaf.details) == ("NodeIndexSeek", True)


def test_a_query_of_the_past_takes_parameters(gate: Gate, pair: Pair) -> None:
    scene = SceneRef(pair.home.key, pair.home.name)
    text = "MATCH (e:PastEvent) WHERE e.actor = $actor RETURN count(e) AS n"
    assert gate.run(text, scene, parameters={"actor": "ann"}).rows == [[2]]
    assert gate.check(text, scene, parameters={"actor": "ann"}).refused is None
