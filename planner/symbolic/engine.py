"""Fast Downward as a process, on a domain and problem given as text, and the time that it may take.

It starts a session of its own and would outlive this program if that is killed: so it gets the time limit itself, which
it takes for processor time, so that a busy machine finds the same plans.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal, TypeAlias

from scenecypher.errors import InputError
from scenecypher.waiting import waiting_for

CLOCK_PER_PROCESSOR_S = 10
"""Seconds on the clock that an engine may wait for each second of the processor: a guard against one that hangs."""


@dataclass(slots=True)
class TimeLimit:
    """At most `seconds` of processor time of this thread and its engines, and `clock_s` on the clock.

    `reserved_s` is the share that is kept for later searches.
    """

    seconds: float
    clock_s: float = float("inf")
    reserved_s: float = 0.0
    _engines_s: float = field(default=0.0, init=False)
    _thread_start: float = field(default_factory=time.thread_time, init=False)
    _clock_start: float = field(default_factory=time.monotonic, init=False)

    @property
    def spent_s(self) -> float:
        """Return the processor time so far."""
        return time.thread_time() - self._thread_start + self._engines_s

    @property
    def left_s(self) -> float:
        """Return the seconds that may still be taken, negative if none are left."""
        on_the_clock = self.clock_s - (time.monotonic() - self._clock_start)
        return min(self.seconds - self.spent_s, on_the_clock) - self.reserved_s

    @property
    def clock_left_s(self) -> float:
        """Return the seconds that an engine may take on the clock."""
        on_the_clock = self.clock_s - (time.monotonic() - self._clock_start)
        return max(1.0, min(on_the_clock, self.left_s * CLOCK_PER_PROCESSOR_S))

    def share(self, part: float) -> None:
        """Allow a part of all that is left, and keep the rest."""
        self.reserved_s = 0.0
        self.reserved_s = (1 - part) * self.left_s

    def is_over(self) -> bool:
        """Check if nothing is left."""
        return self.left_s < 0

    @contextmanager
    def engine(self) -> Iterator[None]:
        """Count the processor time of an engine that runs within: that of this program's children that ended.

        Engines of other threads may be among them, so it is never counted for more than the clock. Where a system does
        not tell it, the clock counts.
        """
        clock, children = time.monotonic(), _children_s()
        try:
            yield
        finally:
            self._engines_s += min(time.monotonic() - clock, _children_s() - children or float("inf"))


def _children_s() -> float:
    times = os.times()
    return times.children_user + times.children_system


INSTALL_COMMAND: Final = "pip install 'scenecypher[pddl]'"
MORE_TIME: Final = (
    "raise SCENECYPHER_ENGINE_TIMEOUT_S (`plan --engine-timeout`); in a session of `--max-seconds` those count instead"
)
"""Advice where time ran out."""
NO_PLAN: Final = "there is no plan"
TOO_LATE: Final = f"the engine found no plan in its time; {MORE_TIME}"
GRACE_S: Final = 5.0
"""Seconds beyond its time limit that an engine gets to end by itself."""
SEARCH: Final = "let(h, ff(), lazy_greedy([h, goalcount()], preferred=[h]))"
"""LAMA's landmarks know no derived predicates, FF's heuristic does; counted goals lead on where it is blind."""
LAMA: Final = "lama-first"
MEMORY: Final = "2G"
QUICKLY: Final = ("--translate-options", "--skip-variable-reordering", "--keep-unimportant-variables")
"""A third of the translator's time goes into an order of the variables that these searches do not look at."""
UNSOLVABLE: Final = (10, 11)
"""Exit codes of the translator and the search where they have proven that there is no plan."""
LAST_LINES: Final = 3
"""Lines of the output that say why a text is refused."""
REFUSED: Final = range(30, 38)
"""Exit codes where the text is no PDDL that Fast Downward takes, or its driver can't run here."""
SEARCHED: Final = 32
"""The least of these that is the search's or the driver's, after the translator's output."""
OUT_OF_MEMORY: Final = (20, 22, 24)

EngineStatus: TypeAlias = Literal["solved", "unsolvable", "unknown"]


@dataclass(frozen=True, slots=True)
class EngineAnswer:
    """A plan's steps, each an action's name and arguments, or why there is none."""

    status: EngineStatus
    steps: tuple[tuple[str, ...], ...] = ()
    why: str = ""


def check_engine() -> Path:
    """Return the script that runs Fast Downward. Raises InputError if it is not installed."""
    spec = find_spec("up_fast_downward")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    found = Path(folders[0], "downward", "fast-downward.py") if folders else None
    if found is None or not found.is_file():
        raise InputError(f"planning without a model requires Fast Downward: run `{INSTALL_COMMAND}`")
    return found


def solve(
    domain: str, problem: str, limit: TimeLimit, *, search: str = SEARCH, memory: str | None = MEMORY
) -> EngineAnswer:
    """Return a plan within `limit`. `search` is an alias such as ``lama-first``, or a search of its own.

    Raises InputError if Fast Downward is not installed.
    """
    driver = check_engine()
    with TemporaryDirectory(prefix="scenecypher-") as folder:
        for name, text in (("domain", domain), ("problem", problem)):
            Path(folder, f"{name}.pddl").write_text(text, encoding="utf-8", errors="replace")
        with waiting_for(f"the engine, at most {limit.clock_left_s:.0f} s"), limit.engine():
            code, said = _run(driver, Path(folder), limit, search=search, memory=memory)
        plan = Path(folder, "plan")
        if code == 0 and plan.is_file():
            lines = plan.read_text(encoding="utf-8").splitlines()
            return EngineAnswer("solved", tuple(tuple(line.strip("() ").split()) for line in lines if line[0] != ";"))
    if code in UNSOLVABLE:
        return EngineAnswer("unsolvable", why=NO_PLAN)
    if code in OUT_OF_MEMORY:
        return EngineAnswer("unknown", why=f"the engine needs more than {memory} of memory; ask for less in one goal")
    return EngineAnswer("unknown", why=said if code in REFUSED else TOO_LATE)


def _run(driver: Path, folder: Path, limit: TimeLimit, *, search: str, memory: str | None) -> tuple[int | None, str]:
    """Return the exit code, None if it is late, and what it said last; the file ``plan`` is written."""
    files = ("--sas-file", str(folder / "output.sas"), "--plan-file", str(folder / "plan"))
    limits = ["--overall-time-limit", f"{ceil(max(1.0, limit.left_s))}s"]
    limits += (
        ["--overall-memory-limit", memory] if memory and sys.platform != "darwin" else []
    )  # its driver can't there
    before, after = (("--alias", search), ()) if "(" not in search else ((), ("--search-options", "--search", search))
    texts = (str(folder / "domain.pddl"), str(folder / "problem.pddl"))
    output = folder / "output"
    with output.open("w") as stream:
        process = subprocess.Popen(  # noqa: S603 - our own Python and the package's own file
            [sys.executable, str(driver), *files, *limits, *before, *texts, *QUICKLY, *after],
            cwd=folder,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code: int | None = process.wait(timeout=limit.clock_left_s + GRACE_S)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            end_tree(process)
    said = output.read_text(encoding="utf-8", errors="replace")
    if code is None or code < SEARCHED:
        said = said.partition("translate exit code")[0]
    return code, "; ".join(said.strip().splitlines()[-LAST_LINES:])


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
