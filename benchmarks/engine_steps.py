"""Recorded programs, stepped by our simulator in transactions and by VirtualHome's own in-memory engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Any, Final

from benchmarks.commits import temporary_scene
from benchmarks.comparison import Measurement
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.connection import Database
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import ActionRefused
from scenecypher.importers.eai import program_files
from scenecypher.importers.virtualhome import packaged_scene
from scenecypher.planner.actions.simulator import Simulator
from tests.planner.actions.evolving_graph import NAMES, Engine, line_of
from tests.planner.actions.test_virtualhome import recorded
from tests.sampling import sample

PROGRAMS: Final = 25
Steps = Sequence[tuple[str, tuple[str, ...]]]


def engine(database: Database) -> Iterator[Measurement]:
    """Compare steps of recorded programs, each parsed, checked and committed, with the in-memory `evolving_graph`.

    All are stepped once before, so that the server has planned each operator's statement.
    """
    store = SceneStore(database)
    ours_s = theirs_s = 0.0
    count = 0
    programs = [
        (packaged_scene(task_id).graph, _steps(task_id)) for task_id in sample(sorted(program_files()), PROGRAMS)
    ]
    for graph, steps in programs:
        _ours_s(store, graph, steps)
    for graph, steps in programs:
        theirs_s += _engine_s(graph, steps)
        ours_s += _ours_s(store, graph, steps)
        count += len(steps)
    rates = f"{count / ours_s:,.0f} a second (evolving_graph: {count / theirs_s:,.0f})"
    yield Measurement(
        f"a step of {PROGRAMS} recorded programs: {rates}", 1e3 * ours_s / count, 1e3 * theirs_s / count, 100.0
    )


def _steps(task_id: str) -> Steps:
    return [(NAMES[verb], names) for verb, names in recorded(program_files()[task_id]) if verb in NAMES]


def _ours_s(store: SceneStore, graph: SceneGraph, steps: Steps) -> float:
    with temporary_scene(store, graph) as info:
        simulator = Simulator(store, info, actor="bench")
        began = perf_counter()
        for name, arguments in steps:
            try:
                list(simulator.act(f"{name}({', '.join(arguments)})"))
            except ActionRefused:
                continue
        return perf_counter() - began


def _engine_s(graph: SceneGraph, steps: Steps) -> float:
    from virtualhome_eval.simulation.evolving_graph.execution import ExecutionInfo, ScriptExecutor
    from virtualhome_eval.simulation.evolving_graph.scripts import Script, parse_script_line

    state: Any = Engine(graph).state
    began = perf_counter()
    for name, arguments in steps:
        script = Script([parse_script_line(line_of(name, arguments), 0)])
        state = next(ScriptExecutor.call_action_method(script, state, ExecutionInfo(eval_mode=True), 0), None) or state
    return perf_counter() - began
