"""Sample of recorded outputs, of three models for three tasks each (`virtualhome_eval` 0.1.1, MIT)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

RECORDED: Final[dict[str, dict[str, dict[str, str]]]] = json.loads(
    Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
)
"""Outputs by task of the interface, model and id."""
