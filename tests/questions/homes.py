"""Templates for homes and offices of VirtualHome and GraSIF, which differ in how a thing is related to its room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Final

from scenecypher.db.graph.scene import Node, SceneGraph
from scenecypher.db.store.enumerations import literal
from tests.questions.template import Filling, Template, column

MAX_ROWS: Final = 12
"""Answers with more rows are too long for a natural question."""
ABSENT_CLASSES: Final = ("telescope", "violin", "aquarium", "ladder", "wheelchair", "globe")
EMPTY: Final = "WHERE NOT EXISTS { (:Entity)-[:ON|INSIDE]->(a) }"
UNKNOWN_PROPERTIES: Final = (
    ("How heavy is {}, in kilograms?", ("weight", "mass", "kilograms")),
    ("How much did {} cost?", ("price", "cost")),
    ("Who bought {}?", ("owner", "buyer", "bought_by")),
    ("What is {} made of?", ("material",)),
)


@dataclass(frozen=True, slots=True)
class Templates:
    """Templates of one vocabulary: `up` is the path from a thing to its room, `opens` the affordance."""

    up: str
    containment: tuple[str, ...]
    is_chain: bool
    opens: str

    def rooms(self, graph: SceneGraph, node_id: str) -> set[str]:
        """Return the places that a thing is in."""
        reached = graph.reached(node_id, *self.containment) if self.is_chain else graph.targets(node_id, "INSIDE")
        return {target for target in reached if graph.nodes[target].kind == "Place"}

    def within(self, graph: SceneGraph, room: str, kind: str) -> list[Node]:
        """Return the nodes of a kind that are in a room."""
        return [graph.nodes[id_] for id_ in _of_kind(graph, kind) if room in self.rooms(graph, id_)]

    def templates(self) -> tuple[Template, ...]:
        """Return two templates for each kind of question but paths, which each vocabulary has its own of."""
        return (
            Template("lookup", self.room_of),
            Template("lookup", self.lying_on),
            Template("count", self.of_class),
            Template("count", self.objects_in),
            Template("multi-hop", self.rooms_with_loaded),
            Template("multi-hop", self.furniture_and_room),
            Template("state", self.in_state),
            Template("state", self.in_room_and_state),
            Template("negation", self.empty),
            Template("negation", self.not_open),
            Template("superlative", self.fullest_room),
            Template("superlative", self.fullest_furniture),
            Template("comparison", self.more_of),
            Template("comparison", self.fuller_room),
            Template("yes/no", self.is_there),
            Template("yes/no", self.is_so),
            Template("unanswerable", self.lacking_property),
            Template("unanswerable", self.lacking_thing),
        )

    def room_of(self, graph: SceneGraph) -> Iterator[Filling]:
        for class_, (node_id,) in _single(graph, "Object"):
            rooms = self.rooms(graph, node_id)
            if rooms:
                cypher = (
                    f"MATCH (o:Object {{class: {literal(class_)}}}){self.up}(p:Place) RETURN DISTINCT p.name AS room"
                )
                yield Filling(f"Which room is the {_words(class_)} in?", _names(graph, rooms), cypher)

    def lying_on(self, graph: SceneGraph) -> Iterator[Filling]:
        for asset in _of_kind(graph, "Asset"):
            on = [id_ for id_ in graph.sources(asset, "ON") if graph.nodes[id_].kind == "Object"]
            if 1 < len(on) <= MAX_ROWS:
                name = graph.nodes[asset].name
                cypher = f"MATCH (o:Object)-[:ON]->(:Asset {{name: {literal(name)}}}) RETURN DISTINCT o.name AS object"
                yield Filling(f"What objects are on {name}? Give their names.", _names(graph, on), cypher)

    def of_class(self, graph: SceneGraph) -> Iterator[Filling]:
        for class_, ids in sorted(graph.by_class.items()):
            if len(ids) > 1:
                cypher = f"MATCH (n:Entity {{class: {literal(class_)}}}) RETURN count(n) AS number"
                yield Filling(f"How many things of class {literal(class_)} are there?", [[len(ids)]], cypher)

    def objects_in(self, graph: SceneGraph) -> Iterator[Filling]:
        for room in _of_kind(graph, "Place"):
            found, name = self.within(graph, room, "Object"), graph.nodes[room].name
            if len(found) > 1:
                where = f"MATCH (o:Object){self.up}(:Place {{name: {literal(name)}}})"
                question = f"How many objects (movable things) are in {name}, also in or on its furniture?"
                yield Filling(question, [[len(found)]], f"{where} RETURN count(DISTINCT o) AS objects")

    def rooms_with_loaded(self, graph: SceneGraph) -> Iterator[Filling]:
        for class_ in sorted({graph.nodes[id_].class_ for id_ in _of_kind(graph, "Asset")}):
            loaded = [
                id_
                for id_ in graph.by_class[class_]
                if graph.nodes[id_].kind == "Asset"
                and any(graph.nodes[on].kind == "Object" for on in graph.sources(id_, "ON"))
            ]
            rooms = {room for id_ in loaded for room in self.rooms(graph, id_)}
            if rooms:
                cypher = (
                    f"MATCH (:Object)-[:ON]->(a:Asset {{class: {literal(class_)}}}) "
                    f"MATCH (a){self.up}(p:Place) RETURN DISTINCT p.name AS room"
                )
                question = f"In which rooms is there an object on a thing of class {literal(class_)}? Name the rooms."
                yield Filling(question, _names(graph, rooms), cypher)

    def furniture_and_room(self, graph: SceneGraph) -> Iterator[Filling]:
        for object_ in _of_kind(graph, "Object"):
            assets = {id_ for id_ in graph.targets(object_, "ON", "INSIDE") if graph.nodes[id_].kind == "Asset"}
            found = sorted((graph.nodes[a].name, graph.nodes[p].name) for a in assets for p in self.rooms(graph, a))
            if len(found) == 1:
                name = graph.nodes[object_].name
                cypher = (
                    f"MATCH (:Object {{name: {literal(name)}}})-[:ON|INSIDE]->(a:Asset) "
                    f"MATCH (a){self.up}(p:Place) RETURN DISTINCT a.name AS furniture, p.name AS room"
                )
                question = f"What piece of furniture is {name} on or in, and which room is that furniture in?"
                yield Filling(question, [[*found[0]]], cypher)

    def in_state(self, graph: SceneGraph) -> Iterator[Filling]:
        for class_, ids in sorted(graph.by_class.items()):
            for state in sorted({state for id_ in ids for state in graph.nodes[id_].states}):
                found = [id_ for id_ in ids if state in graph.nodes[id_].states]
                if 0 < len(found) < len(ids) and len(found) <= MAX_ROWS:
                    cypher = (
                        f"MATCH (n:Entity {{class: {literal(class_)}}}) WHERE {literal(state)} IN n.states "
                        "RETURN n.name AS name"
                    )
                    question = f"Which things of class {literal(class_)} are {_words(state)}? Give their names."
                    yield Filling(question, _names(graph, found), cypher)

    def in_room_and_state(self, graph: SceneGraph) -> Iterator[Filling]:
        for room in _of_kind(graph, "Place"):
            assets = self.within(graph, room, "Asset")
            for state in ("closed", "on", "open"):
                found = [asset.id for asset in assets if state in asset.states]
                if 0 < len(found) < len(assets) and len(found) <= MAX_ROWS:
                    name = graph.nodes[room].name
                    cypher = (
                        f"MATCH (a:Asset){self.up}(:Place {{name: {literal(name)}}}) "
                        f"WHERE {literal(state)} IN a.states RETURN DISTINCT a.name AS asset"
                    )
                    question = f"Which furniture or appliances in {name} are {_words(state)}? Give their names."
                    yield Filling(question, _names(graph, found), cypher)

    def empty(self, graph: SceneGraph) -> Iterator[Filling]:
        for class_ in sorted({graph.nodes[id_].class_ for id_ in _of_kind(graph, "Asset")}):
            assets = [id_ for id_ in graph.by_class[class_] if graph.nodes[id_].kind == "Asset"]
            cypher = f"MATCH (a:Asset {{class: {literal(class_)}}}) {EMPTY} RETURN a.name AS name"
            asked = (
                f"Which things of class {literal(class_)} have nothing on them and nothing in them? Give their names."
            )
            yield from _empty_among(graph, assets, asked, cypher)
        for room in _of_kind(graph, "Place"):
            assets, name = [asset.id for asset in self.within(graph, room, "Asset")], graph.nodes[room].name
            where = f"MATCH (a:Asset){self.up}(:Place {{name: {literal(name)}}})"
            asked = (
                f"Which furniture or appliances in {name} have nothing on them and nothing in them? Give their names."
            )
            yield from _empty_among(graph, assets, asked, f"{where} {EMPTY} RETURN DISTINCT a.name AS name")

    def not_open(self, graph: SceneGraph) -> Iterator[Filling]:
        for room in _of_kind(graph, "Place"):
            openable = [one for one in self.within(graph, room, "Asset") if self.opens in one.affordances]
            found = [one.id for one in openable if "open" not in one.states]
            if 0 < len(found) <= MAX_ROWS:
                name = graph.nodes[room].name
                cypher = (
                    f"MATCH (a:Asset){self.up}(:Place {{name: {literal(name)}}}) "
                    f"WHERE {literal(self.opens)} IN a.affordances AND NOT 'open' IN a.states "
                    "RETURN DISTINCT a.name AS name"
                )
                question = f"Which furniture or appliances in {name} can be opened but are not open? Give their names."
                yield Filling(question, _names(graph, found), cypher)

    def fullest_room(self, graph: SceneGraph) -> Iterator[Filling]:
        for kind, words in (("Object", "objects (movable things)"), ("Asset", "pieces of furniture and appliances")):
            counts = Counter({room: len(self.within(graph, room, kind)) for room in _of_kind(graph, "Place")})
            top = _only_top(counts)
            if top is not None:
                cypher = (
                    f"MATCH (n:{kind}){self.up}(p:Place) WITH p.name AS room, count(DISTINCT n) AS things "
                    "RETURN room ORDER BY things DESC LIMIT 1"
                )
                yield Filling(f"Which room holds the most {words}?", _names(graph, [top]), cypher)

    def fullest_furniture(self, graph: SceneGraph) -> Iterator[Filling]:
        for type_, words in (("ON", "on"), ("INSIDE", "directly in")):
            counts = Counter(
                {
                    asset: sum(graph.nodes[id_].kind == "Object" for id_ in graph.sources(asset, type_))
                    for asset in _of_kind(graph, "Asset")
                }
            )
            top = _only_top(counts)
            if top is not None:
                cypher = (
                    f"MATCH (o:Object)-[:{type_}]->(a:Asset) WITH a, count(DISTINCT o) AS objects "
                    "RETURN a.name AS furniture ORDER BY objects DESC LIMIT 1"
                )
                question = f"Which piece of furniture has the most objects {words} it? Give its name."
                yield Filling(question, _names(graph, [top]), cypher)

    def more_of(self, graph: SceneGraph) -> Iterator[Filling]:
        counts = {class_: len(ids) for class_, ids in sorted(graph.by_class.items()) if len(ids) > 1}
        for one, other in combinations(counts, 2):
            if counts[one] != counts[other]:
                more = max(one, other, key=lambda class_: counts[class_])
                cypher = (
                    f"MATCH (n:Entity) WHERE n.class IN [{literal(one)}, {literal(other)}] "
                    "WITH n.class AS class, count(n) AS number RETURN class ORDER BY number DESC LIMIT 1"
                )
                question = f"Of which class are there more things, {literal(one)} or {literal(other)}?"
                yield Filling(question, [[more]], cypher)

    def fuller_room(self, graph: SceneGraph) -> Iterator[Filling]:
        counts = {room: len(self.within(graph, room, "Object")) for room in _of_kind(graph, "Place")}
        for one, other in combinations(sorted(room for room in counts if counts[room]), 2):
            if counts[one] != counts[other]:
                first, second = (graph.nodes[room].name for room in (one, other))
                cypher = (
                    f"MATCH (o:Object){self.up}(p:Place) WHERE p.name IN [{literal(first)}, {literal(second)}] "
                    "WITH p.name AS room, count(DISTINCT o) AS objects RETURN room ORDER BY objects DESC LIMIT 1"
                )
                question = f"Which of the two rooms {first} and {second} holds more objects (movable things)?"
                yield Filling(question, _names(graph, [max(one, other, key=lambda room: counts[room])]), cypher)

    def is_there(self, graph: SceneGraph) -> Iterator[Filling]:
        classes = sorted({graph.nodes[id_].class_ for id_ in _of_kind(graph, "Object")})
        for number, class_ in enumerate(classes):
            rooms = _of_kind(graph, "Place")
            here = {room for id_ in graph.by_class[class_] for room in self.rooms(graph, id_)}
            fitting = [room for room in rooms if (room in here) == (number % 2 == 0)]
            if fitting:
                name = graph.nodes[fitting[number % len(fitting)]].name
                cypher = (
                    f"RETURN EXISTS {{ (:Entity {{class: {literal(class_)}}}){self.up}"
                    f"(:Place {{name: {literal(name)}}}) }} AS there"
                )
                yield Filling(f"Is there a thing of class {literal(class_)} in {name}?", [[number % 2 == 0]], cypher)

    def is_so(self, graph: SceneGraph) -> Iterator[Filling]:
        for asset in _of_kind(graph, "Asset"):
            node = graph.nodes[asset]
            for state in ("open", "on"):
                if {state, {"open": "closed", "on": "off"}[state]} & {*node.states}:
                    cypher = (
                        f"MATCH (a:Asset {{name: {literal(node.name)}}}) RETURN {literal(state)} IN a.states AS answer"
                    )
                    words = "open" if state == "open" else "switched on"
                    yield Filling(f"Is {node.name} {words}?", [[state in node.states]], cypher)

    def lacking_property(self, graph: SceneGraph) -> Iterator[Filling]:
        for number, object_ in enumerate(_of_kind(graph, "Object")):
            words, keys = UNKNOWN_PROPERTIES[number % len(UNKNOWN_PROPERTIES)]
            yield unknown_property(words.format(graph.nodes[object_].name), graph.nodes[object_].name, keys)

    def lacking_thing(self, graph: SceneGraph) -> Iterator[Filling]:
        for class_ in ABSENT_CLASSES:
            if class_ not in graph.by_class:
                cypher = f"MATCH (n:Entity {{class: {literal(class_)}}}){self.up}(p:Place) RETURN p.name AS room"
                yield Filling(f"Which room is the {class_} in?", [], cypher)


def _empty_among(graph: SceneGraph, assets: list[str], question: str, cypher: str) -> Iterator[Filling]:
    found = [id_ for id_ in assets if not graph.sources(id_, "ON", "INSIDE")]
    if 0 < len(found) < len(assets) and len(found) <= MAX_ROWS:
        yield Filling(question, _names(graph, found), cypher)


def unknown_property(question: str, name: str, keys: tuple[str, ...]) -> Filling:
    """Return a question about a property that no node has; the query shows that it is missing."""
    listed = ", ".join(literal(key) for key in keys)
    cypher = (
        f"MATCH (n:Entity {{name: {literal(name)}}}) UNWIND keys(n) AS key WITH key WHERE key IN [{listed}] RETURN key"
    )
    return Filling(question, [], cypher)


def rooms_on_the_way(graph: SceneGraph) -> Iterator[Filling]:
    """Yield questions about VirtualHome's paths, where doors are BETWEEN rooms."""
    for start, end, way in _ways(graph):
        cypher = (
            f"MATCH p = SHORTEST 1 (:Place {{name: {literal(start)}}})-[:BETWEEN*1..12]-"
            f"(:Place {{name: {literal(end)}}}) RETURN [n IN nodes(p) WHERE n:Place | n.name] AS way"
        )
        question = (
            f"Which rooms does the shortest way by doors from {start} to {end} pass? All in order, both included."
        )
        yield Filling(question, [[way]], cypher)


