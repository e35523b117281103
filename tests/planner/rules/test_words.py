"""Rules as people type them: the words of goals, read as conditions that count at all times."""

from __future__ import annotations

import json

import pytest

from scenecypher.db.condition import ALWAYS
from scenecypher.db.rules import culprits, rule_documents, rules_from_document, rules_json
from scenecypher.errors import InputError
from scenecypher.planner.rules.words import read_rule
from tests.planner.rules.homes import HOME, NO_METAL, loaded, moved, rule, with_states

ON = with_states(HOME, microwave_1="closed on", stove_1="on")


def test_a_class_stands_for_any_of_its_things_the_same_throughout() -> None:
    """Read wrongly: `microwave` twice meant two microwaves, or a class of several was refused as unclear."""
    found = rule(NO_METAL).condition
    assert culprits(found, moved(ON, "fork-1", "INSIDE", "microwave-1")) == {frozenset({"fork-1", "microwave-1"})}
    assert not culprits(found, moved(ON, "fork-1", "INSIDE", "microwave-2")), "the other one is on"
    assert not culprits(found, moved(HOME, "fork-1", "INSIDE", "microwave-1"))


def test_inside_leads_through_other_things() -> None:
    """Got round: the fork lay on a plate that stood in the microwave."""
    found = rule(NO_METAL).condition
    assert culprits(found, moved(ON, "plate-1", "INSIDE", "microwave-1")) == {frozenset({"fork-2", "microwave-1"})}


def test_what_is_said_after_where_counts_when_the_rule_is_checked_not_when_it_was_read() -> None:
    """Frozen: a goal's `where` chooses things once; a rule's must be looked at each time."""
    found = rule("never x: one microwave where it is on; x is open").condition
    assert culprits(found, with_states(HOME, microwave_2="open on")) == {frozenset({"microwave-2"})}


def test_a_description_counts_when_the_rule_is_checked() -> None:
    """Frozen: "open microwave" was the one that was open when the rule was made, or was refused if two were."""
    now = with_states(HOME, microwave_1="open", microwave_2="open")
    for graph in (HOME, with_states(HOME, microwave_2="open"), now):
        found = read_rule("never open microwave is on", loaded(graph)).condition
        assert culprits(found, with_states(HOME, microwave_1="open on", microwave_2="on")) == {
            frozenset({"microwave-1"})
        }
        inside = read_rule("never fork INSIDE open microwave", loaded(graph)).condition
        assert not culprits(inside, moved(HOME, "fork-1", "INSIDE", "microwave-1"))
        assert culprits(inside, moved(now, "fork-1", "INSIDE", "microwave-1"))


def test_alternatives_and_counts() -> None:
    either = rule("never stove is on or microwave is on").condition
    assert culprits(either, ON) == {frozenset({"stove-1"}), frozenset({"microwave-1"})}
    two = rule("never x: 2 fork; y: one table; x ON y").condition
    assert not culprits(two, HOME)
    assert culprits(two, moved(HOME, "fork-2", "ON", "table-1")) == {frozenset({"fork-1", "fork-2", "table-1"})}


@pytest.mark.parametrize(
    ("text", "kind", "action", "count"),
    [
        ("switch_on(stove) only when fork not ON stove", "only", "switch_on", 1),
        ("put_in(x: fork, y: microwave) only when y is off", "only", "put_in", 2),
        ("Open ONLY WHEN stove is off", "only", "open", 0),
        ("ask before switch_on(x: stove)", "ask", "switch_on", 1),
        ("ask before put_on(thing, y: stove-1) when y is on", "ask", "put_on", 2),
        (f"  {NO_METAL.replace('never', 'Never')} ", "never", "", 0),
    ],
)
def test_forms(text: str, kind: str, action: str, count: int) -> None:
    found = rule(text)
    assert (found.kind, found.action, len(found.arguments)) == (kind, action, count)
    assert (found.fits == ALWAYS) is (count == 0)
    (again,) = rules_from_document(json.loads(rules_json([found]))).documents
    assert again == found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("forks are bad", "write `never CONDITION`"),
        ("never unicorn INSIDE kitchen", "unicorn"),
        ("never stove is purple", "no state 'purple' occurs in this scene"),
        ("fry(fork) only when stove is on", "there is no action 'fry'; choose one of go_to(x)"),
        ("swich_on(stove) only when stove is off", "did you mean 'switch_on'"),
        ("open(unicorn) only when stove is off", "no class 'unicorn' occurs"),
        ("open(stove, fork) only when stove is off", "open takes 1 arguments, as in open(x)"),
        ("put_in(fork, fork) only when stove is off", "name them, as in `x: fork`"),
        ("never ", "write `never CONDITION`"),
        ("never x: one fork", "no fact is about 'x'"),
        ("never fork is back", "never was elsewhere"),
        ("never " + "x" * 3_000, "write `never CONDITION`"),
    ],
)
def test_what_is_no_rule_is_told_with_what_is_allowed(text: str, said: str) -> None:
    """Bad input: an unreadable rule needs words that help, and exit code 2."""
    with pytest.raises(InputError) as refused:
        read_rule(text, loaded())
    assert said in str(refused.value)
    assert refused.value.exit_code == 2


def test_too_many_rules_in_a_document_say_how_many_may_be() -> None:
    """Misread: of 1,001 rules it was said that 1,000 are needed."""
    with pytest.raises(InputError, match=r"rules: 1,001 rules; a scene has at most 1,000, so say it with fewer"):
        rules_from_document(rule_documents([rule(NO_METAL)]) * 1_001)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Never put a fork in the microwave.", "never fork in microwave"),
        ("don't put the plate onto the stove", "never plate on stove"),
        ("never leave the stove on", "never stove is on"),
        ("always keep the microwave closed", "never microwave is not closed"),
        (
            "the stove must be off when nobody is in the kitchen",
            "never stove is not off and no robot INSIDE kitchen",
        ),
        ("ask me before opening the microwave", "ask before open(microwave)"),
        ("Don't open the microwave", "never microwave is open"),
        ("do not switch on the stove while the microwave is open", "never stove is on and microwave is open"),
        ("Never turn on the stove!", "never stove is on"),
        ("Please ask me before you turn on the stove", "ask before switch_on(stove)"),
        ("Ask before switching off the stove when fork is held", "ask before switch_off(stove) when fork is held"),
        ("close the microwave within 5 minutes", "within 5 minutes after microwave is open: microwave is closed"),
        ("switch off the stove within 9 actions", "within 9 actions after stove is on: stove is off"),
    ],
)
def test_what_people_say_becomes_the_rule_that_they_mean(said: str, meant: str) -> None:
    """Refused: a person's sentence of a common form was told to be no rule."""
    assert rule(said) == rule(meant)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("never put metal in the microwave", "there is no .metal. in this scene.*; a condition is of facts"),
        ("ask before opening the front door", "no class 'front door' occurs"),
        ("never open the microwave while it is on", "a condition is of facts, as in `never fork INSIDE"),
        ("lights out at ten", "is no rule; write `never CONDITION`"),
        ("never " + " and ".join(["fork ON table"] * 200), "characters, over 2,000; write `never CONDITION`"),
    ],
)
def test_what_is_not_understood_is_told_with_what_can_be_said(said: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        rule(said)
