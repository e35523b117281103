"""Actions compared with hand-written Cypher, and across parallel scenes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from itertools import cycle, islice
from time import perf_counter
from typing import Any, Final, LiteralString
from uuid import uuid4

from benchmarks.comparison import Measurement, bare, compare, median_ms
from benchmarks.home import make_home, temporary_scene
from scenecypher.db.graph.delta import AddRelation, Delta, apply
from scenecypher.db.graph.graph_json import delta_hash, delta_json
from scenecypher.db.graph.scene import Relation
from scenecypher.db.rules import rules_json
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.history import Event
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.actions.simulator import Simulator
from scenecypher.planner.rules.words import read_rule

AGENT, OBJECT, TABLE = "character_65", "cup_1", "asset_0"

# One statement each: lock the scene, make the changes that grabbing and putting down make, append the event.
TAKE_BY_HAND: Final[LiteralString] = """
MATCH (s:Scene {key: $key}) SET s.version = s.version + 1
WITH s
MATCH (o:Entity {scene: $key, id: $id})-[lies:ON]->(t:Entity {scene: $key, id: $table})
MATCH (o)-[near:CLOSE]->(t) MATCH (t)-[back:CLOSE]->(o)
DELETE lies, near, back
WITH s, o, t
MATCH (a:Entity {scene: $key, id: $agent}) CREATE (a)-[:HOLDS_RH]->(o) CREATE (o)-[:TAKEN_OFF]->(t)
"""
PUT_BY_HAND: Final[LiteralString] = """
MATCH (s:Scene {key: $key}) SET s.version = s.version + 1
WITH s
MATCH (:Entity {scene: $key, id: $agent})-[held:HOLDS_RH]->(o:Entity {scene: $key, id: $id})
MATCH (o)-[taken:TAKEN_OFF]->(t:Entity {scene: $key, id: $table})
DELETE held, taken
WITH s, o, t
CREATE (o)-[:ON]->(t) CREATE (o)-[:CLOSE]->(t) CREATE (t)-[:CLOSE]->(o)
"""
EVENT_BY_HAND: Final[LiteralString] = """
CREATE (:Event {scene: $key, version: s.version, at: datetime(), actor: $actor, action: $action, kind: $kind,
                action_id: $action_id, delta: $delta, hash: $hash, undoes: $undoes})
