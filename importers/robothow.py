"""RobotHow's programs of moving and switching objects, as GraSIF scenes and tasks (LookPlanGraph, appendix H1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from scenecypher.db.condition import And, HasState, Id, Related
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.schema import HOLDING
from scenecypher.errors import DocumentError, InputError, did_you_mean
from scenecypher.importers import virtualhome as source
from scenecypher.importers.grasif import NAME_PREFIX
from scenecypher.importers.task import ProgramStep, Task
from scenecypher.importers.word_tables import instructions, listed, tables

NodeFact: TypeAlias = Related | HasState
"""A node's place, or a state of it."""

WORDS: Final[Mapping[str, Any]] = tables("robothow")
"""Actions and titles that programs are chosen by, and the actions that affordances admit."""
DROPPED: Final = frozenset(listed(WORDS["dropped"]))
ADMITTING: Final[Mapping[str, str]] = {"ON": "put_on", "INSIDE": "put_inside"}
"""Actions that a node admits besides, since something is on or in it before or after the program."""

_THINGS: Final = frozenset({"Asset", "Object"})
SUBSET: Final = "robothow"
SCENES: Final = f"{NAME_PREFIX}{SUBSET}/"
"""What the names of scenes begin with."""
MIN_BUDGET: Final = 20
EXCLUDED: Final = frozenset(title.casefold() for title in WORDS["excluded"])
ACTIONS: Final = frozenset(WORDS["actions"].split())


def reduce_to_grasif(graph: SceneGraph) -> SceneGraph:
    """Return the graph as GraSIF holds it: without DROPPED nodes, each node on, in or held by one other."""
    kept = [_node(node) for node in graph.nodes.values() if node.class_ not in DROPPED]
    kinds = {node.id: node.kind for node in kept}
    return SceneGraph.of(kept, (parent for node in kept for parent in _parent(graph, node, kinds)))


def with_admitted_actions(graph: SceneGraph, relations: Iterable[Relation]) -> SceneGraph:
    """Return the graph with the targets of `relations` admitting objects on or in them."""
    more: dict[str, set[str]] = {}
    for relation in relations:
        if relation.type in ADMITTING and graph.nodes[relation.target].kind in _THINGS:
            more.setdefault(relation.target, set()).add(ADMITTING[relation.type])
    changed = {
        id_: replace(graph.nodes[id_], affordances=(*graph.nodes[id_].affordances, *words))
        for id_, words in more.items()
    }
    return SceneGraph.of({**graph.nodes, **changed}.values(), graph.relations)


def facts_of(graph: SceneGraph, node_id: str) -> Iterator[NodeFact]:
    """Yield a node's place and its states."""
    for relation in graph.outgoing.get(node_id, ()):
        if relation.type in ADMITTING:
            yield Related(Id(node_id), relation.type, Id(relation.target))
    for state in graph.nodes[node_id].states:
        yield HasState(Id(node_id), state)


def _node(node: Node) -> Node:
    """Return the node in GraSIF's terms: what can be grabbed is an object, all else, door frames too, an asset.

    GraSIF has only the name of a room or an agent.
    """
    if node.kind in {"Place", "Agent"}:
        return Node(node.id, node.kind, node.name, node.class_)
    kind = "Object" if "grabbable" in node.affordances else "Asset"
    actions = tuple(action for word in node.affordances for action in listed(WORDS["affordances"].get(word, ())))
    return Node(node.id, kind, node.name, node.class_, node.states, actions)


def _parent(graph: SceneGraph, node: Node, kinds: Mapping[str, str]) -> Iterator[Relation]:
    """Yield the one relation that is kept: an object's holder, else its container or support, else the room.

    Assets and the agent are in their room, whatever they stand on. For an object both in one item and on another, the
    container counts; of several supports, the one that lies on another.
    """
    room = [r for r in graph.outgoing.get(node.id, ()) if r.type == "INSIDE" and kinds.get(r.target) == "Place"]
    holders = sorted(graph.sources(node.id, *HOLDING))
    if node.kind == "Place":
        return
    if node.kind == "Object" and holders:
        yield Relation(holders[0], "HOLDS", node.id)
    elif node.kind == "Object" and (under := _supports(graph, node.id, kinds)):
        yield under[0]
    else:
        yield from room[:1]


