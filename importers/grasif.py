"""GraSIF's JSON scenes and tasks, and the one table of its words (LookPlanGraph, appendix A): import and export.

The forms that appendix F prints are read, too: `room` and `object` for `rooms` and `objects`, `id` for `name`,
`located` for an asset's `room`, a list of one agent, or none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import AliasChoices, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from scenecypher.db.condition import And, AtLeast, Condition, HasClass, HasState, Id, Related, Term
from scenecypher.db.graph.field_types import Form
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.problems import Problem, RelationDraft, document_error, validated
from scenecypher.db.graph.scene import InvalidValue, Node, SceneGraph
from scenecypher.db.graph.value import class_of_name, shown
from scenecypher.db.schema import Declared
from scenecypher.errors import did_you_mean
from scenecypher.importers.assembly import NodeDraft, assemble, node_draft
from scenecypher.importers.json_file import read_json
from scenecypher.importers.task import Task, chosen
from scenecypher.importers.word_tables import tables

RELATIONS: Final[Mapping[str, str]] = tables("words")["grasif"]["relations"]
"""GraSIF's relation words and ours. Assets and the agent are INSIDE their room; the agent HOLDS an object."""

NOTHING: Final = ("nothing", "", None)
"""The sources' words for an empty hand; an export writes the first."""

TRAITS: Final = "traits"
"""The property that keeps GraSIF's `properties` of a node, a list of text."""

RelationWord = Literal["ontop_of", "inside_of", "under", "attached_to"]


Name = Annotated[str, Field(validation_alias=AliasChoices("name", "id"))]
NAME_PREFIX: Final = "grasif/"
DECLARED: Final = Declared(properties=(TRAITS,))
_WORDS: Final = {ours: theirs for theirs, ours in RELATIONS.items()}
SUBSETS: Final[Mapping[str, str]] = {"sayplan-office": "sayplan_office.json", "our-office": "our_office.json"}
"""The offices and their files in the package. Their tasks' ids are a category and a number."""


def _only(value: Any) -> Any:
    return value[0] if isinstance(value, list) and len(value) == 1 else value


class RoomForm(Form):
    """A place."""

    name: Name


class ItemFacts(Form):
    """The facts about an asset or an object."""

    states: list[str] = Field([])
    affordances: list[str] = Field([])
    properties: list[str] = Field([])


class AssetForm(ItemFacts):
    """Furniture or an appliance in a room."""

    name: Name
    room: str = Field(validation_alias=AliasChoices("room", "located"))


class ObjectForm(ItemFacts):
    """An object on or in an asset or another object; both fields are null if the agent holds it."""

    name: Name
    relation: RelationWord | None
    related_to: str | None

    @model_validator(mode="after")
    def _whole(self) -> ObjectForm:
        if (self.relation is None) != (self.related_to is None):
            raise PydanticCustomError("half", "relation and related_to belong together; give both or neither")
        return self


class AgentForm(Form):
    """The robot."""

    name: Name
    location: str
    holding: str | None = "nothing"


class NodesForm(Form):
    """All nodes by kind; a scene without an agent can be asked about, and not acted in."""

    rooms: list[RoomForm] = Field(validation_alias=AliasChoices("rooms", "room"))
    asset: list[AssetForm]
    objects: list[ObjectForm] = Field(validation_alias=AliasChoices("objects", "object"))
    agent: Annotated[AgentForm | None, BeforeValidator(_only)] = None


class GoalNode(Form):
    """The desired relation and states of one node, or of `count` nodes of a class."""

    name: str | None = None
    class_: str | None = Field(None, alias="class")
    count: int = Field(1, ge=1, le=10_000)
    relation: RelationWord | None = None
    related_to: str | None = None
    states: list[str] = Field([])


class GrasifTaskForm(Form):
    """An instruction with its goal nodes."""

    id: str
    instruction: str
    goal: list[GoalNode] = Field(min_length=1)
    budget: int = Field(50, ge=1)


