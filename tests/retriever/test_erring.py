"""A model that makes every known error and recovers; each row is a first reply and the message sent back."""

from __future__ import annotations

import pytest

from scenecypher.chat.model import Usage
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.retriever.retrieval import QueryExecuted, Rejected
from tests.retriever.conftest import Ready
from tests.retriever.test_retriever import GOOD, QUESTION, ROWS, messages
from tests.scripted_model import Say, Step

NO_MESSAGE = ""
"""The reply was valid within its wrapping: no message is needed."""

ERRS: dict[str, tuple[Step, str]] = {
    "fences": (f"```cypher\n{GOOD}\n```", NO_MESSAGE),
    "prose": (f"Certainly! To find what lies on the table:\n\n{GOOD}", NO_MESSAGE),
    "thoughts": (f"<think>I could DELETE everything. No.</think>\n```\n{GOOD}\n```", NO_MESSAGE),
    "thoughts that never began": (f"First the table, then ON.</think>{GOOD}", NO_MESSAGE),
    "several statements": (f"{GOOD};\nMATCH (n) RETURN count(n)", "one query"),
    "two fences": (f"Either\n```cypher\nMATCH (t:Table) RETURN t\n```\nor\n```cypher\n{GOOD}\n```", "no label `Table`"),
    "a refusal of the gate": ("MATCH (o:Object)-[:ON_TOP_OF]->(t) RETURN o.name", "no relation type `ON_TOP_OF`"),
    "a write": ("MATCH (o:Object) SET o.name = 'x' RETURN o.name AS object", "only read"),
    "an error of the database": ("MATCH (o:Object) RETURN o.name / 2 AS half", "refused"),
    "an error while it runs": ("MATCH (o:Object) RETURN 1 / (size(o.name) - size(o.name)) AS x", "refused"),
    "an empty result of a wrong literal": (GOOD.replace("'table'", "'Tables'"), "no (:Asset) has class 'Tables'"),
    "an empty result of a relation that there is not": (
        "MATCH (p:Place)-[:ON]->(o:Object) RETURN o.name AS object",
        "(:Place)-[:ON]->(:Object) does not occur",
    ),
    "an empty reply": ("", "no query"),
    "a reply cut off": (Say("", finish="length"), "be briefer"),
    "a refusal of its own": ("I'm sorry, but I can't help with that.", "refused"),
    "another language": ("SELECT name FROM objects WHERE place = 'table'", "refused"),
}


@pytest.mark.parametrize(("first", "told"), ERRS.values(), ids=ERRS)
def test_the_model_recovers_from_each_first_reply(ready: Ready, scene: SceneInfo, first: Step, told: str) -> None:
    retriever, server = ready([first, GOOD])
    found = retriever.ask(QUESTION, scene)
    assert (found.outcome, found.rows, found.cypher) == ("answered", ROWS, GOOD)
    assert len(server.requests) == (2 if told else 1)
    if told:
        assert told in messages(server, 1)[-1]


def test_the_model_recovers_from_all_errors_in_one_conversation(ready: Ready, scene: SceneInfo) -> None:
    wrong_place = "MATCH (o:Object)-[:INSIDE]->(:Asset {class: 'fridge'}) RETURN o.name AS object"
    script: list[Step] = [
        "<think>easy</think>Sure!\n```cypher\nMATCH (t:Table) RETURN t\n```",
        f"{GOOD}; MATCH (n) RETURN n",
        "MATCH (o:Object RETURN o",
        GOOD.replace("'table'", "'Table'"),
        wrong_place,
        "NOT ADDRESSED: that is the fridge",
        GOOD,
        "cup_7011 and plate_7012 are on the table.",
    ]
    retriever, server = ready(script, attempts=6, verifier="hints")
    found = retriever.ask(QUESTION, scene)
    assert (found.rows, found.addressed, found.answer) == (ROWS, True, "cup_7011 and plate_7012 are on the table.")
    assert [type(attempt.ending) for attempt in found.attempts] == [Rejected] * 3 + [QueryExecuted] * 3
    assert (len(server.requests), found.usage) == (8, Usage(88, 56))


def test_repeated_errors_end_with_the_attempts(ready: Ready, scene: SceneInfo) -> None:
    retriever, server = ready(["MATCH (t:Table) RETURN t"] * 9, attempts=4)
    found = retriever.ask(QUESTION, scene)
    assert (found.outcome, len(server.requests), found.attempts[3].repeats) == ("refused", 4, 1)
