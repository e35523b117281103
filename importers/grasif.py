"""GraSIF's JSON scenes and tasks: import and export."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from scenecypher.db.condition import And, AtLeast, Condition, HasClass, HasState, Id, Related, Term
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.problems import Problem, RelationDraft, document_error, validated
from scenecypher.db.graph.scene import InvalidValue, Node, Properties, SceneGraph
from scenecypher.db.graph.value import class_of_name, shown
from scenecypher.db.schema import Declared
from scenecypher.errors import did_you_mean
from scenecypher.importers.assembly import NodeDraft, assemble
from scenecypher.importers.grasif_format import (
    NOTHING,
    RELATIONS,
    TRAITS,
    GoalNode,
    GrasifTaskForm,
    ItemFacts,
    NodesForm,
    SceneForm,
)
from scenecypher.importers.json_file import read_json
from scenecypher.importers.task import Task

NAME_PREFIX: Final = "grasif/"
DECLARED: Final = Declared(properties=(TRAITS,))
_WORDS: Final = {ours: theirs for theirs, ours in RELATIONS.items()}


def is_one(document: Any) -> bool:
    """Check if a document has GraSIF's nodes by kind."""
    match document:
        case {"nodes": {"rooms": _} | {"room": _} | {"asset": _} | {"objects": _}}:
            return True
    return False


def read_scene(path: Path, *, name: str | None = None) -> ImportedScene:
    """Return the scene of a file. Raises DocumentError with all its problems, each at its JSON path."""
    return read_file(path, name=name)[0]


def read_file(path: Path, *, name: str | None = None) -> tuple[ImportedScene, tuple[Task, ...]]:
    """Return a file's scene, named after the file by default, and its tasks. Raises DocumentError."""
    return from_document(read_json(path), file=str(path), name=name or NAME_PREFIX + path.stem)


def from_document(document: object, *, file: str, name: str) -> tuple[ImportedScene, tuple[Task, ...]]:
    """Return the scene and tasks of a document of GraSIF's form. Raises DocumentError with all its problems."""
    form = validated(SceneForm, document, file)
    graph, problems = graph_of_form(form.nodes)
    if not problems:
        problems = [
            problem for number, task in enumerate(form.tasks) for problem in _task_problems(task, number, graph)
        ]
    if problems:
        raise document_error(file, problems)
    scene = ImportedScene(name, graph, "grasif", declared=DECLARED, source=file)
    return scene, tuple(_task(task, name, file) for task in form.tasks)


def graph_of_form(nodes: NodesForm) -> tuple[SceneGraph, list[Problem]]:
    """Return the graph of a form and its problems; if there are any, the graph holds nodes alone."""
    return assemble(_drafts(nodes), _links(nodes), vocabulary="grasif", declared=DECLARED)


def to_document(scene: ImportedScene) -> dict[str, Any]:
    """Return the GraSIF form of a scene, exact but for order. Raises InvalidValue for content that the form lacks."""
    graph = scene.graph
    if graph.by_kind.get("Waypoint"):
        raise InvalidValue("GraSIF has no nodes of the kind Waypoint")
    agents = graph.by_kind.get("Agent", ())
    if len(agents) != 1:
        msg = f"GraSIF has exactly one agent in a scene, this one has {len(agents)}"
        raise InvalidValue(msg)
    held = graph.targets(agents[0], "HOLDS")
    return {
        "nodes": {
            "rooms": [{"name": room.id} for room in _of_kind(graph, "Place")],
            "asset": [{"name": n.id, "room": _room(graph, n.id), **_facts(n)} for n in _of_kind(graph, "Asset")],
            "objects": [{"name": n.id, **_parent_fields(graph, n.id), **_facts(n)} for n in _of_kind(graph, "Object")],
            "agent": {
                "name": agents[0],
                "location": _room(graph, agents[0]),
                "holding": held[0] if held else NOTHING[0],
            },
        }
    }


def _of_kind(graph: SceneGraph, kind: str) -> list[Node]:
    return [graph.nodes[node_id] for node_id in graph.by_kind.get(kind, ())]


def _room(graph: SceneGraph, node_id: str) -> str:
    rooms = graph.targets(node_id, "INSIDE")
    if len(rooms) != 1:
        msg = f"GraSIF has {shown(node_id)} in exactly one room, here it is in {len(rooms)}"
        raise InvalidValue(msg)
    return rooms[0]


