"""Generated home of VirtualHome's size, seeded: 300 nodes, about 5,700 relations, 84% of them CLOSE; and its scene."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from uuid import uuid4

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.store import publish
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.scene_store import SceneStore

ROOMS = ("kitchen", "bathroom", "bedroom", "living_room")


@contextmanager
def temporary_scene(
    store: SceneStore, graph: SceneGraph | None = None, vocabulary: str = "virtualhome"
) -> Iterator[SceneInfo]:
    """Yield a scene for one benchmark and drop it at the end."""
    name = f"bench/{uuid4().hex}"
    store.put(ImportedScene(name, graph or make_home(), vocabulary))
    info = store.find(name)
    try:
        yield info
    finally:
        publish.delete_generation(store.database, info.key)


def make_home(nodes: int = 300, *, relations: int = 5_700, seed: int = 0) -> SceneGraph:
    """Return four rooms, an agent, furniture and objects; `relations` is the approximate total."""
    random = Random(seed)  # noqa: S311  no secret
    members = list(_members(nodes))
    edges: set[Relation] = {Relation("character_65", "INSIDE", "bedroom")}
    things = [node.id for node in members if node.kind in {"Asset", "Object"}]
    for thing in things:
        room = "kitchen" if thing == "cup_1" else random.choice(ROOMS)
        edges.add(Relation(thing, "INSIDE", room))
        if thing.startswith("object") and random.random() < 0.6:
            edges.add(Relation(thing, "ON", random.choice(things)))
    while len(edges) < relations:
        one, other = random.sample(things, 2)
        edges.update((Relation(one, "CLOSE", other), Relation(other, "CLOSE", one)))
    return SceneGraph.of(members, edges)


def _members(count: int) -> Iterator[Node]:
    for room in ROOMS:
        yield Node(room, "Place", room, room)
    yield Node("character_65", "Agent", "character_65", "character")
    yield Node("cup_1", "Object", "cup_1", "cup", ("clean",), ("grabbable", "movable"))
    for number in range(count - len(ROOMS) - 2):
        thing, asset = f"object_{number}", f"asset_{number}"
        if number % 3:
            yield Node(thing, "Object", thing, f"thing_{number % 60}", ("clean",), ("grabbable",))
        else:
            yield Node(asset, "Asset", asset, f"asset_{number % 30}", ("closed", "clean"), ("can_open",))
