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
from evaluation.eai.transition_text import Deed
from scenecypher.errors import InputError

TIMEOUT_S: Final = 20.0
"""The original allows 100 s; on recorded outputs no plan took over 2 s."""
MEMORY: Final = "1G"
GRACE_S: Final = 5.0
NOBODY: Final = "nobody-"
"""What the name of an object begins with that stands for an unbound variable."""

_VARIABLE: Final = re.compile(r"\?[\w-]+")
_QUANTIFIED: Final = re.compile(r"\b(?:exists|forall)\s*\(([^()]*)\)")


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
    own = (_without_unbound(predicted[name]) for name in sorted(predicted))
    others = (deed for name, deed in gold_deeds().items() if name not in predicted)
    actions = "\n".join([*own, *(deed.pddl() for deed in others)])
    unbound = {f"{NOBODY}{name[1:]}" for deed in predicted.values() for name in unbound_variables(deed)}
    constants = f"(:constants {' '.join(sorted(unbound))} - object)\n" if unbound else ""
    return f"{domain_head().replace('(:predicates', constants + '(:predicates', 1)}\n{actions}\n)"


def unbound_variables(deed: Deed) -> frozenset[str]:
    """What is neither a parameter nor quantified anywhere in the action."""
    texts = (deed.precondition, deed.effect)
    bound = {
        name for text in (deed.parameters, *map(" ".join, map(_QUANTIFIED.findall, texts))) for name in _names(text)
    }
    return frozenset(name for text in texts for name in _names(text) if name not in bound)


def _without_unbound(deed: Deed) -> str:
    text = deed.pddl()
    for name in unbound_variables(deed):
        text = re.sub(rf"{re.escape(name)}(?![\w-])", NOBODY + name[1:], text)
    return text


def _names(text: str) -> list[str]:
    return _VARIABLE.findall(text)


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
