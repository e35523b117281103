"""Folders of GraSIF's own form of tasks: an instruction with an initial and a goal graph, each a pickle or JSON file.

The paper does not print how its files are laid out (section V, appendix H): `tasks.json` in the folder names them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from scenecypher.db.condition import And, AtLeast, Condition, HasClass, HasState, HeldBy, Id, Not, Related, Term
from scenecypher.db.graph.delta import Delta, diff
from scenecypher.db.graph.field_types import Form
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.problems import validated
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.schema import HOLDING
from scenecypher.errors import InputError, did_you_mean
from scenecypher.importers import grasif, grasif_pickle
from scenecypher.importers.grasif import RELATIONS
from scenecypher.importers.json_file import read_json
from scenecypher.importers.task import Task

TASKS: Final = "tasks.json"
Subset: TypeAlias = Literal["sayplan-office", "behavior-1k", "robothow"]
Facts: TypeAlias = frozenset[tuple[str, str]]
"""A node's place, as its relation and target or who holds it, and its states, with an empty relation."""


def within_folder(name: str) -> str:
    """Return the path of a file within the folder. Raises PydanticCustomError for one outside."""
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise PydanticCustomError("outside", "a file outside the folder; name one in it")
    return name


FileName = Annotated[str, Field(min_length=1), AfterValidator(within_folder)]


class PairForm(Form):
    """One task; `known` is the graph from before things were moved, which is what methods know."""

    id: str = Field(min_length=1)
    instruction: str = Field(min_length=1)
    initial: FileName
    goal: FileName
    known: FileName | None = None
    subset: Subset | None = None
    budget: int = Field(50, ge=1)


class FolderForm(Form):
    """The file `tasks.json`."""

    tasks: list[PairForm] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class GraphPair:
    """Task with its scene, as methods know it, what was `moved` since, and the graph at its `end`."""

    task: Task
    scene: ImportedScene
    end: SceneGraph
    moved: Delta | None
    subset: Subset | None


def is_folder(path: Path) -> bool:
    """Check if a folder holds such tasks."""
    return (path / TASKS).is_file()


def read_pairs(folder: Path) -> tuple[GraphPair, ...]:
    """Return the tasks of a folder. Raises InputError, or DocumentError with all problems of the first bad file."""
    path = folder / TASKS
    form = validated(FolderForm, read_json(path), str(path))
    counted = Counter(task.id for task in form.tasks)
    if twice := [id_ for id_, count in counted.items() if count > 1]:
        raise InputError(f"{path}: several tasks have the id {twice[0][:60]!r}; give each its own")
    return tuple(_pair(folder, task) for task in form.tasks)


def find_pair(task: Path) -> GraphPair:
    """Return the task FOLDER/ID. Raises InputError as `read_pairs` does, and for an unknown id."""
    pairs = {pair.task.id.partition("/")[2]: pair for pair in read_pairs(task.parent)}
    if task.name not in pairs:
        hint = did_you_mean(task.name[:60], tuple(pairs)) or f"; it has {', '.join(pairs)}"
        raise InputError(f"{task.parent} has no task {task.name[:60]!r}{hint}")
    return pairs[task.name]


def goal_between(initial: SceneGraph, end: SceneGraph) -> Condition:
    """Return what a goal graph asks for: the places and states of the nodes that it changes.

    Furniture is meant itself. Of objects as many of a class are wanted there as the goal graph has, whichever they are:
    the paper counts "the required number of relations for key objects rather than exact IDs". Raises ValueError if
    nothing but an agent is changed, or a node comes or goes.
    """
    if unequal := sorted(initial.nodes.keys() ^ end.nodes.keys()):
        raise ValueError(f"{unequal[0]!r} is in one of the two graphs only")
    things = [it for it in end.nodes if end.nodes[it].kind != "Agent"]
    facts = {it: (_facts(initial, it), _facts(end, it)) for it in things}
    changes = {it: (after - before, _states(before - after)) for it, (before, after) in facts.items()}
    changes = {it: change for it, change in changes.items() if any(change)}
    if not changes:
        raise ValueError("the two graphs differ in nothing but the agent")
    return And(tuple(dict.fromkeys(_wanted(end, it, *change) for it, change in changes.items())))


def _states(facts: Facts) -> Facts:
    return frozenset(it for it in facts if not it[0])


def _wanted(end: SceneGraph, node_id: str, gained: Facts, ended: Facts) -> Condition:
    node = end.nodes[node_id]
    if node.kind != "Object":
        return And(tuple(_conditions(Id(node_id), gained, ended)))
    found = [_facts(end, it) for it in end.by_class[node.class_]]
    alike = sum(gained <= facts and not ended & facts for facts in found)
    return AtLeast(alike, "x", And((HasClass("x", node.class_), *_conditions("x", gained, ended))))


def _conditions(node: Term, gained: Facts, ended: Facts) -> Iterator[Condition]:
    for type_, other in sorted(gained, key=lambda it: (not it[0], it)):
        if not type_:
            yield HasState(node, other)
        else:
            yield HeldBy(node, Id(other)) if type_ in HOLDING else Related(node, type_, Id(other))
    yield from (Not(HasState(node, state)) for _, state in sorted(ended))


def _facts(graph: SceneGraph, node_id: str) -> Facts:
    places = [(it.type, it.target) for it in graph.outgoing.get(node_id, ()) if it.type in RELATIONS.values()]
    places += [(it.type, it.source) for it in graph.incoming.get(node_id, ()) if it.type in HOLDING]
    return frozenset({*sorted(places)[:1], *(("", state) for state in graph.nodes[node_id].states)})


def _pair(folder: Path, form: PairForm) -> GraphPair:
    known, initial, end = (_scene(folder, name) for name in (form.known or form.initial, form.initial, form.goal))
    try:
        goal = goal_between(initial.graph, end.graph)
    except ValueError as error:
        mend = f"mend the task {form.id[:60]!r} of {folder / TASKS}"
        raise InputError(f"{folder / form.goal}: {error}; {mend}") from error
    name = folder.resolve().name
    task = Task(f"{name}/{form.id}", form.instruction, known.name, goal, (), form.budget, str(folder))
    moved = diff(known.graph, initial.graph) if known.graph != initial.graph else None
    return GraphPair(task, known, end.graph, moved, form.subset)


def _scene(folder: Path, name: str) -> ImportedScene:
    stem = Path(name).with_suffix("").as_posix()
    return grasif_pickle.read_scene(folder / name, name=grasif.NAME_PREFIX + stem)
