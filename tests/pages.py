"""The code blocks of a documentation page: what is run, what is expected, what is only shown.

Every ```` ```console ````, ```` ```sh ```` and ```` ```python ```` block is run, in the page's order, in one empty
folder. In `console`, lines after `$ ` are commands (`> ` goes on with one) and the lines below are what it prints,
where `...` stands for anything. A comment on the line before a block says otherwise:

    <!-- exits 1 -->              the block's last command ends with this exit code
    <!-- run by .ci/run -->       each command stands in that file
    <!-- shown: why -->           not run; `scenecypher` and `make` commands must still exist
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CONSOLE, SHELL, PYTHON = "console", "sh", "python"
RUNNABLE: Final = frozenset({CONSOLE, SHELL, PYTHON})
MISNAMED: Final = frozenset({"bash", "shell", "zsh", "py", "pycon", "terminal"})
"""Languages whose blocks would not be run; use `console`, `sh` or `python`."""

BLOCK: Final = re.compile(
    r"(?:^[ ]*<!--[ ](?P<note>[^\n]*?)[ ]-->\n)?"
    r"^(?P<indent>[ ]*)(?P<fence>`{3,})(?P<language>[\w+-]*)[^\n]*\n"
    r"(?P<text>.*?)"
    r"^[ ]*(?P=fence)[ ]*$",
    re.MULTILINE | re.DOTALL,
)
EXITS: Final = re.compile(r"exits (\d+)")
RUN_BY: Final = re.compile(r"run by (\S+)")
SHOWN: Final = re.compile(r"shown: \S")
BETWEEN_COMMANDS: Final = frozenset({"&&", "||", ";", "|", "&"})


@dataclass(frozen=True, slots=True)
class Runs:
    """The block is run; its last command ends with `exit_code`."""

    exit_code: int = 0


@dataclass(frozen=True, slots=True)
class RunBy:
    """The block's commands occur in `file`, which runs elsewhere."""

    file: str


@dataclass(frozen=True, slots=True)
class Shown:
    """The block is only shown."""


Use = Runs | RunBy | Shown


@dataclass(frozen=True, slots=True)
class Step:
    """One command and its expected output (None: any)."""

    command: str
    printed: str | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block; `line` is the fence's, counted from 1."""

    line: int
    language: str
    text: str
    use: Use

    def steps(self) -> list[Step]:
        """Return the commands in order; a `sh` or `python` block is one command."""
        if self.language == CONSOLE:
            return list(_console_steps(self.text))
        return [Step(self.text)]


def blocks_of(page: str) -> list[Block]:
    """Return all fenced blocks of a page's text."""
    return [_block(page, found) for found in BLOCK.finditer(page)]


def pages(root: Path) -> list[Path]:
    """Return the pages whose blocks are checked."""
    return [
        root / "README.md",
        root / "ARCHITECTURE.md",
        root / "CONTRIBUTING.md",
        *sorted((root / "docs").rglob("*.md")),
    ]


def matches(expected: str, printed: str) -> bool:
    """Return True if `printed` equals a page's text, ignoring column widths; `...` matches anything."""
    pattern = re.escape(_plain(expected)).replace(r"\.\.\.", ".*")
    return re.fullmatch(pattern, _plain(printed), re.DOTALL) is not None


def simple_commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each command of a shell text, without leading assignments."""
    for line in text.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words: list[str] = []
        for word in [*lexer, ";"]:
            if word not in BETWEEN_COMMANDS:
                words.append(word)
            elif words:
                yield _without_assignments(words)
                words = []


def _block(page: str, found: re.Match[str]) -> Block:
    indent = len(found["indent"])
    return Block(
        line=page.count("\n", 0, found.start("fence")) + 1,
        language=found["language"],
        text="".join(line[indent:] if line.strip() else line for line in found["text"].splitlines(keepends=True)),
        use=_use(found["note"] or ""),
    )


def _use(note: str) -> Use:
    if exits := EXITS.fullmatch(note):
        return Runs(int(exits[1]))
    if run_by := RUN_BY.fullmatch(note):
        return RunBy(run_by[1])
    return Shown() if SHOWN.match(note) else Runs()


def _console_steps(text: str) -> Iterator[Step]:
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        size = 1
        while size < len(lines) and (lines[size].startswith("> ") or lines[size - 1].endswith("\\")):
            size += 1
        command = "\n".join(line.removeprefix("> ") for line in lines[:size])
        printed = "\n".join(lines[size:])
        yield Step(command, printed if printed.strip() else None)


def _plain(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in text.strip().splitlines())


def _without_assignments(words: list[str]) -> list[str]:
    while len(words) > 1 and re.match(r"\w+=", words[0]):
        words = words[1:]
    return words
