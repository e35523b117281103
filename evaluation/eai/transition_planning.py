"""Whether Fast Downward finds a plan with a predicted domain, each run in a process of its own with limits."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from scenecypher.errors import InputError
from scenecypher.evaluation.eai.transition_gold import domain_head, gold_deeds, problem
from scenecypher.evaluation.eai.transition_text import Deed, Tree, tree, written
from scenecypher.planner.actions.pddl_engine import end_tree

TIMEOUT_S: Final = 20.0
"""The original allows 100 s; on recorded outputs no plan took over 2 s."""
MEMORY: Final = "1G"
GRACE_S: Final = 5.0
NEVER: Final = "(never)"
"""A predicate that nothing makes true."""
QUANTIFIERS: Final = ("exists", "forall")

_NAME: Final = re.compile(r"\??[A-Za-z][\w-]*")
_OBJECTS: Final = re.compile(r"\(:objects([^()]*)\)")


@dataclass(slots=True)
class Planner:
    """Remembers what it was asked: many outputs define the same domain."""

    timeout_s: float = TIMEOUT_S
    known: dict[str, bool] = field(default_factory=dict)

    def succeeds(self, task_id: str, predicted: Mapping[str, Deed]) -> bool:
        """Whether the task has a plan where predicted actions stand in for gold ones, as in the original.

        Raises InputError where Fast Downward is not installed.
        """
        domain, wanted = completed(predicted, problem(task_id))
        key = hashlib.sha256(f"{domain}\0{wanted}".encode()).hexdigest()
        if key not in self.known:
            self.known[key] = has_plan(domain, wanted, timeout_s=self.timeout_s)
        return self.known[key]


def completed(predicted: Mapping[str, Deed], wanted: str) -> tuple[str, str]:
    """Domain and problem: predicted actions, then the gold ones that were not predicted.

    Actions may name the problem's objects, which are therefore declared with the domain, and nothing is true of what
    is neither object nor parameter: so it was with the Fast Downward of the published figures; newer ones refuse both.
    """
    objects = _OBJECTS.search(wanted)
    declared = objects[1].strip() if objects else ""
    own = (_bound(predicted[name], frozenset(declared.split())) for name in sorted(predicted))
    others = (deed for name, deed in gold_deeds().items() if name not in predicted)
    actions = "\n".join(deed.pddl() for deed in (*own, *others))
    head = domain_head().replace("(:predicates", f"(:constants {declared})\n(:predicates {NEVER}", 1)
    return f"{head}\n{actions}\n)", _OBJECTS.sub("(:objects)", wanted, count=1)


def foreign_names(deed: Deed) -> frozenset[str]:
    """What stands for an object and is neither a parameter nor quantified there; none where the text can't be read."""
    scope = _Scope(frozenset())
    try:
        _trees(deed, scope)
    except ValueError:
        return frozenset()
    return frozenset(scope.foreign)


@dataclass(slots=True)
class _Scope:
    """The objects that there are, and the names met that are no variables of the action."""

    objects: frozenset[str]
    foreign: set[str] = field(default_factory=set)

    def lacks(self, literal: str, bound: frozenset[str]) -> bool:
        """Whether it is of something that there is not."""
        found = {word for word in literal.split()[1:] if _NAME.fullmatch(word)} - bound
        self.foreign |= found
        return bool(found - self.objects)


def _bound(deed: Deed, objects: frozenset[str]) -> Deed:
    """As it is where it can't be read: then the planner refuses it."""
    try:
        return Deed(deed.name, deed.parameters, *map(written, _trees(deed, _Scope(objects))))
    except ValueError:
        return deed


def _trees(deed: Deed, scope: _Scope) -> tuple[Tree, Tree]:
    bound = frozenset(_NAME.findall(deed.parameters))
    return _required(tree(deed.precondition), bound, scope), _caused(tree(deed.effect), bound, scope)


def _required(found: Tree, bound: frozenset[str], scope: _Scope) -> Tree:
    if isinstance(found, str):
        return NEVER.strip("()") if scope.lacks(found, bound) else found
    if found[0] in QUANTIFIERS:
        return (found[0], found[1], _required(found[2], bound | set(_NAME.findall(str(found[1]))), scope))
    return (found[0], *(_required(part, bound, scope) for part in found[1:]))


def _caused(found: Tree, bound: frozenset[str], scope: _Scope) -> Tree:
    """What would become of something that there is not is left out."""
    if isinstance(found, str):
        return ("and",) if scope.lacks(found, bound) else found
    if found[0] in QUANTIFIERS:
        return (found[0], found[1], _caused(found[2], bound | set(_NAME.findall(str(found[1]))), scope))
    if found[0] == "when":
        return ("when", _required(found[1], bound, scope), _caused(found[2], bound, scope))
    inner = tuple(_caused(part, bound, scope) for part in found[1:])
    return ("and",) if found[0] == "not" and inner == (("and",),) else (found[0], *inner)


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
    """Check that a command ends with 0 in time; what still runs of it then is killed."""
    process = subprocess.Popen(  # noqa: S603 - our own Python and the package's own file
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        return process.wait(timeout=timeout_s) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        end_tree(process)


def _driver() -> Path:
    spec = find_spec("up_fast_downward")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    found = Path(folders[0], "downward", "fast-downward.py") if folders else Path()
    if not found.is_file():
        raise InputError("Fast Downward is not installed: run `pip install 'scenecypher[pddl]'`")
    return found
