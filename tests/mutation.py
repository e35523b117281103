"""Mutation of one file, in place: mutants by mutmut's operators, drawn by a seed, each tried with pytest.

`python -m tests.mutation db/gate/scope.py tests/db/gate` prints each mutant that passes the tests. It is run by hand,
in a copy of the checkout, with `pip install mutmut==3.8.1`; neither CI nor another module needs that package.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from difflib import unified_diff
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest

OPTIONS: Final = (
    "-xq",
    "--reruns=0",
    "-pno:cacheprovider",
    "-pno:langsmith_plugin",
    "-Wignore::pytest.PytestAssertRewriteWarning",
)
PRELOADED: Final = ("hypothesis", "inspect_ai", "neo4j", "numpy", "openai")
"""Packages that the tests import slowly: each try is a fork of a process that has them."""


def mutants(source: str) -> list[str]:
    """Return the source's mutants, each with one change."""
    import libcst
    from mutmut.mutation.mutators import mutation_operators

    module: Any = libcst.parse_module(source)
    found = (
        module.deep_replace(node, other).code
        for node in _nodes(module)
        for kind, mutate in mutation_operators
        if isinstance(node, kind)
        for other in mutate(node)
    )
    return [text for text in dict.fromkeys(found) if text != source and _compiles(text)]


def _nodes(node: Any) -> Iterator[Any]:
    """Yield the nodes to mutate, outermost first; what only a type checker or the import reads stays as it is."""
    import libcst
    from libcst import matchers

    alias = matchers.AnnAssign(annotation=matchers.Annotation(matchers.Name("TypeAlias")))
    if isinstance(node, libcst.Annotation | libcst.Decorator | libcst.Import | libcst.ImportFrom):
        return
    if matchers.matches(node, alias):
        return
    yield node
    for child in node.children:
        yield from _nodes(child)


def _compiles(text: str) -> bool:
    try:
        compile(text, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def drawn(count: int, *, most: int, seed: int) -> list[int]:
    """Return the indexes of the mutants to try, ascending: all, or `most` drawn by the seed."""
    return sorted(random.Random(seed).sample(range(count), min(most, count)))  # noqa: S311 - no secret


def passes(tests: list[str], *, timeout_s: float) -> bool:
    """Check that the tests pass in a process of their own; a time-out is a failure."""
    child = os.fork()
    if child == 0:
        _run_tests(tests)
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status == 0
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def _run_tests(tests: list[str]) -> None:
    os.setsid()
    with Path(os.devnull).open("w") as null:
        os.dup2(null.fileno(), sys.stdout.fileno())
        os.dup2(null.fileno(), sys.stderr.fileno())
    code = 1
    try:
        code = pytest.main([*OPTIONS, *tests])
    finally:
        os._exit(code)


def changed_lines(source: str, mutant: str) -> str:
    """Return the lines removed and added by a mutant, with their place."""
    return "\n".join([*unified_diff(source.splitlines(), mutant.splitlines(), lineterm="", n=0)][2:])


def survivors(path: Path, chosen: dict[int, str], tests: list[str]) -> Iterator[int]:
    """Try the mutants in the file's place; yield the indexes of those that pass, and put the file back at the end."""
    source, start = path.read_text(), time.monotonic()
    if not passes(tests, timeout_s=3600):
        sys.exit("the tests fail without a mutant")
    timeout_s = 30 + 3 * (time.monotonic() - start)
    sys.dont_write_bytecode = True  # mutants of one size and one second have one cache
    try:
        for index, mutant in chosen.items():
            path.write_text(mutant)
            if passes(tests, timeout_s=timeout_s):
                yield index
    finally:
        path.write_text(source)


def main() -> None:
    """Run the command of this module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("tests", nargs="+")
    parser.add_argument("--most", type=int, default=100, help="mutants to draw")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, nargs="*", help="indexes of mutants to try instead")
    options = parser.parse_args()
    for name in PRELOADED:
        import_module(name)
    source = options.file.read_text()
    found = mutants(source)
    indexes = options.only or drawn(len(found), most=options.most, seed=options.seed)
    passed = 0
    for index in survivors(options.file, {index: found[index] for index in indexes}, options.tests):
        passed += 1
        print(f"{index}: {changed_lines(source, found[index])}\n", flush=True)  # noqa: T201 - the result
    print(f"{options.file}: {passed} of {len(indexes)} passed, drawn from {len(found)}")  # noqa: T201


if __name__ == "__main__":
    main()
