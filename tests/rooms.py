"""The packages of the project, each with its folder: `db/` is installed, and imported, as `scenecypher.db`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
ROOMS: Final = ("chat", "db", "evaluation", "importers", "planner", "retriever")
FOLDERS: Final = {"scenecypher": ROOT / "scenecypher", **{f"scenecypher.{room}": ROOT / room for room in ROOMS}}
"""By package; the links within `scenecypher/` are not part of its own folder."""
