"""The belief about a world: the scene ``NAME@belief``, in which every object is unseen until it is looked at."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from scenecypher.db.graph.change import nodes_of
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import GraphView, Node, Properties, SceneGraph
from scenecypher.db.schema import HOLDING
from scenecypher.db.store.catalog import BELIEF_SUFFIX, SceneInfo, lookup_scene, scene_of
from scenecypher.db.store.history import Event
from scenecypher.db.store.publish import Header, publish
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.vocabulary import conventions_of
from scenecypher.errors import InputError, NameTaken
from scenecypher.planner.vocabularies.vocabulary import vocabulary_named


def belief_name(world: str) -> str:
    """Return the name of the belief about a world, such as ``virtualhome/963_2@belief``."""
    return world + BELIEF_SUFFIX


def world_name(belief: str) -> str:
    """Return the name of the world that a belief is about, such as ``virtualhome/963_2``."""
    return belief.removesuffix(BELIEF_SUFFIX)


def initial_belief(world: SceneGraph, *, priors: bool = True) -> SceneGraph:
    """Return the belief before the first observation: places, assets and agents, with the objects as priors.

    Each object is marked as unseen at its place (LookPlanGraph, section IV-A), except what an agent holds. Without
    `priors` only objects that an agent holds are included.
    """
    held = {relation.target for relation in world.relations if relation.type in HOLDING}
    nodes = [
        _unseen_object(node, held)
        for node in world.nodes.values()
        if priors or node.kind != "Object" or node.id in held
    ]
    known = {node.id for node in nodes}
    relations = [it for it in world.relations if it.source in known and it.target in known]
    return SceneGraph.of(nodes, relations)


def belief_scene(world: ImportedScene, *, priors: bool = True) -> ImportedScene:
    """Return the initial belief about a world as a scene of its own."""
    graph = initial_belief(world.graph, priors=priors)
    source = f"the belief about {world.name}"
    return replace(world, name=belief_name(world.name), graph=graph, role="belief", source=source)


def find_or_create_belief(store: SceneStore, world: SceneInfo) -> SceneInfo:
    """Return the belief about a world; create it from the world's present state if there is none.

    A new belief stores the key and version of its world, from which on the two are updated together. Raises
    SceneNotFound, and InputError if `world` is a belief itself or another scene has the belief's name.
    """
    if world.role == "belief":
        msg = f"{world.name} is itself a belief; give the world that it is about: {world_name(world.name)}"
        raise InputError(msg)
    return _found(store, world) or _created(store, world)


def _found(store: SceneStore, world: SceneInfo) -> SceneInfo | None:
    found = lookup_scene(store.database, belief_name(world.name))
    if found is not None:
        _check_about(store, found, world)
    return found


def _created(store: SceneStore, world: SceneInfo) -> SceneInfo:
    """Return the new belief about a world, or the one that somebody else has made meanwhile."""
    now = store.load(world.name)
    scene = belief_scene(ImportedScene(world.name, now.graph, world.vocabulary, declared=world.declared))
    header = Header(
        scene.name,
        scene.vocabulary,
        role="belief",
        declared=scene.declared,
        source=scene.source,
        world=now.info.key,
        world_version=now.info.version,
    )
    try:
        return publish(store.database, scene.graph, header)
    except NameTaken:
        found = _found(store, world)
        if found is None:
            raise
        return found


def world_of(store: SceneStore, belief: SceneInfo) -> SceneInfo:
    """Return the world that a belief is about: the one it is linked to, else the one it is named after.

    Raises SceneNotFound if that is gone.
    """
    linked = _linked(store, belief)
    return store.find(linked.name if linked else world_name(belief.name))


def _check_about(store: SceneStore, found: SceneInfo, world: SceneInfo) -> None:
    """Check that a scene named as the belief about a world is one, and about that world. Raises InputError."""
    linked = _linked(store, found)
    if found.role == "belief" and (linked is None or linked.name == world.name):
        return
    what = f"the belief about {linked.name!r}" if linked and found.role == "belief" else "a world of its own"
    msg = (
        f"{found.name!r} is {what}, not the belief about {world.name!r}; give it another name "
        "(`scenecypher scenes copy`, then `scenes delete`) and try again"
    )
    raise InputError(msg)


def _linked(store: SceneStore, belief: SceneInfo) -> SceneInfo | None:
    """Return the generation that a belief was made of, published or not; None if it is unknown or deleted."""
    return scene_of(store.database, belief.world) if belief.world else None


def _unseen_object(node: Node, held: set[str]) -> Node:
    if node.kind != "Object":
        return node
    return replace(node, properties=Properties({**node.properties, "seen": node.id in held}))


def told_event(event: Event, seen: Collection[str], graph: GraphView) -> Event:
    """Return an event as somebody tells it who saw these nodes: what it did with others, unseen, is not told."""
    changed = {it for change in event.delta.changes for it in nodes_of(change)} & graph.nodes.keys()
    hidden = {it for it in changed if graph.nodes[it].kind != "Place" and mentions(event.action, it)} - {*seen}
    return replace(event, action=f"did something with {', '.join(seen)}") if hidden else event


def mentions(action: str, node_id: str) -> bool:
    """Check if the text of an action names a node."""
    return re.search(rf"(?<![\w-]){re.escape(node_id)}(?![\w-])", action) is not None


def is_where_believed(thing: str, belief: GraphView, world: GraphView, containment: Sequence[str]) -> bool:
    """Check if a movable thing is in or on all that it is believed to be in or on directly, or in a hand."""
    if thing not in world or belief.nodes[thing].kind != "Object" or world.sources(thing, *HOLDING):
        return True
    believed, actual = {*belief.targets(thing, *containment)}, world.reached(thing, *containment)
    return believed <= actual and bool(believed) == bool(actual)


def places_to_look(belief: GraphView, of: Sequence[str], vocabulary: str) -> tuple[str, ...]:
    """Return the nodes worth a look: each of `of`, and what it is believed to be in or on.

    Rooms are left out, since a look at one shows little; in a grid a room shows everything, so there its doors are
    added.
    """
    containment = conventions_of(vocabulary).containment
    near = [end for it in of for end in (it, *belief.targets(it, *containment)) if end in belief]
    rooms = [it for it in near if belief.nodes[it].kind == "Place"]
    if vocabulary_named(vocabulary).looking.whole_rooms:
        near += [door for room in rooms for door in belief.targets(room, "CONNECTS")]
        rooms = []
    return tuple(dict.fromkeys(it for it in near if it not in rooms))
