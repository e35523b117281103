"""The figures that the Embodied Agent Interface publishes, by recorded model and task, in percent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Final, TypeAlias

from pydantic import BaseModel, ConfigDict

from scenecypher.evaluation.eai.recordings import TaskName

_Cell: TypeAlias = float | dict[str, float]

TABLES: Final[Mapping[TaskName, Mapping[str, str]]] = {
    "action-sequencing": {"action_sequencing": ""},
    "subgoal": {"subgoal_decomposition": "", "sd_goals": ""},
    "goal": {"goal_interpretation": ""},
    "transition": {"transition_modeling": "", "planner_sr": "planner."},
}
"""Where a task's figures stand in the file, and what their keys begin with here."""


class _PublishedFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str
    recorded: dict[str, str]
    models: dict[str, dict[str, dict[str, _Cell]]]


def published_figures(model: str, task: TaskName) -> Mapping[str, float]:
    """Percentages by key; empty for a model that has none.

    Keys are the file's: ``tsr``, ``esr``, ``state_goal``, ``all_f1``; of transition modelling ``object_states.f1`` and
    ``planner.object_states``.
    """
    file = _file()
    tables = file.models.get(file.recorded.get(model, model), {})
    return {
        key: value for name, prefix in TABLES[task].items() for key, value in _flat(tables.get(name, {}), prefix=prefix)
    }


def recorded_models() -> tuple[str, ...]:
    """The models that have recorded outputs and published figures."""
    return tuple(_file().recorded)


def published_title(model: str) -> str:
    """What the published tables call a recorded model; its own name where they don't have it."""
    return _file().recorded.get(model, model)


def published_source() -> str:
    """Where the figures are from."""
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