def node_goal(wanted: GoalNode) -> Condition:
    """Return the condition of a goal node: on the node of that name, or on at least `count` nodes of that class."""
    if wanted.class_ is not None:
        return AtLeast(wanted.count, "x", And((HasClass("x", wanted.class_), *_wanted_facts("x", wanted))))
    return And(tuple(_wanted_facts(Id(wanted.name or ""), wanted)))


def _wanted_facts(node: Term, wanted: GoalNode) -> Iterator[Condition]:
    if wanted.relation is not None and wanted.related_to is not None:
        yield Related(node, RELATIONS[wanted.relation], Id(wanted.related_to))
    for state in wanted.states:
        yield HasState(node, state)


def _drafts(nodes: NodesForm) -> Iterator[NodeDraft]:
    for i, room in enumerate(nodes.rooms):
        yield NodeDraft(f"$.nodes.rooms[{i}]", partial(form_node, room.name, "Place"))
    for i, asset in enumerate(nodes.asset):
        yield NodeDraft(f"$.nodes.asset[{i}]", partial(form_node, asset.name, "Asset", asset))
    for i, thing in enumerate(nodes.objects):
        yield NodeDraft(f"$.nodes.objects[{i}]", partial(form_node, thing.name, "Object", thing))
    if nodes.agent is not None:
        yield NodeDraft("$.nodes.agent", partial(form_node, nodes.agent.name, "Agent"))


def form_node(name: str, kind: str, facts: ItemFacts | None = None) -> Node:
    """Return the node of a name, with the facts that GraSIF gives an asset or an object."""
    class_ = class_of_name(name) if isinstance(name, str) else name
    if facts is None:
        return Node(name, kind, name, class_)
    traits = Properties({TRAITS: tuple(sorted(facts.properties))} if facts.properties else {})
    return Node(name, kind, name, class_, tuple(facts.states), tuple(facts.affordances), traits)


def _links(nodes: NodesForm) -> Iterator[RelationDraft]:
    for i, asset in enumerate(nodes.asset):
        yield RelationDraft(f"$.nodes.asset[{i}].room", asset.name, "INSIDE", asset.room)
    for i, thing in enumerate(nodes.objects):
        if thing.relation is not None and thing.related_to is not None:
            place = f"$.nodes.objects[{i}].related_to"
            yield RelationDraft(place, thing.name, RELATIONS[thing.relation], thing.related_to)
    agent = nodes.agent
    if agent is not None:
        yield RelationDraft("$.nodes.agent.location", agent.name, "INSIDE", agent.location)
        if agent.holding not in NOTHING:
            yield RelationDraft("$.nodes.agent.holding", agent.name, "HOLDS", agent.holding or "")


def _facts(node: Node) -> dict[str, Any]:
    traits = node.properties.get(TRAITS, ())
    listed = list(traits) if isinstance(traits, tuple) else [traits]
    return {"states": list(node.states), "affordances": list(node.affordances), "properties": listed}


def _parent_fields(graph: SceneGraph, node_id: str) -> dict[str, str | None]:
    for relation in graph.outgoing.get(node_id, ()):
        if relation.type in _WORDS:
            return {"relation": _WORDS[relation.type], "related_to": relation.target}
    return {"relation": None, "related_to": None}


def _task(task: GrasifTaskForm, scene: str, source: str) -> Task:
    goal = And(tuple(node_goal(node) for node in task.goal))
    return Task(task.id, task.instruction, scene, goal, (), task.budget, source)


def _task_problems(task: GrasifTaskForm, number: int, graph: SceneGraph) -> Iterator[Problem]:
    for i, wanted in enumerate(task.goal):
        place = f"$.tasks[{number}].goal[{i}]"
        if (wanted.name is None) == (wanted.class_ is None):
            yield place, "give either the name of a node or a class"
            continue
        if (wanted.relation is None) != (wanted.related_to is None):
            yield place, "give relation and related_to together"
        for name in (wanted.name, wanted.related_to):
            if name is not None and name not in graph:
                yield place, f"no node is called {name!r}{did_you_mean(name, tuple(graph.nodes))}"
        if wanted.class_ is not None and len(graph.by_class.get(wanted.class_, ())) < wanted.count:
            yield place, f"the scene has fewer than {wanted.count} of class {wanted.class_!r}"
        try:
            node_goal(wanted)
        except InvalidValue as error:
            yield place, str(error)
