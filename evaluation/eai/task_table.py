"""The four tasks of the Embodied Agent Interface, a row each: everything in which they differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from scenecypher.evaluation.eai import action_sequencing, goal_interpretation, subgoal, transition
from scenecypher.evaluation.eai.scoring import Figures, Judgement, OutputScorer, model_figures
from scenecypher.evaluation.eai.tasks import goal_formula
from scenecypher.evaluation.published import data_table
from scenecypher.evaluation.result import Cell, Column, Interval
from scenecypher.evaluation.ssc.forms import Canonical, goal_form, sequence_form, subgoal_form, transition_form

TaskName: TypeAlias = Literal["action-sequencing", "subgoal", "goal", "transition"]


@dataclass(frozen=True, slots=True)
class EaiTask:
    """One task.

    - `form` returns what an output means, for votes.
    - `target` returns what a task asks for, in words for Inspect's viewer.
    - `columns` are the columns of SSC's table, with their figures, by a cell's key.
    - `prompt_file` is the file of prompts, in EAI's wheel if `prompts_in_wheel`.
    - `prompt_parts` are the task-specific parts of a prompt: from the last occurrence of the first text to the next
      of the second.
    - `system_file` is the file of a message before each prompt.
    - `is_simulated` tasks are executed by our simulator, and all their figures are shares.
    """

    name: TaskName
    scorer: OutputScorer
    form: Canonical
    target: Callable[[str], str]
    title: str
    columns: Mapping[str, Mapping[str, Any]]
    prompt_file: str
    prompt_parts: Sequence[Sequence[str]]
    system_file: str = ""
    prompts_in_wheel: bool = False
    is_simulated: bool = False

    @property
    def ssc_columns(self) -> tuple[Column, ...]:
        """Columns of SSC's table."""
        interval: Interval = "wilson" if self.is_simulated else "bootstrap"
        rest = {key: {name: it for name, it in row.items() if name != "figure"} for key, row in self.columns.items()}
        return tuple(Column(key=key, **{"unit": "percent", "interval": interval, **row}) for key, row in rest.items())

    def ssc_cells(self, judged: Sequence[Judgement]) -> Figures:
        """Return the cells of a row of SSC's table, with intervals."""
        found = model_figures(self.scorer, judged, intervals=self._figures.values())
        return {key: found[figure] for key, figure in self._figures.items()}

    def ssc_score(self, judged: Judgement) -> float:
        """Return the paper's measure of one output, the first column, from 0 to 1."""
        figure = next(iter(self._figures.values()))
        return value_of(self.scorer.figures([judged])[figure]) / 100

    @property
    def _figures(self) -> dict[str, str]:
        return {key: row["figure"] for key, row in self.columns.items()}


def value_of(cell: Cell) -> float:
    """Return a figure's value, 0 if nothing was counted."""
    return cell.value if isinstance(cell.value, float) else 0.0


_SCORED: Final[Mapping[TaskName, tuple[Any, ...]]] = {
    "action-sequencing": (action_sequencing, sequence_form, goal_formula),
    "subgoal": (subgoal, subgoal_form, goal_formula),
    "goal": (goal_interpretation, goal_form, goal_formula),
    "transition": (transition, transition_form, transition.asked_for),
}
EAI_TASKS: Final[Mapping[str, EaiTask]] = {
    name: EaiTask(name, *_SCORED[name], **data_table("eai/tasks")[name]) for name in _SCORED
}
"""Tasks by name, in the order of their tables."""
