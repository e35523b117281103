"""The verifier in its modes: its input, the effects of its verdict, and its cost."""

from __future__ import annotations

import pytest

from scenecypher.chat.model import Usage
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.retriever.events import Verified
from tests.retriever.conftest import Ready
from tests.retriever.test_retriever import GOOD, QUESTION, ROWS, messages

WRONG = "MATCH (o:Object)-[:INSIDE]->(:Asset {class: 'fridge'}) RETURN o.name AS object"


@pytest.mark.parametrize("mode", ["paper", "hints"])
def test_an_addressed_question_gets_a_summary(ready: Ready, scene: SceneInfo, mode: str) -> None:
    retriever, server = ready([GOOD, "<think>fine</think>On the table are cup_7011 and plate_7012."], verifier=mode)
    found = retriever.ask(QUESTION, scene)
    assert (found.answer, found.addressed) == ("On the table are cup_7011 and plate_7012.", True)
    assert (found.rows, found.usage) == (ROWS, Usage(22, 14))
    asked = messages(server, 1)
    assert QUESTION in asked[1]
    assert "cup_7011, plate_7012" in asked[1]
    assert "NOT ADDRESSED" in asked[0]
    assert "id-70" not in "".join(asked)


def test_the_paper_s_verifier_sends_the_writer_back(ready: Ready, scene: SceneInfo) -> None:
    retriever, server = ready([WRONG, "NOT ADDRESSED", GOOD, "cup_7011 and plate_7012"], verifier="paper")
    found = retriever.ask(QUESTION, scene)
    assert (found.rows, found.addressed, found.answer) == (ROWS, True, "cup_7011 and plate_7012")
    assert "don't answer the question." in messages(server, 2)[-1]
    seen = messages(server, 3)[1]
    assert f"Result 1:\n```cypher\n{WRONG}\n```\ncup_7010" in seen, "the verifier sees all queries and results so far"
    assert f"Result 2:\n```cypher\n{GOOD}\n```\ncup_7011, plate_7012" in seen


def test_hints_say_what_is_missing(ready: Ready, scene: SceneInfo) -> None:
    said = "**NOT ADDRESSED**: this is the fridge, not the table."
    retriever, server = ready([WRONG, said, GOOD, "two things"], verifier="hints")
    assert retriever.ask(QUESTION, scene).answer == "two things"
    assert "What is missing: this is the fridge, not the table." in messages(server, 2)[-1]


def test_the_paper_s_verifier_gives_no_hint(ready: Ready, scene: SceneInfo) -> None:
    retriever, server = ready([WRONG, "NOT ADDRESSED: this is the fridge", GOOD, "two things"], verifier="paper")
    retriever.ask(QUESTION, scene)
    assert "this is the fridge" not in messages(server, 2)[-1]


def test_negative_verdicts_count_within_the_attempts(ready: Ready, scene: SceneInfo) -> None:
    retriever, server = ready([WRONG, "NOT ADDRESSED", GOOD, "NOT ADDRESSED"], verifier="paper", attempts=2)
    found = retriever.ask(QUESTION, scene)
    assert (found.outcome, found.rows, found.addressed) == ("answered", ROWS, False)
    assert found.answer == "cup_7011, plate_7012", "the rows speak for themselves"
    assert len(server.requests) == 4


def test_a_verdict_covers_only_the_attempts_it_saw(ready: Ready, scene: SceneInfo) -> None:
    nothing = GOOD.replace("'table'", "'Table'")
    retriever, _ = ready([WRONG, "NOT ADDRESSED", nothing, "MATCH (n:Wrong) RETURN n"], verifier="paper", attempts=3)
    found = retriever.ask(QUESTION, scene)
    assert (found.outcome, found.rows, found.addressed) == ("answered", (), None)


def test_a_repeated_query_ends_verification(ready: Ready, scene: SceneInfo) -> None:
    retriever, server = ready([GOOD, "NOT ADDRESSED", GOOD, "NOT ADDRESSED"], verifier="paper")
    found = retriever.ask(QUESTION, scene)
    assert (found.rows, found.addressed, len(server.requests)) == (ROWS, False, 4)


def test_an_empty_result_is_hinted_before_it_is_verified(ready: Ready, scene: SceneInfo) -> None:
    retriever, server = ready([GOOD.replace("'table'", "'Table'"), GOOD, "two things"], verifier="paper")
    assert retriever.ask(QUESTION, scene).answer == "two things"
    assert len(server.requests) == 3


def test_an_empty_verdict_is_negative(ready: Ready, scene: SceneInfo) -> None:
    retriever, _ = ready([GOOD, ""], verifier="paper", attempts=1)
    events = list(retriever.stream(QUESTION, scene))
    assert Verified(addressed=False, text="", usage=Usage(11, 7)) in events
