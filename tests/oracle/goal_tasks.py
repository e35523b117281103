"""Scripted models that state the goals of the set `goals`: a careful one, and one that knows classes alone."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final

from scenecypher.chat.model import Message
from scenecypher.evaluation.stated_tasks import GOAL_TASKS, GoalTask

BY_INSTRUCTION: Final = {it.instruction: it for it in GOAL_TASKS}
LEFT_OUT: Final = (
    r" where .*?(?=;|$)| or [^;]*| of one kind| other than \w+| for each \w+|exactly |at most |dirty (?=thing)"
)


def careful(messages: Sequence[Message]) -> str:
    """State the goal in full, or that it is impossible; keep it if it is shown what that matches."""
    task = _task(messages)
    return _reply([] if task.kind == "impossible" else task.goal.split("; "), impossible=task.kind == "impossible")


def careless(messages: Sequence[Message]) -> str:
    """State a goal by classes alone, and invent one for what is impossible."""
    goal = re.sub(LEFT_OUT, "", _task(messages).goal).replace("is back", "ON kitchentable")
    goal = goal.replace("all thing", "one thing")
    return _reply(re.sub(r"as many (\w+) as \w+", r"all \1", goal).split("; "), impossible=False)


def _task(messages: Sequence[Message]) -> GoalTask:
    return BY_INSTRUCTION[messages[1].text.removeprefix("Instruction: ")]


def _reply(goal: list[str], *, impossible: bool) -> str:
    return json.dumps({"reason": "so", "impossible": impossible, "goal": goal})
