"""Figures published by the Embodied Agent Interface, by recorded model and task, in percent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import TypeAlias

from pydantic import BaseModel, ConfigDict

from scenecypher.evaluation.eai.task_table import EaiTask

_Cell: TypeAlias = float | dict[str, float]


class _PublishedFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str
    recorded: dict[str, str]
    models: dict[str, dict[str, dict[str, _Cell]]]


def published_figures(model: str, task: EaiTask) -> Mapping[str, float]:
    """Return percentages by key; empty for a model without published figures.

    Keys are the file's: ``tsr``, ``esr``, ``state_goal``, ``all_f1``; for transition modelling ``object_states.f1`` and
    ``planner.object_states``.
    """
    file = _file()
    tables = file.models.get(file.recorded.get(model, model), {})
    return {
        key: value
        for name, prefix in task.published_tables.items()
        for key, value in _flat(tables.get(name, {}), prefix=prefix)
    }


def recorded_models() -> tuple[str, ...]:
    """Return the models that have recorded outputs and published figures."""
    return tuple(_file().recorded)


def published_source() -> str:
    """Return the source of the figures."""
    return _file().source


def _flat(table: Mapping[str, _Cell], *, prefix: str) -> Iterator[tuple[str, float]]:
    for key, cell in table.items():
        if isinstance(cell, dict):
            yield from ((f"{prefix}{key}.{part}", value) for part, value in cell.items())
        else:
            yield prefix + key, cell


@cache
def _file() -> _PublishedFile:
    text = (files("scenecypher.evaluation") / "data" / "published" / "eai.json").read_text(encoding="utf-8")
    return _PublishedFile.model_validate_json(text)
