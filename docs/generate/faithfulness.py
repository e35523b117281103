"""Page of what is as in the four papers, what differs, and what is missing."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias

Row: TypeAlias = Mapping[str, str]
Papers: TypeAlias = Mapping[str, Mapping[str, tuple[Row, ...]]]

CLAIMS: Final[Papers] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
"""Rows by paper and kind."""
STATUSES: Final[Mapping[str, str]] = {"as": "as the paper", "differs": "differs", "missing": "missing"}
COMMAND: Final = "scenecypher "
"""Beginning of what shows a row, if it is a command; else it is a file."""
MODEL: Final = " --model "

HEAD: Final = """\
# Faithfulness

Every system, method, baseline, ablation, metric, table and figure of the four papers: whether it is here **as the
paper** has it, **differs** (how, and why), or is **missing** (why), and the command or the file that shows it. Prompts
are in our words throughout ([what differs in them](methods.md#what-differs-from-the-papers-prompts)); what is ours
besides, and what the papers don't say, is told [by experiment](experiments.md#whose-is-what).
`python -m docs.generate faithfulness` makes this page of `docs/generate/faithfulness.toml`; the tests compare the two.
"""
TABLE: Final = "| | in the paper | here | how and why | shown by |\n|---|---|---|---|---|"
COMMANDS: Final = """
## The commands

Those that need no model:

```sh
{free}
```

The others need a model:

<!-- shown: needs a model -->
```sh
{asking}
```
"""


def page(papers: Papers = CLAIMS) -> str:
    """Return the page."""
    parts = [HEAD, *_counts(papers), *(line for paper in papers for line in _section(paper, papers[paper]))]
    commands = sorted({row["by"] for row in rows_of(papers) if row["by"].startswith(COMMAND)})
    free = [command for command in commands if MODEL not in command]
    asking = [command for command in commands if MODEL in command]
    return "\n".join(parts) + "\n" + COMMANDS.format(free="\n".join(free), asking="\n".join(asking))


def rows_of(papers: Papers) -> Iterator[Row]:
    """Yield all rows."""
    return (row for kinds in papers.values() for rows in kinds.values() for row in rows)


def _counts(papers: Papers) -> Iterator[str]:
    """Yield a table of how many rows of each paper have each status."""
    yield f"| | {' | '.join(STATUSES.values())} |"
    yield f"|---|{'--:|' * len(STATUSES)}"
    for paper, kinds in papers.items():
        counted = Counter(row["is"] for rows in kinds.values() for row in rows)
        yield f"| {paper} | {' | '.join(str(counted[status]) for status in STATUSES)} |"


def _section(paper: str, kinds: Mapping[str, Iterable[Row]]) -> Iterator[str]:
    yield f"\n## {paper}"
    for kind, rows in kinds.items():
        yield f"\n### {paper}'s {kind}\n\n{TABLE}"
        yield from map(_line, rows)


def _line(row: Row) -> str:
    by = row["by"]
    shown = f"`{by}`" if by.startswith(COMMAND) else f"[{Path(by.removesuffix('/__init__.py')).name}]({by})"
    return f"| {row['what']} | {row['at']} | {STATUSES[row['is']]} | {row.get('how', '')} | {shown} |"
