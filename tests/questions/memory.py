"""Questions about histories, with gold answers by plain Python: `python -m tests.questions.memory` writes them.

The gold answers come from the events' changes and from the graph at each version, never from the stored past.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeAlias

from scenecypher.db.graph.delta import AddRelation, ChangeList, RemoveRelation
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.history import Event, versions_in_effect
from scenecypher.evaluation.histories import HISTORIES, MEMORY, PREFIX, Day, GoldQuestion, played

FILE: Final = Path(__file__).resolve().parents[2] / "evaluation" / "data" / "questions" / "memory.jsonl"
A_TEMPLATE: Final = 2
HALF: Final = timedelta(seconds=30)
LEFT_OUT: Final = {"CLOSE", "FACING"}
HOLDING: Final = {"HOLDS", "HOLDS_LH", "HOLDS_RH"}
NOT_UNDONE: Final = " Leave out what was undone."

Asked: TypeAlias = tuple[str, list[list[Any]], str]
"""A question, its gold rows and a query that returns them."""
Template: TypeAlias = Callable[[Day], Iterator[Asked]]


def text_of(time: datetime) -> str:
    """Return a time as an answer has it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S.000000000+00:00")


def literal(time: datetime) -> str:
    return f"datetime('{time.isoformat()}')"


def clock(time: datetime) -> str:
    return time.strftime("%H:%M:%S on %d %B %Y")


def acts(day: Day) -> list[Event]:
    """Return the actions that were never taken back, or brought back since."""
    kept = versions_in_effect(day.events)
    return [event for event in day.events if event.kind == "act" and event.version in kept]


def began(event: Event, state: str) -> list[str]:
    """Return the nodes that an event brought into a state."""
    return [it.id for it in event.delta.changes if isinstance(it, ChangeList) and state in it.added]


def held(graph: SceneGraph, target: str, *types: str) -> list[str]:
    """Return the names of what has a relation of these types to a node."""
    return sorted({graph.nodes[it.source].name for it in graph.incoming.get(target, ()) if it.type in types})


def furniture(day: Day) -> list[str]:
    return sorted(node.id for node in day.graphs[0].nodes.values() if node.kind == "Asset")


def switched(day: Day, state: str) -> list[str]:
    """Return the nodes that an event brought into a state, in the order in which they first were."""
    return list(dict.fromkeys(node_id for event in acts(day) for node_id in began(event, state)))


def as_of(day: Day) -> Iterator[Asked]:
    """What was in a piece of furniture at a time at which it held other things than at the end."""
    for target in reversed(furniture(day)):
        name, end = day.graphs[0].nodes[target].name, held(day.graphs[-1], target, "INSIDE")
        for event in day.events:
            found = held(day.graphs[event.version], target, "INSIDE")
            if found and found != end:
                time = event.at + HALF
                yield (
                    f"What was inside {name} at {clock(time)}? Give the names.",
                    [[it] for it in found],
                    (
                        "MATCH (n:PastNode)<-[:ABOUT]-(f:PastFact {relation: 'INSIDE'})-[:TARGET]->"
                        f"(:PastNode {{name: '{name}'}}) "
                        f"WHERE f.since_at <= {literal(time)} AND (f.until_at IS NULL OR {literal(time)} < f.until_at) "
                        "RETURN DISTINCT n.name AS name"
                    ),
                )
                break


def who(day: Day) -> Iterator[Asked]:
    for event in reversed(acts(day)):
        for it in event.delta.changes:
            if not (isinstance(it, AddRelation) and it.relation.type in {"INSIDE", "ON"}):
                continue
            source, target = (day.graphs[0].nodes[end] for end in (it.relation.source, it.relation.target))
            if source.kind == "Object" and target.kind == "Asset":
                how = {"INSIDE": "into", "ON": "onto"}[it.relation.type]
                doers = {one.actor for one in acts(day) if AddRelation(it.relation) in one.delta.changes}
                yield (
                    f"Who put {source.name} {how} {target.name}?{NOT_UNDONE}",
                    [[doer] for doer in sorted(doers)],
                    (
                        f"MATCH (e:PastEvent {{kind: 'act'}})-[:BEGAN]->(f:PastFact {{relation: '{it.relation.type}'}})"
                        "-[:ABOUT]->"
                        f"(:PastNode {{name: '{source.name}'}}) WHERE NOT e.undone AND EXISTS {{ (f)-[:TARGET]->"
                        f"(:PastNode {{name: '{target.name}'}}) }} RETURN DISTINCT e.actor AS actor"
                    ),
                )


def when(day: Day) -> Iterator[Asked]:
    for node_id in reversed(switched(day, "open")):
        name = day.graphs[0].nodes[node_id].name
        last = [event for event in acts(day) if node_id in began(event, "open")][-1]
        yield (
            f"When was {name} opened the last time?{NOT_UNDONE}",
            [[text_of(last.at)]],
            (
                "MATCH (e:PastEvent {kind: 'act'})-[:BEGAN]->(:PastFact {state: 'open'})-[:ABOUT]->"
                f"(:PastNode {{name: '{name}'}}) WHERE NOT e.undone RETURN max(e.at) AS at"
            ),
        )


