"""Goals stated by a model become Conditions, or are refused with an explanation."""

from __future__ import annotations

from typing import Any

import pytest

from scenecypher.db.condition import And, AtLeast, Condition, HasClass, HasState, Id
from scenecypher.db.store.enumerations import ClassUse, Enumerations
from scenecypher.errors import UnknownReference
from scenecypher.planner.methods.goal_form import FactForm, GoalParser

OCCURRING = Enumerations(classes=(ClassUse("Object", "cup", 3, "cup_1"),), ids=("cup_1", "cup_2", "cup_3"))
BLANK: dict[str, Any] = dict.fromkeys(("color", "count", "relation", "to", "state"), None) | {"negated": False}


def goal(*facts: dict[str, Any]) -> Condition:
    return GoalParser(OCCURRING).condition(FactForm.model_validate(BLANK | fact) for fact in facts)


def test_a_fact_is_about_a_node_or_so_many_of_a_class() -> None:
    assert goal({"what": "cup_1", "state": "open"}) == And((HasState(Id("cup_1"), "open"),))
    counted = AtLeast(3, "x", And((HasClass("x", "cup"), HasState("x", "on"))))
    assert goal({"what": "Cup", "count": 3, "state": "ON"}) == And((counted,))


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ([], "the goal says nothing"),
        ([{"what": "cup", "state": "on", "count": 4}], "of the class cup there are 3 here"),
        ([{"what": "cup", "state": "on", "count": 10**400}], "of the class cup there are 3 here"),
        ([{"what": "cup"}], "give a relation with a target, or a state"),
        ([{"what": "cap", "state": "on"}], "did you mean 'cup'"),
        ([{"what": "cup", "relation": "ON"}], "leads to something"),
    ],
)
def test_what_is_no_goal_is_told(facts: list[dict[str, Any]], told: str) -> None:
    with pytest.raises(UnknownReference, match=told):
        goal(*facts)
