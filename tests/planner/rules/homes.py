"""A small kitchen with a nursery beside it, and rules that touch it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.rules import Rule, Rules
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.load import LoadedScene
from scenecypher.planner.rules.words import read_rule


def node(id_: str, kind: str, *, states: str = "", affordances: str = "") -> Node:
    return Node(id_, kind, id_, id_.rpartition("-")[0] or id_, tuple(states.split()), tuple(affordances.split()))


HOME: Final = SceneGraph.of(
    (
        node("kitchen", "Place"),
        node("nursery", "Place"),
        node("robot", "Agent"),
        node("microwave-1", "Asset", states="closed off", affordances="can_open has_switch"),
        node("microwave-2", "Asset", states="closed off", affordances="can_open has_switch"),
        node("stove-1", "Asset", states="off", affordances="has_switch surfaces"),
        node("table-1", "Asset"),
        node("crib-1", "Asset"),
        node("fork-1", "Object"),
        node("fork-2", "Object"),
        node("knife-1", "Object"),
        node("plate-1", "Object", affordances="surfaces grabbable"),
    ),
    (
        *(Relation(it, "INSIDE", "kitchen") for it in ("robot", "microwave-1", "microwave-2", "stove-1", "table-1")),
        Relation("crib-1", "INSIDE", "nursery"),
        *(Relation(it, "ON", "table-1") for it in ("fork-1", "knife-1", "plate-1")),
        Relation("fork-2", "ON", "plate-1"),
    ),
)
NO_METAL: Final = "never fork INSIDE microwave and microwave is on"
NO_KNIFE: Final = "never knife INSIDE nursery"


def loaded(graph: SceneGraph = HOME) -> LoadedScene:
    return LoadedScene(SceneInfo("key", "home", "world", "household", "ready", 0), graph)


def rules(*texts: str, graph: SceneGraph = HOME) -> Rules:
    read = (read_rule(text, loaded(graph), name=f"rule-{number}") for number, text in enumerate(texts, 1))
    return Rules.of(read)


def rule(text: str, graph: SceneGraph = HOME) -> Rule:
    return replace(read_rule(text, loaded(graph)), name="it")


def with_states(graph: SceneGraph, **states: str) -> SceneGraph:
    changed = {name.replace("_", "-"): tuple(text.split()) for name, text in states.items()}
    nodes = (replace(it, states=changed.get(it.id, it.states)) for it in graph.nodes.values())
    return SceneGraph.of(nodes, graph.relations)


def moved(graph: SceneGraph, thing: str, type_: str, to: str) -> SceneGraph:
    kept = (it for it in graph.relations if thing not in {it.source, it.target})
    inner = (it for it in graph.relations if it.target == thing)
    return SceneGraph.of(graph.nodes.values(), (*kept, *inner, Relation(thing, type_, to)))
