"""The experiment `memory` as an Inspect task: the share of questions about what happened that a model answers right.

`inspect eval evaluation/memory.py --model PROVIDER/NAME`, or `scenecypher eval memory`.
"""

from __future__ import annotations

from inspect_ai import Task, task

from scenecypher.evaluation.question_set import MEMORY
from scenecypher.evaluation.questions import questions
from scenecypher.evaluation.replies import LIVE


@task
def memory(
    *,
    replies: str = LIVE,
    record: str = "",
    attempts: int = 4,
    examples: int = 4,
    limit: int = 0,
    seed: int | None = None,
) -> Task:
    """Return the task of questions about histories (`scenecypher.evaluation.histories`); arguments as in `questions`.

    Models see the histories' own clocks. Raises InputError.
    """
    return questions(
        data=MEMORY, replies=replies, record=record, attempts=attempts, examples=examples, limit=limit, seed=seed
    )
