"""Action sequences and sub-goals are parsed as by the original, for any text of a model."""

from __future__ import annotations

import json
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenecypher.evaluation.eai.action_sequencing import count_met_goals, first_in_set_order, met_goals_range
from scenecypher.evaluation.eai.grounding import (
    ACTION_ARITY,
    ACTIONS,
    ARITY,
    MAX_CHARACTERS,
    STATE_ACTIONS,
    GroundedStep,
    Unreadable,
    expand,
    ground_plan,
)
from scenecypher.evaluation.eai.subgoal import (
    FormulaError,
    Primitive,
    parse_subgoal,
    parse_subgoals,
    primitives_to_achieve,
)
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.vocabularies.virtualhome.operators import OPERATORS

OBJECTS: Final = {"cup": {7: "cup_7", 1000: "cup_1000"}, "sink": {42: "sink_42"}, "character": {65: "character_65"}}


def calls(text: str) -> list[str] | str:
    found = ground_plan(text, OBJECTS)
    return found.fault if isinstance(found, Unreadable) else [str(step.call) for step in found]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('{"WALK": ["sink"], "GRAB": ["cup"], "WALK": ["cup"]}', ["walk(sink_42)", "grab(cup_1000)", "walk(cup_1000)"]),
        ("```json\n{'WALK': ['sink'],\n}\n```", ["walk(sink_42)"]),
        ('Sure!\n[{"walk":["cup"]},\n {"GRAB" : [ "cup" ]', ["walk(cup_1000)", "grab(cup_1000)"]),
        ('{"GRAB": ["cup", 7], "PUTBACK": ["cup", "7", "sink", "42"]}', ["grab(cup_7)", "put_on(cup_7, sink_42)"]),
        ('{"STANDUP": [], "WALK": ["sink"]}', ["walk(sink_42)"]),
        ('{"PUTON": ["cup"], "PUTOBJBACK": ["cup"]}', ["wear(cup_1000)", "put_back(cup_1000)"]),
        ("{}", "parsing"),
        ("", "parsing"),
        ('{"WALK": "sink"}', "parsing"),
        ('{"WALK": ["cd\\_player"]}', "parsing"),
        ('{"PLUGIN": ["sink"]}', "hallucination"),
        ('{"WALK": ["kitchen"]}', "hallucination"),
        ('{"GRAB": ["cup", 8]}', "hallucination"),
        ('{"WALK": [["sink"]]}', "parsing"),
        ('{"WALK": [null]}', "hallucination"),
        ('{"WALK": ["sink", "cup"]}', "arguments"),
        ('{"SLEEP": ["cup"]}', "arguments"),
        ('{"WALK": ["sink", "cup"], "FLY": ["cup"]}', "hallucination"),
        ('{"WALK": [' + "9" * 5_000 + "]}", "parsing"),
        ('"A": [' * (MAX_CHARACTERS // 6 + 1), "parsing"),
    ],
)
def test_tricky_texts(text: str, wanted: list[str] | str) -> None:
    assert calls(text) == wanted


@given(st.text(max_size=200) | st.text(alphabet="{}[]\":, '\nWALKcup7_.", max_size=80))
def test_any_text_is_a_plan_or_has_a_fault(text: str) -> None:
    found = ground_plan(text, OBJECTS)
    if isinstance(found, Unreadable):
        assert found.why
    else:
        assert all(len(step.call.arguments) == ACTIONS[step.word][1] for step in found)


@given(st.lists(st.sampled_from([("WALK", ["sink"]), ("GRAB", ["cup"]), ("PUTIN", ["cup", "sink"])]), min_size=1))
def test_repeated_keys_are_steps_in_their_order(steps: list[tuple[str, list[str]]]) -> None:
    text = "{" + ", ".join(f"{json.dumps(word)}: {json.dumps(named)}" for word, named in steps) + "}"
    found = ground_plan(text, OBJECTS)
    assert not isinstance(found, Unreadable)
    assert [step.word for step in found] == [word for word, _ in steps]


