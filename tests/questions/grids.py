"""Templates for BabyAI's rooms; the multi-hop one is the papers' NumQ&A (SG², section on tasks)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, permutations
from typing import Final

from scenecypher.db.graph.scene import Node, SceneGraph
from scenecypher.db.store.enumerations import literal
from scenecypher.importers.babyai import QUESTION
from scenecypher.importers.babyai_levels import question_text
from tests.questions.homes import UNKNOWN_PROPERTIES, unknown_property
from tests.questions.template import Filling, Template, column

TYPES: Final = ("key", "ball", "box")
PLURALS: Final = {"key": "keys", "ball": "balls", "box": "boxes"}


def oracle_answer(graph: SceneGraph, question: str) -> str | None:
    """Return the one colour that answers a question of the papers' template; None for no colour or several."""
    asked = QUESTION.fullmatch(question)
    if asked is None:
        return None
    wanted, number, color, kind = asked.groups()
    rooms = {room: [graph.nodes[it] for it in graph.sources(room, "INSIDE")] for room in graph.by_class["room"]}
    sorts = {room: [(it.class_, it.properties.get("color")) for it in things] for room, things in rooms.items()}
    known = [room for room, found in sorts.items() if found.count((kind, color)) == int(number)]
    doors = ((room, door) for room in known for door in graph.targets(room, "CONNECTS"))
    next_door = {beyond for room, door in doors for beyond in graph.targets(door, "CONNECTS") if beyond != room}
    colors = [str(of) for room in sorted(next_door & rooms.keys()) for class_, of in sorts[room] if class_ == wanted]
    return colors[0] if len(known) == 1 and len(colors) == 1 else None


def room_of(graph: SceneGraph) -> Iterator[Filling]:
    for name, (node_id,) in _single(graph):
        (room,) = graph.targets(node_id, "INSIDE")
        cypher = f"MATCH (o:Object {{name: {literal(name)}}})-[:INSIDE]->(p:Place) RETURN p.name AS room"
        yield Filling(f"Which room is the {name} in?", [[room]], cypher)


def of_sort(graph: SceneGraph) -> Iterator[Filling]:
    for (color, class_), number in sorted(_sorts(graph).items()):
        if number > 1:
            cypher = f"MATCH (o:Object {{class: {literal(class_)}, color: {literal(color)}}}) RETURN count(o) AS number"
            yield Filling(f"How many {color} {PLURALS[class_]} are there?", [[number]], cypher)


def numqa(graph: SceneGraph) -> Iterator[Filling]:
    """Yield every filling of the papers' template that has one answer, by the oracle that reads only the graph."""
    sorts = {(color, class_) for color, class_ in _sorts(graph)}
    for color, kind in sorted(sorts):
        for number in range(2, 6):
            for wanted in TYPES:
                asked = question_text(wanted, number, color, kind)
                found = oracle_answer(graph, asked) if wanted != kind else None
                if found is not None:
                    yield Filling(asked, [[found]], _numqa_cypher(asked))


def closed_doors(graph: SceneGraph) -> Iterator[Filling]:
    for room in graph.by_class["room"]:
        doors = [id_ for id_ in graph.targets(room, "CONNECTS") if "closed" in graph.nodes[id_].states]
        cypher = (
            f"MATCH (:Place {{name: {literal(room)}}})-[:CONNECTS]->(d:Door) "
            "WHERE 'closed' IN d.states RETURN d.id AS door"
        )
        if doors:
            yield Filling(f"Which doors of {room} are closed? Give their ids.", column(doors), cypher)


def rooms_without(graph: SceneGraph) -> Iterator[Filling]:
    for class_ in TYPES:
        rooms = graph.by_class["room"]
        found = [room for room in rooms if not any(node.class_ == class_ for node in _objects(graph, room))]
        if 0 < len(found) < len(rooms):
            cypher = (
                "MATCH (p:Place {class: 'room'}) "
                f"WHERE NOT EXISTS {{ (:Object {{class: {literal(class_)}}})-[:INSIDE]->(p) }} RETURN p.name AS room"
            )
            yield Filling(f"Which rooms hold no {class_}?", column(found), cypher)


def most_of(graph: SceneGraph) -> Iterator[Filling]:
    for class_ in TYPES:
        counts = Counter(
            {room: sum(node.class_ == class_ for node in _objects(graph, room)) for room in graph.by_class["room"]}
        ).most_common(2)
        if counts[0][1] > counts[1][1]:
            cypher = (
                f"MATCH (o:Object {{class: {literal(class_)}}})-[:INSIDE]->(p:Place) "
                "WITH p, count(o) AS number RETURN p.name AS room ORDER BY number DESC LIMIT 1"
            )
            yield Filling(f"Which room holds the most {PLURALS[class_]}?", [[counts[0][0]]], cypher)


