"""Solving a PDDL domain and problem given as text, with any installed engine, in a subprocess."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from scenecypher.planner.actions.pddl_engine import (
    MORE_TIME,
    NO_PLAN,
    EngineStatus,
    check_pddl_installed,
    run_in_subprocess,
)

TOO_LATE: Final = f"the engine found no plan in its time; {MORE_TIME}"


@dataclass(frozen=True, slots=True)
class LiftedPlan:
    """An engine's answer: the plan's steps, each an action's name and arguments, or why there is none."""

    status: EngineStatus
    steps: tuple[tuple[str, ...], ...] = ()
    why: str = ""


def solve_text(domain: str, problem: str, *, timeout_s: float) -> LiftedPlan:
    """Return a plan within `timeout_s`. Raises InputError if no engine is installed."""
    check_pddl_installed()
    with TemporaryDirectory(prefix="scenecypher-") as folder:
        for name, text in (("domain", domain), ("problem", problem)):
            Path(folder, f"{name}.pddl").write_text(text, encoding="utf-8")
        done = run_in_subprocess(folder, timeout_s=timeout_s)
    if done is None:
        return LiftedPlan("unknown", why=TOO_LATE)
    if done.returncode != 0:
        return LiftedPlan("unknown", why=(done.stderr.strip().splitlines() or ["the engine says nothing"])[-1])
    said = json.loads(done.stdout.splitlines()[-1])
    why = {"solved": "", "unsolvable": NO_PLAN, "unknown": TOO_LATE}
    return LiftedPlan(said["answer"], tuple(map(tuple, said["steps"])), why[said["answer"]])
