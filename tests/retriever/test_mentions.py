"""Names of a scene that a question mentions."""

from __future__ import annotations

import pytest

from scenecypher.retriever.library import Mention, Mentions

WHOLE = [
    ("Where is the cup?", "cup"),
    ("How many cups are there?", "cup"),
    ("the table lamp", "tablelamp"),
    ("the tablelamp", "table_lamp"),
    ("is the TV stand dirty", "tvstand"),
    ("what is in the dining room", "dining_room"),
    ("where are the knives", "knife"),
    ("the dishes and boxes", "dish"),
    ("all glasses", "glass"),
    ("two stoves", "stove"),
    ("cookies", "cookie"),
    ("LivingRoom", "living room"),
    ("où est la théière", "théière"),
    ("where is cup_2009", "cup_2009"),
    ("which objects are plugged in", "plugged_in"),
]
PART = [("what is in the kitchen", "kitchen_counter"), ("a bathroom", "bathroom_cabinet")]
NONE = [("where is the cup", "cupboard"), ("", "cup"), ("where is it", ""), ("is it in a bed", "in_on"), ("what", "!!")]


@pytest.mark.parametrize(("question", "name"), WHOLE)
def test_all_words_of_a_name(question: str, name: str) -> None:
    assert Mentions.of(question).mention(name) is Mention.WHOLE


@pytest.mark.parametrize(("question", "name"), PART)
def test_a_word_of_a_name(question: str, name: str) -> None:
    assert Mentions.of(question).mention(name) is Mention.PART


@pytest.mark.parametrize(("question", "name"), NONE)
def test_no_mention(question: str, name: str) -> None:
    assert Mentions.of(question).mention(name) is Mention.NONE