def way(graph: SceneGraph) -> Iterator[Filling]:
    """Yield paths of three rooms or more that are the only shortest ones."""
    for start, end in permutations(graph.by_class["room"], 2):
        ways = _shortest(graph, start, end)
        if len(ways) == 1 and len(ways[0]) > 2:
            cypher = (
                f"MATCH p = SHORTEST 1 (:Place {{name: {literal(start)}}})-[:CONNECTS*1..20]->"
                f"(:Place {{name: {literal(end)}}}) RETURN [n IN nodes(p) WHERE n:Place | n.name] AS way"
            )
            asked = f"Which rooms does the shortest way by doors from {start} to {end} pass? In order, both included."
            yield Filling(asked, [[ways[0]]], cypher)


def more_of(graph: SceneGraph) -> Iterator[Filling]:
    counts = Counter(color for (color, _), number in _sorts(graph).items() for _ in range(number))
    for one, other in combinations(sorted(counts), 2):
        if counts[one] != counts[other]:
            cypher = (
                f"MATCH (o:Object) WHERE o.color IN [{literal(one)}, {literal(other)}] "
                "WITH o.color AS color, count(o) AS number RETURN color ORDER BY number DESC LIMIT 1"
            )
            more = one if counts[one] > counts[other] else other
            yield Filling(f"Of which colour are there more keys, balls and boxes, {one} or {other}?", [[more]], cypher)


def is_joined(graph: SceneGraph) -> Iterator[Filling]:
    """Yield fillings with alternating answers, yes and no."""
    pairs = {True: [], False: []}  # type: dict[bool, list[tuple[str, str]]]
    for one, other in combinations(graph.by_class["room"], 2):
        pairs[other in _next_door(graph, one)].append((one, other))
    for yes, no in zip(pairs[True], pairs[False], strict=False):
        for is_so, (one, other) in ((True, yes), (False, no)):
            cypher = (
                f"RETURN EXISTS {{ (:Place {{name: {literal(one)}}})-[:CONNECTS]->(:Door)-[:CONNECTS]->"
                f"(:Place {{name: {literal(other)}}}) }} AS joined"
            )
            yield Filling(f"Does a door join {one} and {other} directly?", [[is_so]], cypher)


def lacking_property(graph: SceneGraph) -> Iterator[Filling]:
    for number, (name, _) in enumerate(_single(graph)):
        words, keys = UNKNOWN_PROPERTIES[number % len(UNKNOWN_PROPERTIES)]
        yield unknown_property(words.format(f"the {name}"), name, keys)


BABYAI_TEMPLATES: Final = (
    Template("lookup", room_of),
    Template("count", of_sort),
    Template("multi-hop", numqa),
    Template("state", closed_doors),
    Template("negation", rooms_without),
    Template("superlative", most_of),
    Template("path", way),
    Template("comparison", more_of),
    Template("yes/no", is_joined),
    Template("unanswerable", lacking_property),
)


def _numqa_cypher(asked: str) -> str:
    found = QUESTION.fullmatch(asked)
    assert found is not None
    wanted, number, color, kind = found.groups()
    return (
        f"MATCH (o:Object {{class: {literal(kind)}, color: {literal(color)}}})-[:INSIDE]->(p:Place {{class: 'room'}}) "
        f"WITH p, count(o) AS number WHERE number = {number} "
        "MATCH (p)-[:CONNECTS]->(:Door)-[:CONNECTS]->(q:Place)<-[:INSIDE]-"
        f"(t:Object {{class: {literal(wanted)}}}) WHERE q.id <> p.id RETURN DISTINCT t.color AS color"
    )


def _sorts(graph: SceneGraph) -> Counter[tuple[str, str]]:
    objects = (graph.nodes[id_] for id_ in graph.by_kind["Object"])
    return Counter((str(node.properties["color"]), node.class_) for node in objects)


def _single(graph: SceneGraph) -> Iterator[tuple[str, tuple[str, ...]]]:
    for name, ids in sorted(graph.by_name.items()):
        if len(ids) == 1 and graph.nodes[ids[0]].kind == "Object":
            yield name, ids


def _objects(graph: SceneGraph, room: str) -> list[Node]:
    found = (graph.nodes[id_] for id_ in graph.sources(room, "INSIDE"))
    return [node for node in found if node.kind == "Object"]


def _next_door(graph: SceneGraph, room: str) -> list[str]:
    doors = graph.targets(room, "CONNECTS")
    return sorted({beyond for door in doors for beyond in graph.targets(door, "CONNECTS")} - {room})


def _shortest(graph: SceneGraph, start: str, end: str) -> list[list[str]]:
    """Return all shortest paths, found breadth-first."""
    ways = [[start]]
    while ways and not any(one[-1] == end for one in ways):
        ways = [[*one, room] for one in ways for room in _next_door(graph, one[-1]) if room not in one]
    return [one for one in ways if one[-1] == end]