RETURN s.version AS version
"""
WARM_UP: Final = 4_000
"""Pairs until a freshly started server has compiled both: the first five hundred take twice as long as later ones."""


def actions(database: Database) -> Iterator[Measurement]:
    """Compare grabbing and putting down an object with the same writes by hand; time the first action of a store."""
    store = SceneStore(database)
    with home_to_act_in(store) as ours, home_to_act_in(store) as theirs:
        act, same, title = action_loop(store, ours), _hand_written_loop(store, theirs), "act (the same writes by hand)"
        yield compare(title, act, reference=same, limit=1.15, pairs=400, warm_up=WARM_UP)
        first = median_ms(action_loop(store, ours, anew=True), warm_up=100)
        yield Measurement("act once: the first action of a store, with the load (100 ms)", first, 100.0, 1.0)


def crowds(database: Database) -> Iterator[Measurement]:
    """Compare actions a second on 4 and 8 parallel scenes with those on one; more scenes must not be slower."""
    store = SceneStore(database)
    with ExitStack() as stack:
        acts = [action_loop(store, stack.enter_context(home_to_act_in(store))) for _ in range(8)]
        for act in acts:
            _repeat(act, 50)
        alone = _actions_per_second(acts[:1])
        yield Measurement("actions a second on one scene", alone, alone, 1.0, "/s")
        for many in (4, 8):
            together = _actions_per_second(acts[:many])
            yield Measurement(f"seconds an action, {many} scenes at once (one alone)", 1e3 / together, 1e3 / alone, 1.0)


def ruled(database: Database) -> Iterator[Measurement]:
    """Compare actions in a home with 30 and with 300 rules of the house with those in one without rules."""
    store = SceneStore(database)
    with home_to_act_in(store) as free, home_to_act_in(store) as some, home_to_act_in(store) as many:
        for info, number, limit in ((some, 30, 1.05), (many, 300, 1.3)):
            _give_rules(store, info, number)
            act, same, title = action_loop(store, info), action_loop(store, free), f"act under {number} rules (none)"
            yield compare(title, act, reference=same, limit=limit, pairs=400, warm_up=WARM_UP // 4)


def _give_rules(store: SceneStore, scene: SceneInfo, number: int) -> None:
    """Give a scene rules, half of them about what the robot takes and puts down, the other half about other things."""
    now = store.now(scene)
    thing, table = (now.graph.nodes[it].class_ for it in (OBJECT, TABLE))
    others = cycle(sorted(now.graph.by_class.keys() - {thing, table}))
    texts = [
        f"never {thing if half else next(others)} {'ON' if half else 'INSIDE'} {next(others)}"
        for half in islice(cycle((True, False)), number)
    ]
    kept = [replace(read_rule(text, now), name=f"rule-{place}") for place, text in enumerate(texts, 1)]
    store.set_rules(now.info, rules_json(kept), actor="bench", action=f"add {number} rules")


def home_to_act_in(store: SceneStore) -> AbstractContextManager[SceneInfo]:
    """Give a home, deleted afterwards, with the agent close to what it takes and to what things can lie on."""
    graph = make_home()
    near = [Relation(*ends) for thing in (OBJECT, TABLE) for ends in ((AGENT, "CLOSE", thing), (thing, "CLOSE", AGENT))]
    fresh = [AddRelation(relation) for relation in near if relation not in graph.relations]
    return temporary_scene(store, apply(graph, Delta.of(fresh)))


def action_loop(store: SceneStore, info: SceneInfo, *, anew: bool = False) -> Callable[[], object]:
    """Return a function that grabs and puts down the object in turn; `anew` with a store that has nothing in memory."""
    simulator = Simulator(store, info, actor="bench")
    texts = cycle((f"grab({OBJECT})", f"put_on({OBJECT}, {TABLE})"))
    if anew:
        return lambda: list(Simulator(SceneStore(store.database), info, actor="bench").act(next(texts)))
    return lambda: list(simulator.act(next(texts)))


def _hand_written_loop(store: SceneStore, info: SceneInfo) -> Callable[[], object]:
    """Return a function that runs the two statements in turn, with the events of our actions.

    Two pairs of actions of ours come first, so that the scene is in the state that the statements expect, and that the
    events are of the same changes as the statements: the first grab also ends being close to things.
    """
    _repeat(action_loop(store, info), 4)
    texts = (TAKE_BY_HAND + EVENT_BY_HAND, PUT_BY_HAND + EVENT_BY_HAND)
    statements = cycle(zip(texts, map(_event_fields, store.history(info, after=2)), strict=True))
    ends = {"key": info.key, "id": OBJECT, "agent": AGENT, "table": TABLE}

    def by_hand() -> None:
        text, facts = next(statements)
        given = ends | facts | {"action_id": uuid4().hex}
        done = bare(store.database, lambda tx: tx.run(text, given).single(strict=True)[0], write=True)
        assert done

    return by_hand


def _event_fields(event: Event) -> dict[str, Any]:
    """Return an event's fields except its scene, version and action id."""
    text, facts = delta_json(event.delta), {name: getattr(event, name) for name in ("actor", "action", "kind")}
    return {**facts, "undoes": list(event.undoes), "delta": text, "hash": delta_hash(text)}


def _repeat(act: Callable[[], object], times: int) -> None:
    for _ in range(times):
        act()


def _actions_per_second(acts: Sequence[Callable[[], object]], *, times: int = 100) -> float:
    began = perf_counter()
    with ThreadPoolExecutor(len(acts)) as pool:
        list(pool.map(lambda act: _repeat(act, times), acts))
    return len(acts) * times / (perf_counter() - began)