def test_every_action_has_an_operator() -> None:
    assert all(len(OPERATORS[name].parameters) == number for name, number in ACTIONS.values())
    named = {
        *STATE_ACTIONS,
        *("ONTOP", "INSIDE", "FACING", "HOLDS_RH", "NEXT_TO", "GRABBABLE", "SITTING", "BETWEEN"),
        *ACTION_ARITY,
    }
    for name in named:
        ids = ("cup_7", "sink_42")[: {**ARITY, **ACTION_ARITY}[name]]
        for agent in ("character_65", "cup_7", "sink_42"):
            for way in expand(name, ids, agent=agent, holds=lambda _: False):
                assert all(len(OPERATORS[one.call.name].parameters) == len(one.call.arguments) for one in way)


def test_the_first_listed_alternative_is_taken_even_if_another_comes_earlier() -> None:
    assert count_met_goals(["WASH", "RINSE", "WASH"], [("rinse", "wash"), ("wash",)]) == 2
    assert count_met_goals(["WASH", "RINSE"], [("rinse", "wash"), ("wash",)]) == 1
    assert count_met_goals([], []) == 0
    assert met_goals_range(["GRAB", "DRINK"], [("drink",), ("grab",)]) == (1, 2)


@given(st.sets(st.integers(1, 2_000), min_size=1, max_size=40))
def test_the_first_in_set_order_is_a_member(numbers: set[int]) -> None:
    assert first_in_set_order(f"cup_{number}" for number in numbers) in {f"cup_{number}" for number in numbers}


def test_set_order_is_neither_by_number_nor_by_name() -> None:
    near = (
        76,
        77,
        84,
        85,
        94,
        95,
        99,
        165,
        169,
        174,
        202,
        203,
        206,
        209,
        211,
        216,
        217,
        222,
        238,
        239,
        240,
        245,
        246,
        249,
    )
    assert first_in_set_order(f"thing_{number}" for number in near) == "thing_165"
    assert first_in_set_order([]) is None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('{"output": ["ON(lamp.7)", "SLEEP"]}', ["ON lamp.7", "SLEEP"]),
        ('Here: {"output": ["ON(lamp.7) and OFF(tv.8)", ""]}}', ["ON lamp.7", "OFF tv.8"]),
        ('{"output": ["READ(book.1) or LOOKAT(book.1)"]}', ["READ book.1"]),
        ('{"output": ["(ON(a.1) then OFF(a.1))", "no call"]}', ["ON a.1", "OFF a.1"]),
    ],
)
def test_primitives_to_achieve_are_in_order(text: str, wanted: list[str]) -> None:
    found = [one for one in primitives_to_achieve(parse_subgoals(text)) if isinstance(one, Primitive)]
    assert [" ".join((one.name, *one.arguments)) for one in found] == wanted


@pytest.mark.parametrize(
    "text",
    [
        "ON(a.1",
        "ON a.1",
        "",
        "ON(shoe-shine_kit.1)",
        "ON(a.1) ON(b.2)",
        "ON(a.1) and (ON(b.2) then OFF(b.2))",
        "then",
        "ON(a.1,)",
        "exists x. (READ(x) and not ON(y.2))",
        "ON(a.1) then forn 2. z. (ON(z))",
        "(" * 60 + "ON(a.1)" + ")" * 60,
    ],
)
def test_invalid_formulas_are_refused(text: str) -> None:
    with pytest.raises(FormulaError):
        parse_subgoal(text)


def test_held_objects_are_not_fetched() -> None:
    def said(held: bool) -> list[str]:  # noqa: FBT001
        (way,) = expand("ONTOP", ("cup_7", "sink_42"), agent="character_65", holds=lambda _: held)
        return [one.word for one in way]

    assert said(held=True) == ["FIND", "PUTBACK"]
    assert said(held=False) == ["FIND", "GRAB", "FIND", "PUTBACK"]
    assert (
        GroundedStep("GRAB", ActionCall("grab", ("cup_7",)))
        in expand("HOLDS_RH", ("x_1", "cup_7"), agent="x_1", holds=bool)[0]
    )
