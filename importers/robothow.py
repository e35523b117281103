"""RobotHow's programs of moving and switching objects, as GraSIF scenes and tasks (LookPlanGraph, appendix H1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from scenecypher.db.condition import And
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.problems import document_error
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.errors import DocumentError, InputError, did_you_mean
from scenecypher.importers.eai import graph_files, package_name, program_files
from scenecypher.importers.grasif import NAME_PREFIX
from scenecypher.importers.json_file import read_json
from scenecypher.importers.robothow_graph import READ, NodeFact, facts_of, reduce_to_grasif, with_admitted_actions
from scenecypher.importers.robothow_words import WORDS, instruction
from scenecypher.importers.task import ProgramStep, Task
from scenecypher.importers.virtualhome import GraphPart, part_name
from scenecypher.importers.virtualhome_check import checked_graph
from scenecypher.importers.virtualhome_graph import graph_from_source
from scenecypher.importers.virtualhome_tasks import parse_program

SUBSET: Final = "robothow"
MIN_BUDGET: Final = 20

EXCLUDED: Final = frozenset(title.casefold() for title in WORDS["excluded"])
ACTIONS: Final = frozenset(WORDS["actions"].split())


@dataclass(frozen=True, slots=True)
class Program:
    """A recorded program that passes the filters."""

    id: str
    title: str
    steps: tuple[ProgramStep, ...]


def scene_name(program_id: str) -> str:
    """Return the name of a program's scene."""
    return f"{NAME_PREFIX}{SUBSET}/{program_id}"


def programs(only: str | None = None) -> Iterator[Program]:
    """Yield the programs that pass the filters, in the order of their ids, or the one of `only`.

    Raises InputError if `eai-eval` is missing, has no such program, or the filters leave it out.
    """
    for program_id, path in program_files(only).items():
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


def program_scene(program: Program, *, part: GraphPart = "initial") -> ImportedScene:
    """Return the graph before the program, or the one after it as the scene ``NAME@final``."""
    name = part_name(scene_name(program.id), part)
    return ImportedScene(name, _graphs(program)[part], "grasif", source=f"{_source(program)}, {part} graph")


def final_graph(task_id: str) -> SceneGraph:
    """Return the graph after a program. Raises InputError, as `programs` does."""
    return program_scene(next(programs(task_id)), part="final").graph


@lru_cache(maxsize=512)
def program_task(program: Program) -> Task | None:
    """Return the task to bring about the program's changes, None if there are none; its two graphs take 40 ms."""
    graphs = _graphs(program)
    wanted = changed_facts(program, graphs["initial"], after=graphs["final"])
    if not wanted:
        return None
    return Task(
        id=program.id,
        instruction=instruction(program.title, wanted, graphs["initial"]),
        scene=scene_name(program.id),
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


def _graphs(program: Program) -> Mapping[GraphPart, SceneGraph]:
    """Return the home before and after the program, reduced to GraSIF's form."""
    path = graph_files(program.id)[program.id]
    document = read_json(path)
    initial, final = (_reduced(document, f"{part}_graph", path=path) for part in ("init", "final"))
    relations = initial.relations | final.relations
    return {"initial": with_admitted_actions(initial, relations), "final": with_admitted_actions(final, relations)}


def _reduced(document: Any, key: str, *, path: Path) -> SceneGraph:
    """Return one graph of a pair; nine in ten of its relations are dropped before they are checked."""
    root = f"$.{key}"
    try:
        raw = document[key]
        read = [edge for edge in raw["edges"] if edge["relation_type"] in READ]
    except (KeyError, TypeError) as error:
        raise DocumentError(str(path), root, "no VirtualHome graph is here; install the package again") from error
    graph, problems = graph_from_source(checked_graph({**raw, "edges": read}, root, path))
    if problems:
        raise document_error(str(path), [(root + place, cause) for place, cause in problems])
    return reduce_to_grasif(graph)


def _program(program_id: str, path: Path) -> Program:
    text = path.read_text(encoding="utf-8")
    try:
        _, steps = parse_program(text)
    except ValueError as error:
        raise DocumentError(str(path), f"program {program_id}", f"{error}; install the package again") from error
    return Program(program_id, text.partition("\n")[0].strip(), steps)


def _source(program: Program) -> str:
    return f"{package_name()}, file{program.id}.json"
