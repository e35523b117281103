"""Solutions in replies: the ordered actions of a plan, or the answer to a question."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scenecypher.errors import ReplyRejected
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.sessions.method import Done, Solve
from scenecypher.planner.vocabularies.registry import DONE, macros_of, operators_of, vocabulary_named

FORM: Final = "\
Of a planning task the solution is the list of actions, such as [first(a), second(b, c)], with ids of nodes, and \
nothing else. Of a question it is the answer alone."

_CALL: Final = re.compile(r"""\b([A-Za-z_]\w*)([ \t]?)\(((?:"[^",\n]*"|\b[A-Za-z]\(\d+\)|[^()\n])*+)\)""")
"""An action; its arguments may have brackets in quotes, or be symbols of a map, such as O(33)."""
_EMPTY: Final = re.compile(r"\s*\[\s*\]\s*")
ANSWER_CHARACTERS: Final = 200


def parse_solution(text: str, vocabulary: str, *, reason: str = "", final: bool = True) -> Solve | Done:
    """Return the actions that `text` lists, else `text` as an answer. Raises ReplyRejected if it is neither.

    SG2 and SG-RwR give both under one name; reading a text with actions as a plan and any other as an answer is ours.
    """
    actions = tuple(_actions(text, vocabulary))
    if actions or _EMPTY.fullmatch(text):
        return Solve(actions, reason, final=final)
    answer = text.strip().strip("[]\"'`. \n")
    if not answer or len(answer) > ANSWER_CHARACTERS:
        raise ReplyRejected(f"it holds no solution. {FORM}")
    return Done(reason, answer)


def _actions(text: str, vocabulary: str) -> Iterator[str]:
    """Yield every call in a text except ``done``; with a blank before the brackets, only known actions count."""
    known = {*operators_of(vocabulary), *macros_of(vocabulary)}
    for found in _CALL.finditer(text):
        name = found[1].lower()
        if (name in known or not found[2]) and name != DONE:
            yield str(ActionCall(name, tuple(_arguments(found[3]))))


def _arguments(text: str) -> Iterator[str]:
    return (argument for part in text.split(",") if (argument := part.strip().strip("\"'<>` ")))


def is_question_task(instruction: str, vocabulary: str) -> bool:
    """Return whether a task asks a question, as BabyAI's numerical questions do.

    Detecting questions by their opening words is ours.
    """
    return instruction.lower().startswith(vocabulary_named(vocabulary).words.questions)


def solution_text(decision: Solve) -> str:
    """Return a solution as a model writes it."""
    return f"[{', '.join(decision.actions)}]"
