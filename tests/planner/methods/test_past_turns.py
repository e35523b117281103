"""Past turns in prompts: each method tells its own kinds of decisions, by one table."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final

import pytest

from scenecypher.chat.model import Model
from scenecypher.chat.scripted import Scripted, ScriptedReply
from scenecypher.errors import ReplyRejected
from scenecypher.planner.methods.baselines.react import React, ReactAlfworld
from scenecypher.planner.methods.ours.stepwise import Stepwise
from scenecypher.planner.methods.sg2.sg2 import TURNS, Sg2
from scenecypher.planner.methods.sg_rwr.sg_rwr import SgRwr, SingleCoder
from scenecypher.planner.prompts.texts import turn_messages
from scenecypher.planner.sessions.method import (
    Act,
    Ask,
    CallTool,
    Decision,
    Done,
    GiveUp,
    Memory,
    Method,
    Solve,
    Think,
    Turn,
)
from tests.planner.methods.contexts import context_of

EVERY: Final[tuple[Decision | None, ...]] = (
    Ask("Where is it?"),
    CallTool("tool", {"message": "call it", "code": "print(1)"}),
    Think("hm"),
    Act("toggle(x)"),
    Solve(("toggle(x)",)),
    Done(),
    GiveUp(),
    None,
)
TURNS_OF_ALL: Final = tuple(Turn(decision, f"came of {number}") for number, decision in enumerate(EVERY))
METHODS: Final[dict[str, Callable[[Model], Method]]] = {
    "sg2": lambda model: Sg2(context_of(model, "babyai")),
    "sg-rwr": lambda model: SgRwr(context_of(model, "babyai")),
    "single-coder": lambda model: SingleCoder(context_of(model, "babyai")),
    "react-rwr": lambda model: React(context_of(model, "babyai"), "react-rwr"),
    "react-alfworld": lambda model: ReactAlfworld(context_of(model, "babyai")),
    "stepwise": Stepwise,
}


@pytest.mark.parametrize("name", METHODS)
def test_a_turn_of_any_kind_is_no_error(name: str) -> None:
    """A method that fails on a decision which it does not make itself, as one may that resumes an earlier log."""
    method = METHODS[name](Scripted([ScriptedReply((), "x")]))
    with suppress(ReplyRejected):
        method.decide(Memory("find the box", "", turns=TURNS_OF_ALL))


def test_kinds_with_a_form_are_told_with_their_results() -> None:
    said = [(message.role, message.text) for message in turn_messages(TURNS_OF_ALL, TURNS)]
    assert [role for role, _ in said] == [*("assistant", "user") * 3, "user"]
    assert [text.splitlines()[-1] for role, text in said if role == "user"] == [
        *("came of 0", "came of 1", "came of 4"),
        "Your last reply could not be used: came of 7",
    ]
    assert "Where is it?" in said[0][1]
    assert "[toggle(x)]" in said[4][1]
