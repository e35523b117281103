"""Several questions at once: in order, concurrent, and independent of each other's errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import Barrier
from typing import Any

from scenecypher.chat.model import Model, Reply, Request
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.errors import InputError, ModelUnavailable
from scenecypher.retriever.retrieval import Retrieval
from tests.retriever.conftest import Ready
from tests.scripted_model import Fail, Say, Step

CLASSES = ("cup", "plate", "knife", "fridge")


def play(request: dict[str, Any]) -> Step:
    asked = request["messages"][-1]["content"]
    if "unicorn" in asked:
        return Fail(400, "no unicorns")
    name = next(name for name in CLASSES if name in asked)
    return Say(f"MATCH (n {{class: '{name}'}}) RETURN count(n) AS n", after_s=0.2 if name == "cup" else 0.0)


def test_answers_and_errors_keep_the_order_of_questions(ready: Ready, scene: SceneInfo) -> None:
    retriever, server = ready(play)
    questions = ["How many cups?", "How many unicorns?", "", "How many plates?", "How many fridges?"]
    cups, unicorns, nothing, plates, fridges = retriever.ask_many(questions, scene, workers=3)
    assert isinstance(cups, Retrieval)
    assert isinstance(plates, Retrieval)
    assert isinstance(fridges, Retrieval)
    assert (cups.rows, plates.rows, fridges.rows) == (((2,),), ((1,),), ((1,),))
    assert isinstance(unicorns, ModelUnavailable)
    assert isinstance(nothing, InputError)
    assert len(server.requests) == 4


@dataclass(frozen=True, slots=True)
class Meeting:
    """A model that answers only when a given number of requests are waiting."""

    model: Model
    barrier: Barrier

    def reply(self, request: Request) -> Reply:
        self.barrier.wait(timeout=30)
        return self.model.reply(request)


def test_questions_are_asked_concurrently(ready: Ready, scene: SceneInfo) -> None:
    retriever, _ = ready(play)
    met = replace(retriever, model=Meeting(retriever.model, Barrier(3)))
    found = met.ask_many(["How many plates?"] * 3, scene, workers=3)
    assert [isinstance(one, Retrieval) and one.rows for one in found] == [((1,),)] * 3


def test_no_questions_no_answers(ready: Ready, scene: SceneInfo) -> None:
    assert ready([])[0].ask_many([], scene) == ()
