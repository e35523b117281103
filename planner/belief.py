"""The belief about a world: the scene ``NAME@belief``, in which every object is unseen until it is looked at."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Properties, SceneGraph
from scenecypher.db.schema import HOLDING
from scenecypher.db.store.catalog import SceneInfo, lookup_scene
from scenecypher.db.store.publish import Header, publish
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError

SUFFIX: Final = "@belief"


def belief_name(world: str) -> str:
    """Return the name of the belief about a world, such as ``virtualhome/963_2@belief``."""
    return world + SUFFIX


def world_name(belief: str) -> str:
    """Return the name of the world that a belief is about, such as ``virtualhome/963_2``."""
    return belief.removesuffix(SUFFIX)


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
    SceneNotFound, and InputError if `world` is a belief itself.
    """
    if world.role == "belief":
        msg = f"{world.name} is itself a belief; give the world that it is about: {world_name(world.name)}"
        raise InputError(msg)
    found = lookup_scene(store.database, belief_name(world.name))
    if found is not None:
        return found
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
    return publish(store.database, scene.graph, header)


def _unseen_object(node: Node, held: set[str]) -> Node:
    if node.kind != "Object":
        return node
    return replace(node, properties=Properties({**node.properties, "seen": node.id in held}))
