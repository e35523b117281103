"""Canonical forms: insensitive to order, blanks and quotes without meaning, and sensitive to everything else."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenecypher.evaluation.eai.grounding import ACTIONS
from scenecypher.evaluation.ssc.forms import goal_form, sequence_form, subgoal_form, transition_form

GOALS: Mapping[str, list[dict[str, str]]] = {
    "node goals": [{"name": "lamp", "state": "ON"}, {"name": "door", "state": "CLOSED"}],
    "edge goals": [{"from_name": "cup", "relation": "ON", "to_name": "table"}],
    "action goals": [{"action": "WASH"}, {"action": "DRINK"}],
}
STEPS = '{"WALK": ["cup"], "GRAB": ["cup"], "WALK": ["sink"], "PUTBACK": ["cup", "sink"]}'
OPEN = (
    "(:action open :parameters (?char - character ?obj - object) "
    ":precondition (and (closed ?obj) (can_open ?obj)) :effect (and (open ?obj) (not (closed ?obj))))"
)


def subgoals(*lines: str) -> str:
    return json.dumps({"necessity_to_use_action": "no", "actions_to_include": [], "output": lines})


def pddl(*actions: str) -> str:
    return json.dumps({"output": "\n".join(actions)})


@settings(max_examples=30)
@given(st.data(), st.sampled_from([None, 2, "\t"]), st.sampled_from(["{}", "```json\n{}\n```", "{}<|eot_id|>"]))
def test_goal_forms_ignore_order_blanks_quotes_and_fences(data: st.DataObject, indent: Any, around: str) -> None:
    shuffled = {key: data.draw(st.permutations(GOALS[key])) for key in data.draw(st.permutations(list(GOALS)))}
    text = json.dumps(shuffled, indent=indent)
    text = text.replace('"', data.draw(st.sampled_from("\"'")))
    assert goal_form(around.replace("{}", text)) == goal_form(json.dumps(GOALS)) is not None


@pytest.mark.parametrize(
    ("key", "goal"),
    [
        ("node goals", {"name": "lamp", "state": "SHINY"}),
        ("node goals", {"name": "lamp"}),
        ("edge goals", {"from_name": "cup", "relation": "ABOVE", "to_name": "table"}),
        ("action goals", {"action": "FLY"}),
        ("action goals", {"action": ["WASH"]}),
        ("action goals", "WASH"),
    ],
)
def test_goals_outside_the_schema_are_invalid(key: str, goal: object) -> None:
    assert goal_form(json.dumps({**GOALS, key: [goal]})) is None


def test_goal_forms_differ_by_content_only() -> None:
    assert goal_form(json.dumps({**GOALS, "action goals": []})) != goal_form(json.dumps(GOALS))
    noted = {
        **GOALS,
        "action goals": [{"action": "wash", "why": "it is dirty"}, {"action": "DRINK"}, {"action": "WASH"}],
    }
    assert goal_form(json.dumps(noted)) == goal_form(json.dumps(GOALS)), "letters, remarks and repetition say nothing"
    assert goal_form(json.dumps({"node goals": []})) is None


def test_a_sequence_keeps_its_order_and_its_repeated_keys() -> None:
    assert sequence_form(STEPS) == (
        ("WALK", "cup"),
        ("GRAB", "cup"),
        ("WALK", "sink"),
        ("PUTBACK", "cup", "sink"),
    )
    around = "Here it is:\n```json\n" + STEPS.replace('"', "'").replace(", ", ",\n  ") + "\n```\nGood luck!"
    assert sequence_form(around) == sequence_form(STEPS)
    assert sequence_form('{"GRAB": ["cup"], "WALK": ["cup"]}') != sequence_form('{"WALK": ["cup"], "GRAB": ["cup"]}')
    assert sequence_form('{"GRAB": ["cup", 1000]}') == (("GRAB", "cup", "1000"),)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"FLY": ["cup"]}',
        '{"GRAB": []}',
        '{"PUTBACK": ["cup"]}',
        '{"WALK": ["cup", "plate"]}',
        '{"POUR": ["cup", "sink", "plate", "pot"]}',
        '{"PLUGIN": ["lamp"]}',
        '{"SLEEP": ["bed"]}',
        '{"GRAB": "cup"}',
        '{"GRAB": ["cup"]',
        "[" * 9_999,
    ],
)
def test_invalid_sequences_have_no_form(text: str) -> None:
    assert sequence_form(text) is None


def test_our_prompt_offers_words_of_schema_and_scorer_and_three_that_the_paper_offers_too() -> None:
    file = files("scenecypher.evaluation") / "data/ssc/paper-content/action-sequencing.md"
    text = file.read_text(encoding="utf-8").partition("# The actions")[2]
    offered = {word: int(count) for word, count in re.findall(r"^([A-Z]+): \((\d),", text, re.MULTILINE)}
    assert {word: count for word, count in offered.items() if word not in ACTIONS} == {
        "PLUGIN": 1,
        "PLUGOUT": 1,
        "RELEASE": 1,
    }
    assert all(ACTIONS[word][1] == count for word, count in offered.items() if word in ACTIONS)


def test_order_matters_between_lines_of_subgoals_and_not_within() -> None:
    one = subgoal_form(subgoals("NEXT_TO(character.65, tv.1)", "ON(tv.1) and (CLOSED(a.2) or OPEN(b.3))"))
    assert (
        one
        == subgoal_form(subgoals("NEXT_TO(character.65,tv.1)", "(OPEN(b.3) or CLOSED(a.2)) and ON(tv.1)"))
        is not None
    )
    assert one != subgoal_form(subgoals("ON(tv.1) and (CLOSED(a.2) or OPEN(b.3))", "NEXT_TO(character.65, tv.1)"))
    assert one != subgoal_form(subgoals("NEXT_TO(character.65, tv.1)", "ON(tv.1) and CLOSED(a.2) or OPEN(b.3)"))


@pytest.mark.parametrize(
    "line",
    [
        "SHINY(tv.1)",
        "BETWEEN(a.1, b.2, c.3)",
        "PLUGIN(tv.1)",
        "ON(tv.1, tv.2)",
        "ON(tv.1) and",
        "(ON(tv.1)",
        "ON tv",
        "(" * 99 + "ON(tv.1)" + ")" * 99,
    ],
)
def test_invalid_lines_have_no_form(line: str) -> None:
    assert subgoal_form(subgoals(line)) is None


def test_action_forms_ignore_order_repetition_nesting_and_variable_names() -> None:
    other = (
        "(:action open\n :parameters (?who - character ?what - object) "
        ":precondition (and (and (can_open ?what)) (closed ?what) (closed ?what)) "
        ":effect (and (not (closed ?what)) (open ?what)))"
    )
    walk = OPEN.partition(":precondition")[0].replace("open", "walk_towards")
    walk += ":precondition () :effect (next_to ?char ?obj))"
    assert transition_form(pddl(OPEN, walk)) == transition_form(pddl(walk, other)) is not None
    near = "(forall (?{0} - object) (when (obj_next_to ?{0} ?obj) (next_to ?char ?{0})))"
    forms = {
        transition_form(pddl(walk.replace("(next_to ?char ?obj)", near.format(name)))) for name in ("x", "close_obj")
    }
    assert len(forms) == 1
    assert None not in forms


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(open ?obj)", "(shiny ?obj)"),
        ("(open ?obj)", "(open ?obj ?char)"),
        ("(open ?obj)", "(open ?else)"),
        ("(open ?obj)", "(open ?obj"),
        (":action open", ":action explode"),
        ("(closed ?obj)", "(not (closed ?obj) (open ?obj))"),
    ],
)
def test_an_action_outside_the_domain_is_invalid(old: str, new: str) -> None:
    assert transition_form(pddl(OPEN)) is not None
    assert transition_form(pddl(OPEN.replace(old, new, 1))) is None


@settings(max_examples=50)
@given(st.text(alphabet='(){}[]":,?abc \n', max_size=300))
def test_no_text_raises_an_error(text: str) -> None:
    for form in (goal_form, sequence_form, subgoal_form, transition_form):
        form(text)
        form('{"output": ' + json.dumps(f"(:action open {text}") + "}")


def test_excessive_depth_and_length_are_invalid() -> None:
    deep = OPEN.replace("(open ?obj)", "(and " * 5_000 + "(open ?obj)" + ")" * 5_000)
    assert transition_form(pddl(deep)) is None
    assert goal_form("[" * 200_000) is None
    assert sequence_form("{" * 50_000 + "}" * 50_000) is None
