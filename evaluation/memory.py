"""The experiment `memory` as an Inspect task: the share of questions about what happened that a model answers right.

`inspect eval evaluation/memory.py --model PROVIDER/NAME`, or `scenecypher eval memory`.
"""

from __future__ import annotations

from typing import Any

from inspect_ai import Task, task

from scenecypher.evaluation.question_set import MEMORY
from scenecypher.evaluation.questions import questions


@task
def memory(**options: Any) -> Task:
    """Return the task of questions about histories (`scenecypher.evaluation.histories`); arguments as in `questions`.

    Models see the histories' own clocks. Raises InputError.
    """
    return questions(data=MEMORY, **options)
