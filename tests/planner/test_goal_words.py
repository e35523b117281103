"""Goals as people type them."""

from __future__ import annotations

import pytest

from scenecypher.db.condition import And, Condition, HasState, Id, Not, Related
from scenecypher.errors import InputError, UnknownReference
from scenecypher.planner.sessions.goal_words import read_goal

NODES = {"mug": "mug-1", "old mug": "mug-2", "Shelf": "shelf", "fridge": "fridge"}


def resolve(word: str) -> str:
    if word not in NODES:
        raise UnknownReference(f"there is no {word!r} in this scene")
    return NODES[word]


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("mug ON Shelf", Related(Id("mug-1"), "ON", Id("shelf"))),
        ("old mug in fridge", Related(Id("mug-2"), "INSIDE", Id("fridge"))),
        ("mug not ON Shelf", Not(Related(Id("mug-1"), "ON", Id("shelf")))),
        ("mug LEANING_AGAINST Shelf", Related(Id("mug-1"), "LEANING_AGAINST", Id("shelf"))),
        ("fridge is Closed", HasState(Id("fridge"), "closed")),
        (" fridge is not open ;", Not(HasState(Id("fridge"), "open"))),
        (
            "mug on Shelf; fridge is closed",
            And((Related(Id("mug-1"), "ON", Id("shelf")), HasState(Id("fridge"), "closed"))),
        ),
    ],
)
def test_what_is_typed_is_a_condition(text: str, goal: Condition) -> None:
    assert read_goal(text, resolve=resolve, types=("LEANING_AGAINST",)) == goal


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (" ; ", "the goal is empty"),
        ("put the mug away", "'put the mug away' is no goal"),
        ("mug LEANING_AGAINST Shelf", "is no goal"),
        ("cup ON Shelf", "the goal 'cup ON Shelf': there is no 'cup' in this scene"),
    ],
)
def test_what_can_not_be_read_is_told(text: str, says: str) -> None:
    expected = UnknownReference if "there is no" in says else InputError
    with pytest.raises(expected) as raised:
        read_goal(text, resolve=resolve)
    assert says in str(raised.value)
