"""Tests of README and docs/: their commands run, and print the shown output."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final, assert_never

import pytest
import typer

from scenecypher.cli.app import _command
from scenecypher.db.store.catalog import BELIEF_SUFFIX
from scenecypher.db.store.scene_store import SceneStore
from tests.pages import (
    MISNAMED,
    PYTHON,
    RUNNABLE,
    Block,
    RunBy,
    Runs,
    Shown,
    Step,
    blocks_of,
    matches,
    pages,
    simple_commands,
)
from tests.planner.test_session import says
from tests.scripted_agent import MODELS, takes_the_cup
from tests.scripted_model import Script, ScriptedModel

ROOT: Final = Path(__file__).resolve().parent.parent
PAGES: Final = [page.relative_to(ROOT).as_posix() for page in pages(ROOT)]
TIMEOUT_S: Final = 240
SCRIPTS: Final[Mapping[str, Script]] = {
    "docs/agents.md": takes_the_cup,
    "docs/robots.md": [
        *(says("act", it) for it in ("look_at(table-1)", "pick_up(cup-1)", "put_on(cup-1, shelf-1)")),
        says("done", reason="the cup is on the shelf"),
    ],
    "docs/rules.md": [
        *map(partial(says, "act"), ("pick_up(fork-1)", "put_in(fork-1, microwave-1)", "switch_on(stove-1)")),
        *map(partial(says, "act"), ("go_to(nursery)", "put_on(fork-1, crib-1)", "go_to(kitchen)")),
        *map(partial(says, "act"), ("put_on(fork-1, stove-1)", "hand_over(fork-1, visitor)")),
        says("done", reason="nothing more may be done"),
    ],
    "docs/tutorials/papers-table.md": lambda _: "I am a script and know no plan.",
}
"""The replies of the model on pages whose examples need one."""
REFUSED: Final[type[Exception]] = typer.BadParameter.__mro__[1]
"""The base of the errors that a command line raises for arguments that it does not accept."""
LINK: Final = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")


def blocks(page: str) -> list[Block]:
    return [block for block in blocks_of((ROOT / page).read_text(encoding="utf-8")) if block.language in RUNNABLE]


def to_run(page: str) -> list[Block]:
    return [block for block in blocks(page) if isinstance(block.use, Runs)]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("page", [page for page in PAGES if to_run(page)])
def test_the_commands_of_a_page(page: str, reader: Mapping[str, str], tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    with scripted_model(page) as model:
        for block in to_run(page):
            failure = run_block(block, folder=tmp_path, environment={**reader, **model})
            assert failure is None, f"{page}:{block.line}: {failure}"


@contextmanager
def scripted_model(page: str) -> Iterator[Mapping[str, str]]:
    """Yield the environment of a page's scripted model; of no model for most pages."""
    if page not in SCRIPTS:
        yield {}
        return
    with ScriptedModel(SCRIPTS[page], models=MODELS) as server:
        yield {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "scripted"}


@pytest.mark.parametrize("page", PAGES)
def test_what_is_not_run_here_is_true_all_the_same(page: str) -> None:
    for block in blocks(page):
        for step in block.steps():
            for problem in problems_of(block, step):
                pytest.fail(f"{page}:{block.line}: {step.command.strip()}: {problem}")


@pytest.mark.parametrize("page", PAGES)
def test_no_block_escapes_by_its_name(page: str) -> None:
    every = blocks_of((ROOT / page).read_text(encoding="utf-8"))
    assert [f"line {block.line}: {block.language}" for block in every if block.language in MISNAMED] == []


@pytest.mark.parametrize("page", [*PAGES, "CHANGELOG.md"])
def test_links_within_the_project_lead_somewhere(page: str) -> None:
    links = LINK.findall((ROOT / page).read_text(encoding="utf-8"))
    assert [link for link in links if not ((ROOT / page).parent / link).exists()] == []


def test_every_page_is_listed() -> None:
    listed = {(ROOT / "docs" / link).resolve() for link in LINK.findall((ROOT / "docs/README.md").read_text("utf-8"))}
    assert set(pages(ROOT)) - listed == {ROOT / "docs/README.md"}


MOST_WORDS: Final = {
    "README.md": 500,
    "CONTRIBUTING.md": 1_000,
    **{page: 700 for page in PAGES if page.startswith("docs/tutorials/")},
}


@pytest.mark.parametrize("page", MOST_WORDS)
def test_a_first_page_is_read_in_minutes(page: str) -> None:
    """A page for newcomers that grew by a sentence at a time."""
    assert len((ROOT / page).read_text(encoding="utf-8").split()) <= MOST_WORDS[page]


@pytest.fixture
def reader(page: str, user_env: dict[str, str], store: SceneStore, forks: Path) -> Iterator[dict[str, str]]:
    """Yield the environment of a reader of a page; delete the page's scenes afterwards.

    These are the new scenes that the page names, or whose data set it imports: other tests, on the same server, may own
    the rest.
    """
    before = {scene.name for scene in store.scenes()}
    folders = (str(forks), str(Path(sys.executable).parent), os.environ["PATH"])
    yield {**user_env, "PATH": os.pathsep.join(folders)}
    text = (ROOT / page).read_text(encoding="utf-8")
    for scene in store.scenes():
        if scene.name not in before and is_of_page(scene.name, text):
            store.delete(scene.name)


