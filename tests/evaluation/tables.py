"""Commands whose tables are kept as data, and the figures of what they wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from scenecypher.cli.app import run_command_line as command
from scenecypher.evaluation.result import results_folder

FILE: Final = Path(__file__).resolve().parents[1] / "data" / "eai" / "tables.json"
"""Tables by the name of their run."""
VIEWS: Final = ["blurred", "crowded", "cut", "elsewhere", "rooms", "shelves", "sides", "tables", "twins"]
RUNS: Final[Mapping[str, str]] = {
    "questions": "questions --data grasif --sample-ids lookup/lying_on/our-office,lookup/lying_on/sayplan-office",
    "pictures": f"augmentation --simulated 1 --sample-ids {','.join(f'{it}-01' for it in VIEWS)}",
    "episodes": "grasif --data behavior-1k --limit 1 --method symbolic",
    "moved": "dynamic --data behavior --limit 1 --method symbolic",
}


def played_tables(folder: Path) -> dict[str, Any]:
    """Run the commands in the working folder `folder`, and return the columns and rows of their tables."""
    return {name: _tables(words.split(), folder / name.replace(" ", "-")) for name, words in RUNS.items()}


def kept_tables() -> dict[str, Any]:
    """Return the tables that are kept."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def _tables(words: list[str], logs: Path) -> Any:
    assert command(["eval", *words, "--log-dir", str(logs)]) == 0, words
    (written,) = results_folder(logs).glob("*.result.json")
    keys = ("key", "title", "columns", "rows", "published", "paper", "paper_table")
    return [{key: table[key] for key in keys} for table in json.loads(written.read_text("utf-8"))["tables"]]
