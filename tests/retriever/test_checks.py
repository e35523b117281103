"""Model-free checks: they doubt implausible answers only."""

from __future__ import annotations

from typing import Any

import pytest

from scenecypher.chat.model import Usage
from scenecypher.db.gate import Answer
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.enumerations import Enumerations
from scenecypher.retriever.checks import COLUMNS, CheckedAnswer, doubts
from scenecypher.retriever.events import Doubted
from tests.retriever.conftest import Ready
from tests.retriever.test_retriever import messages

SCENE = Enumerations(kinds=(("Object", 300),))


def checked(
    question: str, columns: list[str], rows: list[list[Any]], cypher: str = "MATCH (n) RETURN n"
) -> CheckedAnswer:
    return CheckedAnswer(question, cypher, Answer(tuple(columns), rows, None, 0, 0.0), SCENE)


WRONG = {
    "names for a number": (checked("How many cups are there?", ["cup"], [["a"], ["b"]]), "count(DISTINCT"),
    "a boolean for a number": (checked("Count the cups", ["any"], [[True]]), "count(DISTINCT"),
    "names for yes or no": (checked("Is the fridge open?", ["fridge"], [["fridge_1"]]), "return a boolean"),
    "a dump": (checked("Where is it?", list("abcdefghi"), [[1] * 9]), "9 columns"),
    "centimetres": (
        checked("How wide is the desk in cm?", ["width"], [[1.2]], "MATCH (n) RETURN n.size_x AS width"),
        "multiply by 100",
    ),
    "more than there is": (checked("How many cups are there?", ["n"], [[301]]), "a pattern multiplies"),
    "below zero": (checked("How many are left?", ["n"], [[-1]]), "below zero"),
    "no number": (checked("How large is it?", ["share"], [["nan"]]), "no finite number"),
    "nothing but null": (checked("Where is the cup?", ["cup", "at"], [["a", None], ["b", None]]), "at is null"),
}


@pytest.mark.parametrize(("of", "told"), WRONG.values(), ids=WRONG)
def test_implausible_answers_are_doubted(of: CheckedAnswer, told: str) -> None:
    assert [doubt for doubt in doubts(of) if told in doubt]


RIGHT = {
    "a number": checked("How many cups are there?", ["n"], [[300]]),
    "a number a room": checked("How many cups are in each room?", ["room", "n"], [["a", 2], ["b", 0]]),
    "yes": checked("Is the fridge open?", ["open", "fridge"], [[True, "fridge_1"]]),
    "a choice": checked("Is the cup in the kitchen or in the bedroom?", ["room"], [["kitchen"]]),
    "nothing": checked("How many cups are there?", ["n"], []),
    "metres": checked("How wide is the desk in metres?", ["w"], [[1.2]], "MATCH (n) RETURN n.size_x AS w"),
    "calculated": checked("How wide is it in cm?", ["w"], [[120.0]], "MATCH (n) RETURN n.size_x * 100 AS w"),
    "no size": checked("How many 5 cm nails are there?", ["n"], [[3]], "MATCH (n) RETURN count(n) AS n"),
    "some null": checked("What is where?", ["cup", "at"], [["a", None], ["b", "c"]]),
    "columns": checked("What is it?", [f"c{i}" for i in range(COLUMNS)], [["x"] * COLUMNS]),
    "a name like no number": checked("Who is it?", ["name"], [["Nan"]]),
}


@pytest.mark.parametrize("of", RIGHT.values(), ids=RIGHT)
def test_plausible_answers_are_not_doubted(of: CheckedAnswer) -> None:
    assert doubts(of) == ()


NAMES = "MATCH (o:Object {class: 'cup'}) RETURN o.name AS cup ORDER BY cup"
COUNT = "MATCH (o:Object {class: 'cup'}) RETURN count(o) AS cups"
QUESTION = "How many cups are there?"


def test_doubts_are_sent_once_and_before_verification(ready: Ready, scene: SceneInfo) -> None:
    retriever, server = ready([NAMES, COUNT, "There are 2 cups."], checks=True, verifier="paper")
    events = list(retriever.stream(QUESTION, scene))
    assert [event.number for event in events if isinstance(event, Doubted)] == [1]
    assert "the question asks for a number" in messages(server, 1)[-1]
    assert len(server.requests) == 3


def test_a_repeated_query_overrides_doubts(ready: Ready, scene: SceneInfo) -> None:
    retriever, server = ready([NAMES, NAMES], checks=True)
    found = retriever.ask(QUESTION, scene)
    assert (found.rows, found.usage, len(server.requests)) == ((("cup_7010",), ("cup_7011",)), Usage(22, 14), 2)


def test_checks_are_off_by_default(ready: Ready, scene: SceneInfo) -> None:
    retriever, server = ready([NAMES])
    retriever.ask(QUESTION, scene)
    assert len(server.requests) == 1


def test_the_last_attempt_is_not_doubted(ready: Ready, scene: SceneInfo) -> None:
    retriever, _ = ready([NAMES], checks=True, attempts=1)
    assert retriever.ask(QUESTION, scene).outcome == "answered"