def before(day: Day) -> Iterator[Asked]:
    """Where a thing was at first that is elsewhere now."""
    first, last = day.graphs[0], day.graphs[-1]
    for node in sorted(first.nodes.values(), key=lambda it: it.id):
        places = [
            sorted(
                graph.nodes[it.target].name
                for it in graph.outgoing.get(node.id, ())
                if it.type in {"INSIDE", "ON"} and graph.nodes[it.target].kind == "Asset"
            )
            for graph in (first, last)
        ]
        if node.kind == "Object" and places[0] and places[0] != places[1]:
            yield (
                f"In or on which piece of furniture was {node.name} at the very beginning?",
                [[name] for name in places[0]],
                (
                    f"MATCH (:PastNode {{name: '{node.name}'}})<-[:ABOUT]-(f:PastFact {{since: 0}})-[:TARGET]->"
                    "(t:PastNode {kind: 'Asset'}) WHERE f.relation IN ['INSIDE', 'ON'] RETURN DISTINCT t.name AS name"
                ),
            )


def between(day: Day) -> Iterator[Asked]:
    for first in acts(day)[7::19]:
        start, end = first.at - HALF, first.at + timedelta(minutes=30)
        done = [one for one in acts(day) if one.actor == first.actor and start <= one.at < end]
        yield (
            f"What did {first.actor} do between {clock(start)} and {clock(end)}? Give the actions.{NOT_UNDONE}",
            [[action] for action in sorted({one.action for one in done})],
            (
                f"MATCH (e:PastEvent {{kind: 'act', actor: '{first.actor}'}}) WHERE {literal(start)} <= e.at AND "
                f"e.at < {literal(end)} AND NOT e.undone RETURN DISTINCT e.action AS action"
            ),
        )


def touched(day: Day) -> set[str]:
    """Return the nodes that an event changed, whether it was taken back or not."""
    found: set[str] = set()
    for change in (it for event in day.events for it in event.delta.changes):
        if isinstance(change, AddRelation | RemoveRelation):
            if change.relation.type not in LEFT_OUT:
                found.add(change.relation.source)
                found |= {change.relation.target} if change.relation.type in HOLDING else set()
        else:
            found.add(change.id)  # type: ignore[union-attr]
    return found


def untouched(day: Day) -> Iterator[Asked]:
    for kind, words in (("Object", "movable objects"), ("Asset", "pieces of furniture and appliances")):
        left = [node for node in day.graphs[0].nodes.values() if node.kind == kind and node.id not in touched(day)]
        yield (
            f"How many {words} has nobody touched or changed so far?",
            [[len(left)]],
            (
                f"MATCH (n:PastNode {{kind: '{kind}'}}) WHERE NOT EXISTS {{ (:PastEvent)-[:CHANGED]->(n) }} "
                "RETURN count(n) AS number"
            ),
        )


def how_often(day: Day) -> Iterator[Asked]:
    for state, word in (("open", "opened"), ("on", "switched on")):
        for node_id in switched(day, state):
            name = day.graphs[0].nodes[node_id].name
            yield (
                f"How often was {name} {word}?{NOT_UNDONE}",
                [[sum(node_id in began(event, state) for event in acts(day))]],
                (
                    f"MATCH (e:PastEvent {{kind: 'act'}})-[:BEGAN]->(:PastFact {{state: '{state}'}})-[:ABOUT]->"
                    f"(:PastNode {{name: '{name}'}}) WHERE NOT e.undone RETURN count(DISTINCT e) AS times"
                ),
            )
            break


def how_long(day: Day) -> Iterator[Asked]:
    for state in ("on", "open"):
        for node_id in sorted({it for event in day.events for it in began(event, state)}):
            name, seconds, since = day.graphs[0].nodes[node_id].name, 0.0, None
            times = [day.start, *(event.at for event in day.events)]
            for time, graph in zip(times, day.graphs, strict=True):
                holds = state in graph.nodes[node_id].states
                if since is not None and not holds:
                    seconds += (time - since).total_seconds()
                since = (since or time) if holds else None
            if seconds and since is None:
                yield (
                    f"For how many seconds was {name} {state} in all?",
                    [[int(seconds)]],
                    (
                        f"MATCH (f:PastFact {{state: '{state}'}})-[:ABOUT]->(:PastNode {{name: '{name}'}}) "
                        "RETURN sum(duration.inSeconds(f.since_at, f.until_at).seconds) AS seconds"
                    ),
                )
                break


def order(day: Day) -> Iterator[Asked]:
    for state, word in (("open", "opened"), ("on", "switched on")):
        names = [day.graphs[0].nodes[node_id].name for node_id in switched(day, state)]
        if len(names) > 1:
            places = [[number, name] for number, name in enumerate(names)]
            yield (
                f"In which order were things {word} for the first time? Count from 0.{NOT_UNDONE}",
                places,
                (
                    f"MATCH (e:PastEvent {{kind: 'act'}})-[:BEGAN]->(:PastFact {{state: '{state}'}})-[:ABOUT]->(n) "
                    "WHERE NOT e.undone WITH n.name AS name, min(e.version) AS first ORDER BY first "
                    "WITH collect(name) AS names UNWIND range(0, size(names) - 1) AS place "
                    "RETURN place, names[place] AS name"
                ),
            )


