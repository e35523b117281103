"""EAI's wheel with the prompts of goal interpretation (and recorded outputs), which is read as a zip."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from scenecypher.importers.published_file import PublishedFile

WHEEL: Final = PublishedFile(
    "virtualhome_eval==0.1.1",
    "virtualhome_eval-0.1.1-py3-none-any.whl",
    "a4e244f423edfc0da2ec7b7daf48f2fca8af00afe6f2af07b8f1e53d8c79de37",
    "EAI's prompts of goal interpretation (27 MB)",
    "run `pip download --no-deps virtualhome_eval==0.1.1`, and give the file with --recordings WHEEL",
)

SCENE_PREFIX: Final = "scene_1_"
"""Prefix of a task's id in sub-goal decomposition."""


def fetch_recordings(home: Path, *, tell: Callable[[str], None]) -> Path:
    """Return the wheel in the folder `home`, downloading it with pip if needed. Raises InputError, ServiceError."""
    return WHEEL.fetch(home / "recordings", tell=tell)
