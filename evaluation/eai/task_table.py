"""The four tasks of the Embodied Agent Interface, a row each: everything in which they differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from scenecypher.evaluation.eai.action_sequencing import ActionScorer, sequence_outcome
from scenecypher.evaluation.eai.goal_interpretation import KINDS, GoalScorer, goal_outcome
from scenecypher.evaluation.eai.scoring import Figures, Judgement, OutputScorer, model_figures
from scenecypher.evaluation.eai.subgoal import SubgoalScorer
from scenecypher.evaluation.eai.tasks import goal_formula
from scenecypher.evaluation.eai.transition import TransitionScorer, transition_outcome
from scenecypher.evaluation.eai.transition_gold import asked_actions
from scenecypher.evaluation.result import Cell, Column, Interval
from scenecypher.evaluation.ssc.forms import goal_form, sequence_form, subgoal_form, transition_form
from scenecypher.evaluation.ssc.voting import Canonical

TaskName: TypeAlias = Literal["action-sequencing", "subgoal", "goal", "transition"]
PARTS: Final = ("precision", "recall", "f1")
SECONDARY: Final = frozenset({"eai_f1", "eai_precision", "eai_recall", "tsr_least", "planner"})
"""Other readings of a figure, and figures that the paper does not have."""
LOWER_IS_BETTER: Final = frozenset({"parsing", "hallucination", "missing_step"})


@dataclass(frozen=True, slots=True, kw_only=True)
class EaiTask:
    """One task.

    - `outcome` returns a judgement's outcome, and whether it succeeded by the best order of goals, with none missed.
    - `form` returns what an output means, for votes.
    - `columns` are the headings and figures of SSC's table by a cell's key. Strict counts come first: they include
      malformed output, as the paper does in transition modelling (section 4.1); EAI leaves it out.
    - `target` returns what a task asks for, in words for Inspect's viewer.
    - `prompt_file` is the file of prompts, in EAI's wheel if `prompts_in_wheel`.
    - `prompt_parts` are the task-specific parts of a prompt: from the last occurrence of the first text to the next
      of the second.
    - `system_file` is the file of a message before each prompt.
    - `is_simulated` tasks are executed by the database, and all their figures are shares.
    """

    name: TaskName
    title: str
    make_scorer: Callable[[], OutputScorer]
    outcome: Callable[[Judgement], tuple[str, bool]]
    form: Canonical
    columns: Mapping[str, tuple[str, str]]
    target: Callable[[str], str]
    prompt_file: str
    prompt_parts: tuple[tuple[str, str], ...]
    system_file: str = ""
    prompts_in_wheel: bool = False
    is_simulated: bool = False

    @property
    def ssc_columns(self) -> tuple[Column, ...]:
        """Columns of SSC's table."""
        return tuple(self._column(key, heading) for key, (heading, _) in self.columns.items())

    def ssc_cells(self, scorer: OutputScorer, judged: Sequence[Judgement]) -> Figures:
        """Return the cells of a row of SSC's table, with intervals."""
        found = model_figures(scorer, judged, intervals=[figure for _, figure in self.columns.values()])
        return {key: found[figure] for key, (_, figure) in self.columns.items()}

    def ssc_score(self, scorer: OutputScorer, judged: Judgement) -> float:
        """Return the paper's measure of one output, the first column, from 0 to 1."""
        _, figure = next(iter(self.columns.values()))
        return value_of(scorer.figures([judged])[figure]) / 100

    def _column(self, key: str, heading: str) -> Column:
        interval: Interval = "wilson" if self.is_simulated or key == "planner" else "bootstrap"
        better = "lower" if key in LOWER_IS_BETTER else "higher"
        return Column(
            key=key, heading=heading, unit="percent", better=better, interval=interval, second=key in SECONDARY
        )


def value_of(cell: Cell) -> float:
    """Return a figure's value, 0 if nothing was counted."""
    return cell.value if isinstance(cell.value, float) else 0.0


EAI_TASKS: Final[Mapping[str, EaiTask]] = {
    row.name: row
    for row in (
        EaiTask(
            name="action-sequencing",
            title="Action sequencing",
            make_scorer=ActionScorer,
            outcome=sequence_outcome,
            form=sequence_form,
            columns={
                "tsr": ("TSR", "success_most"),
                "tsr_least": ("TSR, worst order", "success_least"),
                "esr": ("ESR", "executed"),
                "states": ("states", "state_goals"),
                "relations": ("relations", "relation_goals"),
                "actions": ("actions", "action_goals_most"),
                "parsing": ("parsing", "parsing"),
                "hallucination": ("hallucination", "hallucination"),
                "missing_step": ("missing step", "missing_step"),
            },
            target=goal_formula,
            prompt_file="evaluation/action_sequencing/prompts/helm_prompts.json",
            prompt_parts=(("The relevant objects in the scene are:", "Please output the list of action commands"),),
            is_simulated=True,
        ),
        EaiTask(
            name="subgoal",
            title="Sub-goal decomposition",
            make_scorer=SubgoalScorer,
            outcome=lambda found: (found["outcome"], found["outcome"] == "correct"),
            form=subgoal_form,
            columns={
                "tsr": ("TSR", "success"),
                "esr": ("ESR", "executed"),
                "states": ("states", "state_goals"),
                "relations": ("relations", "relation_goals"),
                "actions": ("actions", "action_goals"),
                "goals": ("goals", "goals"),
            },
            target=goal_formula,
            prompt_file="evaluation/subgoal_decomposition/prompts/helm_prompts.json",
            prompt_parts=(("# Target Task:", "## Output:"),),
            system_file="evaluation/subgoal_decomposition/prompts/system_setup.json",
            is_simulated=True,
        ),
        EaiTask(
            name="goal",
            title="Goal interpretation",
            make_scorer=GoalScorer,
            outcome=goal_outcome,
            form=goal_form,
            columns={
                "f1": ("F1", "strict_f1"),
                "precision": ("P", "strict_all_precision"),
                "recall": ("R", "strict_all_recall"),
                **{
                    f"{kind}_{part}": (f"{kind} {'F1' if part == 'f1' else part[0].upper()}", f"strict_{kind}_{part}")
                    for kind in KINDS
                    for part in PARTS
                },
                "eai_f1": ("F1, as EAI", "all_f1"),
                "eai_precision": ("P, as EAI", "all_precision"),
                "eai_recall": ("R, as EAI", "all_recall"),
            },
            target=goal_formula,
            prompt_file="virtualhome_eval/evaluation/goal_interpretation/prompts/helm_prompts.json",
            prompts_in_wheel=True,
            prompt_parts=(
                ("Relevant objects in the scene are:", "All possible relationships are"),
                ("Goal name:", "Now output the symbolic version"),
            ),
        ),
        EaiTask(
            name="transition",
            title="Transition modelling",
            make_scorer=TransitionScorer,
            outcome=transition_outcome,
            form=transition_form,
            columns={
                "f1": ("F1", "strict_f1"),
                "precision": ("P", "strict_p"),
                "recall": ("R", "strict_r"),
                "eai_f1": ("F1, as EAI", "f1"),
                "eai_precision": ("P, as EAI", "p"),
                "eai_recall": ("R, as EAI", "r"),
                "planner": ("planner", "planner"),
            },
            target=lambda task_id: ", ".join(asked_actions(task_id)),
            prompt_file="evaluation/transition_modeling/prompts/helm_prompts.json",
            prompt_parts=(("(define (problem", "\n>"),),
        ),
    )
}
"""Tasks by name, in the order of their tables."""