def doors_on_the_way(graph: SceneGraph) -> Iterator[Filling]:
    """Yield questions about the doors of VirtualHome's paths, one between two rooms."""
    for start, end, way in reversed(list(_ways(graph))):
        cypher = (
            f"MATCH p = SHORTEST 1 (:Place {{name: {literal(start)}}})-[:BETWEEN*1..12]-"
            f"(:Place {{name: {literal(end)}}}) RETURN length(p) / 2 AS doors"
        )
        question = f"Through how many doors or door openings, at least, does one go from {start} to {end}?"
        yield Filling(question, [[len(way) - 1]], cypher)


def chain_to_the_room(graph: SceneGraph) -> Iterator[Filling]:
    """Yield questions about GraSIF's containment, where each thing is in, on or under one other."""
    for name, chain in _chains(graph):
        cypher = (
            f"MATCH p = (:Object {{name: {literal(name)}}}){CHAIN}(:Place) RETURN [n IN nodes(p) | n.name] AS chain"
        )
        question = f"What is {name} in or on, what is that in or on, and so on? List all names from it to its room."
        yield Filling(question, [[chain]], cypher)


def things_between(graph: SceneGraph) -> Iterator[Filling]:
    """Yield questions about the number of GraSIF's containers between a thing and its room."""
    for name, chain in reversed(list(_chains(graph))):
        cypher = f"MATCH p = (:Object {{name: {literal(name)}}}){CHAIN}(:Place) RETURN length(p) AS steps"
        question = f"How many containment steps (in, on, under or attached to) lead from {name} up to its room?"
        yield Filling(question, [[len(chain) - 1]], cypher)