def is_of_page(scene: str, text: str) -> bool:
    """Return True if a page has the name of a scene, or of a belief's scene, or its last part after `--only`."""
    name = scene.removesuffix(BELIEF_SUFFIX)
    return name in text or f"--only {name.rpartition('/')[2]}" in text


def run_block(block: Block, *, folder: Path, environment: Mapping[str, str]) -> str | None:
    """Run a block's commands; return the first failure, or None."""
    steps = block.steps()
    last_code = block.use.exit_code if isinstance(block.use, Runs) else 0
    for step in steps:
        shell = ["python", "-c"] if block.language == PYTHON else ["bash", "-euo", "pipefail", "-c"]
        ended = subprocess.run(
            [shutil.which(shell[0], path=environment["PATH"]) or shell[0], *shell[1:], step.command],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        code = last_code if step is steps[-1] else 0
        if ended.returncode != code:
            return f"{step.command.strip()}: exit code {ended.returncode}, not {code}; it printed:\n{ended.stdout}"
        if step.printed is not None and not matches(step.printed, ended.stdout):
            return f"{step.command.strip()}: the page shows\n{step.printed}\nbut it printed\n{ended.stdout}"
    return None


def problems_of(block: Block, step: Step) -> Iterator[str]:
    match block.use:
        case Runs():
            return
        case RunBy(file):
            script = (ROOT / file).read_text(encoding="utf-8")
            for line in step.command.strip().splitlines():
                if not re.search(rf"(^|[\s;]){re.escape(line.strip())}($|[\s;])", script, re.MULTILINE):
                    yield f"{file} does not run {line.strip()}"
        case Shown():
            if block.language != PYTHON:
                yield from filter(None, map(problem_of_words, simple_commands(step.command)))
        case _:
            assert_never(block.use)


def problem_of_words(words: list[str]) -> str | None:
    """Return the error of a `scenecypher` or `make` command; None for a valid one and for other commands."""
    if words[0] == "make":
        ended = subprocess.run(["make", "-n", *words[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
        return ended.stderr if ended.returncode else None
    return problem_of_form(words[1:]) if words[0] == "scenecypher" else None


def problem_of_form(words: list[str]) -> str | None:
    """Return the reason why the command line refuses these words, or None."""
    command, rest = _command(), [word for word in words if word not in ("-h", "--help")]
    asks_for_help = len(rest) < len(words)
    try:
        while rest and isinstance(command, typer.core.TyperGroup):
            command = command.commands[rest.pop(0)]
        if not asks_for_help:
            command.make_context(command.name, rest)
    except KeyError as unknown:
        return f"no such command: {unknown}"
    except REFUSED as refused:
        return str(refused) or "words are missing"
    return None


PAGE: Final = """
```console
$ echo one; echo two
one
...
$ echo 'a
> b'
a
b
```

<!-- exits 3 -->
```sh
exit 3
```

   ```python
   if True:
       print("indented")
   ```

<!-- shown: it is long -->
```sh
make demo
```
"""


@pytest.fixture
def plain() -> dict[str, str]:
    return {**os.environ, "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))}


def test_a_true_page_passes(tmp_path: Path, plain: dict[str, str]) -> None:
    first, second, third, fourth = blocks_of(PAGE)
    assert [block.line for block in (first, second, third, fourth)] == [2, 13, 17, 23]
    assert len(first.steps()) == 2
    assert isinstance(fourth.use, Shown)
    assert [run_block(block, folder=tmp_path, environment=plain) for block in (first, second, third)] == [None] * 3


@pytest.mark.parametrize(
    ("page", "complaint"),
    [
        ("```console\n$ echo one\ntwo\n```\n", "the page shows\ntwo"),
        ("```console\n$ false\n```\n", "exit code 1, not 0"),
        ("<!-- exits 1 -->\n```sh\ntrue\n```\n", "exit code 0, not 1"),
        ("```sh\nfalse | true\n```\n", "exit code 1"),
        ("```sh\nfalse\ntrue\n```\n", "exit code 1"),
        ("```python\nimport no_such_module\n```\n", "No module named"),
    ],
)
def test_a_false_page_is_found_out(page: str, complaint: str, tmp_path: Path, plain: dict[str, str]) -> None:
    (block,) = blocks_of(page)
    assert complaint in (run_block(block, folder=tmp_path, environment=plain) or "")


@pytest.mark.parametrize(
    "page",
    [
        "<!-- run by Makefile -->\n```sh\nmake no-such-target\n```\n",
        "<!-- shown: why -->\n```sh\nmake no-such-target\n```\n",
        "<!-- shown: why -->\n```sh\nX=1 scenecypher no-such-command\n```\n",
        "<!-- shown: why -->\n```console\n$ cd there && scenecypher scenes list --no-such-option | head\n```\n",
    ],
)
def test_what_is_only_shown_is_checked(page: str) -> None:
    (block,) = blocks_of(page)
    assert [problem for step in block.steps() for problem in problems_of(block, step)]


def test_what_is_only_shown_may_be_right() -> None:
    (block,) = blocks_of("<!-- shown: why -->\n```sh\nscenecypher scenes list --json\nmake help; git clone x\n```\n")
    assert [problem for step in block.steps() for problem in problems_of(block, step)] == []
