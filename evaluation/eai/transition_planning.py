"""Whether Fast Downward finds a plan with a predicted domain, each run in a process of its own with limits."""

from __future__ import annotations

import hashlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from evaluation.eai.transition_gold import domain_head, gold_deeds, problem
from evaluation.eai.transition_text import Deed, Tree, tree, written
from scenecypher.errors import InputError

TIMEOUT_S: Final = 20.0
"""The original allows 100 s; on recorded outputs no plan took over 2 s."""
MEMORY: Final = "1G"
GRACE_S: Final = 5.0
NOBODY: Final = "nobody-"
"""What the name of an object begins with that stands for an unbound variable."""

_VARIABLE: Final = re.compile(r"\?[\w-]+")


@dataclass(slots=True)
class Planner:
    """Remembers what it was asked: many outputs define the same domain."""

    timeout_s: float = TIMEOUT_S
    known: dict[str, bool] = field(default_factory=dict)

    def succeeds(self, task_id: str, predicted: Mapping[str, Deed]) -> bool:
        """Whether the task has a plan where predicted actions stand in for gold ones, as in the original.

        Raises InputError where Fast Downward is not installed.
        """
        domain, wanted = completed(predicted), problem(task_id)
        key = hashlib.sha256(f"{domain}\0{wanted}".encode()).hexdigest()
        if key not in self.known:
            self.known[key] = has_plan(domain, wanted, timeout_s=self.timeout_s)
        return self.known[key]


def completed(predicted: Mapping[str, Deed]) -> str:
    """The whole domain: predicted actions, then the gold ones that were not predicted.

    A variable that is no parameter stands for an object that there is none of: so it was with the Fast Downward of
    the published figures, and newer ones refuse the whole domain.
    """
    own = (_bound(predicted[name])[0].pddl() for name in sorted(predicted))
    others = (deed for name, deed in gold_deeds().items() if name not in predicted)
    actions = "\n".join([*own, *(deed.pddl() for deed in others)])
    unbound = {f"{NOBODY}{name[1:]}" for deed in predicted.values() for name in unbound_variables(deed)}
    constants = f"(:constants {' '.join(sorted(unbound))} - object)\n" if unbound else ""
    return f"{domain_head().replace('(:predicates', constants + '(:predicates', 1)}\n{actions}\n)"


def unbound_variables(deed: Deed) -> frozenset[str]:
    """Variables where they are neither parameters nor quantified; none where the action can't be read."""
    return _bound(deed)[1]


def _bound(deed: Deed) -> tuple[Deed, frozenset[str]]:
    """The action with objects in place of unbound variables, and their names."""
    parameters = frozenset(_VARIABLE.findall(deed.parameters))
    unbound: set[str] = set()
    try:
        parts = [_scoped(tree(text), parameters, unbound) for text in (deed.precondition, deed.effect)]
    except ValueError:
        return deed, frozenset()
    if not unbound:
        return deed, frozenset()
    return Deed(deed.name, deed.parameters, *map(written, parts)), frozenset(unbound)


def _scoped(found: Tree, bound: frozenset[str], unbound: set[str]) -> Tree:
    if isinstance(found, str):
        free = set(_VARIABLE.findall(found)) - bound
        unbound |= free
        return " ".join(NOBODY + word[1:] if word in free else word for word in found.split())
    if found[0] in {"exists", "forall"}:
        inner = bound | set(_VARIABLE.findall(str(found[1])))
        return (found[0], found[1], *(_scoped(part, inner, unbound) for part in found[2:]))
    return (found[0], *(_scoped(part, bound, unbound) for part in found[1:]))


def check_planner() -> None:
    """Raises InputError where Fast Downward is not installed."""
    _driver()


def has_plan(domain: str, wanted: str, *, timeout_s: float) -> bool:
    """Whether Fast Downward finds one. It is asked itself: unified-planning's reader takes less than the original did.

    A domain that it refuses, or that takes too long or too much memory, has none.
    """
    with TemporaryDirectory(prefix="scenecypher-") as folder:
        paths = [Path(folder, f"{name}.pddl") for name in ("domain", "problem")]
        for path, text in zip(paths, (domain, wanted), strict=True):
            path.write_text(text, encoding="utf-8", errors="replace")
        limits = ["--overall-time-limit", f"{ceil(timeout_s)}s", "--overall-memory-limit", MEMORY]
        files = ["--sas-file", f"{folder}/output.sas", "--plan-file", f"{folder}/plan"]
        command = [sys.executable, str(_driver()), *files, *limits, "--alias", "lama-first", *map(str, paths)]
        return _ended_well(command, folder, timeout_s + GRACE_S)


def _ended_well(command: list[str], folder: str, timeout_s: float) -> bool:
    """In a session of its own, all of which is ended with it."""
    process = subprocess.Popen(  # noqa: S603 - our own Python and the package's own file
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        return process.wait(timeout=timeout_s) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _driver() -> Path:
    spec = find_spec("up_fast_downward")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    found = Path(folders[0], "downward", "fast-downward.py") if folders else Path()
    if not found.is_file():
        raise InputError("Fast Downward is not installed: run `pip install 'scenecypher[pddl]'`")
    return found
