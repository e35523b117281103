"""A plan for a problem, by whichever engine of unified-planning is installed, within a time on the wall clock."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal, TypeAlias

from scenecypher.errors import InputError
from scenecypher.planner.actions.pddl import PlanningProblem
from scenecypher.planner.actions.text import Call

INSTALL: Final = "pip install 'scenecypher[pddl]'"
GRACE_S: Final = 5.0
"""How much longer than its time limit an engine may take to end by itself."""

Answer: TypeAlias = Literal["solved", "unsolvable", "unknown"]


@dataclass(frozen=True, slots=True)
class Answered:
    """What an engine said: a plan, that there is none, or that it does not know."""

    answer: Answer
    plan: tuple[Call, ...] = ()
    engine: str = ""


def solve(
    planning: PlanningProblem, *, timeout_s: float, engine: str | None = None, search: str | None = None
) -> Answered:
    """A plan within `timeout_s`, by Fast Downward where it is installed, else by any engine that fits, or by `engine`.

    `search` is an alias of Fast Downward's, such as ``lama-first``, or a search such as ``astar(lmcut())``.
    Raises InputError where there is no engine.
    """
    check_installed()
    if engine is None and find_spec("up_fast_downward") is not None:
        return _fast_downward(planning, timeout_s, search or "lama-first")
    return _elsewhere(planning, timeout_s, engine)


def check_installed() -> None:
    """Raises InputError where unified-planning is missing."""
    if find_spec("unified_planning") is None:
        msg = f"planning without a model takes unified-planning and an engine: run `{INSTALL}`"
        raise InputError(msg)


def _fast_downward(planning: PlanningProblem, timeout_s: float, search: str) -> Answered:
    """It writes its translation into the working folder unless told otherwise: here into one of its own.

    It runs in a session of its own, where it would outlive a program that is killed: so it gets a limit itself, too.
    """
    from up_fast_downward import FastDownwardPDDLPlanner

    with TemporaryDirectory(prefix="scenecypher-") as folder:

        class Planner(FastDownwardPDDLPlanner):  # type: ignore[misc]
            def _base_cmd(self, plan_filename: str) -> list[str]:
                own = [
                    "--sas-file",
                    str(Path(folder) / "output.sas"),
                    "--overall-time-limit",
                    f"{ceil(timeout_s)}s",
                ]
                return [*super()._base_cmd(plan_filename), *own]

        chosen: dict[str, Any] = {"fast_downward_search_config" if "(" in search else "fast_downward_alias": search}
        planner = Planner(**chosen, log_level="warning")
        planner.skip_checks = True
        result = planner.solve(planning.problem, timeout=timeout_s)
    return _answered(planning, result, "fast-downward")


def _answered(planning: PlanningProblem, result: Any, engine: str) -> Answered:
    if result.plan is not None:
        names = (str(instance.action.name) for instance in result.plan.actions)
        return Answered("solved", planning.calls_of(names), engine)
    proven = result.status.name == "UNSOLVABLE_PROVEN"
    return Answered("unsolvable" if proven else "unknown", engine=engine)


def _elsewhere(planning: PlanningProblem, timeout_s: float, engine: str | None) -> Answered:
    """In a process of its own: not every engine keeps to its time limit."""
    from unified_planning.io import PDDLWriter

    writer = PDDLWriter(planning.problem)
    with TemporaryDirectory(prefix="scenecypher-") as folder:
        writer.write_domain(f"{folder}/domain.pddl")
        writer.write_problem(f"{folder}/problem.pddl")
        done = run_apart(folder, timeout_s=timeout_s, engine=engine)
    if done is None:
        return Answered("unknown", engine=engine or "any")
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        msg = f"no installed engine can plan this ({reason}): run `{INSTALL}`"
        raise InputError(msg)
    said = json.loads(done.stdout.splitlines()[-1])
    names = (writer.get_item_named(name).name for name in said["plan"])
    return Answered(said["answer"], planning.calls_of(names), said["engine"])


def run_apart(folder: str, *, timeout_s: float, engine: str | None = None) -> subprocess.CompletedProcess[str] | None:
    """What `pddl_process` says of the domain and problem in `folder`; None where it had to be ended."""
    command = [sys.executable, "-m", "scenecypher.planner.actions.pddl_process", engine or "", str(timeout_s)]
    command += [f"{folder}/domain.pddl", f"{folder}/problem.pddl"]
    out = subprocess.PIPE
    with subprocess.Popen(  # noqa: S603 - our own module
        command, cwd=folder, stdout=out, stderr=out, text=True
    ) as process:
        try:
            said, errors = process.communicate(timeout=timeout_s + GRACE_S)
        except subprocess.TimeoutExpired:
            return None
        finally:
            end_tree(process)
    return subprocess.CompletedProcess(command, process.returncode, said, errors)


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