def _supports(graph: SceneGraph, node_id: str, kinds: Mapping[str, str]) -> list[Relation]:
    """Return an object's containers and supports except rooms and itself, the best first."""
    found = [
        relation
        for relation in graph.outgoing.get(node_id, ())
        if relation.type in ADMITTING and relation.target != node_id and kinds.get(relation.target) in _THINGS
    ]
    targets = {relation.target for relation in found}

    def order(relation: Relation) -> tuple[bool, bool, str]:
        lies_on_another = targets & {*graph.targets(relation.target, *ADMITTING)} - {relation.target}
        return relation.type != "INSIDE", not lies_on_another, relation.target

    return sorted(found, key=order)


@dataclass(frozen=True, slots=True)
class Program:
    """A recorded program that passes the filters."""

    id: str
    title: str
    steps: tuple[ProgramStep, ...]


def programs(only: str | None = None) -> Iterator[Program]:
    """Yield the programs that pass the filters, in the order of their ids, or the one of `only`.

    Raises InputError if `eai-eval` is missing, has no such program, or the filters leave it out.
    """
    for program_id, path in source.program_files(only).items():
        program = _program(program_id, path)
        if passes_filters(program):
            yield program
        elif only is not None:
            known = [found.id for found in programs()]
            hint = did_you_mean(only, known) or "; leave out --only to import all that pass"
            msg = f"RobotHow's filters leave out {program.title!r} ({only}); {len(known)} programs pass{hint}"
            raise InputError(msg)


def passes_filters(program: Program) -> bool:
    """Return True if a program has allowed actions only, and no excluded title."""
    return program.title.casefold() not in EXCLUDED and all(step.action in ACTIONS for step in program.steps)


def scenes(only: str | None = None) -> Iterator[ImportedScene]:
    """Return the graphs before the programs. Raises InputError, as `programs` does."""
    return (program_scene(program) for program in programs(only))


def tasks(only: str | None = None) -> Iterator[Task]:
    """Yield the tasks of the programs that change something; the others have no goal to check.

    Raises InputError, as `programs` does, and if the program `only` changes nothing.
    """
    for program in programs(only):
        task = program_task(program)
        if task is not None:
            yield task
        elif only is not None:
            msg = f"the recorded program {only} leaves all as it was, so that it sets no task; choose another one"
            raise InputError(msg)


def program_scene(program: Program, *, part: source.GraphPart = "initial") -> ImportedScene:
    """Return the graph before the program, or the one after it as the scene ``NAME@final``."""
    name = source.part_name(SCENES + program.id, part)
    return ImportedScene(name, _graphs(program)[part], "grasif", source=f"{_source(program)}, {part} graph")


def final_graph(task_id: str) -> SceneGraph:
    """Return the graph after a program. Raises InputError, as `programs` does."""
    return program_scene(next(programs(task_id)), part="final").graph


@lru_cache(maxsize=512)
def program_task(program: Program) -> Task | None:
    """Return the task to bring about the program's changes, None if there are none; its two graphs take 0.1 s."""
    graphs = _graphs(program)
    wanted = changed_facts(program, graphs["initial"], after=graphs["final"])
    if not wanted:
        return None
    return Task(
        id=program.id,
        instruction=instructions(SUBSET)[program.id],
        scene=SCENES + program.id,
        goal=And(wanted),
        action_goals=(),
        budget=max(MIN_BUDGET, 2 * len(program.steps)),
        source=_source(program),
        category=program.title,
    )


def changed_facts(program: Program, before: SceneGraph, *, after: SceneGraph) -> tuple[NodeFact, ...]:
    """Return the facts that hold after the program and did not before, of the nodes that it names, by its steps.

    The robot's final place is no goal: where no other node changes, plan precision would be success.
    """
    named = tuple(node_id for step in program.steps for node_id in step.arguments)
    nodes = tuple(dict.fromkeys(named))
    had = {fact for node_id in before.nodes for fact in facts_of(before, node_id)}
    return tuple(fact for node_id in nodes if node_id in after for fact in facts_of(after, node_id) if fact not in had)


def _graphs(program: Program) -> Mapping[source.GraphPart, SceneGraph]:
    """Return the home before and after the program, reduced to GraSIF's form."""
    (pair,) = source.packaged_pairs(program.id)
    initial, final = (reduce_to_grasif(scene.graph) for scene in (pair.initial, pair.final))
    relations = initial.relations | final.relations
    return {"initial": with_admitted_actions(initial, relations), "final": with_admitted_actions(final, relations)}


def _program(program_id: str, path: Path) -> Program:
    text = path.read_text(encoding="utf-8")
    try:
        _, steps = source.parse_program(text)
    except ValueError as error:
        raise DocumentError(str(path), f"program {program_id}", f"{error}; install the package again") from error
    return Program(program_id, text.partition("\n")[0].strip(), steps)


def _source(program: Program) -> str:
    return f"{source.package_name()}, file{program.id}.json"
