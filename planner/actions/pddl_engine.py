"""Solving a problem with any installed engine of unified-planning, within a time limit."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal, TypeAlias

from scenecypher.errors import InputError
from scenecypher.planner.actions.pddl import PlanningProblem
from scenecypher.planner.actions.text import ActionCall
from scenecypher.waiting import waiting_for

INSTALL_COMMAND: Final = "pip install 'scenecypher[pddl]'"
MORE_TIME: Final = (
    "raise SCENECYPHER_ENGINE_TIMEOUT_S (`plan --engine-timeout`); in a session of `--max-seconds` those count instead"
)
"""Advice where time ran out."""
NO_PLAN: Final = "there is no plan"
GRACE_S: Final = 5.0
"""Seconds beyond its time limit that an engine gets to end by itself."""

EngineStatus: TypeAlias = Literal["solved", "unsolvable", "unknown"]


@dataclass(frozen=True, slots=True)
class EngineAnswer:
    """An engine's answer: a plan, a proof that there is none, or neither."""

    status: EngineStatus
    plan: tuple[ActionCall, ...] = ()
    engine: str = ""


def check_pddl_installed() -> None:
    """Raise InputError if unified-planning is missing."""
    if find_spec("unified_planning") is None:
        msg = f"planning without a model requires unified-planning and an engine: run `{INSTALL_COMMAND}`"
        raise InputError(msg)


def solve_in_subprocess(planning: PlanningProblem, timeout_s: float, engine: str | None) -> EngineAnswer:
    """Solve in a subprocess, since not every engine keeps to its time limit. Raises InputError if none is installed."""
    from unified_planning.io import PDDLWriter

    writer = PDDLWriter(planning.problem)
    with TemporaryDirectory(prefix="scenecypher-") as folder:
        writer.write_domain(f"{folder}/domain.pddl")
        writer.write_problem(f"{folder}/problem.pddl")
        done = run_in_subprocess(folder, timeout_s=timeout_s, engine=engine)
    if done is None:
        return EngineAnswer("unknown", engine=engine or "any")
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["no output"])[-1]
        msg = f"no installed engine can plan this ({reason}): run `{INSTALL_COMMAND}`"
        raise InputError(msg)
    output = json.loads(done.stdout.splitlines()[-1])
    names = (writer.get_item_named(name).name for name in output["plan"])
    return EngineAnswer(output["answer"], planning.calls_of(names), output["engine"])


def run_in_subprocess(
    folder: str, *, timeout_s: float, engine: str | None = None
) -> subprocess.CompletedProcess[str] | None:
    """Run `pddl_process` on the domain and problem in `folder`; return None if it had to be ended."""
    command = [sys.executable, "-m", "scenecypher.planner.actions.pddl_process", engine or "", str(timeout_s)]
    command += [f"{folder}/domain.pddl", f"{folder}/problem.pddl"]
    pipe = subprocess.PIPE
    with (
        waiting_for(f"the engine, at most {timeout_s:.0f} s"),
        subprocess.Popen(  # noqa: S603 - our own module
            command, cwd=folder, stdout=pipe, stderr=pipe, text=True
        ) as process,
    ):
        try:
            output, error_output = process.communicate(timeout=timeout_s + GRACE_S)
        except subprocess.TimeoutExpired:
            return None
        finally:
            end_tree(process)
    return subprocess.CompletedProcess(command, process.returncode, output, error_output)


def end_tree(process: subprocess.Popen[Any]) -> None:
    """Kill a process that still runs and all its descendants, those in sessions of their own too."""
    if process.poll() is not None:
        return
    import psutil

    with suppress(psutil.NoSuchProcess):
        root = psutil.Process(process.pid)
        root.suspend()  # it starts no more children
        for member in (*root.children(recursive=True), root):
            with suppress(psutil.NoSuchProcess):
                member.kill()
    process.wait()
