"""An engine in a subprocess: ``python -m scenecypher.planner.actions.pddl_process ENGINE SECONDS DOMAIN PROBLEM``."""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import redirect_stdout
from functools import partial
from typing import Any


def main(engine: str, seconds: str, domain: str, problem: str) -> None:
    """Print the answer as one JSON line, the last one; an empty ENGINE means any suitable one."""
    from unified_planning.environment import get_environment
    from unified_planning.io import PDDLReader
    from unified_planning.shortcuts import OneshotPlanner

    get_environment().credits_stream = None
    read = PDDLReader().parse_problem(domain, problem)
    choose = partial(OneshotPlanner, name=engine) if engine else partial(OneshotPlanner, problem_kind=read.kind)
    signal.signal(signal.SIGTERM, _exit)
    with redirect_stdout(sys.stderr), choose() as planner:
        try:
            result = planner.solve(read, timeout=float(seconds))
        finally:
            _kill_engine(planner)
    steps = [_step(instance) for instance in result.plan.actions] if result.plan is not None else []
    proven = "unsolvable" if result.status.name == "UNSOLVABLE_PROVEN" else "unknown"
    found = "solved" if result.plan is not None else proven
    answer = {"answer": found, "plan": [name for name, *_ in steps], "steps": steps, "engine": planner.name}
    sys.stdout.write(json.dumps(answer) + "\n")


def _exit(_signal: int, _frame: object) -> None:
    sys.exit(1)


def _kill_engine(planner: Any) -> None:
    """Kill an engine that still runs: it is in a session of its own and would outlive this process."""
    process = getattr(planner, "_process", None)
    if process is not None and process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)


def _step(instance: Any) -> list[str]:
    """Return an action's name, then its arguments."""
    return [instance.action.name, *map(str, instance.actual_parameters)]


if __name__ == "__main__":
    main(*sys.argv[1:])
