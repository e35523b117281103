"""Fast Downward itself, on a domain and problem given as text: unified-planning knows no derived predicates.

It starts a session of its own and would outlive this program if that is killed: so it gets the time limit itself, which
it takes for processor time.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from scenecypher.planner.actions.pddl import PlanningProblem
from scenecypher.planner.actions.pddl_engine import (
    GRACE_S,
    NO_PLAN,
    EngineAnswer,
    check_pddl_installed,
    end_tree,
    solve_in_subprocess,
)
from scenecypher.planner.actions.pddl_lifted import TOO_LATE, LiftedPlan
from scenecypher.planner.actions.pddl_time import TimeLimit
from scenecypher.waiting import waiting_for

SEARCH: Final = "let(h, ff(), lazy_greedy([h, goalcount()], preferred=[h]))"
"""LAMA's landmarks know no derived predicates, FF's heuristic does; counted goals lead on where it is blind."""
LAMA: Final = "lama-first"
UNSOLVABLE: Final = (10, 11)
"""Exit codes of the translator and the search where they have proven that there is no plan."""


def fast_downward_driver() -> Path | None:
    """Return the script that runs Fast Downward; None if it is not installed."""
    spec = find_spec("up_fast_downward")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    found = Path(folders[0], "downward", "fast-downward.py") if folders else None
    return found if found is not None and found.is_file() else None


def solve(
    planning: PlanningProblem, limit: TimeLimit, *, engine: str | None = None, search: str | None = None
) -> EngineAnswer:
    """Return a plan of a ground problem: by `engine`, else by Fast Downward if installed, else by any suitable engine.

    Only Fast Downward counts the limit by the processor, others by the clock. `search` is an alias of Fast Downward,
    such as ``lama-first``, or a search such as ``astar(lmcut())``. Raises InputError if no engine is installed.
    """
    check_pddl_installed()
    driver = fast_downward_driver() if engine is None else None
    if driver is None:
        with limit.engine():
            return solve_in_subprocess(planning, max(1.0, limit.left_s), engine)
    from unified_planning.io import PDDLWriter

    writer = PDDLWriter(planning.problem)
    texts = writer.get_domain(), writer.get_problem()
    found = solve_with_fast_downward(driver, *texts, limit, search=search or LAMA, memory=None)
    names = (writer.get_item_named(name).name for name, *_ in found.steps)
    return EngineAnswer(found.status, planning.calls_of(names), "fast-downward")


def solve_with_fast_downward(
    driver: Path, domain: str, problem: str, limit: TimeLimit, *, search: str | None = None, memory: str | None = "2G"
) -> LiftedPlan:
    """Return a plan within `limit`. `search` is an alias such as ``lama-first``, or a search of its own."""
    with TemporaryDirectory(prefix="scenecypher-") as folder:
        with waiting_for(f"the engine, at most {limit.clock_left_s:.0f} s"), limit.engine():
            options = ("--overall-memory-limit", memory) if memory else ()
            code = _run(driver, folder, domain, problem, options=options, limit=limit, search=search or SEARCH)
        plan = Path(folder, "plan")
        if code == 0 and plan.is_file():
            lines = plan.read_text(encoding="utf-8").splitlines()
            return LiftedPlan("solved", tuple(tuple(line.strip("() ").split()) for line in lines if line[0] != ";"))
    if code in UNSOLVABLE:
        return LiftedPlan("unsolvable", why=NO_PLAN)
    return LiftedPlan("unknown", why=TOO_LATE)


def _run(
    driver: Path,
    folder: str,
    domain: str,
    problem: str,
    *,
    search: str,
    limit: TimeLimit,
    options: Sequence[str],
) -> int | None:
    """Write both files into `folder`, where the file ``plan`` is written; return the exit code, None if it is late."""
    paths = [Path(folder, f"{name}.pddl") for name in ("domain", "problem")]
    for path, text in zip(paths, (domain, problem), strict=True):
        path.write_text(text, encoding="utf-8", errors="replace")
    files = ("--sas-file", f"{folder}/output.sas", "--plan-file", f"{folder}/plan")
    limits = ("--overall-time-limit", f"{ceil(max(1.0, limit.left_s))}s", *options)
    before, after = (("--alias", search), ()) if "(" not in search else ((), ("--search", search))
    command = [sys.executable, str(driver), *files, *limits, *before, *map(str, paths), *after]
    process = subprocess.Popen(  # noqa: S603 - our own Python and the package's own file
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        return process.wait(timeout=limit.clock_left_s + GRACE_S)
    except subprocess.TimeoutExpired:
        return None
    finally:
        end_tree(process)
