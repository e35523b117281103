"""Parsing actions: accepted and refused texts, and that formatted actions parse back."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scenecypher.errors import ActionRefused
from scenecypher.planner.actions.text import ActionCall, operator_of, parse_action
from scenecypher.planner.vocabularies.virtualhome.operators import OPERATORS
from scenecypher.planner.vocabularies.vocabulary import action_list

WORDS = st.text(min_size=1, max_size=20).filter(str.strip)


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("grab(soap_1001)", ActionCall("grab", ("soap_1001",))),
        (" put_on( soap_1001 ,sink_42 ) ;", ActionCall("put_on", ("soap_1001", "sink_42"))),
        ("Put On(a, b)", ActionCall("put_on", ("a", "b"))),
        ("switch-on(the lamp)", ActionCall("switch_on", ("the lamp",))),
        ('grab("red, (big) soap")', ActionCall("grab", ("red, (big) soap",))),
        ("grab(Tom's mug)", ActionCall("grab", ("Tom's mug",))),
        ("stand_up()", ActionCall("stand_up")),
        ("""put_on("Tom's ""big"" mug", '"x"')""", ActionCall("put_on", ('Tom\'s "big" mug', '"x"'))),
    ],
)
def test_accepted_spellings_are_parsed(text: str, call: ActionCall) -> None:
    assert parse_action(text) == call


@pytest.mark.parametrize(
    "text",
    [
        "",
        "grab",
        "grab soap",
        "grab(",
        "grab)",
        "(a)",
        "grab(a,)",
        "grab(,a)",
        "grab(a,,b)",
        'grab("a)',
        "grab((a))",
        "1(a)",
        "grab(\ud800)",
    ],
)
def test_invalid_texts_are_refused(text: str) -> None:
    with pytest.raises(ActionRefused, match="that is no action; write one like") as refused:
        parse_action(text)
    assert str(refused.value).encode("utf-8")


def test_an_empty_text_is_refused_as_nothing() -> None:
    with pytest.raises(ActionRefused, match=r"^nothing: that is no action"):
        parse_action(" ")


def test_a_long_text_is_refused_without_being_repeated() -> None:
    with pytest.raises(ActionRefused) as refused:
        parse_action("grab(" + "a" * 1_000_000 + ")")
    assert len(str(refused.value)) < 200


@example(name="grab", arguments=["mug-1 ", " mug-1"])
@example(name="grab", arguments=["'\"", '"', "'", '""', "a'\"", "\"'a"])
@given(name=st.sampled_from(sorted(OPERATORS)), arguments=st.lists(WORDS, max_size=4))
def test_formatted_actions_parse_back(name: str, arguments: list[str]) -> None:
    call = ActionCall(name, tuple(arguments))
    assert parse_action(str(call)) == call


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("grap(a)", "no action 'grap' .*did you mean 'grab'"),
        ("dance()", r"choose one of walk\(x\), grab\(x\)"),
        ("put_on(a)", r"1 argument is given; it takes 2, as in put_on\(x, y\)"),
    ],
)
def test_an_unknown_action_is_refused_with_alternatives(text: str, says: str) -> None:
    with pytest.raises(ActionRefused, match=says):
        operator_of(parse_action(text), OPERATORS)


def test_the_list_of_actions_is_a_line_each() -> None:
    lines = action_list(OPERATORS).splitlines()
    assert len(lines) == len(OPERATORS)
    assert lines[2] == (
        "put_on(x, y): lay a thing that is held on another within reach (x: what is held; y: where it shall be)"
    )