def undone(day: Day) -> Iterator[Asked]:
    kept = versions_in_effect(day.events)
    for actor in sorted({event.actor for event in day.events}):
        found = {e.action for e in day.events if e.actor == actor and e.kind == "act" and e.version not in kept}
        if found:
            yield (
                f"Which of the actions of {actor} were undone?",
                [[action] for action in sorted(found)],
                f"MATCH (e:PastEvent {{actor: '{actor}', kind: 'act', undone: true}}) RETURN DISTINCT e.action AS what",
            )


def yes_or_no(day: Day) -> Iterator[Asked]:
    for state, asked in (("on", True), ("open", False)):
        for event in day.events:
            ids = [it for it in began(event, state) if asked or it in furniture(day)]
            if ids and event.kind == "act":
                time = event.at + (HALF if asked else -HALF)
                name = day.graphs[0].nodes[ids[0]].name
                graph = day.graphs[event.version if asked else event.version - 1]
                yield (
                    f"Was {name} {state} at {clock(time)}?",
                    [[state in graph.nodes[ids[0]].states]],
                    (
                        f"MATCH (n:PastNode {{name: '{name}'}}) RETURN EXISTS {{ MATCH (n)<-[:ABOUT]-"
                        f"(f:PastFact {{state: '{state}'}}) WHERE f.since_at <= {literal(time)} AND "
                        f"(f.until_at IS NULL OR {literal(time)} < f.until_at) }} AS answer"
                    ),
                )
                break


def last_event(day: Day) -> Iterator[Asked]:
    for actor in sorted({event.actor for event in acts(day)}):
        last = [event for event in acts(day) if event.actor == actor][-1]
        yield (
            f"What did {actor} do last?{NOT_UNDONE}",
            [[last.action]],
            (
                f"MATCH (e:PastEvent {{actor: '{actor}', kind: 'act'}}) WHERE NOT e.undone "
                "RETURN e.action AS action ORDER BY e.version DESC LIMIT 1"
            ),
        )


def why(day: Day) -> Iterator[Asked]:
    """What had been asked for when a thing was opened or switched on the last time."""
    for state, word in (("open", "opened"), ("on", "switched on")):
        for node_id in switched(day, state):
            name = day.graphs[0].nodes[node_id].name
            last = [event for event in acts(day) if node_id in began(event, state)][-1]
            wanted = [it.instruction for it in day.errands if last.version in {version for _, version, _ in it.tried}]
            yield (
                f"Why was {name} {word} the last time: what had been asked for?{NOT_UNDONE}",
                [[instruction] for instruction in wanted],
                (
                    f"MATCH (e:PastEvent {{kind: 'act'}})-[:BEGAN]->(:PastFact {{state: '{state}'}})-[:ABOUT]->"
                    f"(:PastNode {{name: '{name}'}}) WHERE NOT e.undone WITH e ORDER BY e.version DESC LIMIT 1 "
                    "MATCH (r:Run)-[:HAS_STEP]->(:Step {version: e.version}) RETURN DISTINCT r.instruction AS why"
                ),
            )
            break


def refused(day: Day) -> Iterator[Asked]:
    found = {(action, reason) for errand in day.errands for action, version, reason in errand.tried if version is None}
    if found:
        yield (
            "Which actions were refused, and with which reasons?",
            [[action, reason] for action, reason in sorted(found)],
            ("MATCH (s:Step {kind: 'refused'}) UNWIND s.reasons AS reason RETURN DISTINCT s.action AS action, reason"),
        )


TEMPLATES: Final[dict[str, Template]] = {
    "as of": as_of,
    "who": who,
    "when": when,
    "before": before,
    "between": between,
    "untouched": untouched,
    "how often": how_often,
    "how long": how_long,
    "order": order,
    "undone": undone,
    "was it so": yes_or_no,
    "last": last_event,
    "why": why,
    "refused": refused,
}


def make_questions() -> list[GoldQuestion]:
    """Return the questions about all histories."""
    return [
        GoldQuestion(
            id=f"{kind}/{name}/{number}",
            data=MEMORY,
            scene=f"{PREFIX}{name}",
            kind=kind,
            question=question,
            rows=rows,
            cypher=cypher,
        )
        for name in HISTORIES
        for kind, template in TEMPLATES.items()
        for number, (question, rows, cypher) in enumerate(islice(template(played(name)), A_TEMPLATE), 1)
    ]


def file_text() -> str:
    """Return the file of these questions."""
    return "".join(f"{one.model_dump_json()}\n" for one in make_questions())


if __name__ == "__main__":
    FILE.write_text(file_text(), encoding="utf-8")