def _ways(graph: SceneGraph) -> Iterator[tuple[str, str, list[str]]]:
    for start, end in permutations(_of_kind(graph, "Place"), 2):
        ways = [way for way in _walks(graph, [start]) if way[-1] == end]
        shortest = [way for way in ways if len(way) == min(map(len, ways))]
        if len(shortest) == 1 and len(shortest[0]) > 2:
            yield graph.nodes[start].name, graph.nodes[end].name, [graph.nodes[room].name for room in shortest[0]]


def _walks(graph: SceneGraph, way: list[str]) -> Iterator[list[str]]:
    yield way
    doors = graph.sources(way[-1], "BETWEEN")
    for room in sorted({room for door in doors for room in graph.targets(door, "BETWEEN")} - {*way}):
        yield from _walks(graph, [*way, room])


def _chains(graph: SceneGraph) -> Iterator[tuple[str, list[str]]]:
    """Return the longest containment chains."""
    found = []
    for object_ in _of_kind(graph, "Object"):
        chain = [object_]
        while graph.nodes[chain[-1]].kind != "Place":
            chain += graph.targets(chain[-1], *GRASIF.containment)
        found.append((graph.nodes[object_].name, [graph.nodes[id_].name for id_ in chain]))
    longest = max(len(chain) for _, chain in found)
    return iter([pair for pair in found if len(pair[1]) == longest])


