"""GraSIF scenes and tasks in JSON, as scenes, and back again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from db.condition import And, AtLeast, Condition, HasClass, HasState, Id, Related, Term
from db.imported import ImportedScene
from db.invariants import broken_promises
from db.problems import Problem, problems_of, refusal
from db.scene import InvalidValue, Node, Properties, Relation, SceneGraph
from db.schema import Declared
from importers.grasif_format import NOTHING, RELATIONS, TRAITS, GoalNode, Nodes, SceneForm, TaskForm
from importers.json_file import read_json
from importers.task import Task
from scenecypher.errors import did_you_mean

NAME_PREFIX: Final = "grasif/"
DECLARED: Final = Declared(properties=(TRAITS,))
_NUMBERED: Final = re.compile(r"(.+?)[-_]?\d+")
_WORDS: Final = {ours: theirs for theirs, ours in RELATIONS.items()}


def read_scene(path: Path, *, name: str | None = None) -> ImportedScene:
    """The scene of a file. Raises DocumentError with all its problems, each at its JSON path."""
    return read_file(path, name=name)[0]


def read_file(path: Path, *, name: str | None = None) -> tuple[ImportedScene, tuple[Task, ...]]:
    """A file's scene, called after the file where no name is given, and the tasks in it. Raises DocumentError."""
    document = read_json(path)
    try:
        form = SceneForm.model_validate(document)
    except ValidationError as error:
        raise refusal(str(path), problems_of(error, document)) from error
    graph, problems = scene_graph(form.nodes)
    chosen = name or NAME_PREFIX + path.stem
    problems += [problem for number, task in enumerate(form.tasks) for problem in _task_problems(task, number, graph)]
    if problems:
        raise refusal(str(path), problems)
    scene = ImportedScene(chosen, graph, "grasif", declared=DECLARED, source=str(path))
    return scene, tuple(_task(task, chosen, str(path)) for task in form.tasks)


def scene_graph(nodes: Nodes) -> tuple[SceneGraph, list[Problem]]:
    """The graph of a form, and what is wrong with it; the graph counts only where nothing is."""
    problems: list[Problem] = []
    made: dict[str, Node] = {}
    for place, build in _builders(nodes):
        try:
            node = build()
        except InvalidValue as error:
            problems.append((place, str(error)))
            continue
        if node.id in made:
            problems.append((f"{place}.name", f"{node.id!r} is another node's name already; give each its own"))
        made.setdefault(node.id, node)
    relations: set[Relation] = set()
    for place, source, word, target in _links(nodes):
        if source not in made or target not in made:
            missing = target if source in made else source
            problems.append((place, f"no node is called {missing!r}{did_you_mean(missing, tuple(made))}"))
        else:
            relations.add(Relation(source, word, target))
    graph = SceneGraph.of(made.values(), relations)
    if not problems:
        problems += [(f"$.nodes: {node_id}", cause) for node_id, cause in broken_promises(graph, "grasif")]
    return graph, problems


def to_document(scene: ImportedScene) -> dict[str, Any]:
    """The GraSIF form of a scene that came from one: exact but for order."""
    graph = scene.graph
    places, assets, objects, (agent,) = (_of_kind(graph, kind) for kind in ("Place", "Asset", "Object", "Agent"))
    held = graph.targets(agent.id, "HOLDS")
    return {
        "nodes": {
            "rooms": [{"name": room.id} for room in places],
            "asset": [{"name": n.id, "room": graph.targets(n.id, "INSIDE")[0], **_facts(n)} for n in assets],
            "objects": [{"name": n.id, **_whereabouts(graph, n.id), **_facts(n)} for n in objects],
            "agent": {
                "name": agent.id,
                "location": graph.targets(agent.id, "INSIDE")[0],
                "holding": held[0] if held else NOTHING[0],
            },
        }
    }


def _of_kind(graph: SceneGraph, kind: str) -> list[Node]:
    return sorted((node for node in graph.nodes.values() if node.kind == kind), key=lambda node: node.id)


def class_of(name: str) -> str:
    """``butter_cookie-2`` is a butter_cookie; a name without a number is its own class."""
    numbered = _NUMBERED.fullmatch(name)
    return numbered[1] if numbered else name


def goal_of(wanted: GoalNode) -> Condition:
    """What a goal node asks: of the node of that name, or of at least `count` nodes of that class."""
    if wanted.class_ is not None:
        return AtLeast(wanted.count, "x", And((HasClass("x", wanted.class_), *_wishes("x", wanted))))
    return And(tuple(_wishes(Id(wanted.name or ""), wanted)))


def _wishes(node: Term, wanted: GoalNode) -> Iterator[Condition]:
    if wanted.relation is not None and wanted.related_to is not None:
        yield Related(node, RELATIONS[wanted.relation], Id(wanted.related_to))
    for state in wanted.states:
        yield HasState(node, state)


def _builders(nodes: Nodes) -> Iterator[tuple[str, Callable[[], Node]]]:
    for i, room in enumerate(nodes.rooms):
        yield f"$.nodes.rooms[{i}]", lambda room=room: _node(room.name, "Place")  # type: ignore[misc]
    for i, asset in enumerate(nodes.asset):
        yield f"$.nodes.asset[{i}]", lambda asset=asset: _node(asset.name, "Asset", asset)  # type: ignore[misc]
    for i, thing in enumerate(nodes.objects):
        yield f"$.nodes.objects[{i}]", lambda thing=thing: _node(thing.name, "Object", thing)  # type: ignore[misc]
    yield "$.nodes.agent", lambda: _node(nodes.agent.name, "Agent")


def _node(name: str, kind: str, facts: Any = None) -> Node:
    if facts is None:
        return Node(name, kind, name, class_of(name))
    traits = Properties({TRAITS: tuple(sorted(facts.properties))} if facts.properties else {})
    return Node(name, kind, name, class_of(name), tuple(facts.states), tuple(facts.affordances), traits)


def _links(nodes: Nodes) -> Iterator[tuple[str, str, str, str]]:
    for i, asset in enumerate(nodes.asset):
        yield f"$.nodes.asset[{i}].room", asset.name, "INSIDE", asset.room
    for i, thing in enumerate(nodes.objects):
        if thing.relation is not None and thing.related_to is not None:
            yield f"$.nodes.objects[{i}].related_to", thing.name, RELATIONS[thing.relation], thing.related_to
    yield "$.nodes.agent.location", nodes.agent.name, "INSIDE", nodes.agent.location
    if nodes.agent.holding not in NOTHING:
        yield "$.nodes.agent.holding", nodes.agent.name, "HOLDS", nodes.agent.holding or ""


def _facts(node: Node) -> dict[str, Any]:
    traits = node.properties.get(TRAITS, ())
    listed = list(traits) if isinstance(traits, tuple) else [traits]
    return {"states": list(node.states), "affordances": list(node.affordances), "properties": listed}


def _whereabouts(graph: SceneGraph, node_id: str) -> dict[str, str | None]:
    for relation in graph.outgoing.get(node_id, ()):
        if relation.type in _WORDS:
            return {"relation": _WORDS[relation.type], "related_to": relation.target}
    return {"relation": None, "related_to": None}


def _task(task: TaskForm, scene: str, source: str) -> Task:
    goal = And(tuple(goal_of(node) for node in task.goal))
    return Task(task.id, task.instruction, scene, goal, (), task.budget, source)


def _task_problems(task: TaskForm, number: int, graph: SceneGraph) -> Iterator[Problem]:
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
            goal_of(wanted)
        except InvalidValue as error:
            yield place, str(error)
