"""Scenes of any size and natural queries about them, to measure how many the gate accepts."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product

from scenecypher.db.graph.scene import Node, Relation, SceneGraph

CLASSES = ("Cup", "Plate", "Book", "Lamp", "Apple", "Knife", "Towel", "Phone")
STATES = ("dirty", "open", "on", "clean", "closed", "off")
ABILITIES = ("grabbable", "can_open", "has_switch", "washable")


def grown_scene(nodes: int) -> SceneGraph:
    """Return a home of this many nodes: one room per 15 nodes, furniture, and things on or in it, some close."""
    chance = random.Random(nodes)  # noqa: S311 - a scene, not a secret
    rooms = [Node(f"room_{at}", "Place", f"room {at}", "Room") for at in range(max(2, nodes // 15))]
    doors = [Node(f"door_{at}", "Door", f"door {at}", "Door") for at in range(len(rooms) - 1)]
    shelves = [
        Node(f"shelf_{at}", "Asset", f"shelf {at}", "Shelf", ("closed",), ("can_open",)) for at in range(nodes // 5)
    ]
    things = [
        Node(
            f"thing_{at}",
            "Object",
            f"{chance.choice(CLASSES).lower()} {at}",
            chance.choice(CLASSES),
            tuple(sorted(chance.sample(STATES, 2))),
            tuple(sorted(chance.sample(ABILITIES, 2))),
        )
        for at in range(nodes - len(rooms) - len(doors) - len(shelves) - 1)
    ]
    robot = Node("robot", "Agent", "robot", "Robot")
    relations = {Relation("robot", "INSIDE", "room_0"), Relation("robot", "HOLDS", things[0].id)}
    for at, door in enumerate(doors):
        for room in (rooms[at], rooms[at + 1]):
            relations |= {Relation(room.id, "CONNECTS", door.id), Relation(door.id, "CONNECTS", room.id)}
    relations |= {Relation(shelf.id, "INSIDE", chance.choice(rooms).id) for shelf in shelves}
    for thing in things[1:]:
        relations.add(Relation(thing.id, chance.choice(("ON", "INSIDE")), chance.choice(shelves).id))
    for at in range(len(things) // 2):
        one, other = things[at].id, things[-1 - at].id
        if one != other:
            relations |= {Relation(one, "CLOSE", other), Relation(other, "CLOSE", one)}
    return SceneGraph.of([*rooms, *doors, *shelves, *things, robot], relations)


PATTERNS = (
    "(o:Object)",
    "(o:Object)-[:ON]->(a:Asset)",
    "(o:Object)-[:ON|INSIDE]->(a:Asset)-[:INSIDE]->(p:Place)",
    "(o)-[:INSIDE|ON*1..4]->(p:Place)",
    "(p:Place)<-[:INSIDE|ON*]-(o:Object)",
    "(o:Object)-[:CLOSE]-(b:Object)",
    "(r:Agent)-[:INSIDE]->(p:Place)<-[:INSIDE]-(a:Asset)<-[:ON]-(o:Object)",
    "(o:Object {class: 'Cup'})--(x)",
    "(p:Place)-[:CONNECTS]->(:Door)-[:CONNECTS]->(q:Place), (o:Object)-[:INSIDE|ON*1..3]->(p)",
)
CONDITIONS = (
    "",
    " WHERE 'dirty' IN o.states",
    " WHERE o.name CONTAINS 'cup' AND NOT 'open' IN o.states",
    " WHERE any(s IN o.states WHERE s STARTS WITH 'd') OR o.class IN ['Cup', 'Plate']",
    " WHERE NOT EXISTS { (o)-[:CLOSE]->(:Object {class: 'Knife'}) }",
    " WHERE toLower(o.name) =~ '.*(cup|book).*'",
    " WHERE COUNT { (o)--() } > 1 AND size(o.affordances) >= 1",
)
ENDINGS = (
    " RETURN o.name, o.states ORDER BY o.name LIMIT 10",
    " RETURN count(DISTINCT o) AS number",
    " RETURN o.class AS class, count(*) AS number ORDER BY number DESC, class",
    " RETURN DISTINCT o.name AS name",
    " RETURN o.class, collect(DISTINCT o.name) AS names",
    " WITH o.class AS class, collect(o.name) AS names WHERE size(names) > 1 RETURN class, names[0..3] AS some",
    " WITH collect(o) AS things RETURN [x IN things WHERE 'on' IN x.states | x.name] AS names",
    " WITH o, CASE WHEN 'dirty' IN o.states THEN 'wash' ELSE 'leave' END AS task RETURN task, count(o) ORDER BY task",
    " RETURN o {.name, .class, states: o.states} AS thing ORDER BY thing.name SKIP 2 LIMIT 5",
    " OPTIONAL MATCH (o)-[:CLOSE]->(near:Object) RETURN o.name, collect(near.name) AS nearby",
)
OTHERS = (
    "MATCH (a:Place), (b:Place) WHERE a.id < b.id RETURN count(*) AS pairs",
    "MATCH (a:Object), (b:Object) WHERE a.name = b.name AND a.id < b.id RETURN a.id, b.id",
    "MATCH p = shortestPath(({id: 'room_0'})-[:CONNECTS*]-({id: 'room_1'})) RETURN length(p)",
    "MATCH p = SHORTEST 1 (a:Place {id: 'room_0'})-[:CONNECTS]-+(b:Place {id: 'room_1'}) RETURN length(p) AS steps",
    "MATCH (o:Object) UNWIND o.states AS s RETURN s, count(*) AS number ORDER BY number DESC",
    "MATCH (n) RETURN labels(n) AS kinds, count(*) AS number",
    "MATCH (o:Object) RETURN o.name AS name UNION MATCH (a:Asset) RETURN a.name AS name",
    "MATCH ()-[r]->() RETURN type(r) AS type, count(*) AS number ORDER BY number DESC",
    "MATCH (p:Place) RETURN p.name, COUNT { (p)<-[:INSIDE|ON*1..3]-(:Object) } AS things ORDER BY things DESC LIMIT 3",
    "MATCH (p:Place) CALL (p) { MATCH (p)<-[:INSIDE]-(a) RETURN count(a) AS n } RETURN p.name, n",
)


def natural_queries(number: int = 500) -> Iterator[str]:
    """Yield distinct queries as people and models write them, the same on each call."""
    every = [pattern + condition + ending for pattern, condition, ending in product(PATTERNS, CONDITIONS, ENDINGS)]
    random.Random(16).shuffle(every)  # noqa: S311 - an order, not a secret
    yield from OTHERS
    yield from (f"MATCH {one}" for one in every[: number - len(OTHERS)])