def _of_kind(graph: SceneGraph, kind: str) -> tuple[str, ...]:
    return graph.by_kind.get(kind, ())


def _single(graph: SceneGraph, kind: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the classes of a kind that have exactly one node."""
    for class_, ids in sorted(graph.by_class.items()):
        if len(ids) == 1 and graph.nodes[ids[0]].kind == kind:
            yield class_, ids


def _names(graph: SceneGraph, ids: object) -> list[list[str]]:
    return column(graph.nodes[id_].name for id_ in ids)  # type: ignore[attr-defined]


def _only_top(counts: Counter[str]) -> str | None:
    ranked = counts.most_common(2)
    return ranked[0][0] if len(ranked) == 2 and ranked[0][1] > ranked[1][1] else None


def _words(text: str) -> str:
    return text.replace("_", " ")


CHAIN: Final = "-[:INSIDE|ON|UNDER|ATTACHED_TO*1..5]->"
VIRTUALHOME: Final = Templates("-[:INSIDE]->", ("INSIDE",), is_chain=False, opens="can_open")
GRASIF: Final = Templates(CHAIN, ("INSIDE", "ON", "UNDER", "ATTACHED_TO"), is_chain=True, opens="open")
VIRTUALHOME_TEMPLATES: Final = (
    *VIRTUALHOME.templates(),
    Template("path", rooms_on_the_way),
    Template("path", doors_on_the_way),
)
GRASIF_TEMPLATES: Final = (
    *GRASIF.templates(),
    Template("path", chain_to_the_room),
    Template("path", things_between),
)