class SceneForm(Form):
    """A file: one scene, and optionally its tasks."""

    nodes: NodesForm
    tasks: list[GrasifTaskForm] = Field([])


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
    graph = assemble(_parts(form.nodes), file=file, declared=DECLARED, vocabulary="grasif")
    problems = [it for number, task in enumerate(form.tasks) for it in _task_problems(task, number, graph)]
    if problems:
        raise document_error(file, problems)
    scene = ImportedScene(name, graph, "grasif", declared=DECLARED, source=file)
    goals = (And(tuple(map(node_goal, task.goal))) for task in form.tasks)
    return scene, tuple(
        Task(task.id, task.instruction, name, goal, (), task.budget, file)
        for task, goal in zip(form.tasks, goals, strict=True)
    )


def to_document(scene: ImportedScene) -> dict[str, Any]:
    """Return the GraSIF form of a scene, exact but for order. Raises InvalidValue for content that the form lacks."""
    graph = scene.graph
    if graph.by_kind.get("Waypoint"):
        raise InvalidValue("GraSIF has no nodes of the kind Waypoint")
    agents = graph.by_kind.get("Agent", ())
    if len(agents) != 1:
        raise InvalidValue(f"GraSIF has exactly one agent in a scene, this one has {len(agents)}")
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
        raise InvalidValue(f"GraSIF has {shown(node_id)} in exactly one room, here it is in {len(rooms)}")
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


def _parts(nodes: NodesForm) -> Iterator[NodeDraft | RelationDraft]:
    for key, kind in {"rooms": "Place", "asset": "Asset", "objects": "Object"}.items():
        for i, form in enumerate(getattr(nodes, key)):
            yield from form_parts(f"$.nodes.{key}[{i}]", kind, form)
    if nodes.agent is not None:
        yield from form_parts("$.nodes.agent", "Agent", nodes.agent)


def form_parts(place: str, kind: str, form: Any) -> Iterator[NodeDraft | RelationDraft]:
    """Yield the node of a form, and its relations to the nodes that its fields name."""
    facts: dict[str, Any] = {}
    if isinstance(form, ItemFacts):
        traits = tuple(sorted(form.properties)) or None
        facts = {"states": form.states, "affordances": form.affordances, TRAITS: traits}
    yield node_draft(place, form.name, kind, class_of_name(form.name), **facts)
    related = RELATIONS.get(getattr(form, "relation", None) or "", "")
    for key, type_ in {"room": "INSIDE", "location": "INSIDE", "holding": "HOLDS", "related_to": related}.items():
        if (other := getattr(form, key, None)) not in NOTHING:
            yield RelationDraft(f"{place}.{key}", form.name, type_, other)


def _facts(node: Node) -> dict[str, Any]:
    traits = node.properties.get(TRAITS, ())
    listed = list(traits) if isinstance(traits, tuple) else [traits]
    return {"states": list(node.states), "affordances": list(node.affordances), "properties": listed}


def _parent_fields(graph: SceneGraph, node_id: str) -> dict[str, str | None]:
    for relation in graph.outgoing.get(node_id, ()):
        if relation.type in _WORDS:
            return {"relation": _WORDS[relation.type], "related_to": relation.target}
    return {"relation": None, "related_to": None}


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


def scene(subset: str) -> ImportedScene:
    """Return the one scene of an office."""
    return _read(subset)[0]


def scenes(only: str | None, subset: str) -> Iterator[ImportedScene]:
    """Yield the one scene of an office, also for the id of a task. Raises InputError for an unknown id."""
    if only is None or any(tasks(only, subset)):
        yield scene(subset)


def tasks(only: str | None, subset: str) -> Iterator[Task]:
    """Return the tasks in the order of the file, or the one with the id `only`. Raises InputError for an unknown id."""
    found = {task.id: task for task in _read(subset)[1]}
    like = f"ids look like {next(iter(found))}"
    return iter(chosen(only, found, "task", where=f"of {subset}", like=like).values())


def _read(subset: str) -> tuple[ImportedScene, tuple[Task, ...]]:
    with as_file(files("scenecypher.importers") / "data" / SUBSETS[subset]) as path:
        read, found = read_file(path, name=NAME_PREFIX + subset)
    source = f"scenecypher's {subset}"
    return replace(read, source=source), tuple(
        replace(task, source=source, category=task.id.rpartition("-")[0]) for task in found
    )
